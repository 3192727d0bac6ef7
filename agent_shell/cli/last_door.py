"""What ends a run by an exception becomes an exit status and at most one error with a hint.

Imported only when there is something to report.
"""

import errno
import logging
import os
from collections.abc import Iterator

from agent_shell.cli.standard_streams import discard_output, write_diagnostic
from agent_shell.errors import AgentShellError, ConfigError, MCPError, UsageError
from agent_shell.logs import LOGGER_NAME, printable_line, start_logging
from agent_shell.paths import app_paths

FAILED_EXIT = 1
USAGE_EXIT = 2
INTERRUPTED_EXIT = 130

_OUTPUT_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})
"""What writing to an open stream can meet. Files have names, and are dealt with where they are."""


def end_status(error: BaseException) -> int:
    """Say what has to be said of it, and return the exit status (CONTRACT section 1).

    Task groups wrap what happens in them; what counts is inside. A reader of our output that has
    gone is no failure. What nobody foresaw is one line, and the log file has the rest.
    """
    causes = [each for each in _leaves(error) if not isinstance(each, BrokenPipeError)]
    if not causes:
        discard_output()
        return 0
    for cause in causes:
        if isinstance(cause, AgentShellError):
            return report(cause)
    for cause in causes:
        if isinstance(cause, KeyboardInterrupt):
            return INTERRUPTED_EXIT
        if isinstance(cause, OSError) and cause.filename is None and cause.errno in _OUTPUT_ERRORS:
            discard_output()
            write_diagnostic(f"error: cannot write the output: {cause.strerror}\n")
            return FAILED_EXIT
    return _report_unforeseen(error, causes[0])


def report(error: AgentShellError) -> int:
    """One `error:` line, a `hint:` where there is one, and the exit status that fits."""
    message = error.described if isinstance(error, MCPError) else error.message
    text = f"error: {printable_line(message)}\n"
    if error.hint:
        text += f"hint: {printable_line(error.hint)}\n"
    write_diagnostic(text)
    return USAGE_EXIT if isinstance(error, UsageError | ConfigError) else FAILED_EXIT


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
            yield from _leaves(each)  # pyright: ignore[reportUnknownArgumentType]
    else:
        yield error


def _report_unforeseen(error: BaseException, cause: BaseException) -> int:
    words = printable_line(f"{type(cause).__name__}: {cause}".removesuffix(": "))
    try:
        log_file = app_paths(os.environ).log_file
        logger = logging.getLogger(LOGGER_NAME)
        if not logger.handlers:
            start_logging(log_file, debug=False)
        logger.critical("the program ended by an error nobody foresaw", exc_info=error)
        more = f"; {printable_line(str(log_file))} says more"
    except Exception:  # noqa: BLE001 - the report must not fail, whatever is broken
        more = ""
    write_diagnostic(f"error: something unforeseen happened: {words}{more}\n")
    return FAILED_EXIT
