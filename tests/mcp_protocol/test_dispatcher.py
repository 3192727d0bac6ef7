"""The conversation over one transport, with a hand-played other side."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest

from agent_shell.errors import (
    MCPClosedError,
    MCPConnectError,
    MCPError,
    MCPRequestError,
    MCPTimeoutError,
)
from agent_shell.json_types import JSONObject, JSONValue
from agent_shell.mcp.transports.memory import MemoryTransport, memory_transport_pair
from agent_shell.mcp_protocol.dispatcher import (
    CANCELLED,
    MAX_INCOMING,
    PROGRESS,
    Dispatcher,
)
from agent_shell.mcp_protocol.jsonrpc import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    ErrorResponse,
    Notification,
    Request,
    RequestFailed,
    Response,
    RpcError,
)
from tests.requirements import requirement

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])


async def refuse(request: Request) -> JSONValue:
    """A side that can do nothing."""
    raise RpcError(METHOD_NOT_FOUND, f"unknown method: {request.method}")


def ignore(notification: Notification) -> None:
    """A side that listens to nothing."""


@asynccontextmanager
async def conversation() -> AsyncGenerator[tuple[Dispatcher, MemoryTransport]]:
    """A dispatcher, and the other side's end of its wire."""
    here, there = memory_transport_pair()
    with anyio.fail_after(10):
        async with Dispatcher(here, on_request=refuse, on_notification=ignore) as dispatcher:
            yield dispatcher, there


async def test_answers_find_their_requests_in_any_order() -> None:
    answers: dict[str, JSONValue] = {}

    async def ask(dispatcher: Dispatcher, method: str) -> None:
        answers[method] = await dispatcher.request(method, timeout_s=5)

    async with conversation() as (dispatcher, other), anyio.create_task_group() as tasks:
        tasks.start_soon(ask, dispatcher, "first")
        tasks.start_soon(ask, dispatcher, "second")
        asked = {message.method: message for message in (await take(other), await take(other))}
        await other.send(Response(id=asked["second"].id, result=2))
        # Some servers answer with the id as a string.
        await other.send(Response(id=str(asked["first"].id), result=1))

    assert answers == {"first": 1, "second": 2}


async def take(other: MemoryTransport) -> Request:
    """The next message, which has to be a request."""
    message = await other.receive()
    assert isinstance(message, Request)
    return message


async def test_an_error_answer_raises_its_code_and_data() -> None:
    async with conversation() as (dispatcher, other), anyio.create_task_group() as tasks:

        async def answer() -> None:
            request = await take(other)
            await other.send(ErrorResponse(id=request.id, code=-5, message="no", data=[1]))

        tasks.start_soon(answer)
        with pytest.raises(MCPRequestError) as caught:
            await dispatcher.request("m", timeout_s=5)

        error = caught.value
        assert (error.message, error.code, error.data) == ("no (code -5)", -5, [1])


