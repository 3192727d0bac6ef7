"""The prompt line, painted before the heavy imports; keys typed from then on wait for the draft.

The terminal stops echoing and stops collecting lines, so that what is typed early is neither
painted by the kernel nor changed by it: Enter stays Enter. Ctrl-C still is a signal, because
nobody reads keys yet. Everything is put back on every way out.
"""

import os
import signal
import sys
import termios
from types import FrameType, TracebackType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PROMPT = "› "
_BRACKETED_PASTE_ON = "\x1b[?2004h"
_LEAVE = "\r\x1b[J\x1b[?2004l\x1b[?25h\x1b[0m"
"""Prompt line gone, bracketed paste off, cursor visible, colours as before."""

_EXIT_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class FirstPaint:
    """A terminal that shows our prompt and keeps what is typed. Use it as a context manager.

    Until `hand_over` a signal ends the program with 128 + its number (SystemExit); afterwards
    the shell takes signals itself.
    """

    def __init__(self) -> None:
        self._input = sys.stdin.fileno()
        self._output = sys.stdout.fileno()
        self._before: list[Any] | None = None

    def __enter__(self) -> "FirstPaint":
        for number in _EXIT_SIGNALS:
            signal.signal(number, _exit_quietly)
        self._before = termios.tcgetattr(self._input)
        modes = termios.tcgetattr(self._input)
        modes[0] &= ~(termios.ICRNL | termios.INLCR | termios.IGNCR)
        modes[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN)
        modes[6][termios.VMIN] = 1
        modes[6][termios.VTIME] = 0
        # TCSANOW keeps what was typed before we came; TCSAFLUSH would drop it.
        termios.tcsetattr(self._input, termios.TCSANOW, modes)
        self._write(_BRACKETED_PASTE_ON + PROMPT)
        return self

    def hand_over(self) -> None:
        """The shell paints from here on: cursor to where the prompt line begins."""
        self._write("\r")

    def restore(self) -> None:
        """Put the terminal back as it was found. Safe to call again, and on a dead terminal."""
        before, self._before = self._before, None
        if before is None:
            return
        self._write(_LEAVE)
        try:
            termios.tcsetattr(self._input, termios.TCSANOW, before)
        except termios.error:
            return  # the terminal is gone; there is nothing to put back

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.restore()

    def _write(self, text: str) -> None:
        try:
            os.write(self._output, text.encode())
        except OSError:
            return  # the terminal is gone


def _exit_quietly(number: int, frame: FrameType | None) -> None:
    """Leave through every `finally`, with the status a shell gives to a signal's victim."""
    raise SystemExit(128 + number)
