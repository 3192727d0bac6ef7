"""The log files: bounded, rotated once, never the terminal."""

import logging
import re
import time
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from logging.handlers import RotatingFileHandler

LOGGER_NAME = "agent_shell"
MAX_LOG_BYTES = 2_000_000
MAX_SERVER_LOG_BYTES = 1_000_000

_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    r"\U000e0000-\U000e007f]"
    # Joiners belong to emoji and to several scripts; beside ASCII they only hide something.
    r"|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)


def start_logging(log_file: Path, *, debug: bool) -> None:
    """Send the program's log records to `log_file` and nowhere else.

    A log that cannot be opened is done without: the shell matters more than its log.
    """
    logger = logging.getLogger(LOGGER_NAME)
    logger.setLevel(logging.DEBUG if debug else logging.INFO)
    logger.propagate = False
    for old in list(logger.handlers):
        logger.removeHandler(old)
        old.close()
    from logging.handlers import RotatingFileHandler  # noqa: PLC0415 - brings sockets and queues

    try:
        log_file.parent.mkdir(parents=True, exist_ok=True)
        handler: logging.Handler = RotatingFileHandler(
            log_file, maxBytes=MAX_LOG_BYTES, backupCount=1, encoding="utf-8", errors="replace"
        )
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger.addHandler(handler)


def printable(text: str) -> str:
    """The text with control, direction-changing and invisible characters made visible.

    Line feed and tab stay. For logs and for everything foreign that reaches a terminal
    (THREATS.md: terminal escapes).
    """
    return _CONTROL.sub(lambda match: match.group().encode("unicode_escape").decode("ascii"), text)


def printable_line(text: str) -> str:
    """The text made harmless and kept in one line: line feeds and tabs are made visible too.

    For names, and for what stands inside a sentence of ours: nobody else begins a line there.
    """
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


class ServerLog:
    """One MCP server's log file: its standard error, and what went wrong on the wire.

    Opened at the first line and closed by `close`; at the size bound it is moved to `.1` once.
    Disk trouble is swallowed: a full disk must not end a connection.
    """

    def __init__(self, path: Path, *, max_bytes: int = MAX_SERVER_LOG_BYTES) -> None:
        self.path = path
        self._handler: RotatingFileHandler | None = None
        self._max_bytes = max_bytes

    def write(self, kind: str, text: str) -> None:
        """Append one line; `kind` says where it came from (`stderr`, `wire`, `life`)."""
        if self._handler is None:
            from logging.handlers import RotatingFileHandler  # noqa: PLC0415 - see above

            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._handler = RotatingFileHandler(
                    self.path, maxBytes=self._max_bytes, backupCount=1, encoding="utf-8"
                )
            except OSError:
                return
            # A failing write is dropped silently: the default would print to standard error.
            self._handler.handleError = lambda record: None
        stamp = time.strftime("%Y-%m-%d %H:%M:%S")
        line = f"{stamp} {kind}: {printable(text)}"
        self._handler.emit(logging.LogRecord("mcp", logging.INFO, "", 0, line, None, None))

    def close(self) -> None:
        """Close the file; a later `write` opens it again."""
        if self._handler is not None:
            self._handler.close()
            self._handler = None
