"""What was typed at the prompt, kept for the next run: one JSON string a line, bounded."""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from prompt_toolkit.history import History

from agent_shell.atomic_file import write_atomically

MOST_ENTRIES = 2_000
MOST_BYTES = 2_000_000
"""A longer file is cut back to its newest MOST_ENTRIES entries when it is next read."""

LONGEST_ENTRY = 50_000
"""Characters; a pasted book is not worth keeping for the arrow keys."""


class InputHistory(History):
    """The file behind the up arrow. Without a usable file it remembers this run only."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def load_history_strings(self) -> Iterable[str]:
        """The kept entries, newest first. A damaged line is left out."""
        try:
            lines = self._path.read_bytes().splitlines()
        except OSError:
            return []
        entries = [entry for line in lines if (entry := _entry(line)) is not None]
        if len(lines) > MOST_ENTRIES and sum(map(len, lines)) > MOST_BYTES:
            self._shorten(lines[-MOST_ENTRIES:])
        return reversed(entries[-MOST_ENTRIES:])

    def store_string(self, string: str) -> None:
        """Append one entry, readable by its owner only."""
        if len(string) > LONGEST_ENTRY:
            return
        line = json.dumps(string) + "\n"  # ASCII only, so any text can be kept
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            with os.fdopen(os.open(self._path, flags, 0o600), "ab") as file:
                file.write(line.encode("ascii"))
        except OSError:
            return  # the disk is full, or nothing may be written there: the line still runs

    def _shorten(self, lines: list[bytes]) -> None:
        try:
            write_atomically(self._path, b"\n".join(lines) + b"\n")
        except OSError:
            return


def _entry(line: bytes) -> str | None:
    try:
        value: object = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, str) else None
