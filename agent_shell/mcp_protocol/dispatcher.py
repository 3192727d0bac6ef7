"""Requests and answers over one Transport: ids, pending replies, time-outs, cancellation."""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Self, TypeAlias

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

from agent_shell.errors import (
    MCPClosedError,
    MCPError,
    MCPRequestError,
    MCPTimeoutError,
)
from agent_shell.json_types import JSONObject, JSONValue, as_object
from agent_shell.mcp_protocol.background import background_tasks
from agent_shell.mcp_protocol.jsonrpc import (
    INTERNAL_ERROR,
    ErrorResponse,
    Incoming,
    Notification,
    Request,
    RequestFailed,
    RequestId,
    Response,
    RpcError,
)
from agent_shell.mcp_protocol.one_line import one_line
from agent_shell.mcp_protocol.transport import Transport

CANCELLED = "notifications/cancelled"
PROGRESS = "notifications/progress"
# The two notifications that are part of every exchange; all else is its users' business.

CANCEL_NOTICE_S = 0.5
"""How long telling the other side "no longer wanted" may hold up the one who gave up."""

MAX_INCOMING = 1000
"""Requests of the other side under work at once; a flood beyond it is dropped."""

RequestHandler: TypeAlias = Callable[[Request], Awaitable[JSONValue]]
NotificationHandler: TypeAlias = Callable[[Notification], Awaitable[None] | None]
ProgressHandler: TypeAlias = Callable[[JSONObject], None]

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class _Pending:
    """One request that waits for its answer."""

    method: str
    scope: anyio.CancelScope
    idle_s: float | None
    latest: float
    on_progress: ProgressHandler | None
    answered: anyio.Event = field(default_factory=anyio.Event)
    result: JSONValue = None
    error: MCPError | None = None

    def settle(self, result: JSONValue = None, *, error: MCPError | None = None) -> None:
        """The answer, good or bad. Only the first counts."""
        if not self.answered.is_set():
            self.result, self.error = result, error
            self.answered.set()


