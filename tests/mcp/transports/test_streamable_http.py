"""Streamable HTTP against servers whose every answer is written here."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from agent_shell.discovery.server_config import HttpServerConfig
from agent_shell.errors import (
    MCPConnectError,
    MCPHttpError,
    MCPProtocolError,
    MCPRequestError,
    MCPTimeoutError,
)
from agent_shell.mcp.client import MCPServerConnection, connect_to_server
from agent_shell.mcp_protocol.jsonrpc import ErrorResponse, Notification, Request
from tests.fakes.connections import client_options, log_of
from tests.fakes.http_server import (
    FakeHttpServer,
    Handler,
    HttpExchange,
    StreamableMCP,
    answer_of,
    serve_http,
)
from tests.fakes.mcp_server import FakeMCPServer
from tests.requirements import requirement


@asynccontextmanager
async def connected(
    handler: Handler,
    folder: Path,
    *,
    headers: dict[str, str] | None = None,
    timeout_s: float | None = 10,
    on_tools_changed: Callable[[], None] = lambda: None,
) -> AsyncGenerator[tuple[MCPServerConnection, FakeHttpServer]]:
    """A connection to this handler's server, bounded."""
    with (
        anyio.fail_after(30),
        client_options(folder, on_tools_changed=on_tools_changed) as options,
    ):
        async with serve_http(handler) as server:
            config = HttpServerConfig(name="web", url=f"{server.origin}/mcp", headers=headers or {})
            async with connect_to_server(config, options, timeout_s=timeout_s) as connection:
                yield connection, server


def calls(server: FakeHttpServer, method: str) -> int:
    """How many POSTs carried this JSON-RPC method."""
    return sum(f'"method":"{method}"'.encode() in request.body for request in server.requests)


class Custom(StreamableMCP):
    """Answers `tools/call` in a way of its own."""

    def __init__(self, on_call: Handler, *, session_id: str | None = None) -> None:
        super().__init__(FakeMCPServer(), session_id=session_id)
        self.on_call = on_call

    async def on_post(self, exchange: HttpExchange) -> None:
        message = exchange.request.message
        if isinstance(message, Request) and message.method == "tools/call":
            await self.on_call(exchange)
        else:
            await super().on_post(exchange)


async def answer(exchange: HttpExchange) -> ErrorResponse:
    """An error answer to the exchange's own request, easy to recognise."""
    message = exchange.request.message
    assert isinstance(message, Request)
    return ErrorResponse(id=message.id, code=-1, message="the answer")


THE_ANSWER = r"the answer \(code -1\)"


@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
@pytest.mark.parametrize("use_events", [False, True])
async def test_a_whole_conversation_with_session_and_version(
    use_events: bool, tmp_path: Path
) -> None:
    handler = StreamableMCP(FakeMCPServer(page_size=1), session_id="s-1")
    handler.use_events = use_events
    async with connected(handler, tmp_path, headers={"X-Key": "k"}) as (connection, server):
        assert [tool.name for tool in await connection.list_tools()] == ["echo"]
        result = await connection.call_tool("echo", {"text": "hi"})
        await server.wait_for("GET")
        assert set(connection.timings_ms) == {"connect", "initialize", "list_tools"}

    assert result.content == ({"type": "text", "text": "hi"},)
    first, *others = server.requests
    assert "mcp-session-id" not in first.headers
    assert "mcp-protocol-version" not in first.headers
    assert first.headers["accept"] == "application/json, text/event-stream"
    assert {(r.headers["mcp-session-id"], r.headers["mcp-protocol-version"]) for r in others} == {
        ("s-1", "2025-11-25")
    }
    assert {r.headers["x-key"] for r in server.requests} == {"k"}
    assert server.requests[-1].method == "DELETE"


async def test_without_a_session_nothing_is_deleted(tmp_path: Path) -> None:
    async with connected(StreamableMCP(FakeMCPServer()), tmp_path) as (_, server):
        pass

    assert server.count("DELETE") == 0


