"""A child's standard error as lines that may be shown: harmless, bounded, without secrets."""

import codecs
from collections import deque

from agent_shell.logs import printable
from agent_shell.mcp.transports.redact import MIN_LENGTH, Redactor

TAIL_LINES = 40
MAX_LINE_CHARS = 2000
MAX_BEGUN_CHARS = MAX_LINE_CHARS * 4
"""A line that is longer is shown in pieces, as it comes: memory is not endless."""


class StderrText:
    """Fed with pieces that end anywhere, also inside a character or a secret."""

    def __init__(self, redact: Redactor) -> None:
        self._redact = redact
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._begun = ""
        self._lines: deque[str] = deque(maxlen=TAIL_LINES)

    def feed(self, chunk: bytes) -> list[str]:
        """The lines, or pieces of long ones, that can be shown now."""
        text = self._begun + self._decoder.decode(chunk)
        whole, line_feed, self._begun = text.rpartition("\n")
        pieces = self._redact(whole).split("\n") if line_feed else []
        if len(self._begun) > MAX_BEGUN_CHARS:
            piece, self._begun = self._redact.split(self._begun)
            pieces.append(piece)
        lines = [_shown(piece) for piece in pieces]
        self._lines.extend(lines)
        return lines

    @property
    def tail(self) -> str:
        """The last lines; of one that has only begun, what is no beginning of a secret."""
        begun, held_back = self._redact.split(self._begun)
        if len(held_back) < MIN_LENGTH:  # most likely chance: these are the last words
            begun += held_back
        begun = _shown(begun)
        return "\n".join([*self._lines, *([begun] if begun else [])])


def _shown(line: str) -> str:
    return printable(line.removesuffix("\r"))[:MAX_LINE_CHARS]
