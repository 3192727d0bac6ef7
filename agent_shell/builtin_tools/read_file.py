"""Read a file with line numbers."""

import stat
from pathlib import Path

from anyio import to_thread

from agent_shell.builtin_tools.builtin_tool import (
    BuiltinTool,
    integer_argument,
    object_schema,
    string_argument,
)
from agent_shell.builtin_tools.workspace import Workspace, WorkspaceError
from agent_shell.json_types import JSONObject
from agent_shell.tools.tool import ToolContext, ToolResult, text_result

DEFAULT_LINES = 2_000
MAX_LINE_CHARACTERS = 2_000
BINARY_PROBE_BYTES = 8_192
NOTICE_BYTES = 200
"""Room for the notice that tells where to read on."""


def read_file_tool(workspace: Workspace, *, max_bytes: int) -> BuiltinTool:
    """The tool; it stops at whole lines before `max_bytes` of output."""

    async def run(arguments: JSONObject, context: ToolContext) -> ToolResult:
        path = string_argument(arguments, "path")
        real = workspace.to_read(path)
        offset = integer_argument(arguments, "offset", 1)
        limit = integer_argument(arguments, "limit", DEFAULT_LINES)
        text = await to_thread.run_sync(numbered_lines, real, path, offset, limit, max_bytes)
        return text_result(text)

    return BuiltinTool(
        name="read_file",
        description=(
            "Read a text file of the project. Lines come numbered, as NUMBER, a tab, the line. "
            "Long files come in parts: read on with offset."
        ),
        input_schema=object_schema(
            {
                "path": {"type": "string", "description": "relative to the project folder"},
                "offset": {"type": "integer", "minimum": 1, "description": "first line, from 1"},
                "limit": {"type": "integer", "minimum": 1, "description": "how many lines"},
            },
            required=("path",),
        ),
        effect="read",
        run=run,
    )


def numbered_lines(real: Path, shown: str, offset: int, limit: int, max_bytes: int) -> str:
    """Some lines of a file, numbered; a note for what is no text. Raises WorkspaceError too."""
    # A pipe or a device would block the open, or never end.
    mode = real.stat().st_mode
    if stat.S_ISDIR(mode):
        raise WorkspaceError(f"{shown} is a folder; list_files shows what is in it")
    if not stat.S_ISREG(mode):
        raise WorkspaceError(f"{shown} is not a regular file")
    lines: list[str] = []
    size = 0
    number = 0
    with real.open("rb") as file:
        if b"\0" in file.read(BINARY_PROBE_BYTES):
            return f"[binary file, {real.stat().st_size} bytes, not shown]"
        file.seek(0)
        is_cut = False
        for number, raw in enumerate(file, 1):
            if number < offset:
                continue
            line = _shown_line(raw, number)
            size += len(line.encode(errors="surrogatepass")) + 1
            if len(lines) >= limit or size > max_bytes - NOTICE_BYTES:
                is_cut = True
                break
            lines.append(line)
    if is_cut:
        lines.append(f"[there is more: read on with offset={number}]")
    elif not lines:
        lines.append("[the file is empty]" if number == 0 else f"[the file has {number} lines]")
    return "\n".join(lines)


def _shown_line(raw: bytes, number: int) -> str:
    text = raw.decode(errors="replace").rstrip("\n").removesuffix("\r")
    if len(text) > MAX_LINE_CHARACTERS:
        left_out = len(text) - MAX_LINE_CHARACTERS
        text = f"{text[:MAX_LINE_CHARACTERS]}[… {left_out} characters left out]"
    return f"{number}\t{text}"
