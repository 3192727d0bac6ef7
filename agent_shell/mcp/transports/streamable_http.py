"""Streamable HTTP (2025-03-26 to 2025-11-25): POST each message, answers as JSON or as events."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import anyio
import httpx
from anyio.abc import TaskGroup

from agent_shell.discovery.server_config import HttpServerConfig
from agent_shell.errors import (
    MCPClosedError,
    MCPConnectError,
    MCPError,
    MCPHttpError,
    MCPProtocolError,
    MCPRequestError,
)
from agent_shell.mcp.transports.http_answers import (
    Answer,
    means_lost_session,
    own_error,
    session_id,
    take_body,
    with_id,
)
from agent_shell.mcp.transports.http_client import (
    HttpClient,
    media_type,
    open_http_client,
    read_body,
)
from agent_shell.mcp.transports.http_errors import http_errors_as_ours, status_error
from agent_shell.mcp.transports.remote import RemoteTransport
from agent_shell.mcp.transports.sse_events import SSEParser
from agent_shell.mcp.transports.take_messages import take_messages
from agent_shell.mcp.transports.wire_log import WireLog
from agent_shell.mcp_protocol.background import background_tasks
from agent_shell.mcp_protocol.dispatcher import CANCELLED
from agent_shell.mcp_protocol.handshake import INITIALIZE, INITIALIZED
from agent_shell.mcp_protocol.jsonrpc import (
    ErrorResponse,
    Incoming,
    Message,
    Notification,
    Request,
    RequestFailed,
    RequestId,
    encode,
    same_id,
)
from agent_shell.mcp_protocol.messages import read_initialize_result
from agent_shell.mcp_protocol.one_line import MAX_ERROR_TEXT_CHARS

DELIVERY_S = 10.0
"""How long a notification's sender waits for "202": order matters, but not for ever."""
CLOSE_S = 1.5
"""For DELETE of the session; a server that is slow about that keeps nobody from leaving."""
LINGER_S = 1.0
"""After its answer a stream is read to its end, so that the connection can be used again."""
DEFAULT_RETRY_S = 1.0
MAX_RETRY_S = 60.0
MAX_FRUITLESS_RESUMES = 5

EVENT_STREAM = "text/event-stream"
JSON = "application/json"

Sink = Callable[[Incoming], None]


@dataclass(frozen=True, slots=True, eq=False)
class _Session:
    """What the server gave us to name this conversation; None where it needs no name."""

    id: str | None = None


@dataclass(slots=True)
class _Cursor:
    """How far a stream has been read, over all its connections."""

    last_id: str | None = None
    retry_s: float = DEFAULT_RETRY_S


