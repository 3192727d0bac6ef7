"""A shell command, with a time limit."""

import shutil
from collections.abc import Mapping

from agent_shell.builtin_tools.builtin_tool import (
    BuiltinTool,
    integer_argument,
    object_schema,
    string_argument,
)
from agent_shell.builtin_tools.child_process import ChildResult, ProcessGroupGuard, run_child
from agent_shell.builtin_tools.plain_text import plain_text
from agent_shell.builtin_tools.workspace import Workspace, WorkspaceError
from agent_shell.builtin_tools.write_file import encoded
from agent_shell.json_types import JSONObject
from agent_shell.tools.tool import ToolContext, ToolResult, text_result

MAX_TIMEOUT_S = 3_600
_QUIET: Mapping[str, str] = {
    # Programs that would page, paint or ask have nobody to do it for.
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
}


def run_command_tool(
    workspace: Workspace,
    *,
    environ: Mapping[str, str],
    timeout_s: int,
    max_bytes: int,
    guard: ProcessGroupGuard | None = None,
) -> BuiltinTool:
    """The tool. `timeout_s` is the limit where a call names none."""
    shell = shutil.which("bash", path=environ.get("PATH")) or "/bin/sh"

    async def run(arguments: JSONObject, context: ToolContext) -> ToolResult:
        limit_s = min(integer_argument(arguments, "timeout_s", timeout_s), MAX_TIMEOUT_S)
        # Raises for half a character: a shell would be given something else than was approved.
        command = encoded(string_argument(arguments, "command")).decode()
        if "\0" in command:
            raise WorkspaceError("a command may not hold a NUL character")
        result = await run_child(
            [shell, "-c", command],
            cwd=workspace.root,
            environ={**environ, **_QUIET},
            timeout_s=limit_s,
            max_bytes=max_bytes,
            guard=guard,
        )
        return command_result(result, limit_s)

    return BuiltinTool(
        name="run_command",
        description=(
            "Run a shell command in the project folder. It has no terminal and no input; standard "
            "error is part of the output; the middle of long output is left out. When the command "
            "ends, what it left running in the background is ended too."
        ),
        input_schema=object_schema(
            {
                "command": {"type": "string", "minLength": 1},
                "timeout_s": {
                    "type": "integer",
                    "minimum": 1,
                    "description": f"seconds until it is ended; {timeout_s} if left out",
                },
            },
            required=("command",),
        ),
        effect="other",
        run=run,
    )


def command_result(result: ChildResult, limit_s: int) -> ToolResult:
    """The output, then how it ended where that was not well."""
    head, tail = result.output.parts()
    if omitted := result.output.omitted_bytes:
        text = f"{plain_text(head)}\n[… {omitted} bytes left out …]\n{plain_text(tail)}"
    else:
        text = plain_text(head + tail)
    text = text.strip("\n")
    if result.exit_code is None:
        ending = f"[ended after {limit_s} s: the time limit]"
    elif result.exit_code < 0:
        ending = f"[ended by signal {-result.exit_code}]"
    else:
        ending = f"[exit code {result.exit_code}]"
    if result.exit_code != 0 or not text:
        text = f"{text}\n{ending}" if text else ending
    return text_result(text, is_error=result.exit_code != 0)
