"""SlashCommand and CommandContext: what a command is, and what it may use."""

import shlex
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import anyio

from agent_shell.errors import AgentShellError, MCPError, UsageError
from agent_shell.mcp.manager import MCPManager
from agent_shell.mcp.snapshot import ServerSnapshot
from agent_shell.paths import AppPaths
from agent_shell.repl.activities import Activities
from agent_shell.repl.drawing import foreign, joined
from agent_shell.repl.open_panel import OpenPanel
from agent_shell.repl.screen import Screen
from agent_shell.repl.theme import Role
from agent_shell.repl.ticker import Ticker
from agent_shell.session.agent_session import AgentSession
from agent_shell.settings.settings import Settings

if TYPE_CHECKING:
    from agent_shell.repl.ask_trust import TrustQuestion
    from agent_shell.repl.turns import Turns

Choice: TypeAlias = tuple[str, str]
"""A word that could be typed, and what it means."""


@dataclass(slots=True, kw_only=True)
class CommandContext:
    """The shell as commands see it. `manager` is None with --no-mcp."""

    screen: Screen
    cwd: Path
    environ: Mapping[str, str]
    paths: AppPaths
    settings: Settings
    session: AgentSession
    manager: MCPManager | None
    mcp_ready: anyio.Event
    activities: Activities
    ticker: Ticker
    panel: OpenPanel
    trust: "TrustQuestion"
    leave: Callable[[int], None]
    turns: "Turns" = field(init=False)

    def print_text(self, text: str, role: Role | None = None) -> None:
        """Write foreign or own text above, as it is."""
        self.screen.print(foreign(text, role))

    def print_error(self, error: AgentShellError) -> None:
        """One line, and a hint where there is one."""
        words = error.described if isinstance(error, MCPError) else error.message
        self.screen.print(joined(("error: ", "error"), words))
        if error.hint:
            self.screen.print(joined(("hint: ", "quiet"), error.hint))

    def snapshot(self) -> tuple[ServerSnapshot, ...]:
        """All servers as they are now; none with --no-mcp."""
        return self.manager.snapshot() if self.manager is not None else ()

    def require_manager(self) -> MCPManager:
        """The manager. Raises UsageError when MCP is off."""
        if self.manager is None:
            raise UsageError(
                "MCP is off in this run (--no-mcp): nothing was read, nothing is started",
                hint="start agent-shell without --no-mcp to turn it on",
            )
        return self.manager

    def require_server(self, name: str) -> ServerSnapshot:
        """The server of this name that counts. Raises UsageError with the known names."""
        self.require_manager()
        rows = [row for row in self.snapshot() if row.name == name]
        if not rows:
            known = ", ".join(self.server_names()) or "none"
            raise UsageError(f'no server "{name}"; known: {known}')
        return next((row for row in rows if not (row.reason or "").startswith("shadowed")), rows[0])

    def server_names(self) -> list[str]:
        """Every name that a file defines, once."""
        return sorted({row.name for row in self.snapshot()})

    def now_s(self) -> float:
        """The clock of `ServerSnapshot.started_at`."""
        return time.monotonic()


@dataclass(frozen=True, slots=True, kw_only=True)
class SlashCommand:
    """One command. `usage` is what follows its name; `details` are further lines of its help.

    `complete` gives the words that can follow those typed so far.
    """

    name: str
    summary: str
    run: Callable[[CommandContext, str], Awaitable[None]]
    usage: str = ""
    details: str = ""
    complete: Callable[[CommandContext, list[str]], Iterable[Choice]] | None = None
    is_alias: bool = False


def one_name(rest: str, usage: str) -> str:
    """The single word a command needs, as a shell reads it. Raises UsageError."""
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise UsageError(f"{str(error).lower()}: {rest}", hint=f"usage: {usage}") from error
    if len(words) != 1:
        hint = "a name with blanks goes in quotes" if len(words) > 1 else None
        raise UsageError(f"usage: {usage}", hint=hint)
    return words[0]


def at_most_one_name(rest: str, usage: str) -> str | None:
    """The single word a command may have. Raises UsageError."""
    return one_name(rest, usage) if rest.strip() else None
