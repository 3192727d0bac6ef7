"""A model that plays a fixed script: for tests and demonstrations, without any network."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import anyio

from agent_shell.errors import LLMError
from agent_shell.json_types import JSONObject
from agent_shell.llm.messages import AssistantMessage, ChatMessage, ToolCall
from agent_shell.llm.provider import MessageDone, StreamEvent, TextPiece, ToolCallPiece, Usage
from agent_shell.tools.tool import Tool

ScriptStep: TypeAlias = StreamEvent | LLMError | anyio.Event
"""An event to yield, an error to raise, or an event to wait for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedRequest:
    """What the model was asked."""

    system: str
    messages: tuple[ChatMessage, ...]
    tools: tuple[str, ...]


class ScriptedProvider:
    """An LLMProvider whose answers were written beforehand; it keeps what it was asked."""

    def __init__(self, script: Sequence[Sequence[ScriptStep]], *, model: str = "demo/script"):
        self._script = [list(answer) for answer in script]
        self._model = model
        self.requests: list[ScriptedRequest] = []
        self.is_closed = False

    @property
    def model(self) -> str:
        """The name it was given."""
        return self._model

    @property
    def context_window(self) -> int | None:
        """Unknown."""
        return None

    async def stream(
        self, *, system: str, messages: Sequence[ChatMessage], tools: Sequence[Tool]
    ) -> AsyncGenerator[StreamEvent]:
        """The next answer of the script; past its end an LLMError."""
        names = tuple(tool.name for tool in tools)
        self.requests.append(ScriptedRequest(system=system, messages=tuple(messages), tools=names))
        if not self._script:
            raise LLMError("the script is at its end")
        for step in self._script.pop(0):
            if isinstance(step, LLMError):
                raise step
            if isinstance(step, anyio.Event):
                await step.wait()
            else:
                yield step

    async def aclose(self) -> None:
        """Remember that it was closed."""
        self.is_closed = True


def answer(text: str, *, usage: Usage | None = None) -> list[ScriptStep]:
    """A whole answer in one piece."""
    return [
        TextPiece(text=text),
        MessageDone(message=AssistantMessage(text=text), stop_reason="stop", usage=usage),
    ]


def call(*calls: tuple[str, JSONObject], text: str = "") -> list[ScriptStep]:
    """An answer that calls tools, given as (name, arguments); their ids are call_1, call_2, …"""
    made = tuple(
        ToolCall(id=f"call_{number}", name=name, arguments=arguments)
        for number, (name, arguments) in enumerate(calls, 1)
    )
    steps: list[ScriptStep] = [TextPiece(text=text)] if text else []
    steps += [
        ToolCallPiece(index=place, name=one.name, argument_characters=0)
        for place, one in enumerate(made)
    ]
    message = AssistantMessage(text=text, tool_calls=made)
    return [*steps, MessageDone(message=message, stop_reason="tool_calls")]
