"""Growing Markdown, cut into finished blocks and an unfinished tail, at linear cost."""

import re
from collections import deque

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"^ {0,3}#{1,6}(\s|$)")
_LIST_ITEM = re.compile(r"^ {0,3}([-*+]|\d{1,9}[.)])(\s|$)")

MOST_BLOCK_LINES = 200
"""A longer fenced block is finished in pieces, so that it does not stay unprinted for ever."""


class MarkdownStream:
    """Feed it text as it comes; it gives back blocks that nothing later can change.

    A block ends at a blank line that is followed by a line which is not part of it: an indented
    line, or the next item of a list, still belongs to what stands before the blank line.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._partial: list[str] = []
        self._fence: str | None = None
        self._fence_line = ""
        self._is_after_blank = False

    def feed(self, text: str) -> list[str]:
        """More text; the blocks that are finished by it, each without its last line feed."""
        blocks: list[str] = []
        *complete, rest = text.split("\n")
        for piece in complete:
            self._partial.append(piece)
            line = "".join(self._partial)
            self._partial.clear()
            self._take(line, blocks)
        if rest:
            self._partial.append(rest)
        return blocks

    def finish(self) -> list[str]:
        """The blocks that are left; the stream is empty afterwards."""
        blocks: list[str] = []
        if self._partial:
            self._take("".join(self._partial), blocks)
            self._partial.clear()
        self._end_block(blocks)
        self._fence = None
        return blocks

    def tail(self, most_lines: int, most_characters: int) -> str:
        """The end of the unfinished block, as it is."""
        last = _last_characters(self._partial, most_characters)
        return "\n".join([*self._lines[-most_lines:], last]).strip("\n")[-most_characters:]

    def _take(self, line: str, blocks: list[str]) -> None:
        if self._fence is not None:
            self._take_fenced(line, blocks)
            return
        if not line.strip():
            if self._lines:
                self._lines.append(line)
                self._is_after_blank = True
            return
        if self._is_after_blank and not self._continues(line):
            self._end_block(blocks)
        self._is_after_blank = False
        fence = _FENCE.match(line)
        if fence is not None:
            if self._lines and not _LIST_ITEM.match(self._lines[0]):
                self._end_block(blocks)
            self._fence, self._fence_line = fence.group(1), line
            self._lines.append(line)
        elif _HEADING.match(line):
            if self._lines:
                self._end_block(blocks)
            self._lines.append(line)
            self._end_block(blocks)
        else:
            self._lines.append(line)

    def _take_fenced(self, line: str, blocks: list[str]) -> None:
        self._lines.append(line)
        closing = line.strip()
        if (
            self._fence is not None
            and closing.startswith(self._fence)
            and not closing.strip(self._fence[0])
        ):
            self._fence = None
            if self._lines[0] == self._fence_line:
                self._end_block(blocks)
        elif len(self._lines) > MOST_BLOCK_LINES and self._lines[0] == self._fence_line:
            self._lines.append(self._fence or "")
            self._end_block(blocks)
            self._lines.append(self._fence_line)

    def _continues(self, line: str) -> bool:
        """Whether a line behind a blank one still belongs to the block before it."""
        is_list = bool(_LIST_ITEM.match(self._lines[0]))
        return is_list and (line[0] in " \t" or bool(_LIST_ITEM.match(line)))

    def _end_block(self, blocks: list[str]) -> None:
        block = "\n".join(self._lines).rstrip()
        self._lines.clear()
        self._is_after_blank = False
        if block:
            blocks.append(block)


def _last_characters(pieces: list[str], most: int) -> str:
    kept: deque[str] = deque()
    length = 0
    for piece in reversed(pieces):
        kept.appendleft(piece)
        length += len(piece)
        if length >= most:
            break
    return "".join(kept)[-most:]
