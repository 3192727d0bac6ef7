"""Server-sent events from bytes (WHATWG HTML, section 9.2.6).

httpx-sse decodes text first and holds back an event that ends in a bare carriage return until
more arrives; this one works on bytes, in linear time, and keeps one copy of a long event.
"""

import re
from collections.abc import Generator
from dataclasses import dataclass

from agent_shell.errors import MCPProtocolError
from agent_shell.mcp.transports.line_framer import MAX_MESSAGE_BYTES

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BOM = b"\xef\xbb\xbf"
MAX_RETRY_MS = 60_000
"""A server may ask for patience, but not for a day of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSentEvent:
    """One event. `event` is `message` where the stream names none."""

    event: str
    data: bytes | bytearray


class SSEParser:
    """One stream. `last_event_id` and `retry_ms` hold what it has said so far, if anything."""

    def __init__(self, max_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self.last_event_id: str | None = None
        self.retry_ms: int | None = None
        self._max_bytes = max_bytes
        self._begun = bytearray()
        self._is_first_line = True
        self._ended_in_cr = False
        self._event = ""
        self._id: str | None = None
        self._data: list[bytearray] = []
        self._size = 0

    def feed(self, chunk: bytes) -> Generator[ServerSentEvent]:
        """The events that end in this chunk. Raises MCPProtocolError for one beyond all bounds."""
        start = 0
        if self._ended_in_cr and chunk:
            self._ended_in_cr = False
            start = 1 if chunk.startswith(b"\n") else 0
        for end in _LINE_END.finditer(chunk, start):
            self._begun += chunk[start : end.start()]
            start = end.end()
            line, self._begun = self._begun, bytearray()
            if (event := self._take_line(line)) is not None:
                yield event
        # A line feed in the next chunk would belong to this line's end.
        self._ended_in_cr = start > 0 and start == len(chunk) and chunk.endswith(b"\r")
        self._begun += chunk[start:]
        if len(self._begun) + self._size > self._max_bytes:
            raise MCPProtocolError(f"an event of more than {self._max_bytes} bytes")

    def _take_line(self, line: bytearray) -> ServerSentEvent | None:
        if self._is_first_line:
            self._is_first_line = False
            if line.startswith(_BOM):
                del line[:3]
        if not line:
            return self._dispatch()
        colon = line.find(b":")
        name = bytes(line[:colon] if colon >= 0 else line)
        del line[: colon + 1 if colon >= 0 else len(line)]
        if line.startswith(b" "):
            del line[:1]
        if name == b"data":
            self._data.append(line)
            self._size += len(line)
        elif name == b"event":
            self._event = line.decode("utf-8", "replace")
        elif name == b"id" and b"\0" not in line:
            self._id = line.decode("utf-8", "replace")
        elif name == b"retry" and line.isdigit():
            self.retry_ms = min(int(line[:9]), MAX_RETRY_MS)
        return None

    def _dispatch(self) -> ServerSentEvent | None:
        """A blank line ends an event; its id counts even where it holds no data."""
        name, pieces = self._event or "message", self._data
        self._event, self._data, self._size = "", [], 0
        if self._id is not None:
            self.last_event_id = self._id
        if not pieces:
            return None
        data = pieces[0] if len(pieces) == 1 else b"\n".join(pieces)
        return ServerSentEvent(event=name, data=data)
