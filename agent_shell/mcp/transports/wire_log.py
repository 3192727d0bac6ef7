"""What one connection writes into its server's log: bounded, and without its secrets."""

import time
from collections.abc import Callable

from agent_shell.logs import ServerLog
from agent_shell.mcp.transports.redact import Redactor

MAX_ENTRY_CHARS = 65_536
FLOOD_ENTRIES = 100
FLOOD_S = 1.0
"""So many of a server's own log messages are written in such a time; the rest is counted."""


class WireLog:
    """The server's log as a transport uses it.

    Junk comes in bursts (a banner, a stray print in a loop): the first is written, the rest of
    the burst counted.
    """

    def __init__(self, server_log: ServerLog, redact: Redactor) -> None:
        self.redact = redact
        self._server_log = server_log
        self._skipped = 0
        self._window_start = float("-inf")
        self._in_window = 0

    def write(self, kind: str, text: str) -> None:
        """One entry; see ServerLog.write."""
        text = self.redact(text)
        if len(text) > MAX_ENTRY_CHARS:
            text = f"{text[:MAX_ENTRY_CHARS]} ... ({len(text)} characters)"
        self._server_log.write(kind, text)

    def write_some(self, kind: str, text: Callable[[], str]) -> None:
        """An entry of which there may be any number: cheap once there are too many.

        Whoever is done calls `end_flood`.
        """
        now = time.monotonic()
        if now - self._window_start >= FLOOD_S:
            self.end_flood()
            self._window_start = now
        self._in_window += 1
        if self._in_window <= FLOOD_ENTRIES:
            self.write(kind, text())

    def end_flood(self) -> None:
        """Say how many entries were not written."""
        if self._in_window > FLOOD_ENTRIES:
            self.write("wire", f"{self._in_window - FLOOD_ENTRIES} more log messages left out")
        self._in_window = 0

    def skip(self, what: str) -> None:
        """Something on the wire was no message."""
        self._skipped += 1
        if self._skipped == 1:
            self.write("wire", f"skipped: {what}")

    def end_burst(self) -> None:
        """A good message came, or the end: say how many more were skipped."""
        if self._skipped > 1:
            self.write("wire", f"skipped {self._skipped - 1} more")
        self._skipped = 0