class StreamableHttpTransport(RemoteTransport):
    """One server. Each exchange may fail alone; the connection ends only when we close it."""

    def __init__(self, http: HttpClient, tasks: TaskGroup, log: WireLog) -> None:
        super().__init__()
        self._http = http
        self._tasks = tasks
        self._log = log
        self._session = _Session()
        self._version: str | None = None
        self._greeting: Request | None = None
        self._renewals = 0
        self._renewing = anyio.Lock()
        self._exchanges: dict[RequestId, anyio.CancelScope] = {}
        self._listening = anyio.CancelScope()

    # --- the Transport Protocol

    async def send(self, message: Message) -> None:
        """POST one message: a request in the background, others until the server has them."""
        if self._inbox.closed_error is not None:
            raise MCPClosedError(self._inbox.closed_error.message)
        if isinstance(message, Request):
            if message.method == INITIALIZE:
                self._greeting = message
            self._exchanges[message.id] = scope = anyio.CancelScope()
            self._tasks.start_soon(self._exchange, message, scope)
            return
        delivered = anyio.Event()
        self._tasks.start_soon(self._deliver, message, delivered)
        with anyio.move_on_after(DELIVERY_S):
            await delivered.wait()

    def handshake_done(self, protocol_version: str) -> None:
        """From now on MCP-Protocol-Version names this revision."""
        self._version = protocol_version

    async def close(self) -> None:
        """Give the session back."""
        self._inbox.close(MCPClosedError("the connection was closed"))
        self._log.end_burst()
        if self._session.id is not None:
            try:
                async with self._http.stream("DELETE", self._headers(self._session)):
                    pass  # 405 means that the server ends sessions by itself
            except MCPError as error:
                self._log.write("wire", f"DELETE of the session: {error}")

    # --- sending

    async def _deliver(self, message: Message, delivered: anyio.Event) -> None:
        """POST what needs no answer; any 2xx is well, whatever its body says."""
        try:
            async with self._http.stream(
                "POST", self._headers(self._session), content=encode(message)
            ) as response:
                body = await read_body(response)
                if not response.is_success:
                    raise status_error(response, body, self._log.redact)
        except MCPError as error:
            self._log.write("wire", f"a message was refused: {error}")
        finally:
            delivered.set()
        if isinstance(message, Notification):
            if message.method == INITIALIZED:
                self._tasks.start_soon(self._listen)
            elif message.method == CANCELLED:
                identifier = (message.params or {}).get("requestId")
                if isinstance(identifier, int | str) and identifier in self._exchanges:
                    self._exchanges[identifier].cancel()

    async def _exchange(self, request: Request, scope: anyio.CancelScope) -> None:
        """One request from POST to answer; its failure is its own."""
        try:
            with scope:
                try:
                    await self._ask(request)
                except MCPError as error:
                    self._inbox.put(RequestFailed(id=request.id, error=error))
                except Exception as error:  # noqa: BLE001 (one exchange must not end the others)
                    failure = MCPProtocolError(f"the exchange failed: {error!r}")
                    self._inbox.put(RequestFailed(id=request.id, error=failure))
        finally:
            self._exchanges.pop(request.id, None)

    async def _ask(self, request: Request) -> None:
        session = self._session
        try:
            await self._post(request, session, self._inbox.put)
        except MCPHttpError as error:
            if request.method == INITIALIZE or not means_lost_session(
                error, has_session=session.id is not None
            ):
                raise
            self._log.write("wire", f"the session was lost ({error}); opening a new one")
            await self._renew(session)
            await self._post(request, self._session, self._inbox.put)

    async def _post(self, request: Request, session: _Session, sink: Sink) -> None:
        """POST a request and hand what comes to `sink`, until its answer was among it."""
        cursor = _Cursor()
        is_greeting = request.method == INITIALIZE
        headers = self._headers(session, is_greeting=is_greeting)
        async with self._http.stream("POST", headers, content=encode(request)) as response:
            if not response.is_success:
                body = await read_body(response)
                if answer := own_error(body, request, response.status_code):
                    sink(answer)
                    return
                raise status_error(response, body, self._log.redact)
            if is_greeting:
                self._session = _Session(session_id(response))
            if media_type(response) != EVENT_STREAM:
                body = await read_body(response)
                take_body(response, body, request, sink, self._log.redact)
                return
            if await self._read_events(response, cursor, request.id, sink):
                return
        await self._resume(request, session, cursor, sink)

    # --- reading

    async def _read_events(
        self, response: httpx.Response, cursor: _Cursor, wanted: RequestId | None, sink: Sink
    ) -> bool:
        """Take messages until the stream ends; True if the wanted answer was among them.

        A stream that breaks off has ended, too: its cursor says whether it can be resumed.
        """
        parser = SSEParser()
        is_answered = False
        try:
            with anyio.CancelScope() as scope, http_errors_as_ours(str(response.url)):
                async for chunk in response.aiter_bytes():
                    for event in parser.feed(chunk):
                        if event.event == "message" and event.data:
                            is_answered |= self._take_event(event.data, wanted, sink)
                    cursor.last_id = parser.last_event_id or cursor.last_id
                    if parser.retry_ms is not None:
                        cursor.retry_s = parser.retry_ms / 1000
                    if is_answered and scope.deadline == float("inf"):
                        scope.deadline = anyio.current_time() + LINGER_S
                    await self._inbox.wait_for_room()
        except MCPConnectError:
            if not is_answered and cursor.last_id is None and wanted is not None:
                raise
        return is_answered

    def _take_event(self, data: bytes | bytearray, wanted: RequestId | None, sink: Sink) -> bool:
        is_answered = False

        def hand_on(message: Incoming) -> None:
            nonlocal is_answered
            if wanted is not None and isinstance(message, Answer):
                is_answered |= message.id is None or same_id(message.id, wanted)
                message = with_id(message, wanted)
            sink(message)

        take_messages(data, self._log, hand_on)
        return is_answered

    async def _resume(
        self, request: Request, session: _Session, cursor: _Cursor, sink: Sink
    ) -> None:
        """GET the rest of a stream that ended before the answer (2025-11-25, resumability)."""
        fruitless = 0
        while cursor.last_id is not None and fruitless < MAX_FRUITLESS_RESUMES:
            seen = cursor.last_id
            await anyio.sleep(cursor.retry_s)
            headers = {**self._headers(session), "Accept": EVENT_STREAM, "Last-Event-ID": seen}
            try:
                async with self._http.stream("GET", headers) as response:
                    if not response.is_success or media_type(response) != EVENT_STREAM:
                        body = await read_body(response)
                        raise status_error(response, body, self._log.redact)
                    if await self._read_events(response, cursor, request.id, sink):
                        return
            except MCPConnectError as error:
                self._log.write("wire", f"cannot resume yet: {error}")
            fruitless = fruitless + 1 if cursor.last_id == seen else 0
        raise MCPProtocolError(f"the answer to {request.method} broke off: its stream has ended")

    async def _listen(self) -> None:
        """The optional stream for what the server says unasked. A server without one has none."""
        self._listening.cancel()
        self._listening = scope = anyio.CancelScope()
        cursor = _Cursor()
        pause_s = DEFAULT_RETRY_S
        with scope:
            while True:
                headers = {**self._headers(self._session), "Accept": EVENT_STREAM}
                if cursor.last_id is not None:
                    headers["Last-Event-ID"] = cursor.last_id
                started = anyio.current_time()
                try:
                    async with self._http.stream("GET", headers) as response:
                        if not response.is_success or media_type(response) != EVENT_STREAM:
                            return
                        await self._read_events(response, cursor, None, self._inbox.put)
                except MCPError as error:
                    self._log.write("wire", f"the listening stream: {error}")
                # A stream that ends at once is asked for less and less often.
                is_good = anyio.current_time() - started > MAX_RETRY_S
                pause_s = DEFAULT_RETRY_S if is_good else min(pause_s * 2, MAX_RETRY_S)
                await anyio.sleep(max(cursor.retry_s, pause_s))

    # --- the session

    async def _renew(self, lost: _Session) -> None:
        """Greet the server anew, once for all who lost this session, and without its id."""
        async with self._renewing:
            if self._session is not lost:
                return
            if self._greeting is None:
                raise MCPClosedError("the session was lost")
            self._renewals += 1
            greeting = replace(self._greeting, id=f"renewal-{self._renewals}")
            answers: list[Answer] = []

            def keep(message: Incoming) -> None:
                if isinstance(message, Answer):
                    answers.append(message)
                else:
                    self._inbox.put(message)

            await self._post(greeting, _Session(), keep)
            answer = answers[-1]
            if isinstance(answer, RequestFailed):
                raise answer.error
            if isinstance(answer, ErrorResponse):
                self._session = _Session()
                said = self._log.redact.excerpt(answer.message, MAX_ERROR_TEXT_CHARS)
                raise MCPRequestError(
                    f"the session was lost, and a new one refused: {said}",
                    code=answer.code,
                )
            self._version = read_initialize_result(answer.result).protocol_version
            await self._deliver(Notification(method=INITIALIZED), anyio.Event())

    def _headers(self, session: _Session, *, is_greeting: bool = False) -> dict[str, str]:
        headers = {"Accept": f"{JSON}, {EVENT_STREAM}", "Content-Type": JSON}
        if session.id is not None:
            headers["Mcp-Session-Id"] = session.id
        if self._version is not None and not is_greeting:
            headers["MCP-Protocol-Version"] = self._version
        return headers


@asynccontextmanager
async def open_streamable_http(
    config: HttpServerConfig, *, log: WireLog
) -> AsyncGenerator[StreamableHttpTransport]:
    """A transport to this endpoint; nothing is sent before the first message.

    Raises MCPConnectError for a URL or headers that can't be used.
    """
    async with open_http_client(config.url, config.headers) as http:
        transport: StreamableHttpTransport | None = None
        try:
            async with background_tasks() as tasks:
                transport = StreamableHttpTransport(http, tasks, log)
                yield transport
        finally:
            if transport is not None:
                with anyio.move_on_after(CLOSE_S, shield=True):
                    await transport.close()
