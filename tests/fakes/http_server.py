"""A small HTTP/1.1 server on loopback whose every answer a test writes itself."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeAlias

import anyio
from anyio.abc import SocketAttribute, SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from agent_shell.json_types import JSONValue
from agent_shell.mcp_protocol.background import background_tasks
from agent_shell.mcp_protocol.jsonrpc import (
    ErrorResponse,
    Message,
    Notification,
    Request,
    Response,
    RpcError,
    decode,
    encode,
)
from tests.fakes.mcp_server import FakeMCPServer


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """What came: header names in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def message(self) -> Message:
        """The one JSON-RPC message of the body."""
        (message,) = decode(self.body).messages
        return message


class HttpExchange:
    """One request, and the ways to answer it."""

    def __init__(self, request: HttpRequest, stream: SocketStream) -> None:
        self.request = request
        self._stream = stream
        self.is_chunked = False

    async def respond(
        self,
        status: int,
        body: bytes = b"",
        *,
        content_type: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """A whole answer."""
        lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}"]
        if content_type is not None:
            lines.append(f"Content-Type: {content_type}")
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        await self._stream.send("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    async def respond_json(
        self, message: Message, *, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        """A JSON-RPC message as JSON."""
        await self.respond(
            status, encode(message), content_type="application/json", headers=headers
        )

    async def start_events(
        self,
        *,
        content_type: str = "text/event-stream",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """The head of an event stream; it ends when the handler returns."""
        lines = ["HTTP/1.1 200 OK", f"Content-Type: {content_type}", "Transfer-Encoding: chunked"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        await self._stream.send("\r\n".join(lines).encode() + b"\r\n\r\n")
        self.is_chunked = True

    async def send_raw(self, chunk: bytes) -> None:
        """Bytes of an event stream."""
        await self._stream.send(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")

    async def send_event(
        self, message: Message | None = None, *, event_id: str | None = None
    ) -> None:
        """One event; without a message a priming one."""
        text = b"" if event_id is None else f"id: {event_id}\n".encode()
        text += b"data: " + (b"" if message is None else encode(message)) + b"\n\n"
        await self.send_raw(text)

    async def drop(self) -> None:
        """Break the connection off."""
        self.is_chunked = False
        await self._stream.aclose()


Handler: TypeAlias = Callable[[HttpExchange], Awaitable[None]]


class FakeHttpServer:
    """What was asked, in order, and where."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.requests: list[HttpRequest] = []
        self.arrived = anyio.Event()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def count(self, method: str) -> int:
        """How many requests of an HTTP method came."""
        return sum(request.method == method for request in self.requests)

    async def wait_for(self, method: str) -> HttpRequest:
        """The first request of an HTTP method, as soon as it has come."""
        while True:
            for request in self.requests:
                if request.method == method:
                    return request
            self.arrived = anyio.Event()
            await self.arrived.wait()


@asynccontextmanager
async def serve_http(handler: Handler) -> AsyncGenerator[FakeHttpServer]:
    """Answer every request with `handler`, on a free port of 127.0.0.1."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
    server = FakeHttpServer(listener.extra(SocketAttribute.local_port))

    async def on_connection(stream: SocketStream) -> None:
        try:
            async with stream:
                reader = BufferedByteReceiveStream(stream)
                while (request := await _read_request(reader)) is not None:
                    server.requests.append(request)
                    server.arrived.set()
                    exchange = HttpExchange(request, stream)
                    await handler(exchange)
                    if exchange.is_chunked:
                        await stream.send(b"0\r\n\r\n")
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream):
            return

    async with listener, background_tasks() as tasks:
        tasks.start_soon(listener.serve, on_connection)
        yield server


async def _read_request(reader: BufferedByteReceiveStream) -> HttpRequest | None:
    try:
        head = (await reader.receive_until(b"\r\n\r\n", 65536)).decode("latin-1")
    except anyio.IncompleteRead:
        return None
    first, *lines = head.split("\r\n")
    method, path, _ = first.split(" ")
    headers = {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    body = await reader.receive_exactly(int(headers.get("content-length", "0")))
    return HttpRequest(method=method, path=path, headers=headers, body=body)


async def answer_of(server: FakeMCPServer, request: Request) -> Response | ErrorResponse:
    """What the server in memory says, as a message."""
    try:
        result: JSONValue = await server.answer(request)
    except RpcError as error:
        return ErrorResponse(id=request.id, code=error.code, message=error.message)
    return Response(id=request.id, result=result)


class StreamableMCP:
    """A well-behaved streamable HTTP server; tests override `on_post`, `on_get`, `on_delete`."""

    def __init__(self, server: FakeMCPServer, *, session_id: str | None = None) -> None:
        self.server = server
        self.session_id = session_id
        self.use_events = False

    async def __call__(self, exchange: HttpExchange) -> None:
        match exchange.request.method:
            case "POST":
                await self.on_post(exchange)
            case "GET":
                await self.on_get(exchange)
            case _:
                await self.on_delete(exchange)

    async def on_post(self, exchange: HttpExchange) -> None:
        message = exchange.request.message
        if not isinstance(message, Request):
            if isinstance(message, Notification):
                self.server.note(message)
            await exchange.respond(202)
            return
        answer = await answer_of(self.server, message)
        headers: dict[str, str] = {}
        if message.method == "initialize" and self.session_id is not None:
            headers["Mcp-Session-Id"] = self.session_id
        if self.use_events:
            await exchange.start_events(headers=headers)
            await exchange.send_event(answer)
        else:
            await exchange.respond_json(answer, headers=headers)

    async def on_get(self, exchange: HttpExchange) -> None:
        await exchange.respond(405)

    async def on_delete(self, exchange: HttpExchange) -> None:
        await exchange.respond(200)
