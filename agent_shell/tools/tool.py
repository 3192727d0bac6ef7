"""A tool: something the model, or a person with /call, can call."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from agent_shell.json_types import JSONObject
from agent_shell.tools.content import Content, TextContent

ToolEffect = Literal["read", "edit", "other"]
"""What a call may do: only look, change files of the project, or anything else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProgress:
    """A running call's own report. `total` is None where the end is unknown."""

    progress: float
    total: float | None = None
    message: str = ""


def _ignore_progress(progress: ToolProgress) -> None:
    """Nobody watches this call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What one call may use of its surroundings."""

    report_progress: Callable[[ToolProgress], None] = _ignore_progress


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What the model reads back. A failed call is a result too, never an exception.

    `structured` is the tool's machine-readable answer where it gave one.
    """

    content: tuple[Content, ...]
    is_error: bool = False
    structured: JSONObject | None = None

    @property
    def text(self) -> str:
        """The text parts, joined by line feeds."""
        return "\n".join(part.text for part in self.content if isinstance(part, TextContent))


def text_result(text: str, *, is_error: bool = False) -> ToolResult:
    """A result that is one piece of text."""
    return ToolResult(content=(TextContent(text=text),), is_error=is_error)


class Tool(Protocol):
    """Something that can be called by name with a JSON object."""

    @property
    def name(self) -> str:
        """Unique in a session, `[a-zA-Z0-9_-]{1,64}`."""
        ...

    @property
    def description(self) -> str: ...

    @property
    def input_schema(self) -> JSONObject:
        """JSON Schema (2020-12) of the arguments, exactly as its maker wrote it."""
        ...

    @property
    def effect(self) -> ToolEffect: ...

    @property
    def origin(self) -> str:
        """Where it comes from: `builtin`, or `mcp:<server> via <provider name>`."""
        ...

    async def execute(self, arguments: JSONObject, context: ToolContext) -> ToolResult:
        """Run once. Raises nothing but cancellation."""
        ...
