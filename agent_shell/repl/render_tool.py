"""How a tool call and its result look."""

import json
from typing import TYPE_CHECKING

from agent_shell.llm.messages import ToolCall
from agent_shell.repl.drawing import foreign, joined
from agent_shell.repl.theme import FAILED_SIGN, OK_SIGN, TOOL_SIGN, Role
from agent_shell.tools.tool import ToolResult

if TYPE_CHECKING:
    from rich.console import RenderableType

MOST_RESULT_LINES = 8
MOST_LINE_CHARACTERS = 400
MOST_ARGUMENT_CHARACTERS = 300


def call_summary(call: ToolCall) -> str:
    """The call in one line: its name and its arguments, cut where they are long."""
    arguments = call.arguments_text if call.arguments is None else json_line(call.arguments)
    if arguments in ("", "{}"):
        return call.name
    if len(arguments) > MOST_ARGUMENT_CHARACTERS:
        arguments = arguments[: MOST_ARGUMENT_CHARACTERS - 1] + "…"
    return f"{call.name} {arguments}"


def json_line(value: object) -> str:
    """A JSON value in one line, letters of all languages kept."""
    return json.dumps(value, ensure_ascii=False, default=str)


def render_call(call: ToolCall) -> "RenderableType":
    """The line that stands above a result."""
    return joined((f"{TOOL_SIGN} ", "accent"), call_summary(call))


def render_result(
    result: ToolResult, duration_s: float, *, most_lines: int | None = MOST_RESULT_LINES
) -> "RenderableType":
    """Whether it worked, how long it took, and the beginning of the text (None: all of it)."""
    sign, role = (FAILED_SIGN, "error") if result.is_error else (OK_SIGN, "ok")
    text = result.text.rstrip()
    others = len(result.content) - sum(1 for part in result.content if hasattr(part, "text"))
    if others:
        text = f"{text}\n[{others} image{'s' if others > 1 else ''}]".lstrip("\n")
    lines = text.split("\n") if text else ["(empty)"]
    left_out = 0
    if most_lines is not None:
        left_out = max(0, len(lines) - most_lines)
        lines = [_cut(line) for line in lines[:most_lines]]
    drawing = joined((f"  {sign} {duration(duration_s)}\n    ", role))
    body_role: Role | None = "error" if result.is_error else "quiet" if left_out else None
    drawing.append_text(foreign("\n    ".join(lines), body_role))
    if left_out:
        drawing.append_text(foreign(f"\n    … more lines: {left_out}", "quiet"))
    return drawing


def duration(seconds: float) -> str:
    """A time a person can compare: 12 ms, 1.4 s, 2 min 5 s."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"


def _cut(line: str) -> str:
    if len(line) <= MOST_LINE_CHARACTERS:
        return line
    return line[:MOST_LINE_CHARACTERS] + f"… ({len(line) - MOST_LINE_CHARACTERS} more characters)"
