"""What follows /mcp."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agent_shell.repl.commands.command import CommandContext


@dataclass(frozen=True, slots=True, kw_only=True)
class Subcommand:
    """One word behind /mcp. With `takes_server` a server's name can follow."""

    name: str
    summary: str
    run: Callable[[CommandContext, str], Awaitable[None]]
    usage: str = ""
    takes_server: bool = False
