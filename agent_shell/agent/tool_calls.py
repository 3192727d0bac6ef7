"""Find, check, ask leave, run, answer: one message's tool calls; errors become results."""

import difflib
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import anyio

from agent_shell.agent.events import (
    AgentEvent,
    ToolCallFinished,
    ToolCallProgressed,
    ToolCallStarted,
)
from agent_shell.errors import ToolArgumentsError
from agent_shell.json_types import JSONObject
from agent_shell.llm.messages import ToolCall, ToolResultMessage
from agent_shell.tools.arguments import check_arguments
from agent_shell.tools.tool import Tool, ToolContext, ToolProgress, ToolResult, text_result

MAX_PARALLEL_CALLS = 8
ABORTED = "aborted by the user"

_log = logging.getLogger(__name__)


class ToolSource(Protocol):
    """The tools there are now; it may change between two calls."""

    def get(self, name: str) -> Tool | None: ...

    def active(self) -> Sequence[Tool]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a call may not run; `needs_approval` where nobody could be asked."""

    reason: str
    needs_approval: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRunner:
    """What running calls needs. `permit` answers None for yes; `fit` bounds a result's size."""

    tools: ToolSource
    permit: Callable[[ToolCall, Tool], Awaitable[Refusal | None]]
    fit: Callable[[ToolResult, str], Awaitable[ToolResult]]
    emit: Callable[[AgentEvent], None]


@dataclass(slots=True)
class CallResults:
    """The results of one message's calls: exactly one each, whenever it is read."""

    calls: tuple[ToolCall, ...]
    results: dict[int, ToolResult]
    needs_approval: bool = False

    def messages(self) -> list[ToolResultMessage]:
        """One message a call, in the calls' order; what did not run was aborted."""
        return [
            _message(call, self.results.get(place, text_result(ABORTED, is_error=True)))
            for place, call in enumerate(self.calls)
        ]


async def run_tool_calls(results: CallResults, runner: ToolRunner) -> None:
    """Fill in the results: side by side if every call only reads, else one after the other.

    Cancellation leaves the results of finished calls in place; the others report the abort.
    """
    try:
        if all(_only_reads(call, runner.tools) for call in results.calls):
            limiter = anyio.CapacityLimiter(MAX_PARALLEL_CALLS)
            async with anyio.create_task_group() as group:
                for place in range(len(results.calls)):
                    group.start_soon(_run_limited, place, results, runner, limiter)
        else:
            for place in range(len(results.calls)):
                await _run_one(place, results, runner)
    finally:
        # Empty unless the turn was cancelled, or a bug outside of a tool broke it.
        for place, call in enumerate(results.calls):
            if place not in results.results:
                aborted = text_result(ABORTED, is_error=True)
                results.results[place] = aborted
                runner.emit(ToolCallFinished(call=call, result=aborted, duration_s=0.0))


def _only_reads(call: ToolCall, tools: ToolSource) -> bool:
    tool = tools.get(call.name)
    return tool is None or tool.effect == "read"


async def _run_limited(
    place: int, results: CallResults, runner: ToolRunner, limiter: anyio.CapacityLimiter
) -> None:
    async with limiter:
        await _run_one(place, results, runner)


async def _run_one(place: int, results: CallResults, runner: ToolRunner) -> None:
    call = results.calls[place]
    result, duration_s = await _result_of(call, results, runner)
    results.results[place] = result
    runner.emit(ToolCallFinished(call=call, result=result, duration_s=duration_s))


async def _result_of(
    call: ToolCall, results: CallResults, runner: ToolRunner
) -> tuple[ToolResult, float]:
    """The result, and how long the tool itself ran (s): thinking about leave is not its time."""
    # Looked up now, not when the model was asked: a reload may have removed or replaced it.
    tool = runner.tools.get(call.name)
    if tool is None:
        return _refused(_unknown_tool(call.name, runner.tools))
    if call.arguments is None:
        return _refused("the arguments are not a JSON object; they may have been cut off")
    try:
        check_arguments(tool.input_schema, call.arguments)
    except ToolArgumentsError as error:
        return _refused(error.message)
    refusal = await runner.permit(call, tool)
    if refusal is not None:
        results.needs_approval = results.needs_approval or refusal.needs_approval
        return _refused(refusal.reason)
    runner.emit(ToolCallStarted(call=call, origin=tool.origin))

    def report(progress: ToolProgress) -> None:
        runner.emit(ToolCallProgressed(call_id=call.id, progress=progress))

    started = anyio.current_time()
    result = await execute_safely(tool, call.arguments, ToolContext(report_progress=report))
    duration_s = anyio.current_time() - started
    return await runner.fit(result, call.name), duration_s


def _refused(why: str) -> tuple[ToolResult, float]:
    return text_result(f"error: {why}", is_error=True), 0.0


async def execute_safely(tool: Tool, arguments: JSONObject, context: ToolContext) -> ToolResult:
    """Run the tool; its bugs become error results and go to the log."""
    try:
        return await tool.execute(arguments, context)
    except Exception as error:  # noqa: BLE001 - one tool's bug must not end the conversation
        _log.exception("the tool %s failed", tool.name)
        said = f"error: {tool.name} failed: {type(error).__name__}: {error}"
        return text_result(said, is_error=True)


def _unknown_tool(name: str, tools: ToolSource) -> str:
    names = [tool.name for tool in tools.active()]
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    close += [other for other in names if other.endswith(f"_{name}") and other not in close]
    hint = f"; there is {', '.join(close)}" if close else ""
    return f"there is no tool {name}{hint}"


def _message(call: ToolCall, result: ToolResult) -> ToolResultMessage:
    return ToolResultMessage(
        call_id=call.id, tool_name=call.name, content=result.content, is_error=result.is_error
    )
