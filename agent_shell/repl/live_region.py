"""What is drawn above the draft and may still change: parts in a fixed order."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from agent_shell.repl.styled_lines import Line


class LivePart(Protocol):
    """Something that is shown while it lasts."""

    def rows(self, width: int) -> list[Line]:
        """The part as it is now, in rows of at most `width` cells; may be empty."""
        ...


class KeyTaker(Protocol):
    """A part that understands single keys, while the draft is empty."""

    keys: frozenset[str]
    """Characters it wants; `enter` and `escape` stand for those keys."""

    def take_key(self, key: str) -> None:
        """One of its keys was pressed on its own."""
        ...


@dataclass(frozen=True, slots=True)
class _Entry:
    order: int
    part: LivePart
    taker: KeyTaker | None


# From top to bottom: what is being said, what runs, what is open, what waits.
ORDER_TURN = 0
ORDER_ACTIVITY = 1
ORDER_PANEL = 2
ORDER_QUESTION = 3
ORDER_QUEUE = 4


class LiveRegion:
    """The parts that are shown now."""

    def __init__(self, *, on_change: Callable[[], None]) -> None:
        self._entries: list[_Entry] = []
        self._on_change = on_change

    def show(self, part: LivePart, order: int, taker: KeyTaker | None = None) -> None:
        """Add a part; of several that take keys the one shown last gets them."""
        self._entries.append(_Entry(order, part, taker))
        self._on_change()

    def hide(self, part: LivePart) -> None:
        """Take a part away, if it is shown."""
        self._entries = [entry for entry in self._entries if entry.part is not part]
        self._on_change()

    @property
    def has_parts(self) -> bool:
        """Whether anything is shown."""
        return bool(self._entries)

    @property
    def key_taker(self) -> KeyTaker | None:
        """Who gets single keys."""
        takers = [entry.taker for entry in self._entries if entry.taker is not None]
        return takers[-1] if takers else None

    @property
    def holds_bursts(self) -> bool:
        """Whether a question is open that no paste may answer."""
        return any(
            entry.taker is not None and entry.order == ORDER_QUESTION for entry in self._entries
        )

    def rows(self, width: int, most: int) -> list[Line]:
        """All parts, top to bottom; of what does not fit the upper rows are left out."""
        entries = sorted(self._entries, key=lambda entry: entry.order)
        rows = [row for entry in entries for row in entry.part.rows(width)]
        return rows if len(rows) <= most else rows[-most:]
