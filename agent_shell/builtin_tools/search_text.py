"""Search the project's files for a regular expression."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from agent_shell.builtin_tools import search_worker
from agent_shell.builtin_tools.builtin_tool import BuiltinTool, object_schema, string_argument
from agent_shell.builtin_tools.child_process import run_child
from agent_shell.builtin_tools.glob_pattern import glob_regex
from agent_shell.builtin_tools.project_files import project_files
from agent_shell.builtin_tools.workspace import Workspace, WorkspaceError
from agent_shell.json_types import JSONObject, as_object
from agent_shell.tools.tool import ToolContext, ToolResult, text_result

MAX_MATCHES = 200
TIMEOUT_S = 20.0
MAX_ANSWER_BYTES = 4_000_000


def search_text_tool(workspace: Workspace, *, environ: Mapping[str, str]) -> BuiltinTool:
    """The tool."""

    async def run(arguments: JSONObject, context: ToolContext) -> ToolResult:
        path = string_argument(arguments, "path", ".")
        place = workspace.to_read(path)
        if place.is_file():
            folder, files = place.parent, [place.name]
        elif place.is_dir():
            folder, files = place, await project_files(place, environ)
        else:
            raise WorkspaceError(f"{path} does not exist")
        if glob := string_argument(arguments, "glob"):
            wanted = glob_regex(glob)
            files = [name for name in files if wanted.match(name)]
        pattern = string_argument(arguments, "pattern")
        ignore_case = arguments.get("ignore_case") is True
        answer = await search(
            folder, _inside(workspace, folder, files), pattern, ignore_case, environ
        )
        return _result(answer, workspace.shown(folder))

    return BuiltinTool(
        name="search_text",
        description=(
            "Search text files of the project for a Python regular expression, line by line. "
            "Matches come as FILE:LINE: text. What git ignores is left out."
        ),
        input_schema=object_schema(
            {
                "pattern": {"type": "string", "minLength": 1},
                "path": {"type": "string", "description": "a file or folder; default: all"},
                "glob": {"type": "string", "description": "only these files, e.g. *.py"},
                "ignore_case": {"type": "boolean"},
            },
            required=("pattern",),
        ),
        effect="read",
        run=run,
    )


def _inside(workspace: Workspace, folder: Path, files: list[str]) -> list[str]:
    """Without links that lead out of the project."""
    kept: list[str] = []
    for name in files:
        full = folder / name
        if full.is_symlink():
            try:
                workspace.to_read(str(full))
            except WorkspaceError:
                continue
        kept.append(name)
    return kept


async def search(
    folder: Path, files: list[str], pattern: str, ignore_case: bool, environ: Mapping[str, str]
) -> list[JSONObject]:
    """The worker's lines. Raises WorkspaceError for a bad pattern and when time runs out."""
    request = {
        "folder": str(folder),
        "files": files,
        "pattern": pattern,
        "ignore_case": ignore_case,
        "max_matches": MAX_MATCHES,
    }
    result = await run_child(
        [sys.executable, "-I", "-S", str(search_worker.__file__)],
        cwd=folder,
        environ=environ,
        timeout_s=TIMEOUT_S,
        max_bytes=MAX_ANSWER_BYTES,
        stdin=json.dumps(request).encode(),
    )
    if result.exit_code is None:
        raise WorkspaceError(f"the search took longer than {TIMEOUT_S:.0f} s: narrow it")
    lines = b"".join(result.output.parts()).splitlines()
    try:
        answer = [as_object(json.loads(line)) or {} for line in lines]
    except ValueError as error:
        raise WorkspaceError("the search failed") from error
    if not answer or result.exit_code != 0:
        raise WorkspaceError("the search failed")
    if (error_text := answer[-1].get("error")) is not None:
        raise WorkspaceError(str(error_text))
    return answer


def _result(answer: list[JSONObject], folder: str) -> ToolResult:
    prefix = "" if folder == "." else f"{folder}/"
    *matches, end = answer
    shown = [f"{prefix}{match['file']}:{match['line']}: {match['text']}" for match in matches]
    if end.get("is_cut"):
        shown.append(f"[only the first {end['matches']} matches: narrow the search]")
    return text_result("\n".join(shown) if shown else "[no match]")
