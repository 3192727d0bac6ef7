"""A conversation as the model services understand it."""

from dataclasses import dataclass, field
from typing import TypeAlias

from agent_shell.json_types import JSONObject
from agent_shell.tools.content import Content, TextContent


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """The model's wish to call a tool.

    `arguments` is the parsed object, or None where the model's text was no JSON object:
    `arguments_text` then holds what it wrote. `provider_data` is replayed unchanged.
    """

    id: str
    name: str
    arguments: JSONObject | None
    arguments_text: str = ""
    provider_data: JSONObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage:
    """What the person said."""

    content: tuple[Content, ...]

    @property
    def text(self) -> str:
        """The text parts, joined by line feeds."""
        return "\n".join(part.text for part in self.content if isinstance(part, TextContent))


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantMessage:
    """What the model said. `reasoning_field` is the wire field its reasoning came in."""

    text: str = ""
    reasoning: str = ""
    reasoning_field: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    provider_data: JSONObject | None = None
    is_partial: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultMessage:
    """One tool call's answer."""

    call_id: str
    tool_name: str
    content: tuple[Content, ...] = field(default=())
    is_error: bool = False


ChatMessage: TypeAlias = UserMessage | AssistantMessage | ToolResultMessage
