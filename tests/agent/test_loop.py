"""Ask, run, ask again; whatever ends a turn leaves a history that is valid."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio
import pytest

from agent_shell.agent.events import (
    AgentEvent,
    AssistantTextDone,
    ToolCallFinished,
    ToolCallProgressed,
    ToolCallStarted,
    TurnFinished,
)
from agent_shell.agent.loop import Turn, run_turn
from agent_shell.agent.tool_calls import Refusal, ToolRunner
from agent_shell.errors import LLMError
from agent_shell.json_types import JSONObject
from agent_shell.llm.messages import (
    AssistantMessage,
    ChatMessage,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agent_shell.llm.provider import MessageDone, TextPiece, ToolCallPiece, Usage
from agent_shell.llm.scripted import ScriptedProvider, ScriptStep, answer, call
from agent_shell.tools.content import TextContent
from agent_shell.tools.tool import Tool, ToolContext, ToolProgress, ToolResult, text_result
from tests.fakes.tools import FakeTool
from tests.requirements import requirement


@dataclass
class Log:
    """A history."""

    messages: list[ChatMessage] = field(default_factory=list[ChatMessage])

    def add(self, message: ChatMessage) -> None:
        self.messages.append(message)


@dataclass
class Tools:
    """A registry."""

    tools: dict[str, Tool]

    def get(self, name: str) -> Tool | None:
        return self.tools.get(name)

    def active(self) -> Sequence[Tool]:
        return list(self.tools.values())


@dataclass
class Bench:
    """A turn with a scripted model and these tools; `events` and `history` show what came of it."""

    provider: ScriptedProvider
    tools: Tools
    refusal: Refusal | None = None
    events: list[AgentEvent] = field(default_factory=list[AgentEvent])
    history: Log = field(default_factory=Log)
    max_requests: int = 200

    async def run(self) -> TurnFinished:
        self.history.add(UserMessage(content=(TextContent(text="go"),)))
        with anyio.fail_after(5):
            return await run_turn(self.turn())

    def turn(self) -> Turn:
        async def permit(call: ToolCall, tool: Tool) -> Refusal | None:
            return self.refusal

        async def fit(result: ToolResult, tool_name: str) -> ToolResult:
            return result

        runner = ToolRunner(tools=self.tools, permit=permit, fit=fit, emit=self.events.append)
        return Turn(
            provider=self.provider,
            system=lambda: "system",
            history=self.history,
            runner=runner,
            max_requests=self.max_requests,
        )

    def results(self) -> list[tuple[str, str, bool]]:
        """The stored results as (call id, text, is error)."""
        return [
            (
                message.call_id,
                "".join(part.text for part in message.content if isinstance(part, TextContent)),
                message.is_error,
            )
            for message in self.history.messages
            if isinstance(message, ToolResultMessage)
        ]


def bench(
    *tools: Tool,
    script: Sequence[Sequence[ScriptStep]],
    refusal: Refusal | None = None,
    max_requests: int = 200,
) -> Bench:
    return Bench(
        ScriptedProvider(script),
        Tools({tool.name: tool for tool in tools}),
        refusal=refusal,
        max_requests=max_requests,
    )


async def test_a_call_is_run_and_its_result_sent_back() -> None:
    tool = FakeTool(name="look")
    made = bench(tool, script=[call(("look", {"a": 1}), text="I look"), answer("done")])

    assert await made.run() == TurnFinished(outcome="done")
    assert tool.calls == [{"a": 1}]
    assert [type(event) for event in made.events] == [
        TextPiece,
        ToolCallPiece,
        AssistantTextDone,
        ToolCallStarted,
        ToolCallFinished,
        TextPiece,
        AssistantTextDone,
    ]
    assert made.results() == [("call_1", "ok", False)]
    assert list(made.provider.requests[1].messages) == made.history.messages[:3]


async def test_reading_calls_of_one_message_run_side_by_side() -> None:
    arrived = {"one": anyio.Event(), "two": anyio.Event()}

    def meeting(own: str, other: str) -> FakeTool:
        async def run(arguments: JSONObject, context: ToolContext) -> ToolResult:
            arrived[own].set()
            await arrived[other].wait()
            return text_result(own)

        return FakeTool(name=own, run=run)

    made = bench(
        meeting("one", "two"),
        meeting("two", "one"),
        script=[call(("one", {}), ("two", {})), answer("done")],
    )
    assert (await made.run()).outcome == "done"
    assert made.results() == [("call_1", "one", False), ("call_2", "two", False)]


async def test_other_calls_run_in_their_order() -> None:
    order: list[str] = []

    def noting(name: str, effect: str) -> FakeTool:
        async def run(arguments: JSONObject, context: ToolContext) -> ToolResult:
            order.append(f"{name} begins")
            await anyio.lowlevel.checkpoint()
            order.append(f"{name} ends")
            return text_result("ok")

        return FakeTool(name=name, effect="other" if effect == "other" else "read", run=run)

    made = bench(
        noting("write", "other"),
        noting("read", "read"),
        script=[call(("write", {}), ("read", {})), answer("done")],
    )
    await made.run()
    assert order == ["write begins", "write ends", "read begins", "read ends"]


async def test_an_unknown_tool_is_an_error_that_names_close_ones() -> None:
    made = bench(
        FakeTool(name="mcp_time_now"),
        FakeTool(name="read_file"),
        script=[call(("readfile", {}), ("now", {})), answer("done")],
    )
    await made.run()
    assert made.results() == [
        ("call_1", "error: there is no tool readfile; there is read_file", True),
        ("call_2", "error: there is no tool now; there is mcp_time_now", True),
    ]


async def test_unfit_arguments_are_an_error_the_model_can_read() -> None:
    tool = FakeTool(
        name="look", input_schema={"type": "object", "required": ["path"], "properties": {}}
    )
    made = bench(tool, script=[call(("look", {})), answer("done")])
    await made.run()
    assert tool.calls == []
    assert made.results() == [
        (
            "call_1",
            'error: the arguments do not fit: the object: "path" is a required property',
            True,
        )
    ]


async def test_arguments_that_are_no_object_are_an_error() -> None:
    """(CASES J9)"""
    tool = FakeTool(name="look")
    broken = ToolCall(id="c", name="look", arguments=None, arguments_text="{")
    message = AssistantMessage(tool_calls=(broken,))
    script = [[MessageDone(message=message, stop_reason="length")], answer("done")]
    made = bench(tool, script=script)
    await made.run()
    assert tool.calls == []
    assert made.results()[0][1].startswith("error: the arguments are not a JSON object")


async def test_a_tools_bug_becomes_an_error_result() -> None:
    async def run(arguments: JSONObject, context: ToolContext) -> ToolResult:
        raise ZeroDivisionError("oh")

    made = bench(FakeTool(name="look", run=run), script=[call(("look", {})), answer("done")])
    assert (await made.run()).outcome == "done"
    assert made.results() == [("call_1", "error: look failed: ZeroDivisionError: oh", True)]


async def test_a_refused_call_is_a_result_and_marks_the_turn() -> None:
    tool = FakeTool(name="run", effect="other")
    refusal = Refusal(reason="not here", needs_approval=True)
    made = bench(tool, script=[call(("run", {})), answer("done")], refusal=refusal)
    assert await made.run() == TurnFinished(outcome="done", needs_approval=True)
    assert tool.calls == []
    assert not any(isinstance(event, ToolCallStarted) for event in made.events)


async def test_progress_reaches_the_face() -> None:
    async def run(arguments: JSONObject, context: ToolContext) -> ToolResult:
        context.report_progress(ToolProgress(progress=1, total=2))
        return text_result("ok")

    made = bench(FakeTool(name="look", run=run), script=[call(("look", {})), answer("done")])
    await made.run()
    assert (
        ToolCallProgressed(call_id="call_1", progress=ToolProgress(progress=1, total=2))
        in made.events
    )


@requirement("H1")
async def test_each_request_offers_the_tools_of_that_moment() -> None:
    made = bench(script=[call(("look", {})), answer("done")])

    async def run(arguments: JSONObject, context: ToolContext) -> ToolResult:
        made.tools.tools = {"fresh": FakeTool(name="fresh")}
        return text_result("ok")

    made.tools.tools = {"look": FakeTool(name="look", run=run)}
    await made.run()
    assert [request.tools for request in made.provider.requests] == [("look",), ("fresh",)]


async def test_a_failed_model_ends_the_turn_and_keeps_what_it_said() -> None:
    """(CASES J9, J13)"""
    script = [[TextPiece(text="half"), LLMError("it broke", hint="try again")]]
    made = bench(script=script)
    assert await made.run() == TurnFinished(outcome="failed", error="it broke", hint="try again")
    assert made.history.messages[1:] == [AssistantMessage(text="half", is_partial=True)]


async def test_an_empty_answer_leaves_no_message() -> None:
    """(CASES J16)"""
    done = MessageDone(message=AssistantMessage(), stop_reason="stop")
    made = bench(script=[[done]])
    assert await made.run() == TurnFinished(outcome="done")
    assert len(made.history.messages) == 1


@pytest.mark.parametrize("reason", ["length", "refusal"])
async def test_an_answer_cut_short_is_no_success(reason: str) -> None:
    message = AssistantMessage(text="half")
    done = MessageDone(message=message, stop_reason="length" if reason == "length" else "refusal")
    made = bench(script=[[done]])
    assert (await made.run()).outcome == "failed"
    assert made.history.messages[1:] == [message]


async def test_usage_is_summed_over_the_turn() -> None:
    usage = Usage(input_tokens=3, output_tokens=2, cost_usd=0.5)
    first = call(("look", {}))
    first[-1] = MessageDone(
        message=AssistantMessage(tool_calls=(ToolCall(id="c", name="look", arguments={}),)),
        stop_reason="tool_calls",
        usage=usage,
    )
    made = bench(FakeTool(name="look"), script=[first, answer("done", usage=usage)])
    finished = await made.run()
    assert finished.usage == Usage(input_tokens=6, output_tokens=4, cost_usd=1.0)


async def test_a_model_that_calls_in_circles_is_stopped() -> None:
    script = [call(("look", {})) for _ in range(10)]
    made = bench(FakeTool(name="look"), script=script, max_requests=3)
    finished = await made.run()
    assert finished.outcome == "failed"
    assert len(made.provider.requests) == 3
    assert len(made.results()) == 3


@requirement("G8")
async def test_cancelling_while_tools_run_leaves_one_result_for_each_call() -> None:
    started = anyio.Event()

    async def hang(arguments: JSONObject, context: ToolContext) -> ToolResult:
        started.set()
        await anyio.sleep_forever()
        raise AssertionError

    made = bench(
        FakeTool(name="quick"),
        FakeTool(name="hang", effect="other", run=hang),
        script=[call(("quick", {}), ("hang", {}), ("quick", {}))],
    )
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(made.run)
            await started.wait()
            group.cancel_scope.cancel()
    assert made.results() == [
        ("call_1", "ok", False),
        ("call_2", "aborted by the user", True),
        ("call_3", "aborted by the user", True),
    ]
    finished = [event.call.id for event in made.events if isinstance(event, ToolCallFinished)]
    assert finished == ["call_1", "call_2", "call_3"]


@requirement("G8")
async def test_cancelling_while_arguments_stream_drops_the_half_call() -> None:
    never = anyio.Event()
    script: list[list[ScriptStep]] = [
        [
            TextPiece(text="I will"),
            ToolCallPiece(index=0, name="look", argument_characters=3),
            never,
        ]
    ]
    made = bench(FakeTool(name="look"), script=script)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(made.run)
            while len(made.events) < 2:
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
    assert made.history.messages[1:] == [AssistantMessage(text="I will", is_partial=True)]
