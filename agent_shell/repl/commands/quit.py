"""/quit, and /exit for fingers that learned that."""

from agent_shell.repl.commands.command import CommandContext, SlashCommand


async def leave(context: CommandContext, rest: str) -> None:
    """Leave the shell; every server is closed on the way."""
    context.leave(0)


QUIT = SlashCommand(name="quit", summary="leave (so do Ctrl-D, and Ctrl-C twice)", run=leave)
EXIT = SlashCommand(name="exit", summary="leave", run=leave, is_alias=True)
