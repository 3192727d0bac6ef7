"""Where a key stands in a TOML text. The standard library's reader does not tell.

Good enough for messages and for changing one plain line: it knows `[table]` headers and `key =`
lines, skips strings over several lines, and finds nothing inside inline tables.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_HEADER = re.compile(r"[ \t]*\[(?!\[)([^\]]+)\][ \t]*(?:#.*)?$")
_ARRAY_HEADER = re.compile(r"[ \t]*\[\[")
_KEY = re.compile(r"([ \t]*)((?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*'|[ \t]*\.[ \t]*)+?)[ \t]*=")
_PART = re.compile(r"[A-Za-z0-9_-]+|\"([^\"]*)\"|'([^']*)'")


@dataclass(frozen=True, slots=True)
class TomlLine:
    """One `key = value` line (`key` set) or `[table]` line; `path` is the dotted way in parts."""

    number: int
    column: int
    path: tuple[str, ...]
    is_header: bool
    start: int
    end: int


def toml_lines(text: str) -> Iterator[TomlLine]:
    """The lines of a TOML text that name something, in order. Offsets are into the text."""
    table: tuple[str, ...] = ()
    start = 0
    until = 0
    for number, line in enumerate(_LINE.findall(text), start=1):
        begin, start = start, start + len(line)
        if begin < until:
            continue
        header = _HEADER.match(line)
        if header:
            table = _parts(header[1])
            yield TomlLine(number, line.index("[") + 1, table, True, begin, start)
        elif _ARRAY_HEADER.match(line):
            table = ("[[",)
        elif key := _KEY.match(line):
            until = _value_end(text, begin, start)
            path = (*table, *_parts(key[2]))
            yield TomlLine(number, len(key[1]) + 1, path, False, begin, max(until, start))


def place_of(text: str, path: tuple[str, ...]) -> tuple[int, int]:
    """Line and column of a key, or of the nearest table around it; the beginning if unknown."""
    lines = list(toml_lines(text))
    while path:
        for line in lines:
            if line.path[: len(path)] == path:
                return line.number, line.column
        path = path[:-1]
    return 1, 1


def _value_end(text: str, start: int, line_end: int) -> int:
    """Where the value that begins on this line ends: behind the line that completes it."""
    end = line_end
    for _ in range(1000):
        try:
            tomllib.loads(text[start:end])
        except tomllib.TOMLDecodeError:
            if end >= len(text):
                return line_end
            next_end = text.find("\n", end)
            end = len(text) if next_end < 0 else next_end + 1
        else:
            return end
    return line_end


def _parts(name: str) -> tuple[str, ...]:
    return tuple(found[1] or found[2] or found[0] for found in _PART.finditer(name))