class Dispatcher(anyio.AsyncContextManagerMixin):
    """The conversation over one transport, which it reads but does not close.

    `on_request` answers the other side's requests, each in a task of its own, so it may make
    requests itself; it raises RpcError to refuse. `on_notification` is called in the order of
    arrival; what it returns, if anything, is awaited in a task of its own. `redact` takes out of
    the other side's error texts what may not be shown, before they are cut to size.
    The connection's end never raises into the body: `closed` is set and requests fail.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        on_request: RequestHandler,
        on_notification: NotificationHandler,
        redact: Callable[[str], str] = str,
    ) -> None:
        self.closed = anyio.Event()
        self.closed_error: MCPError | None = None
        self._transport = transport
        self._on_request = on_request
        self._on_notification = on_notification
        self._redact = redact
        self._dropped = 0
        self._last_id = 0
        self._pending: dict[int, _Pending] = {}
        self._incoming: dict[RequestId, anyio.CancelScope] = {}

    @asynccontextmanager
    async def __asynccontextmanager__(self) -> AsyncGenerator[Self]:
        try:
            async with background_tasks() as tasks:
                tasks.start_soon(self._read, tasks)
                yield self
        finally:
            self._close(MCPClosedError("the connection was closed"))

    async def request(
        self,
        method: str,
        params: JSONObject | None = None,
        *,
        timeout_s: float | None,
        max_total_s: float | None = None,
        on_progress: ProgressHandler | None = None,
        is_cancellable: bool = True,
    ) -> JSONValue:
        """Ask, and wait for the answer.

        `timeout_s` (seconds; None or 0: no limit) starts anew with each progress report,
        `max_total_s` never does. With `on_progress` the other side is asked for reports.
        Who gives up, by time-out or by cancellation, tells the other side, unless
        `is_cancellable` is false. Raises MCPRequestError for an error answer, MCPTimeoutError,
        MCPClosedError, and whatever error the transport has for this one exchange.
        """
        self._check_open()
        self._last_id += 1
        identifier = self._last_id
        if on_progress is not None:
            params = _with_progress_token(params, identifier)
        now = anyio.current_time()
        latest = now + max_total_s if max_total_s else float("inf")
        scope = anyio.CancelScope()
        pending = _Pending(method, scope, timeout_s or None, latest, on_progress)
        scope.deadline = _deadline(pending, now)
        with scope:
            self._pending[identifier] = pending
            try:
                await self._transport.send(Request(id=identifier, method=method, params=params))
                await pending.answered.wait()
            except anyio.get_cancelled_exc_class():
                if is_cancellable and not pending.answered.is_set():
                    await self._tell_cancelled(identifier, timed_out=scope.cancel_called)
                raise
            finally:
                del self._pending[identifier]
        if not pending.answered.is_set():
            limit = max_total_s if anyio.current_time() >= latest else timeout_s
            raise MCPTimeoutError(f"no answer to {method} within {limit or 0:g} s")
        if pending.error is not None:
            raise pending.error
        return pending.result

    async def notify(self, method: str, params: JSONObject | None = None) -> None:
        """Tell, without an answer. Raises MCPClosedError."""
        self._check_open()
        await self._transport.send(Notification(method=method, params=params))

    # --- the end

    def _check_open(self) -> None:
        if self.closed_error is not None:
            raise _again(self.closed_error)

    def _close(self, error: MCPError) -> None:
        if self.closed_error is None:
            self.closed_error = error
            self.closed.set()
        for pending in self._pending.values():
            pending.settle(error=_again(self.closed_error))

    async def _tell_cancelled(self, identifier: int, *, timed_out: bool) -> None:
        """Shielded, for the caller is being cancelled; bounded, for the other side may be deaf."""
        reason = "timed out" if timed_out else "cancelled by the user"
        notice = Notification(method=CANCELLED, params={"requestId": identifier, "reason": reason})
        with anyio.move_on_after(CANCEL_NOTICE_S, shield=True):
            try:
                await self._transport.send(notice)
            except MCPError:
                _log.debug("no cancellation notice: the connection is gone")

    # --- reading

    async def _read(self, tasks: TaskGroup) -> None:
        """Take messages until the transport says there are no more."""
        while True:
            try:
                message = await self._transport.receive()
            except MCPError as error:
                self._close(error)
                return
            except Exception as error:  # noqa: BLE001 (a broken transport ends only itself)
                _log.exception("the transport failed")
                self._close(MCPClosedError(f"the transport failed: {error}"))
                return
            try:
                self._take(message, tasks)
            except Exception:  # noqa: BLE001 (one bad message never ends the reader)
                _log.exception("a message was dropped")
            # A flood of ready messages must not keep all other tasks waiting.
            await anyio.lowlevel.checkpoint()

    def _take(self, message: Incoming, tasks: TaskGroup) -> None:
        match message:
            case Response(id=identifier, result=result):
                if pending := self._find(identifier):
                    pending.settle(result)
            case ErrorResponse(id=identifier, code=code, message=text, data=data):
                shown = one_line(self._redact(text))
                error = MCPRequestError(f"{shown} (code {code})", code=code, data=data)
                if pending := self._find(identifier):
                    pending.settle(error=error)
            case RequestFailed(id=identifier, error=failure):
                if pending := self._find(identifier):
                    pending.settle(error=failure)
            case Request(id=identifier):
                if len(self._incoming) >= MAX_INCOMING or identifier in self._incoming:
                    self._note_dropped(message)
                    return
                self._incoming[identifier] = scope = anyio.CancelScope()
                tasks.start_soon(self._answer, message, scope)
            case Notification(method=method, params=params) if method == PROGRESS:
                self._note_progress(params or {})
            case Notification(method=method, params=params) if method == CANCELLED:
                identifier = (params or {}).get("requestId")
                if isinstance(identifier, int | str) and identifier in self._incoming:
                    self._incoming[identifier].cancel()
            case Notification():
                later = self._on_notification(message)
                if later is not None:
                    tasks.start_soon(_quietly, later)

    def _note_dropped(self, request: Request) -> None:
        """A flood is worth a few lines, not a line each: they come at 1, 10, 100, 1000 …"""
        self._dropped += 1
        if self._dropped == 10 ** (len(str(self._dropped)) - 1):
            method = one_line(request.method, 100)
            _log.warning("a request is dropped: %s (%d so far)", method, self._dropped)

    def _find(self, identifier: RequestId | None) -> _Pending | None:
        """The request an answer belongs to. Late and unknown answers belong to none.

        An error without id can only mean a request it could not read: where just one waits,
        it is that one.
        """
        if identifier is None:
            return next(iter(self._pending.values())) if len(self._pending) == 1 else None
        if isinstance(identifier, str):
            if not identifier.isascii() or not identifier.isdecimal() or len(identifier) > 18:
                return None
            identifier = int(identifier)
        return self._pending.get(identifier)

    def _note_progress(self, params: JSONObject) -> None:
        token = params.get("progressToken")
        pending = self._find(token) if isinstance(token, int | str) else None
        if pending is None or pending.on_progress is None or pending.answered.is_set():
            return
        pending.scope.deadline = _deadline(pending, anyio.current_time())
        pending.on_progress(params)

    # --- answering

    async def _answer(self, request: Request, scope: anyio.CancelScope) -> None:
        try:
            with scope:
                answer = await self._work_on(request)
                try:
                    await self._transport.send(answer)
                except MCPError:
                    _log.debug("no answer to %s: the connection is gone", request.method)
                except TypeError:
                    _log.exception("an answer to %s is not JSON", request.method)
        finally:
            self._incoming.pop(request.id, None)

    async def _work_on(self, request: Request) -> Response | ErrorResponse:
        try:
            return Response(id=request.id, result=await self._on_request(request))
        except RpcError as error:
            return ErrorResponse(
                id=request.id, code=error.code, message=error.message, data=error.data
            )
        except Exception:  # noqa: BLE001 (the other side gets an answer, and no traceback)
            _log.exception("cannot answer %s", request.method)
            return ErrorResponse(id=request.id, code=INTERNAL_ERROR, message="internal error")


async def _quietly(later: Awaitable[Any]) -> None:
    try:
        await later
    except Exception:  # noqa: BLE001 (it must not take the conversation with it)
        _log.exception("a notification handler failed")


def _deadline(pending: _Pending, now: float) -> float:
    idle = now + pending.idle_s if pending.idle_s else float("inf")
    return min(idle, pending.latest)


def _with_progress_token(params: JSONObject | None, token: int) -> JSONObject:
    params = params or {}
    meta = as_object(params.get("_meta")) or {}
    return {**params, "_meta": {**meta, "progressToken": token}}


def _again(error: MCPError) -> MCPError:
    """The same error for one more waiter: a raised exception keeps the first one's traceback."""
    return MCPClosedError(error.message, hint=error.hint, server=error.server, stage=error.stage)
