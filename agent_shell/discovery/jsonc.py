"""JSON with comments, trailing commas and the place of every value.

The values come from the standard library's parser. Before it sees the text, comments and trailing
commas are overwritten with blanks, so that an offset means the same in both texts. Places are
looked up only where somebody asks for one. All of it takes time linear in the length of the text.
"""

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, cast

from agent_shell.json_types import JSONValue

MAX_DEPTH = 100
"""Deeper nesting than anybody writes; it keeps parsers that call themselves out of trouble."""

KeyPath: TypeAlias = "tuple[str | int, ...]"
"""The way from the root to a value: keys and array positions."""

_BLANKS = re.compile(r"[ \t\r\n]*+")
# A string or comment that never ends matches as its beginning only: it is noticed at once, and the
# rest of the text is not searched a second time.
_STRING = r'"(?:[^"\\\n]++|\\.)*+"?'
_COMMENT = re.compile(rf"{_STRING}|//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?")
_STRUCTURE = re.compile(rf"{_STRING}|[{{}}\[\]]|,(?=[ \t\r\n]*+[}}\]])")
_NESTING = re.compile(rf"{_STRING}|[{{}}\[\]]")
_STRING_AT = re.compile(_STRING)
_SCALAR_AT = re.compile(r"[^ \t\r\n,\]}]++")
_NOT_LINE_END = re.compile(r"[^\n]")


class JsoncError(Exception):
    """The text is not JSON; `line` and `column` count from 1, columns in characters."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


class NotANumber(str):
    """What stands where a number should: NaN, Infinity, or one that is too large.

    JSON has none of them. Whoever reads the value can say so and where, and the rest of the file
    counts. It is a string so that it can be written out again as JSON.
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an object (with its key) or of an array; offsets into the text."""

    key: str | int
    start: int
    value_start: int
    value_end: int


@dataclass(frozen=True, slots=True)
class Container:
    """An object or array: where its brackets stand, and its members, repeated keys included.

    `by_key` holds the first member of each key.
    """

    kind: Literal["{", "["]
    start: int
    end: int
    members: tuple[Member, ...]
    by_key: dict[str | int, Member]


@dataclass(frozen=True, slots=True)
class JsonDocument:
    """A parsed text. In an object that repeats a key the first member counts.

    `plain` is the text with comments and trailing commas blanked; offsets hold for both. `value`
    is None for a text without any value, and then `is_empty` is true. `has_repeated_keys` says
    that somewhere a key is repeated.
    """

    text: str
    plain: str
    value: JSONValue
    is_empty: bool
    has_repeated_keys: bool
    _line_starts: list[int] = field(default_factory=list[int], repr=False)
    _containers: dict[int, Container] = field(default_factory=dict[int, Container], repr=False)

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1."""
        if not self._line_starts:
            self._line_starts.append(0)
            self._line_starts.extend(found.end() for found in re.finditer(r"\n", self.text))
        import bisect  # noqa: PLC0415 - only when a place is asked for

        line = bisect.bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    @property
    def root_start(self) -> int:
        """Where the outermost value begins."""
        return _after_blanks(self.plain, 0)

    def container(self, at: int) -> Container | None:
        """The object or array that begins at this offset; None for another kind of value."""
        if self.plain[at : at + 1] not in ("{", "["):
            return None
        if at not in self._containers:
            self._containers[at] = _read_container(self.plain, at)
        return self._containers[at]

    def find(self, path: KeyPath) -> Member | None:
        """The member at this path (not the root, which is no member), or None."""
        member = None
        at = self.root_start
        for key in path:
            container = self.container(at)
            member = None if container is None else container.by_key.get(key)
            if member is None:
                return None
            at = member.value_start
        return member

    def container_at(self, path: KeyPath) -> Container | None:
        """The object or array at this path, or None."""
        member = self.find(path)
        if member is None:
            return None if path else self.container(self.root_start)
        return self.container(member.value_start)

    def place_of(self, path: KeyPath, *, at_key: bool = False) -> tuple[int, int]:
        """Line and column of the value at this path, or of the nearest thing around it.

        With `at_key` it is the place of the key in front of the value.
        """
        while path:
            member = self.find(path)
            if member is not None:
                return self.place(member.start if at_key else member.value_start)
            path = path[:-1]
        return (1, 1) if self.is_empty else self.place(self.root_start)

    def repeated_keys(self, path: KeyPath) -> Iterator[Member]:
        """Second and later members with a key that the object at this path holds already."""
        container = self.container_at(path) if self.has_repeated_keys else None
        if container is not None:
            yield from (each for each in container.members if container.by_key[each.key] != each)


