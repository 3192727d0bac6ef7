"""One slash command a file; COMMANDS is the table. Read command.py first."""

from collections.abc import Mapping

from agent_shell.errors import UsageError
from agent_shell.repl.commands.call import CALL
from agent_shell.repl.commands.command import SlashCommand
from agent_shell.repl.commands.help import help_command
from agent_shell.repl.commands.history import CLEAR
from agent_shell.repl.commands.mcp import MCP
from agent_shell.repl.commands.model import MODEL
from agent_shell.repl.commands.quit import EXIT, QUIT
from agent_shell.repl.commands.suggest import nearest
from agent_shell.repl.commands.tools import TOOLS

COMMANDS: Mapping[str, SlashCommand] = {
    command.name: command
    for command in (
        MCP,
        TOOLS,
        CALL,
        MODEL,
        CLEAR,
        help_command(lambda: COMMANDS),
        QUIT,
        EXIT,
    )
}


def find_command(name: str) -> SlashCommand:
    """The command of this name. Raises UsageError with the nearest one."""
    command = COMMANDS.get(name)
    if command is None:
        close = nearest(name, COMMANDS)
        hint = f"did you mean /{close}? /help lists all" if close else "/help lists all commands"
        raise UsageError(f"no command /{name}", hint=hint)
    return command
