"""Nothing but the screen writes to the terminal: what Python itself would print goes to the log."""

import logging
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

_log = logging.getLogger(__name__)


@contextmanager
def nothing_else_prints() -> Generator[None]:
    """Warnings, forgotten exceptions and records of unconfigured loggers leave the screen alone."""
    root = logging.getLogger()
    silence = logging.NullHandler()
    root.addHandler(silence)
    logging.captureWarnings(True)
    unraisable, thread = sys.unraisablehook, threading.excepthook
    sys.unraisablehook = _log_unraisable
    threading.excepthook = _log_thread
    try:
        yield
    finally:
        sys.unraisablehook, threading.excepthook = unraisable, thread
        logging.captureWarnings(False)
        root.removeHandler(silence)


def _log_unraisable(report: Any) -> None:
    _log.error("%s: %r", report.err_msg or "ignored exception", report.object, exc_info=_of(report))


def _log_thread(report: Any) -> None:
    _log.error("a thread ended with an exception", exc_info=_of(report))


def _of(report: Any) -> Any:
    return report.exc_type, report.exc_value, report.exc_traceback
