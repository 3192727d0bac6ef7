"""/clear: forget the conversation."""

from agent_shell.errors import UsageError
from agent_shell.repl.commands.command import CommandContext, SlashCommand


async def clear(context: CommandContext, rest: str) -> None:
    """Empty the history and the visible screen; servers and tools stay."""
    if context.turns.is_running:
        raise UsageError(
            "a turn runs; its history cannot be cleared now", hint="Ctrl-C stops the turn"
        )
    context.session.clear()
    context.screen.clear()
    context.print_text("the conversation starts anew", "quiet")


CLEAR = SlashCommand(name="clear", summary="forget the conversation so far", run=clear)