@requirement("C1", "Z21", "Y23")
@pytest.mark.parametrize("status", [404, 400])
async def test_a_lost_session_is_opened_anew_once_and_the_request_repeated_once(
    status: int, tmp_path: Path
) -> None:
    class Forgetful(StreamableMCP):
        """Forgets its first session at the first call."""

        greetings = 0

        async def on_post(self, exchange: HttpExchange) -> None:
            message = exchange.request.message
            if isinstance(message, Request) and message.method == "initialize":
                self.greetings += 1
                self.session_id = f"s-{self.greetings}"
            elif exchange.request.headers["mcp-session-id"] == "s-1" and isinstance(
                message, Request
            ):
                body = b'{"jsonrpc":"2.0","error":{"code":-32000,"message":"No session"},"id":null}'
                await exchange.respond(status, body, content_type="application/json")
                return
            await super().on_post(exchange)

    async with (
        connected(Forgetful(FakeMCPServer()), tmp_path) as (connection, server),
        anyio.create_task_group() as tasks,
    ):
        # Several at once: they all lose it, and one of them opens the new one.
        for _ in range(3):
            tasks.start_soon(connection.call_tool, "echo", {"text": "x"})

    greetings = [r for r in server.requests if b'"initialize"' in r.body]
    assert len(greetings) == 2
    assert not any("mcp-session-id" in r.headers for r in greetings)
    assert not any("mcp-protocol-version" in r.headers for r in greetings)
    assert calls(server, "notifications/initialized") == 2
    assert calls(server, "tools/call") == 6


@requirement("C1")
async def test_a_second_404_is_an_error_and_no_loop(tmp_path: Path) -> None:
    async def gone(exchange: HttpExchange) -> None:
        await exchange.respond(404, b"nothing here", content_type="text/plain")

    async with connected(Custom(gone, session_id="s"), tmp_path) as (connection, server):
        with pytest.raises(MCPHttpError, match="HTTP 404 Not Found: nothing here"):
            await connection.call_tool("echo", {})
        assert calls(server, "tools/call") == 2
        assert calls(server, "initialize") == 2
        await connection.ping()


@requirement("C3", "C4")
@pytest.mark.parametrize("status", [405, 404, 400, 501])
async def test_a_server_for_post_only_is_asked_for_a_stream_once(
    status: int, tmp_path: Path
) -> None:
    class PostOnly(StreamableMCP):
        async def on_get(self, exchange: HttpExchange) -> None:
            await exchange.respond(status)

    async with connected(PostOnly(FakeMCPServer(), session_id="s"), tmp_path) as (
        connection,
        server,
    ):
        await server.wait_for("GET")
        for _ in range(3):
            await connection.ping()
        assert server.count("GET") == 1

    assert log_of(tmp_path) == ""


@requirement("C4")
async def test_a_404_without_session_is_an_error(tmp_path: Path) -> None:
    async def gone(exchange: HttpExchange) -> None:
        await exchange.respond(404)

    async with connected(Custom(gone), tmp_path) as (connection, server):
        with pytest.raises(MCPHttpError, match="HTTP 404 Not Found"):
            await connection.call_tool("echo", {})
        assert calls(server, "tools/call") == 1


@requirement("C6")
@pytest.mark.parametrize("status", [307, 308])
async def test_a_redirect_within_the_origin_keeps_method_body_and_authorization(
    status: int, tmp_path: Path
) -> None:
    inner = StreamableMCP(FakeMCPServer())

    async def redirect(exchange: HttpExchange) -> None:
        if exchange.request.path == "/mcp":
            await exchange.respond(status, headers={"Location": "/mcp/"})
        else:
            await inner(exchange)

    async with connected(redirect, tmp_path, headers={"Authorization": "Bearer t-12345"}) as (
        connection,
        server,
    ):
        assert len(await connection.list_tools()) == 1

    arrived = [r for r in server.requests if r.path == "/mcp/" and r.method == "POST"]
    assert len(arrived) == 3
    assert {r.headers["authorization"] for r in arrived} == {"Bearer t-12345"}


