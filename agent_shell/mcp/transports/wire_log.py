"""What one connection writes into its server's log: bounded, and without its secrets."""

from agent_shell.logs import ServerLog
from agent_shell.mcp.transports.redact import Redactor

MAX_ENTRY_CHARS = 65_536


class WireLog:
    """The server's log as a transport uses it.

    Junk comes in bursts (a banner, a stray print in a loop): the first is written, the rest of
    the burst counted.
    """

    def __init__(self, server_log: ServerLog, redact: Redactor) -> None:
        self.redact = redact
        self._server_log = server_log
        self._skipped = 0

    def write(self, kind: str, text: str) -> None:
        """One entry; see ServerLog.write."""
        text = self.redact(text)
        if len(text) > MAX_ENTRY_CHARS:
            text = f"{text[:MAX_ENTRY_CHARS]} ... ({len(text)} characters)"
        self._server_log.write(kind, text)

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
