"""The terminal as prompt_toolkit writes to it; a terminal that is gone is left in peace."""

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

from prompt_toolkit.data_structures import Size
from prompt_toolkit.output.vt100 import Vt100_Output

FALLBACK_SIZE = (80, 24)


class TerminalOutput(Vt100_Output):
    """Standard output as a terminal.

    It asks for no cursor position, since not every terminal answers and an answer could be taken
    for typing. After the first failed write nothing is written any more and `on_gone` is called.
    """

    def __init__(self, *, on_gone: Callable[[], None]) -> None:
        super().__init__(sys.stdout, _terminal_size, term=os.environ.get("TERM"), enable_cpr=False)
        self._on_gone = on_gone
        self._is_held = False
        self.is_gone = False

    def write_raw(self, data: str) -> None:
        """Queue `data` as it is, escape sequences included."""
        if not self.is_gone:
            super().write_raw(data)

    def flush(self) -> None:
        """Write what is queued, unless it is held back."""
        if self._is_held or self.is_gone:
            return
        try:
            super().flush()
        except OSError:
            self.give_up()

    def give_up(self) -> None:
        """The terminal is gone: write nothing from now on."""
        if not self.is_gone:
            self.is_gone = True
            # What is buffered still has to go somewhere, or Python complains at the very end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self._on_gone()

    def show_cursor(self) -> None:
        """Make the cursor visible; whether it blinks is the person's own choice."""
        if not self._cursor_visible:
            self._cursor_visible = True
            self.write_raw("\x1b[?25h")

    @contextmanager
    def held(self) -> Generator[None]:
        """Queue everything written in this block, so that it reaches the screen in one piece."""
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False


def _terminal_size() -> Size:
    try:
        columns, rows = os.get_terminal_size(sys.stdout.fileno())
    except OSError:
        columns, rows = 0, 0
    # Some terminals say 0 by 0 until their window is laid out.
    return Size(rows=rows or FALLBACK_SIZE[1], columns=columns or FALLBACK_SIZE[0])