@requirement("C6")
@pytest.mark.parametrize("body", [b"x" * 150 + b" Authorization: Bearer ", b"x" * 60_000])
async def test_a_secret_that_an_excerpt_would_cut_is_hidden(body: bytes, tmp_path: Path) -> None:
    secret = "s3cr3t-" * 30

    async def refuse(exchange: HttpExchange) -> None:
        await exchange.respond(401, body + secret.encode())

    headers = {"Authorization": f"Bearer {secret}"}
    with pytest.raises(MCPHttpError) as caught:
        async with connected(refuse, tmp_path, headers=headers):
            pass

    assert caught.value.message.startswith("HTTP 401 Unauthorized: xxx")
    assert "s3cr3t" not in caught.value.message + log_of(tmp_path)


async def test_a_redirect_with_credentials_of_its_own_is_not_followed(tmp_path: Path) -> None:
    async def redirect(exchange: HttpExchange) -> None:
        location = f"http://x@{exchange.request.headers['host']}/other"
        await exchange.respond(307, headers={"Location": location})

    with pytest.raises(MCPHttpError, match="HTTP 307: it has moved to"):
        async with connected(redirect, tmp_path, headers={"Authorization": "Bearer t-12345"}):
            pass


async def test_a_redirect_loop_and_another_origin_are_errors(tmp_path: Path) -> None:
    async def loop(exchange: HttpExchange) -> None:
        await exchange.respond(307, headers={"Location": "/mcp"})

    async def leave(exchange: HttpExchange) -> None:
        await exchange.respond(307, headers={"Location": "http://127.0.0.1:1/mcp?k=1"})

    with pytest.raises(MCPConnectError, match="redirects in a circle"):
        async with connected(loop, tmp_path):
            pass
    with pytest.raises(MCPHttpError, match=r"HTTP 307: it has moved to http://127\.0\.0\.1:1/mcp$"):
        async with connected(leave, tmp_path):
            pass


@requirement("C8")
async def test_any_success_accepts_a_notification(tmp_path: Path) -> None:
    class Chatty(StreamableMCP):
        async def on_post(self, exchange: HttpExchange) -> None:
            if isinstance(exchange.request.message, Notification):
                await exchange.respond(200, b"Accepted", content_type="text/plain")
            else:
                await super().on_post(exchange)

    async with connected(Chatty(FakeMCPServer()), tmp_path) as (connection, _):
        await connection.ping()

    assert log_of(tmp_path) == ""


async def test_media_types_are_compared_without_case_and_parameters(tmp_path: Path) -> None:
    """CASES C10."""

    class Loud(StreamableMCP):
        async def on_post(self, exchange: HttpExchange) -> None:
            message = exchange.request.message
            if not isinstance(message, Request):
                await exchange.respond(202)
                return
            reply = await answer_of(self.server, message)
            if message.method == "ping":
                await exchange.start_events(content_type="Text/Event-Stream;charset=UTF-8")
                await exchange.send_event(reply)
            else:
                await exchange.respond(
                    200, encoded(reply), content_type="Application/JSON; charset=utf-8"
                )

    async with connected(Loud(FakeMCPServer()), tmp_path) as (connection, _):
        await connection.ping()


def encoded(message: object) -> bytes:
    """A message's bytes."""
    from agent_shell.mcp_protocol.jsonrpc import Response, encode  # noqa: PLC0415 (used once)

    assert isinstance(message, Response | ErrorResponse)
    return encode(message)


