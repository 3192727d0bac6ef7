"""List the project's files, by a glob pattern."""

from collections.abc import Mapping

from agent_shell.builtin_tools.builtin_tool import BuiltinTool, object_schema, string_argument
from agent_shell.builtin_tools.glob_pattern import glob_regex
from agent_shell.builtin_tools.project_files import project_files
from agent_shell.builtin_tools.workspace import Workspace, WorkspaceError
from agent_shell.json_types import JSONObject
from agent_shell.tools.tool import ToolContext, ToolResult, text_result

MAX_FILES = 1_000


def list_files_tool(workspace: Workspace, *, environ: Mapping[str, str]) -> BuiltinTool:
    """The tool."""

    async def run(arguments: JSONObject, context: ToolContext) -> ToolResult:
        path = string_argument(arguments, "path", ".")
        folder = workspace.to_read(path)
        if not folder.is_dir():
            raise WorkspaceError(f"{path} is not a folder")
        wanted = glob_regex(string_argument(arguments, "pattern", "**/*"))
        names = [name for name in await project_files(folder, environ) if wanted.match(name)]
        shown = names[:MAX_FILES]
        if len(names) > len(shown):
            shown.append(f"[{len(names) - len(shown)} more: narrow the pattern]")
        return text_result("\n".join(shown) if shown else "[no file matches]")

    return BuiltinTool(
        name="list_files",
        description=(
            "List files under a folder of the project, by a glob pattern such as **/*.py. "
            "What git ignores is left out."
        ),
        input_schema=object_schema(
            {
                "pattern": {"type": "string", "description": "default: every file"},
                "path": {"type": "string", "description": "the folder; default: the project"},
            }
        ),
        effect="read",
        run=run,
    )
