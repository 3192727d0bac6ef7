"""Bytes of a pipe to lines, in linear time and without a second copy of a long one."""

from collections.abc import Generator
from typing import TypeAlias

MAX_MESSAGE_BYTES = 256 * 1024 * 1024
"""A line beyond this is dropped: no tool's answer is that long, and memory is not endless."""

Line: TypeAlias = bytes | bytearray


class LineFramer:
    """Only a line feed ends a line. A carriage return before it stays: to JSON it is a blank."""

    def __init__(self, max_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self._begun = bytearray()
        self._max_bytes = max_bytes
        self._is_skipping = False
        self.too_long = 0

    def feed(self, chunk: bytes) -> Generator[Line]:
        """The lines that end in this chunk. Take them all before the next one is fed.

        Lines over the bound are counted in `too_long` when they end, and not given.
        """
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            yield from self._line(chunk[start:end])
            start = end + 1
        rest = chunk[start:] if start else chunk
        if self._is_skipping:
            return
        self._begun += rest
        if len(self._begun) > self._max_bytes:
            self._is_skipping = True
            self._begun = bytearray()

    def rest(self) -> Line:
        """What came after the last line feed: at the end of input it counts as a line."""
        rest, self._begun = self._begun, bytearray()
        return rest

    def _line(self, piece: bytes) -> Generator[Line]:
        if self._is_skipping:
            self._is_skipping = False
            self.too_long += 1
            return
        line: Line = piece
        if self._begun:
            # The buffer itself becomes the line: a copy of 50 MB would be felt.
            line, self._begun = self._begun, bytearray()
            line += piece
        yield line
