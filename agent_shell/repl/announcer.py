"""One visible line for what happened to a server without being asked for: failed, or lost."""

from typing import TYPE_CHECKING

from agent_shell.errors import ConfigError
from agent_shell.logs import printable_line
from agent_shell.mcp.snapshot import ServerSnapshot
from agent_shell.repl.drawing import joined
from agent_shell.repl.status_panel import explain

if TYPE_CHECKING:
    from agent_shell.repl.commands.command import CommandContext


class Announcer:
    """Remembers what was said, so that nothing is said twice."""

    def __init__(self, context: "CommandContext") -> None:
        self._context = context
        self._said: dict[str, str | None] = {}
        self._said_files: set[str] = set()
        self.is_silent = False

    def server_changed(self, name: str) -> None:
        """Say why a server is not there, once for each time it goes (CASES Z11)."""
        row = next((row for row in self._context.snapshot() if _counts(row, name)), None)
        if row is None or row.status != "disconnected" or row.error is None:
            self._said.pop(name, None)
            return
        if self.is_silent or row.reason == "disabled" or self._said.get(name) == row.error:
            return
        self._said[name] = row.error
        text = explain(row)
        if row.reason in ("failed", "closed"):
            if f"/mcp connect {name}" not in text:
                text += f"; /mcp connect {name} tries again"
        elif "/mcp" not in text:
            text += "; /mcp reload after a change"
        subject = "" if f'"{name}"' in row.error else f'server "{printable_line(name)}": '
        self._context.screen.print(joined(("error: ", "error"), f"{subject}{text}"))

    def announce_files(self) -> None:
        """Say what is wrong with whole files, once for each problem."""
        manager = self._context.manager
        for error in manager.config_errors if manager is not None else ():
            self._announce_file(error)

    def forget_files(self) -> None:
        """The files are read again: their problems are news again."""
        self._said_files.clear()

    def _announce_file(self, error: ConfigError) -> None:
        if error.message not in self._said_files:
            self._said_files.add(error.message)
            self._context.print_error(error)


def _counts(row: ServerSnapshot, name: str) -> bool:
    return row.name == name and not (row.reason or "").startswith("shadowed")