async def test_a_stream_that_ends_early_is_resumed_after_the_wait_it_asked_for(
    tmp_path: Path,
) -> None:
    """CASES C12."""
    replies: list[ErrorResponse] = []

    class Polling(Custom):
        async def on_get(self, exchange: HttpExchange) -> None:
            if "last-event-id" not in exchange.request.headers:
                await exchange.respond(405)
                return
            assert exchange.request.headers["last-event-id"] == "7"
            await exchange.start_events()
            await exchange.send_event(replies[0], event_id="8")

    async def prime(exchange: HttpExchange) -> None:
        replies.append(await answer(exchange))
        await exchange.start_events()
        await exchange.send_raw(b"id: 7\nretry: 200\ndata:\n\n")

    async with connected(Polling(prime), tmp_path) as (connection, _):
        begun = anyio.current_time()
        with pytest.raises(MCPRequestError, match=THE_ANSWER):
            await connection.call_tool("echo", {})

        assert 0.15 <= anyio.current_time() - begun < 1


async def test_a_stream_that_ends_early_without_id_fails_its_call_at_once(tmp_path: Path) -> None:
    """CASES C12."""

    async def end(exchange: HttpExchange) -> None:
        await exchange.start_events()
        await exchange.send_raw(b": nothing\n\n")

    async def drop(exchange: HttpExchange) -> None:
        await exchange.start_events()
        await exchange.drop()

    for handler, error in ((end, MCPProtocolError), (drop, MCPConnectError)):
        async with connected(Custom(handler), tmp_path) as (connection, _):
            begun = anyio.current_time()
            with pytest.raises(error):
                await connection.call_tool("echo", {})
            assert anyio.current_time() - begun < 1
            await connection.ping()


@pytest.mark.parametrize(
    ("status", "body", "content_type", "message"),
    [
        (500, b"boom\n\x1b[31m", "text/plain", r"HTTP 500 Internal Server Error: boom \\x1b\[31m"),
        (401, b"", None, "HTTP 401 Unauthorized"),
        (429, b"slow down", None, "HTTP 429 Too Many Requests: slow down"),
    ],
)
async def test_a_bad_status_fails_its_call_only(
    status: int, body: bytes, content_type: str | None, message: str, tmp_path: Path
) -> None:
    async def fail(exchange: HttpExchange) -> None:
        await exchange.respond(
            status, body, content_type=content_type, headers={"Retry-After": "7"}
        )

    async with connected(Custom(fail), tmp_path) as (connection, _):
        with pytest.raises(MCPHttpError, match=message) as caught:
            await connection.call_tool("echo", {})
        assert (caught.value.status, caught.value.retry_after_s) == (status, 7.0)
        assert (caught.value.server, caught.value.stage) == ("web", "call")
        await connection.ping()


@pytest.mark.parametrize(
    ("status", "body", "content_type", "message"),
    [
        (202, b"", None, r"HTTP 202 without an answer to tools/call \(no content type\): an empty"),
        (200, b"<html>", "text/html", r"\(text/html\): <html>"),
        (200, b'{"jsonrpc":"2.0","id":1,"res', "application/json", r"\(application/json\): "),
        (200, b'{"jsonrpc":"2.0","id":99,"result":{}}', "application/json", "without an answer"),
    ],
)
async def test_an_answer_that_is_none_is_an_error_and_never_a_hang(
    status: int, body: bytes, content_type: str | None, message: str, tmp_path: Path
) -> None:
    async def fail(exchange: HttpExchange) -> None:
        await exchange.respond(status, body, content_type=content_type)

    async with connected(Custom(fail), tmp_path) as (connection, _):
        with pytest.raises(MCPProtocolError, match=message):
            await connection.call_tool("echo", {})
        await connection.ping()


async def test_a_broken_connection_fails_its_call_only(tmp_path: Path) -> None:
    async def drop(exchange: HttpExchange) -> None:
        await exchange.drop()

    async with connected(Custom(drop), tmp_path) as (connection, _):
        with pytest.raises(MCPConnectError, match=r"lost http://127\.0\.0\.1"):
            await connection.call_tool("echo", {})
        await connection.ping()
        assert not connection.closed.is_set()