async def test_an_endless_error_text_is_cut_after_its_secrets_are_hidden() -> None:
    here, there = memory_transport_pair()
    messages: list[str] = []

    def redact(text: str) -> str:
        return text.replace("s3cr3t", "[hidden]")

    async def ask(dispatcher: Dispatcher) -> None:
        with pytest.raises(MCPRequestError) as caught:
            await dispatcher.request("m", timeout_s=5)
        messages.append(caught.value.message)

    with anyio.fail_after(10):
        async with (
            Dispatcher(
                here, on_request=refuse, on_notification=ignore, redact=redact
            ) as dispatcher,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(ask, dispatcher)
            request = await take(there)
            text = "x\n" * 242 + "y" * 12 + "s3cr3t" + "z" * 5_000_000
            await there.send(ErrorResponse(id=request.id, code=-1, message=text))

    assert messages == ["x " * 242 + "y" * 12 + "[hid… (code -1)"]


async def test_a_flood_of_requests_beyond_the_bound_is_a_few_lines_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    here, there = memory_transport_pair()
    seen = anyio.Event()

    async def never(request: Request) -> JSONValue:
        return await anyio.sleep_forever()

    with anyio.fail_after(10):
        async with Dispatcher(here, on_request=never, on_notification=lambda _: seen.set()):
            for number in range(MAX_INCOMING + 500):
                there.peer.put(Request(id=number, method="sampling/createMessage"))
            there.peer.put(Notification(method="last"))
            await seen.wait()

    assert [record.args for record in caplog.records] == [
        ("sampling/createMessage", 1),
        ("sampling/createMessage", 10),
        ("sampling/createMessage", 100),
    ]


async def test_an_error_without_id_is_the_only_pending_requests() -> None:
    async with conversation() as (dispatcher, other), anyio.create_task_group() as tasks:

        async def answer() -> None:
            await take(other)
            await other.send(ErrorResponse(id=None, code=-32700, message="unreadable"))

        tasks.start_soon(answer)
        with pytest.raises(MCPRequestError, match="unreadable"):
            await dispatcher.request("m", timeout_s=5)


@requirement("G1")
async def test_a_time_out_tells_the_other_side_which_request_and_a_late_answer_is_ignored() -> None:
    async with conversation() as (dispatcher, other):
        with pytest.raises(MCPTimeoutError, match=r"no answer to slow within 0\.05 s"):
            await dispatcher.request("slow", timeout_s=0.05)
        request = await take(other)
        assert await other.receive() == Notification(
            method=CANCELLED, params={"requestId": request.id, "reason": "timed out"}
        )
        await other.send(Response(id=request.id, result="too late"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer_next, other, "in time")
            assert await dispatcher.request("next", timeout_s=5) == "in time"


async def answer_next(other: MemoryTransport, result: JSONValue) -> None:
    """Answer the next request."""
    request = await take(other)
    await other.send(Response(id=request.id, result=result))


@requirement("G1")
async def test_a_cancelled_caller_tells_the_other_side_and_stays_cancelled() -> None:
    is_cancelled = False
    scope = anyio.CancelScope()
    async with conversation() as (dispatcher, other), anyio.create_task_group() as tasks:

        async def call() -> None:
            nonlocal is_cancelled
            with scope:
                try:
                    await dispatcher.request("slow", timeout_s=5)
                except anyio.get_cancelled_exc_class():
                    is_cancelled = True
                    raise

        tasks.start_soon(call)
        request = await take(other)
        scope.cancel()
        assert await other.receive() == Notification(
            method=CANCELLED, params={"requestId": request.id, "reason": "cancelled by the user"}
        )
    assert is_cancelled


@requirement("G1")
async def test_a_request_that_may_not_be_cancelled_is_given_up_in_silence() -> None:
    async with conversation() as (dispatcher, other):
        with pytest.raises(MCPTimeoutError):
            await dispatcher.request("initialize", timeout_s=0.05, is_cancellable=False)
        await dispatcher.notify("next")

        assert await take(other) == Request(id=1, method="initialize")
        assert await other.receive() == Notification(method="next")


async def test_progress_starts_the_idle_time_out_anew_but_not_the_total() -> None:
    reports: list[JSONObject] = []
    async with conversation() as (dispatcher, other), anyio.create_task_group() as tasks:

        async def report_for_ever() -> None:
            request = await take(other)
            assert request.params == {"_meta": {"progressToken": request.id}}
            while True:
                await anyio.sleep(0.05)
                await other.send(
                    Notification(method=PROGRESS, params={"progressToken": request.id})
                )

        tasks.start_soon(report_for_ever)
        started = anyio.current_time()
        with pytest.raises(MCPTimeoutError, match=r"within 0\.6 s"):
            await dispatcher.request(
                "long", timeout_s=0.3, max_total_s=0.6, on_progress=reports.append
            )
        tasks.cancel_scope.cancel()
        assert anyio.current_time() - started >= 0.6

    assert reports[0] == {"progressToken": 1}


async def test_progress_for_an_unknown_or_settled_token_is_ignored() -> None:
    async with conversation() as (dispatcher, other), anyio.create_task_group() as tasks:
        for token in (99, "x", None, [1]):
            await other.send(Notification(method=PROGRESS, params={"progressToken": token}))
        tasks.start_soon(answer_next, other, 1)

        assert await dispatcher.request("m", timeout_s=5, on_progress=lambda _: None) == 1


async def test_a_handler_may_ask_back_without_a_deadlock() -> None:
    here, there = memory_transport_pair()

    async def ask_back(request: Request) -> JSONValue:
        return {"asked": await dispatcher.request("back", timeout_s=5)}

    dispatcher = Dispatcher(here, on_request=ask_back, on_notification=ignore)
    with anyio.fail_after(10):
        async with dispatcher:
            await there.send(Request(id="their-id", method="m"))
            back = await take(there)
            await there.send(Response(id=back.id, result="yes"))

            assert await there.receive() == Response(id="their-id", result={"asked": "yes"})


async def test_what_the_other_side_asks_in_vain_gets_an_error_of_the_right_code() -> None:
    here, there = memory_transport_pair()

    async def handle(request: Request) -> JSONValue:
        if request.method == "broken":
            raise ValueError("secret details")
        return await refuse(request)

    with anyio.fail_after(10):
        async with Dispatcher(here, on_request=handle, on_notification=ignore):
            await there.send(Request(id=1, method="unknown"))
            unknown = await there.receive()
            await there.send(Request(id=2, method="broken"))
            broken = await there.receive()

    assert unknown == ErrorResponse(id=1, code=METHOD_NOT_FOUND, message="unknown method: unknown")
    assert broken == ErrorResponse(id=2, code=INTERNAL_ERROR, message="internal error")


async def test_the_other_side_can_cancel_what_it_asked() -> None:
    here, there = memory_transport_pair()
    was_cancelled = anyio.Event()

    async def work(request: Request) -> JSONValue:
        if request.method == "ping":
            return {}
        try:
            await anyio.sleep_forever()
        finally:
            was_cancelled.set()

    with anyio.fail_after(10):
        async with Dispatcher(here, on_request=work, on_notification=ignore):
            await there.send(Request(id=1, method="work"))
            await there.send(Request(id=2, method="ping"))
            assert await there.receive() == Response(id=2, result={})
            await there.send(Notification(method=CANCELLED, params={"requestId": 1}))
            await was_cancelled.wait()
            await there.send(Request(id=3, method="ping"))

            # No answer to 1: whoever cancels does not wait for one.
            assert await there.receive() == Response(id=3, result={})


async def test_a_failing_notification_handler_does_not_end_the_reader() -> None:
    here, there = memory_transport_pair()

    def fail(notification: Notification) -> None:
        raise ValueError(notification.method)

    with anyio.fail_after(10):
        async with (
            Dispatcher(here, on_request=refuse, on_notification=fail) as dispatcher,
            anyio.create_task_group() as tasks,
        ):
            await there.send(Notification(method="bad"))
            tasks.start_soon(answer_next, there, "alive")

            assert await dispatcher.request("m", timeout_s=5) == "alive"


@requirement("G5")
async def test_the_connections_end_fails_every_request_at_once_and_not_the_body() -> None:
    errors: list[MCPError] = []
    async with conversation() as (dispatcher, other):

        async def ask() -> None:
            try:
                await dispatcher.request("m", timeout_s=None)
            except MCPClosedError as error:
                errors.append(error)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            tasks.start_soon(ask)
            await take(other)
            await take(other)
            other.close("the server exited with status 3")
        await dispatcher.closed.wait()
        with pytest.raises(MCPClosedError, match="exited with status 3"):
            await dispatcher.request("m", timeout_s=5)
        with pytest.raises(MCPClosedError, match="exited with status 3"):
            await dispatcher.notify("m")

    assert [error.message for error in errors] == ["the server exited with status 3"] * 2
    assert errors[0] is not errors[1]


async def test_leaving_fails_what_others_still_wait_for() -> None:
    caught: list[str] = []
    here, there = memory_transport_pair()
    dispatcher = Dispatcher(here, on_request=refuse, on_notification=ignore)

    async def ask() -> None:
        try:
            await dispatcher.request("m", timeout_s=None)
        except MCPClosedError as error:
            caught.append(error.message)

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks, dispatcher:
            tasks.start_soon(ask)
            await take(there)

    assert caught == ["the connection was closed"]


async def test_one_failed_exchange_leaves_the_others() -> None:
    here, there = memory_transport_pair()

    async def fail_first() -> None:
        request = await take(there)
        here.fail_request(RequestFailed(id=request.id, error=MCPConnectError("connection reset")))
        await answer_next(there, "fine")

    with anyio.fail_after(10):
        async with (
            Dispatcher(here, on_request=refuse, on_notification=ignore) as dispatcher,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(fail_first)
            with pytest.raises(MCPConnectError, match="connection reset"):
                await dispatcher.request("first", timeout_s=5)
            assert await dispatcher.request("second", timeout_s=5) == "fine"


async def test_an_error_of_the_body_comes_out_as_it_is() -> None:
    with pytest.raises(MCPTimeoutError, match="mine"):
        async with conversation():
            raise MCPTimeoutError("mine")


async def test_a_flood_of_messages_lets_other_tasks_run() -> None:
    async with conversation() as (dispatcher, other):
        turns = 0

        async def count() -> None:
            nonlocal turns
            while True:
                await anyio.lowlevel.checkpoint()
                turns += 1

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(count)
            for _ in range(200):
                other.peer.put(Notification(method="flood"))
            tasks.start_soon(answer_next, other, 1)
            await dispatcher.request("m", timeout_s=5)
            tasks.cancel_scope.cancel()

    assert turns >= 100
