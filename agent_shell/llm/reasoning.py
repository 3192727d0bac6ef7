"""A model's thinking in the shapes services send it: parts, details to replay, and inline tags."""

from typing import Literal

from agent_shell.json_types import JSONValue, as_array, as_object, as_string

PieceKind = Literal["text", "reasoning"]

_OPENING = "<think>"
_CLOSING = "</think>"
_JOINED_FIELDS = ("text", "summary", "data")


def content_pieces(content: JSONValue | None) -> list[tuple[PieceKind, str]]:
    """A delta's content: a string, or Mistral's list of text and thinking parts, or nothing."""
    if isinstance(content, str):
        return [("text", content)]
    pieces: list[tuple[PieceKind, str]] = []
    for value in as_array(content) or ():
        part = as_object(value)
        if part is None:
            continue
        if (thinking := part.get("thinking")) is not None:
            for _, thought in content_pieces(thinking):
                pieces.append(("reasoning", thought))
        elif text := as_string(part.get("text")):
            pieces.append(("text", text))
    return pieces


class ReasoningDetails:
    """OpenRouter's `reasoning_details`: its pieces joined, to be sent back unchanged."""

    def __init__(self) -> None:
        self._details: list[dict[str, JSONValue]] = []

    def take(self, value: JSONValue | None) -> None:
        """Add a delta's details; neighbours of the same type and index are one."""
        for item in as_array(value) or ():
            piece = as_object(item)
            if piece is None:
                continue
            last = self._details[-1] if self._details else None
            if last is None or any(last.get(key) != piece.get(key) for key in ("type", "index")):
                self._details.append(dict(piece))
                continue
            for key, part in piece.items():
                before = last.get(key)
                if key in _JOINED_FIELDS and isinstance(before, str) and isinstance(part, str):
                    last[key] = before + part
                elif part is not None:
                    last[key] = part

    def joined(self) -> list[JSONValue]:
        """All details so far."""
        return list(self._details)


class ThinkTagSplitter:
    """Takes a `<think>` block off the beginning of an answer; elsewhere the tag is plain text."""

    def __init__(self) -> None:
        self._state: Literal["start", "thinking", "after", "plain"] = "start"
        self._held = ""

    def split(self, piece: str, *, is_last: bool = False) -> list[tuple[PieceKind, str]]:
        """What can be told apart so far; what may be the half of a tag waits for more."""
        text, self._held = self._held + piece, ""
        pieces: list[tuple[PieceKind, str]] = []
        if self._state == "start":
            begun = text.lstrip()
            if begun.startswith(_OPENING):
                self._state, text = "thinking", begun.removeprefix(_OPENING)
            elif not is_last and _OPENING.startswith(begun):
                self._held = text
                return pieces
            else:
                self._state = "plain"
        if self._state == "thinking":
            thought, tag, rest = text.partition(_CLOSING)
            if not tag and not is_last:
                keep = _overlap(thought, _CLOSING)
                self._held = thought[len(thought) - keep :]
                thought = thought[: len(thought) - keep]
            if thought:
                pieces.append(("reasoning", thought))
            if not tag:
                return pieces
            self._state, text = "after", rest
        if self._state == "after":
            # The line feeds between the thinking and the answer belong to neither.
            text = text.lstrip("\n")
            if text:
                self._state = "plain"
        if text:
            pieces.append(("text", text))
        return pieces


def _overlap(text: str, tag: str) -> int:
    """How many characters at the text's end could be the beginning of the tag."""
    for length in range(min(len(text), len(tag) - 1), 0, -1):
        if tag.startswith(text[-length:]):
            return length
    return 0
