"""The older HTTP+SSE pair (2024-11-05): an event stream down, POSTs up to the endpoint it names."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import httpx
from anyio.abc import TaskGroup

from agent_shell.discovery.server_config import SseServerConfig
from agent_shell.errors import (
    MCPClosedError,
    MCPConnectError,
    MCPError,
    MCPProtocolError,
    MCPTimeoutError,
)
from agent_shell.mcp.transports.http_client import (
    HttpClient,
    media_type,
    open_http_client,
    read_body,
)
from agent_shell.mcp.transports.http_errors import status_error
from agent_shell.mcp.transports.redact import shown_url
from agent_shell.mcp.transports.remote import RemoteTransport
from agent_shell.mcp.transports.sse_events import ServerSentEvent, SSEParser
from agent_shell.mcp.transports.take_messages import take_messages
from agent_shell.mcp.transports.wire_log import WireLog
from agent_shell.mcp_protocol.background import background_tasks
from agent_shell.mcp_protocol.jsonrpc import (
    Message,
    Request,
    RequestFailed,
    encode,
)

DELIVERY_S = 10.0
"""How long a notification's sender waits for the server to have it: order matters."""


class SseTransport(RemoteTransport):
    """One event stream is the connection: when it ends, the session has ended, too."""

    def __init__(self, http: HttpClient, tasks: TaskGroup, log: WireLog) -> None:
        super().__init__()
        self._http = http
        self._tasks = tasks
        self._log = log
        self._endpoint: httpx.URL | None = None
        self._version: str | None = None
        self.opened = anyio.Event()
        self.failure: MCPError | None = None

    async def send(self, message: Message) -> None:
        """POST one message: a request in the background, others until the server has them."""
        if self._inbox.closed_error is not None:
            raise MCPClosedError(self._inbox.closed_error.message)
        delivered = anyio.Event()
        self._tasks.start_soon(self._post, message, delivered)
        if not isinstance(message, Request):
            with anyio.move_on_after(DELIVERY_S):
                await delivered.wait()

    def handshake_done(self, protocol_version: str) -> None:
        """Later revisions spoken over this transport name themselves in a header."""
        self._version = protocol_version

    async def listen(self) -> None:
        """Read the event stream to its end, whatever that is."""
        try:
            async with self._http.stream("GET", self._headers("text/event-stream")) as response:
                if not response.is_success:
                    raise status_error(response, await read_body(response), self._log.redact)
                if media_type(response) != "text/event-stream":
                    kind = media_type(response) or "no content type"
                    raise MCPConnectError(f"an event stream was expected, not {kind}")
                parser = SSEParser()
                async for chunk in response.aiter_bytes():
                    for event in parser.feed(chunk):
                        self._take(event)
                    await self._inbox.wait_for_room()
            self._end(MCPClosedError("the server closed its event stream"))
        except MCPError as error:
            self._end(error)
        except Exception as error:  # noqa: BLE001 (one server must not take the others with it)
            self._end(MCPProtocolError(f"the event stream failed: {error!r}"))

    def close(self) -> None:
        """No more messages."""
        self._inbox.close(MCPClosedError("the connection was closed"))
        self._log.end_burst()

    def _end(self, error: MCPError) -> None:
        self.failure = error
        self.opened.set()
        self._inbox.close(MCPClosedError(error.message, hint=error.hint))

    def _take(self, event: ServerSentEvent) -> None:
        if event.event == "endpoint" and self._endpoint is None:
            named = event.data.decode("utf-8", "replace").strip()
            try:
                endpoint = self._http.url.join(named)
            except httpx.InvalidURL as error:
                raise MCPConnectError("the server names an endpoint that is no URL") from error
            if not self._http.is_same_origin(endpoint):
                # Our credentials would go there (CASES N9).
                shown = shown_url(str(endpoint))
                raise MCPConnectError(f"the server names an endpoint of another origin: {shown}")
            if endpoint.userinfo not in (b"", self._http.url.userinfo):
                # They would take the place of the configured Authorization.
                raise MCPConnectError("the server names an endpoint with credentials of its own")
            self._endpoint = endpoint
            self.opened.set()
        elif event.event == "message" and event.data:
            take_messages(event.data, self._log, self._inbox.put)

    async def _post(self, message: Message, delivered: anyio.Event) -> None:
        """Any 2xx is well: the answer comes on the event stream."""
        try:
            headers = self._headers("application/json, text/event-stream")
            headers["Content-Type"] = "application/json"
            async with self._http.stream(
                "POST", headers, content=encode(message), url=self._endpoint
            ) as response:
                body = await read_body(response)
                if not response.is_success:
                    raise status_error(response, body, self._log.redact)
        except MCPError as error:
            if isinstance(message, Request):
                self._inbox.put(RequestFailed(id=message.id, error=error))
            else:
                self._log.write("wire", f"a message was refused: {error}")
        finally:
            delivered.set()

    def _headers(self, accept: str) -> dict[str, str]:
        headers = {"Accept": accept}
        if self._version is not None:
            headers["MCP-Protocol-Version"] = self._version
        return headers


@asynccontextmanager
async def open_sse(
    config: SseServerConfig, *, log: WireLog, timeout_s: float | None
) -> AsyncGenerator[SseTransport]:
    """Open the event stream and wait, `timeout_s` at most, for the endpoint it names.

    Raises MCPConnectError, MCPHttpError and MCPTimeoutError.
    """
    async with open_http_client(config.url, config.headers) as http, background_tasks() as tasks:
        transport = SseTransport(http, tasks, log)
        tasks.start_soon(transport.listen)
        with anyio.move_on_after(timeout_s):
            await transport.opened.wait()
        if transport.failure is not None:
            raise transport.failure
        if not transport.opened.is_set():
            raise MCPTimeoutError(f"the event stream named no endpoint within {timeout_s:g} s")
        try:
            yield transport
        finally:
            transport.close()
