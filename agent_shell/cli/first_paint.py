"""The prompt line, painted before the heavy imports; keys typed from then on wait for the draft.

The terminal stops echoing and stops collecting lines, so that what is typed early is neither
painted by the kernel nor changed by it: Enter stays Enter. Ctrl-C still is a signal, because
nobody reads keys yet. Everything is put back on every way out.
"""

import os
import signal
import sys
import termios
from types import FrameType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PROMPT = "› "
_BRACKETED_PASTE_ON = "\x1b[?2004h"
_LEAVE = "\r\x1b[J\x1b[?2004l\x1b[?25h\x1b[0m"
"""Prompt line gone, bracketed paste off, cursor visible, colours as before."""

_EXIT_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class FirstPaint:
    """A terminal that shows our prompt and keeps what is typed.

        painted = FirstPaint()
        try:
            painted.paint()
            …
        finally:
            painted.restore()

    Until `hand_over` a signal ends the program at once, with status 128 + its number: nothing
    runs yet that would have to be ended in order. Afterwards the shell takes signals itself.
    """

    def __init__(self) -> None:
        self._input = sys.stdin.fileno()
        self._output = sys.stdout.fileno()
        self._before: list[Any] | None = None

    def paint(self) -> None:
        """Take the terminal over and show the prompt line."""
        for number in _EXIT_SIGNALS:
            signal.signal(number, self._leave_now)
        self._before = termios.tcgetattr(self._input)
        modes = termios.tcgetattr(self._input)
        modes[0] &= ~(termios.ICRNL | termios.INLCR | termios.IGNCR)
        modes[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN)
        modes[6][termios.VMIN] = 1
        modes[6][termios.VTIME] = 0
        # TCSANOW keeps what was typed before we came; TCSAFLUSH would drop it.
        termios.tcsetattr(self._input, termios.TCSANOW, modes)
        self._write(_BRACKETED_PASTE_ON + PROMPT)

    def hand_over(self) -> None:
        """The shell paints from here on: cursor to where the prompt line begins."""
        self._write("\r")

    def restore(self) -> None:
        """Put the terminal back as it was found. Safe to call again, and on a dead terminal."""
        if self._before is None:
            return
        for number in _EXIT_SIGNALS:
            # We are leaving already; another signal must not leave the terminal half restored.
            signal.signal(number, signal.SIG_IGN)
        before, self._before = self._before, None
        self._write(_LEAVE)
        try:
            termios.tcsetattr(self._input, termios.TCSANOW, before)
        except termios.error:
            return  # the terminal is gone; there is nothing to put back

    def _leave_now(self, number: int, frame: FrameType | None) -> None:
        # An exception instead could be swallowed, or turned into another, by whatever is loading.
        self.restore()
        os._exit(128 + number)

    def _write(self, text: str) -> None:
        try:
            os.write(self._output, text.encode())
        except OSError:
            return  # the terminal is gone
