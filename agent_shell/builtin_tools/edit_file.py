"""Replace one passage exactly once; every byte outside of it stays."""

import re
from dataclasses import dataclass

from anyio import to_thread

from agent_shell.atomic_file import write_atomically
from agent_shell.builtin_tools.builtin_tool import BuiltinTool, object_schema, string_argument
from agent_shell.builtin_tools.workspace import Workspace, WorkspaceError
from agent_shell.builtin_tools.write_file import encoded
from agent_shell.json_types import JSONObject
from agent_shell.tools.tool import ToolContext, ToolResult, text_result

_BARE_LINE_FEED = re.compile(r"(?<!\r)\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """A text after the edit: how many passages were replaced, and the line of the first."""

    text: str
    count: int
    first_line: int


def edit_file_tool(workspace: Workspace) -> BuiltinTool:
    """The tool."""

    async def run(arguments: JSONObject, context: ToolContext) -> ToolResult:
        path = string_argument(arguments, "path")
        real = workspace.to_write(path)
        if not real.exists():
            raise WorkspaceError(f"{path} does not exist; write_file creates files")
        content = await to_thread.run_sync(real.read_bytes)
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            raise WorkspaceError(
                f"{path} is not UTF-8 (byte {error.start}): it was left as it is"
            ) from error
        edited = replace_passage(
            text,
            string_argument(arguments, "old_text"),
            string_argument(arguments, "new_text"),
            is_everywhere=arguments.get("replace_all") is True,
        )
        await to_thread.run_sync(write_atomically, real, encoded(edited.text))
        passages = "1 passage" if edited.count == 1 else f"{edited.count} passages"
        where = f"{workspace.shown(real)}, line {edited.first_line}"
        return text_result(f"replaced {passages}: {where}")

    return BuiltinTool(
        name="edit_file",
        description=(
            "Replace a passage of a file. old_text must be in the file exactly once, with its "
            "white space and without the line numbers of read_file; or set replace_all."
        ),
        input_schema=object_schema(
            {
                "path": {"type": "string", "description": "relative to the project folder"},
                "old_text": {"type": "string", "minLength": 1},
                "new_text": {"type": "string"},
                "replace_all": {"type": "boolean", "description": "every occurrence"},
            },
            required=("path", "old_text", "new_text"),
        ),
        effect="edit",
        run=run,
    )


def replace_passage(text: str, old: str, new: str, *, is_everywhere: bool = False) -> Edited:
    """Replace `old` by `new`, both taken literally. Raises WorkspaceError if it is not unique.

    A line feed in `old` also finds CR LF where the text as given is not there; the new text then
    gets the line ends of the passage it replaces.
    """
    if not old:
        raise WorkspaceError("old_text is empty")
    spans = _spans(text, re.escape(old))
    if not spans and "\n" in old:
        lines = re.split(r"\r?\n", old)
        spans = _spans(text, r"\r?\n".join(re.escape(line) for line in lines))
    if not spans:
        raise WorkspaceError("old_text is not in the file; read it again and copy it exactly")
    if len(spans) > 1 and not is_everywhere:
        lines_found = ", ".join(str(text.count("\n", 0, start) + 1) for start, _ in spans[:10])
        raise WorkspaceError(
            f"old_text is in the file {len(spans)} times (lines {lines_found}); "
            "give more of its surroundings, or set replace_all"
        )
    parts: list[str] = []
    at = 0
    for start, end in spans:
        parts += [text[at:start], _with_line_ends_of(text, start, end, new)]
        at = end
    parts.append(text[at:])
    result = "".join(parts)
    if result == text:
        raise WorkspaceError("the new text is the same as the old one: nothing was changed")
    return Edited(text=result, count=len(spans), first_line=text.count("\n", 0, spans[0][0]) + 1)


def _spans(text: str, pattern: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(pattern, text)]


def _with_line_ends_of(text: str, start: int, end: int, new: str) -> str:
    """`new` with CR LF where the replaced passage, or else the line it ends in, has CR LF."""
    passage = text[start:end]
    if "\n" not in passage:
        line_end = text.find("\n", end)
        if line_end < 0:
            line_end = text.rfind("\n", 0, start)
        passage = text[max(0, line_end - 1) : line_end + 1] if line_end >= 0 else ""
    if "\r\n" in passage and _BARE_LINE_FEED.search(passage) is None:
        return _BARE_LINE_FEED.sub("\r\n", new)
    return new
