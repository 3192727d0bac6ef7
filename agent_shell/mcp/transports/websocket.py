"""WebSocket: one socket, one message a text frame, subprotocol `mcp`."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
from httpx import URL
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    ConnectionClosed,
    InvalidProxy,
    InvalidStatus,
    InvalidURI,
    SecurityError,
    WebSocketException,
)
from websockets.typing import Subprotocol

from agent_shell import __version__
from agent_shell.discovery.server_config import WebSocketServerConfig
from agent_shell.errors import (
    MCPClosedError,
    MCPConnectError,
    MCPError,
    MCPHttpError,
    MCPTimeoutError,
)
from agent_shell.logs import printable
from agent_shell.mcp.transports.http_client import check_headers, origin
from agent_shell.mcp.transports.http_errors import os_error_words
from agent_shell.mcp.transports.line_framer import MAX_MESSAGE_BYTES
from agent_shell.mcp.transports.redact import Redactor, shown_url
from agent_shell.mcp.transports.remote import RemoteTransport
from agent_shell.mcp.transports.take_messages import take_messages
from agent_shell.mcp.transports.wire_log import WireLog
from agent_shell.mcp_protocol.background import background_tasks
from agent_shell.mcp_protocol.jsonrpc import Message, encode

CONNECT_TIMEOUT_S = 10.0
CLOSE_S = 0.5
"""For the closing handshake, which a server that floods us never gets to."""
PING_S = 20.0
"""A socket that answers no ping for this long is dead, whatever the network says."""


class _ConnectWithinOrigin(connect):
    """The library follows redirects anywhere, with all headers but Authorization and Cookie."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        """Only a redirect within the origin is followed: keys have all sorts of header names."""
        following = super().process_redirect(exc)
        if isinstance(following, str):
            target, ours = URL(following), URL(self.uri)
            if origin(target) != origin(ours):
                return SecurityError(f"it redirects to another origin: {shown_url(following)}")
            if target.userinfo not in (b"", ours.userinfo):
                return SecurityError("it redirects to a URL with credentials of its own")
        return following


class WebSocketTransport(RemoteTransport):
    """One open socket."""

    def __init__(self, socket: ClientConnection, log: WireLog) -> None:
        super().__init__()
        self._socket = socket
        self._log = log

    async def send(self, message: Message) -> None:
        """Send one text frame. Raises MCPClosedError."""
        try:
            await self._socket.send(encode(message), text=True)
        except ConnectionClosed as error:
            raise MCPClosedError(_closing_words(error)) from error

    def handshake_done(self, protocol_version: str) -> None:
        """Nothing to remember: frames have no headers."""

    async def read(self) -> None:
        """Take frames until the socket is closed."""
        try:
            while True:
                frame = await self._socket.recv()
                take_messages(frame, self._log, self._inbox.put)
                await self._inbox.wait_for_room()
                # Neither that nor `recv` waits while there is enough of everything.
                await anyio.lowlevel.checkpoint()
        except ConnectionClosed as error:
            self._inbox.close(MCPClosedError(_closing_words(error)))

    def close(self) -> None:
        """No more messages."""
        self._inbox.close(MCPClosedError("the connection was closed"))
        self._log.end_burst()


@asynccontextmanager
async def open_websocket(
    config: WebSocketServerConfig, *, log: WireLog, timeout_s: float | None
) -> AsyncGenerator[WebSocketTransport]:
    """Connect within `timeout_s` (10 s at most); leaving closes within a second.

    Raises MCPConnectError, MCPHttpError and MCPTimeoutError. Runs on asyncio only, as the
    library underneath does.
    """
    check_headers(config.headers)
    socket = await _connect(
        config, min(timeout_s or CONNECT_TIMEOUT_S, CONNECT_TIMEOUT_S), log.redact
    )
    try:
        async with background_tasks() as tasks:
            transport = WebSocketTransport(socket, log)
            tasks.start_soon(transport.read)
            try:
                yield transport
            finally:
                transport.close()
    finally:
        with anyio.move_on_after(CLOSE_S * 2, shield=True):
            await socket.close()
        socket.transport.abort()  # a server that reads nothing keeps `close` from getting so far


async def _connect(
    config: WebSocketServerConfig, timeout_s: float, redact: Redactor
) -> ClientConnection:
    shown = shown_url(config.url)
    try:
        return await _ConnectWithinOrigin(
            config.url,
            additional_headers=dict(config.headers),
            user_agent_header=f"agent-shell/{__version__}",
            subprotocols=[Subprotocol("mcp")],
            open_timeout=timeout_s,
            close_timeout=CLOSE_S,
            ping_interval=PING_S,
            ping_timeout=PING_S,
            max_size=MAX_MESSAGE_BYTES,
        )
    except TimeoutError as error:
        failure: MCPError = MCPTimeoutError(f"cannot reach {shown} within {timeout_s:g} s")
        cause: Exception = error
    except InvalidStatus as error:
        response = error.response
        said = redact.excerpt(response.body or b"")
        words = f"HTTP {response.status_code} {printable(response.reason_phrase)}".rstrip()
        failure = MCPHttpError(f"{words}: {said}" if said else words, status=response.status_code)
        cause = error
    except (InvalidURI, InvalidProxy) as error:
        failure = MCPConnectError(f"not a WebSocket URL: {shown}", hint='check "url" in its entry')
        cause = error
    except OSError as error:
        failure = MCPConnectError(f"cannot reach {shown}: {os_error_words(error)}")
        cause = error
    except (WebSocketException, ValueError) as error:
        failure = MCPConnectError(f"no WebSocket at {shown}: {printable(str(error))}")
        cause = error
    failure.stage = "connect"
    raise failure from cause


def _closing_words(error: ConnectionClosed) -> str:
    """What the other side's close frame said, if it sent one."""
    frame = error.rcvd
    if frame is None:
        return "the WebSocket broke off"
    reason = f": {printable(frame.reason)}" if frame.reason else ""
    return f"the server closed the WebSocket (code {frame.code}{reason})"