def parse_jsonc(text: str) -> JsonDocument:
    """Read one document. Raises JsoncError for what is not JSON, whatever the text holds.

    Only NaN, Infinity and numbers beyond Python's are let pass, as a NotANumber.
    """
    plain = _without_comments(text)
    plain = _without_trailing_commas(plain)
    end_of_blanks = _after_blanks(plain, 0)
    if end_of_blanks == len(plain):
        return JsonDocument(text, plain, None, is_empty=True, has_repeated_keys=False)
    repeated = False

    def first_wins(pairs: Sequence[tuple[str, JSONValue]]) -> dict[str, JSONValue]:
        nonlocal repeated
        result = dict(pairs)
        if len(result) != len(pairs):
            repeated = True
            result = dict(reversed(pairs))
        return result

    try:
        value = cast(
            "JSONValue",
            json.loads(
                plain,
                object_pairs_hook=first_wins,
                parse_constant=NotANumber,
                parse_float=_float,
                parse_int=_integer,
            ),
        )
    except json.JSONDecodeError as error:
        raise JsoncError(_in_our_words(error.msg), error.lineno, error.colno) from None
    return JsonDocument(text, plain, value, is_empty=False, has_repeated_keys=repeated)


def _float(text: str) -> "float | NotANumber":
    value = float(text)
    return value if math.isfinite(value) else NotANumber(text)


def _integer(text: str) -> "int | NotANumber":
    try:
        return int(text)
    except ValueError:
        return NotANumber(text)  # more digits than Python converts


def _in_our_words(message: str) -> str:
    """The standard library's message, without the words that only fit in front of its place."""
    known = {
        "Unterminated string starting at": "this string has no end",
        "Invalid control character at": "a string may not hold this control character",
        "Expecting value": "expected a value",
        "Expecting ',' delimiter": 'expected ","',
        "Expecting ':' delimiter": 'expected ":"',
        "Expecting property name enclosed in double quotes": "expected a key in double quotes",
        "Extra data": "expected nothing more after the end of the first value",
        "Invalid \\escape": "this backslash begins no escape that JSON knows",
        "Invalid \\uXXXX escape": "after \\u there must be four hexadecimal digits",
        "Unexpected UTF-8 BOM (decode using utf-8-sig)": "there is a second byte-order mark",
    }
    return known.get(message.removesuffix(": "), "this is not JSON")


def _without_comments(text: str) -> str:
    if "//" not in text and "/*" not in text:
        return text
    pieces: list[str] = []
    done = 0
    for found in _COMMENT.finditer(text):
        token = found.group()
        if token[0] == '"':
            continue
        if token[1] == "*" and not (len(token) >= 4 and token.endswith("*/")):
            raise JsoncError("this comment has no end", *_place(text, found.start()))
        pieces.append(text[done : found.start()])
        pieces.append(_NOT_LINE_END.sub(" ", token))
        done = found.end()
    pieces.append(text[done:])
    return "".join(pieces)


def _without_trailing_commas(plain: str) -> str:
    """Blank the commas before a closing bracket, and look how deep the nesting goes."""
    pieces: list[str] = []
    done = depth = 0
    previous_end = 0
    for found in _STRUCTURE.finditer(plain):
        token = found.group()
        if token in "{[":
            depth += 1
            if depth > MAX_DEPTH:
                message = f"nested deeper than {MAX_DEPTH} levels"
                raise JsoncError(message, *_place(plain, found.start()))
        elif token in "}]":
            depth -= 1
        elif token == "," and _follows_a_value(plain, previous_end, found.start()):
            pieces.extend((plain[done : found.start()], " "))
            done = found.end()
        previous_end = found.end()
    if not pieces:
        return plain
    pieces.append(plain[done:])
    return "".join(pieces)


def _follows_a_value(plain: str, previous_end: int, comma: int) -> bool:
    """Whether something to separate stands before the comma: `[,]` and `[1,,]` stay mistakes."""
    before = plain[previous_end:comma].rstrip()
    if before:
        return not before.endswith(",")
    return previous_end > 0 and plain[previous_end - 1] not in "{["


def _read_container(plain: str, at: int) -> Container:
    """The direct members; the text is known to be valid JSON."""
    is_object = plain[at] == "{"
    members: list[Member] = []
    position = _after_blanks(plain, at + 1)
    while plain[position] not in "}]":
        start = position
        key: str | int = len(members)
        if is_object:
            key_end = _value_end(plain, position)
            key = str(json.loads(plain[position:key_end]))
            position = _after_blanks(plain, _after_blanks(plain, key_end) + 1)
        end = _value_end(plain, position)
        members.append(Member(key, start, position, end))
        position = _after_blanks(plain, end)
        if plain[position] == ",":
            position = _after_blanks(plain, position + 1)
    by_key = {member.key: member for member in reversed(members)}
    return Container("{" if is_object else "[", at, position, tuple(members), by_key)


def _value_end(plain: str, at: int) -> int:
    first = plain[at]
    if first == '"':
        found = _STRING_AT.match(plain, at)
    elif first in "{[":
        return _closing_bracket(plain, at) + 1
    else:
        found = _SCALAR_AT.match(plain, at)
    return at if found is None else found.end()


def _closing_bracket(plain: str, at: int) -> int:
    depth = 0
    for found in _NESTING.finditer(plain, at):
        token = found.group()
        if token in "{[":
            depth += 1
        elif token in "}]":
            depth -= 1
            if depth == 0:
                return found.start()
    return len(plain) - 1


def _after_blanks(plain: str, at: int) -> int:
    found = _BLANKS.match(plain, at)
    return at if found is None else found.end()


def _place(text: str, offset: int) -> tuple[int, int]:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
