"""The list of built-in tools."""

from collections.abc import Mapping

from agent_shell.builtin_tools.child_process import ProcessGroupGuard
from agent_shell.builtin_tools.edit_file import edit_file_tool
from agent_shell.builtin_tools.list_files import list_files_tool
from agent_shell.builtin_tools.read_file import read_file_tool
from agent_shell.builtin_tools.run_command import run_command_tool
from agent_shell.builtin_tools.search_text import search_text_tool
from agent_shell.builtin_tools.workspace import Workspace
from agent_shell.builtin_tools.write_file import write_file_tool
from agent_shell.settings.settings import ToolSettings
from agent_shell.tools.tool import Tool


def create_builtin_tools(
    workspace: Workspace,
    *,
    settings: ToolSettings,
    environ: Mapping[str, str],
    guard: ProcessGroupGuard | None = None,
) -> tuple[Tool, ...]:
    """Every built-in tool, for one project folder. `guard` learns of running commands."""
    return (
        read_file_tool(workspace, max_bytes=settings.max_result_bytes),
        write_file_tool(workspace),
        edit_file_tool(workspace),
        list_files_tool(workspace, environ=environ),
        search_text_tool(workspace, environ=environ),
        run_command_tool(
            workspace,
            environ=environ,
            timeout_s=settings.command_timeout_s,
            max_bytes=settings.max_result_bytes,
            guard=guard,
        ),
    )
