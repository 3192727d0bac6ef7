"""Everything a face may need to show of a turn."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from agent_shell.llm.messages import ToolCall
from agent_shell.llm.provider import (
    ReasoningPiece,
    RetryNotice,
    TextPiece,
    ToolCallPiece,
    Usage,
)
from agent_shell.tools.tool import ToolProgress, ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantTextDone:
    """The model has finished a message; `text` is all of it (may be empty before tool calls)."""

    text: str
    usage: Usage | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallStarted:
    """A call was allowed and runs now. `origin` is the tool's."""

    call: ToolCall
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallProgressed:
    """A running call reported progress."""

    call_id: str
    progress: ToolProgress


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallFinished:
    """A call has its result, be it an answer, an error, a refusal or an abort."""

    call: ToolCall
    result: ToolResult
    duration_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFinished:
    """The last event of every turn, whatever ended it.

    `error` and `hint` are set when `outcome` is `failed`; `needs_approval` when a call was refused
    because nobody could be asked (exit code 3).
    """

    outcome: Literal["done", "aborted", "failed"]
    error: str | None = None
    hint: str | None = None
    usage: Usage | None = None
    needs_approval: bool = False


AgentEvent: TypeAlias = (
    TextPiece
    | ReasoningPiece
    | ToolCallPiece
    | RetryNotice
    | AssistantTextDone
    | ToolCallStarted
    | ToolCallProgressed
    | ToolCallFinished
    | TurnFinished
)
