"""Cut long output in its middle, at a line, and say so."""

from collections import deque

HEAD_SHARE = 0.6
"""The beginning says what it is, the end how it went: both stay, the beginning a little more."""


def cut_middle(text: str, max_bytes: int, *, where: str = "") -> str:
    """The text if it is at most `max_bytes` of UTF-8, else its head and tail around a notice.

    `where` ends the notice: it says where the rest can be read.
    """
    content = text.encode(errors="surrogatepass")
    if len(content) <= max_bytes:
        return text
    head_size = int(max_bytes * HEAD_SHARE)
    head = _without_last_partial_line(content[:head_size])
    tail = _without_first_partial_line(content[len(content) - (max_bytes - head_size) :])
    omitted = len(content) - len(head) - len(tail)
    return _joined(head, tail, omitted, where)


class HeadAndTail:
    """Output as it comes, bounded in memory: its first bytes and its last ones."""

    def __init__(self, max_bytes: int) -> None:
        self._head_size = int(max_bytes * HEAD_SHARE)
        self._tail_size = max_bytes - self._head_size
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_length = 0
        self.total_bytes = 0

    def add(self, piece: bytes) -> None:
        """Take the next bytes; those in the middle are forgotten."""
        self.total_bytes += len(piece)
        room = self._head_size - len(self._head)
        if room > 0:
            self._head += piece[:room]
            piece = piece[room:]
        if not piece:
            return
        self._tail.append(piece)
        self._tail_length += len(piece)
        while self._tail and self._tail_length - len(self._tail[0]) >= self._tail_size:
            self._tail_length -= len(self._tail.popleft())

    @property
    def omitted_bytes(self) -> int:
        """How many bytes are missing between head and tail."""
        return max(0, self.total_bytes - len(self._head) - min(self._tail_length, self._tail_size))

    def parts(self) -> tuple[bytes, bytes]:
        """The head and the tail; together everything, if nothing was omitted."""
        tail = b"".join(self._tail)
        return bytes(self._head), tail[-self._tail_size :] if tail else b""


def _without_last_partial_line(content: bytes) -> bytes:
    end = content.rfind(b"\n")
    return content[: end + 1] if end >= len(content) // 2 else _whole_characters(content)


def _without_first_partial_line(content: bytes) -> bytes:
    start = content.find(b"\n")
    return content[start + 1 :] if 0 <= start < len(content) // 2 else _whole_characters(content)


def _whole_characters(content: bytes) -> bytes:
    """The bytes without half a UTF-8 character at either end."""
    return content.decode(errors="ignore").encode()


def _joined(head: bytes, tail: bytes, omitted: int, where: str) -> str:
    before = head.decode(errors="replace")
    after = tail.decode(errors="replace")
    line_feed = "" if before.endswith("\n") else "\n"
    return f"{before}{line_feed}[… {omitted} bytes left out{where} …]\n{after}"
