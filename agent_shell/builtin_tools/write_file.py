"""Create or replace a file."""

from anyio import to_thread

from agent_shell.atomic_file import write_atomically
from agent_shell.builtin_tools.builtin_tool import BuiltinTool, object_schema, string_argument
from agent_shell.builtin_tools.workspace import Workspace, WorkspaceError
from agent_shell.json_types import JSONObject
from agent_shell.tools.tool import ToolContext, ToolResult, text_result

NEW_FILE_MODE = 0o644


def write_file_tool(workspace: Workspace) -> BuiltinTool:
    """The tool."""

    async def run(arguments: JSONObject, context: ToolContext) -> ToolResult:
        path = string_argument(arguments, "path")
        real = workspace.to_write(path)
        content = encoded(string_argument(arguments, "content"))
        existed = real.exists()
        await to_thread.run_sync(
            lambda: write_atomically(real, content, mode=NEW_FILE_MODE), abandon_on_cancel=False
        )
        word = "replaced" if existed else "created"
        return text_result(f"{word} {workspace.shown(real)}, {len(content)} bytes")

    return BuiltinTool(
        name="write_file",
        description="Create a file of the project, or replace a whole one. Folders are made.",
        input_schema=object_schema(
            {
                "path": {"type": "string", "description": "relative to the project folder"},
                "content": {"type": "string", "description": "the whole new content"},
            },
            required=("path", "content"),
        ),
        effect="edit",
        run=run,
    )


def encoded(text: str) -> bytes:
    """UTF-8. Raises WorkspaceError for half a character: guessing would write U+FFFD to disk."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise WorkspaceError(
            f"the text holds half a character at position {error.start}: nothing was written"
        ) from error
