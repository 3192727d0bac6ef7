"""The status panel while it is open: it follows the servers, and leaves a copy when it closes."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from agent_shell.repl.live_region import ORDER_PANEL
from agent_shell.repl.screen import Screen
from agent_shell.repl.styled_lines import Line, text_lines

if TYPE_CHECKING:
    from rich.console import RenderableType

ROWS_BESIDE = 6
"""Of the screen, for the way to close it, the draft and the toolbar."""

CLOSING_KEYS = frozenset({"escape", "enter", "q"})


class OpenPanel:
    """At most one panel is open."""

    keys = CLOSING_KEYS

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._draw: Callable[[int, float], RenderableType] | None = None

    @property
    def is_open(self) -> bool:
        """Whether the panel is shown."""
        return self._draw is not None

    def open(self, draw: "Callable[[int, float], RenderableType]") -> None:
        """Show `draw(width, now_s)` and keep it current; one that is open already is replaced."""
        if not self.is_open:
            self._screen.live.show(self, ORDER_PANEL, taker=self)
        self._draw = draw
        self._screen.refresh()

    def close(self) -> bool:
        """Close it and leave its last state in the scrollback. False when none is open."""
        draw, self._draw = self._draw, None
        if draw is None:
            return False
        self._screen.live.hide(self)
        self._screen.print(draw(self._screen.width, time.monotonic()))
        return True

    def take_key(self, key: str) -> None:
        """A key that closes it."""
        self.close()

    def rows(self, width: int) -> list[Line]:
        """The panel as it is now."""
        if self._draw is None:
            return []
        rows = self._screen.draw_rows(self._draw(width, time.monotonic()), width)
        closing = "Esc, Enter or q closes"
        room = max(1, self._screen.height - ROWS_BESIDE)
        if len(rows) > room:
            closing = f"… {len(rows) - room} more rows; Esc closes and leaves all of them above"
            rows = rows[:room]
        return [*rows, *text_lines(closing, width, style="class:quiet")]