async def test_an_error_answer_in_a_400_is_that_calls_answer(tmp_path: Path) -> None:
    async def refuse(exchange: HttpExchange) -> None:
        await exchange.respond_json(await answer(exchange), status=400)

    async with connected(Custom(refuse, session_id="s"), tmp_path) as (connection, server):
        with pytest.raises(MCPRequestError, match=r"the answer \(HTTP 400\) \(code -1\)"):
            await connection.call_tool("echo", {})
        assert calls(server, "initialize") == 1


async def test_an_unreachable_server_says_so_without_the_urls_secrets(tmp_path: Path) -> None:
    config = HttpServerConfig(name="web", url="http://127.0.0.1:1/mcp?key=querysecret")
    with client_options(tmp_path) as options, pytest.raises(MCPConnectError) as caught:
        async with connect_to_server(config, options, timeout_s=5):
            pass

    assert caught.value.message == "cannot reach http://127.0.0.1:1/mcp: Connection refused"
    assert (caught.value.server, caught.value.stage) == ("web", "connect")


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({"X-Key": "abc\n"}, "the header X-Key holds characters that HTTP does not allow"),
        ({"X-Key": "schl\u00fcssel"}, "the header X-Key holds characters"),
        ({"X Key": "abc"}, "not a header name: 'X Key'"),
    ],
)
async def test_a_header_that_cannot_be_sent_is_named_without_its_value(
    headers: dict[str, str], message: str, tmp_path: Path
) -> None:
    config = HttpServerConfig(name="web", url="http://127.0.0.1:1/", headers=headers)
    with client_options(tmp_path) as options, pytest.raises(MCPConnectError, match=message):
        async with connect_to_server(config, options, timeout_s=5):
            pass


@requirement("G1")
async def test_a_time_out_is_told_and_the_exchange_given_up(tmp_path: Path) -> None:
    given_up = anyio.Event()

    async def hang(exchange: HttpExchange) -> None:
        try:
            await exchange.start_events()
            while True:  # a comment now and then: an idle stream is no reason to give up
                await anyio.sleep(0.02)
                await exchange.send_raw(b": still here\n\n")
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            given_up.set()

    handler = Custom(hang)
    async with connected(handler, tmp_path, timeout_s=0.5) as (connection, _):
        with pytest.raises(MCPTimeoutError):
            await connection.call_tool("echo", {})
        cancelled = await handler.server.wait_for("notifications/cancelled")
        await given_up.wait()

    assert isinstance(cancelled, Notification)
    assert cancelled.params == {"requestId": 2, "reason": "timed out"}


async def test_what_comes_on_the_listening_stream_is_heard(tmp_path: Path) -> None:
    changed = anyio.Event()

    class Talking(StreamableMCP):
        async def on_get(self, exchange: HttpExchange) -> None:
            await exchange.start_events()
            await exchange.send_event(Notification(method="notifications/tools/list_changed"))
            await exchange.send_event(Request(id="q", method="ping"))
            await anyio.sleep_forever()

    async with connected(Talking(FakeMCPServer()), tmp_path, on_tools_changed=changed.set) as (
        _,
        server,
    ):
        await changed.wait()
        while not any(b'"id":"q","result":{}' in request.body for request in server.requests):
            server.arrived = anyio.Event()
            await server.arrived.wait()


async def test_a_session_id_of_a_refusal_is_not_adopted(tmp_path: Path) -> None:
    class Minting(StreamableMCP):
        async def on_get(self, exchange: HttpExchange) -> None:
            await exchange.respond(400, headers={"Mcp-Session-Id": "wrong"})

    async with connected(Minting(FakeMCPServer()), tmp_path) as (connection, server):
        await server.wait_for("GET")
        await connection.ping()

    assert not any("mcp-session-id" in request.headers for request in server.requests)
