"""WebSocket, against the same library's server side."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request as HttpRequest
from websockets.http11 import Response as HttpResponse
from websockets.typing import Subprotocol

from agent_shell.discovery.server_config import WebSocketServerConfig
from agent_shell.errors import MCPClosedError, MCPConnectError, MCPHttpError, MCPTimeoutError
from agent_shell.mcp.client import MCPServerConnection, connect_to_server
from agent_shell.mcp_protocol.jsonrpc import Notification, Request, decode, encode
from tests.fakes.connections import client_options, log_of
from tests.fakes.http_server import answer_of
from tests.fakes.mcp_server import FakeMCPServer
from tests.requirements import requirement


@asynccontextmanager
async def served(
    handler: Callable[[ServerConnection], Awaitable[None]],
    answer_http: Callable[[ServerConnection, HttpRequest], HttpResponse | None] | None = None,
) -> AsyncGenerator[str]:
    """A server on loopback; gives its URL."""
    async with serve(
        handler,
        "127.0.0.1",
        0,
        subprotocols=[Subprotocol("mcp")],
        process_request=answer_http,
        max_size=None,
    ) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        yield f"ws://127.0.0.1:{port}/mcp"


@asynccontextmanager
async def connected(
    url: str, folder: Path, headers: dict[str, str] | None = None
) -> AsyncGenerator[MCPServerConnection]:
    """A connection, bounded."""
    config = WebSocketServerConfig(name="ws", url=url, headers=headers or {})
    with anyio.fail_after(20), client_options(folder) as options:
        async with connect_to_server(config, options, timeout_s=5) as connection:
            yield connection


async def talk(server: FakeMCPServer, socket: ServerConnection) -> None:
    """Answer each frame's request."""
    async for frame in socket:
        for message in decode(frame).messages:
            if isinstance(message, Request):
                await socket.send(encode(await answer_of(server, message)).decode())


@pytest.mark.parametrize("frame", ["junk", encode(Notification(method="m")).decode()])
async def test_a_server_that_floods_is_given_up_in_time(frame: str, tmp_path: Path) -> None:
    async def flood(socket: ServerConnection) -> None:
        with suppress(ConnectionClosed):
            while True:
                await socket.send(frame)
                await anyio.lowlevel.checkpoint()

    async with served(flood) as url:
        config = WebSocketServerConfig(name="ws", url=url)
        started = anyio.current_time()
        with client_options(tmp_path) as options, pytest.raises(MCPTimeoutError):
            async with connect_to_server(config, options, timeout_s=0.5):
                pass
        assert anyio.current_time() - started < 0.5 + 2


@requirement("client:transports")
async def test_a_whole_conversation_in_text_frames(tmp_path: Path) -> None:
    seen: list[tuple[str | None, str | None]] = []

    async def handler(socket: ServerConnection) -> None:
        assert socket.request is not None
        seen.append((socket.subprotocol, socket.request.headers.get("X-Key")))
        await socket.send("hello, I am no message")
        await talk(server, socket)

    server = FakeMCPServer()
    async with served(handler) as url, connected(url, tmp_path, {"X-Key": "k-123"}) as connection:
        assert [tool.name for tool in await connection.list_tools()] == ["echo"]
        result = await connection.call_tool("echo", {"text": "y" * (5 << 20)})

    assert result.content == ({"type": "text", "text": "y" * (5 << 20)},)
    assert seen == [("mcp", "k-123")]
    assert "hello, I am no message" in log_of(tmp_path)


async def test_a_closing_server_says_why(tmp_path: Path) -> None:
    server = FakeMCPServer()
    is_enough = anyio.Event()

    async def handler(socket: ServerConnection) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(talk, server, socket)
            await is_enough.wait()
            await socket.close(1001, "going away")

    async with served(handler) as url, connected(url, tmp_path) as connection:
        is_enough.set()
        await connection.closed.wait()
        with pytest.raises(MCPClosedError, match=r"closed the WebSocket \(code 1001: going away\)"):
            await connection.ping()


async def never(socket: ServerConnection) -> None:
    """No conversation comes about."""
    raise AssertionError


async def test_a_refusal_is_told_with_its_status_and_another_origin_is_not_followed(
    tmp_path: Path,
) -> None:
    def refuse(socket: ServerConnection, request: HttpRequest) -> HttpResponse:
        return HttpResponse(401, "Unauthorized", Headers(), b"who are you?")

    def redirect(socket: ServerConnection, request: HttpRequest) -> HttpResponse:
        return HttpResponse(307, "Moved", Headers({"Location": "ws://127.0.0.1:1/mcp"}), b"")

    async with served(never, refuse) as url:
        with pytest.raises(MCPHttpError, match=r"HTTP 401 Unauthorized: who are you\?"):
            async with connected(url, tmp_path):
                pass
    async with served(never, redirect) as url:
        with pytest.raises(MCPConnectError, match="it redirects to another origin"):
            async with connected(url, tmp_path):
                pass


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("ws://127.0.0.1:1/mcp", r"cannot reach ws://127\.0\.0\.1:1/mcp: Connection refused"),
        ("http://127.0.0.1/mcp", "not a WebSocket URL: http://127"),
    ],
)
async def test_what_is_no_websocket_is_told(url: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(MCPConnectError, match=message) as caught:
        async with connected(url, tmp_path):
            pass

    assert (caught.value.server, caught.value.stage) == ("ws", "connect")
