"""The three standard streams always exist, and trouble with them never reaches a person twice."""

import os
import sys


def open_missing_streams() -> None:
    """Put the null device where a standard stream was closed before we began (`>&-`).

    Python leaves None there; and the next file that is opened would get the free number and be
    written to as if it were the output.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is given out, and all lower ones are taken by now.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY), encoding="utf-8")
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")


def discard_output() -> None:
    """Let what is still to be written to standard output vanish.

    Python flushes once more at exit, and would complain once more.
    """
    _discard(sys.stdout.fileno())


def write_diagnostic(text: str) -> None:
    """Write to standard error. Nobody can be told if that fails, so it fails quietly."""
    try:
        sys.stderr.buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stderr.buffer.flush()
    except (OSError, ValueError):
        _discard(sys.stderr.fileno())


def _discard(number: int) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, number)
    os.close(null)
