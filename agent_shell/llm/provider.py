"""What the loop needs of a model service."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from agent_shell.llm.messages import AssistantMessage, ChatMessage
from agent_shell.tools.tool import Tool

StopReason = Literal["stop", "tool_calls", "length", "refusal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one request. `input_tokens` includes the cached ones; cost is in US dollars."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPiece:
    """Some more of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningPiece:
    """Some more of the model's thinking."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallPiece:
    """A tool call is being written: its name, and how many characters of arguments so far."""

    index: int
    name: str
    argument_characters: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryNotice:
    """The request failed before anything was shown and is tried again after `delay_s` seconds."""

    attempt: int
    delay_s: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDone:
    """The last event of every complete stream: the whole message."""

    message: AssistantMessage
    stop_reason: StopReason
    usage: Usage | None = None


StreamEvent: TypeAlias = TextPiece | ReasoningPiece | ToolCallPiece | RetryNotice | MessageDone


class LLMProvider(Protocol):
    """One model of one service."""

    @property
    def model(self) -> str:
        """`PROVIDER/MODEL`, as `--model` takes it."""
        ...

    @property
    def context_window(self) -> int | None:
        """Tokens that fit, where known."""
        ...

    def stream(
        self, *, system: str, messages: Sequence[ChatMessage], tools: Sequence[Tool]
    ) -> AsyncGenerator[StreamEvent]:
        """One request. Ends with MessageDone, or raises LLMError; nothing else but cancellation."""
        ...

    async def aclose(self) -> None:
        """Close what is kept open between requests."""
        ...
