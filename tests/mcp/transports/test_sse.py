"""The older HTTP+SSE pair."""

from pathlib import Path

import anyio
import pytest

from agent_shell.discovery.server_config import SseServerConfig
from agent_shell.errors import MCPClosedError, MCPConnectError, MCPHttpError, MCPTimeoutError
from agent_shell.mcp.client import connect_to_server
from agent_shell.mcp_protocol.jsonrpc import Message, Request, encode
from tests.fakes.connections import client_options
from tests.fakes.http_server import Handler, HttpExchange, answer_of, serve_http
from tests.fakes.mcp_server import FakeMCPServer
from tests.requirements import requirement


class OldServer:
    """One event stream; its endpoint is whatever the test says."""

    def __init__(self, endpoint: str = "/messages?session=1") -> None:
        self.server = FakeMCPServer()
        self.endpoint = endpoint
        self.is_over = anyio.Event()
        self._events: HttpExchange | None = None

    async def __call__(self, exchange: HttpExchange) -> None:
        if exchange.request.method == "GET":
            self._events = exchange
            await exchange.start_events()
            await exchange.send_raw(f"event: endpoint\r\ndata: {self.endpoint}\r\n\r\n".encode())
            await self.is_over.wait()
            return
        message = exchange.request.message
        if isinstance(message, Request) and (message.params or {}).get("name") == "refused":
            await exchange.respond(500, b"boom")
            return
        await exchange.respond(202, b"Accepted")
        if isinstance(message, Request):
            await self.send(await answer_of(self.server, message))

    async def send(self, message: Message) -> None:
        """Say something on the event stream."""
        assert self._events is not None
        await self._events.send_raw(b"event: message\r\ndata: " + encode(message) + b"\r\n\r\n")


@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
@requirement("client:transports")
async def test_a_whole_conversation_over_the_endpoint_it_names(tmp_path: Path) -> None:
    handler = OldServer()
    with anyio.fail_after(20), client_options(tmp_path) as options:
        async with serve_http(handler) as server:
            config = SseServerConfig(
                name="old", url=f"{server.origin}/sse", headers={"X-Key": "k-123"}
            )
            async with connect_to_server(config, options, timeout_s=5) as connection:
                assert [tool.name for tool in await connection.list_tools()] == ["echo"]
                result = await connection.call_tool("echo", {"text": "hi"})
            handler.is_over.set()

    assert result.content == ({"type": "text", "text": "hi"},)
    assert {(r.method, r.path) for r in server.requests} == {
        ("GET", "/sse"),
        ("POST", "/messages?session=1"),
    }
    assert {r.headers["x-key"] for r in server.requests} == {"k-123"}


async def test_a_refused_post_fails_its_call_only_and_the_streams_end_is_the_end(
    tmp_path: Path,
) -> None:
    handler = OldServer()
    with anyio.fail_after(20), client_options(tmp_path) as options:
        async with serve_http(handler) as server:
            config = SseServerConfig(name="old", url=f"{server.origin}/sse")
            async with connect_to_server(config, options, timeout_s=5) as connection:
                with pytest.raises(MCPHttpError, match="HTTP 500 Internal Server Error: boom"):
                    await connection.call_tool("refused", {})
                await connection.ping()
                handler.is_over.set()
                await connection.closed.wait()
                with pytest.raises(MCPClosedError, match="closed its event stream"):
                    await connection.ping()


@pytest.mark.parametrize(
    "endpoint",
    ["http://127.0.0.1:1/messages", "https://127.0.0.1/m", "//localhost/messages", "http://[bad"],
)
async def test_an_endpoint_of_another_origin_is_refused_before_any_request(
    endpoint: str, tmp_path: Path
) -> None:
    """CASES N9."""
    handler = OldServer(endpoint)
    with pytest.raises(
        MCPConnectError, match=r"names an endpoint (of another origin|that is no URL)"
    ):
        await connect(handler, tmp_path)


async def test_an_endpoint_with_credentials_of_its_own_is_refused(tmp_path: Path) -> None:
    handler = OldServer()

    async def with_user(exchange: HttpExchange) -> None:
        handler.endpoint = f"http://x@{exchange.request.headers['host']}/messages"
        await handler(exchange)

    with pytest.raises(MCPConnectError, match="an endpoint with credentials of its own"):
        await connect(with_user, tmp_path)


async def connect(handler: Handler, folder: Path, *, timeout_s: float = 5) -> None:
    """Connect, and leave at once."""
    with anyio.fail_after(20), client_options(folder) as options:
        async with serve_http(handler) as server:
            config = SseServerConfig(name="old", url=f"{server.origin}/sse")
            async with connect_to_server(config, options, timeout_s=timeout_s):
                pass


async def test_what_is_no_event_stream_is_told(tmp_path: Path) -> None:
    async def missing(exchange: HttpExchange) -> None:
        await exchange.respond(404)

    async def page(exchange: HttpExchange) -> None:
        await exchange.respond(200, b"<html>", content_type="text/html")

    async def silent(exchange: HttpExchange) -> None:
        await exchange.start_events()
        await anyio.sleep_forever()

    with pytest.raises(MCPHttpError, match="HTTP 404 Not Found"):
        await connect(missing, tmp_path)
    with pytest.raises(MCPConnectError, match="an event stream was expected, not text/html"):
        await connect(page, tmp_path)
    with pytest.raises(MCPTimeoutError, match=r"named no endpoint within 0\.2 s"):
        await connect(silent, tmp_path, timeout_s=0.2)
