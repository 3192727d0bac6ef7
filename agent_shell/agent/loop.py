"""Ask the model, run its tool calls, ask again; nothing else."""

import logging
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Protocol

import anyio

from agent_shell.agent.events import AssistantTextDone, TurnFinished
from agent_shell.agent.tool_calls import CallResults, ToolRunner, run_tool_calls
from agent_shell.errors import LLMError
from agent_shell.llm.messages import AssistantMessage, ChatMessage
from agent_shell.llm.provider import (
    LLMProvider,
    MessageDone,
    ReasoningPiece,
    StopReason,
    TextPiece,
    Usage,
)

MAX_REQUESTS_PER_TURN = 200
"""A model that calls tools in circles is stopped, late enough for long honest work."""

_log = logging.getLogger(__name__)

_CUT_SHORT: dict[StopReason, tuple[str, str]] = {
    "length": ("the answer was cut off at the model's output limit", "ask it to go on"),
    "refusal": ("the model service refused to answer this", "say it differently"),
}


class MessageLog(Protocol):
    """The conversation so far."""

    @property
    def messages(self) -> Sequence[ChatMessage]: ...

    def add(self, message: ChatMessage) -> None: ...


@dataclass(slots=True, kw_only=True)
class Turn:
    """One turn's surroundings and what it came to."""

    provider: LLMProvider
    system: Callable[[], str]
    history: MessageLog
    runner: ToolRunner
    max_requests: int = MAX_REQUESTS_PER_TURN
    usage: Usage | None = None
    needs_approval: bool = False

    def finished(self, *, error: str | None = None, hint: str | None = None) -> TurnFinished:
        """The event that ends the turn: failed if there is an error, else done."""
        return TurnFinished(
            outcome="done" if error is None else "failed",
            error=error,
            hint=hint,
            usage=self.usage,
            needs_approval=self.needs_approval,
        )


@dataclass(slots=True)
class _Collected:
    """A message as far as it has come; what is kept of it when the stream breaks off."""

    text: list[str] = field(default_factory=list[str])
    reasoning: list[str] = field(default_factory=list[str])

    def partial(self) -> AssistantMessage | None:
        """The text so far; half-written tool calls are dropped."""
        text = "".join(self.text)
        return AssistantMessage(text=text, is_partial=True) if text.strip() else None


async def run_turn(turn: Turn) -> TurnFinished:
    """Work until the model calls no more tools. The history is valid whatever ends this.

    Every event but the last is emitted; the last is returned. Raises nothing but cancellation.
    """
    try:
        for _ in range(turn.max_requests):
            done = await _ask(turn)
            message = done.message
            if message.text.strip() or message.tool_calls:
                turn.history.add(message)
            turn.usage = added_usage(turn.usage, done.usage)
            turn.runner.emit(AssistantTextDone(text=message.text, usage=done.usage))
            if not message.tool_calls:
                return turn.finished(**_words_for(done.stop_reason))
            await _run_calls(turn, message)
    except LLMError as error:
        return turn.finished(error=error.message, hint=error.hint)
    return turn.finished(
        error=f"stopped after {turn.max_requests} requests to the model in one turn",
        hint="say how to go on, or ask for less at once",
    )


async def _ask(turn: Turn) -> MessageDone:
    """One request; a broken stream leaves its text in the history, as a partial message."""
    collected = _Collected()
    done: MessageDone | None = None
    try:
        async with aclosing(
            turn.provider.stream(
                system=turn.system(),
                messages=tuple(turn.history.messages),
                tools=turn.runner.tools.active(),
            )
        ) as events:
            async for event in events:
                if isinstance(event, MessageDone):
                    done = event
                    continue
                if isinstance(event, TextPiece):
                    collected.text.append(event.text)
                elif isinstance(event, ReasoningPiece):
                    collected.reasoning.append(event.text)
                turn.runner.emit(event)
        if done is None:
            raise LLMError(f"{turn.provider.model} ended without an answer")
    except (LLMError, anyio.get_cancelled_exc_class()):
        if done is None and (partial := collected.partial()) is not None:
            turn.history.add(partial)
        raise
    return done


async def _run_calls(turn: Turn, message: AssistantMessage) -> None:
    results = CallResults(calls=message.tool_calls, results={})
    try:
        await run_tool_calls(results, turn.runner)
    finally:
        # Also when cancelled: a call without its result would make the next request invalid.
        for result in results.messages():
            turn.history.add(result)
        turn.needs_approval = turn.needs_approval or results.needs_approval


def _words_for(stop: StopReason) -> dict[str, str]:
    words = _CUT_SHORT.get(stop)
    return {"error": words[0], "hint": words[1]} if words is not None else {}


def added_usage(before: Usage | None, more: Usage | None) -> Usage | None:
    """The sum; costs count only as far as they are known."""
    if before is None or more is None:
        return before or more
    costs = [usage.cost_usd for usage in (before, more) if usage.cost_usd is not None]
    return Usage(
        input_tokens=before.input_tokens + more.input_tokens,
        output_tokens=before.output_tokens + more.output_tokens,
        cached_tokens=before.cached_tokens + more.cached_tokens,
        cost_usd=sum(costs) if costs else None,
    )
