"""Read a settings file as text; every trouble is a ConfigError that names it."""

import os
import stat
from pathlib import Path

from agent_shell.errors import ConfigError

MAX_BYTES = 4 * 1024 * 1024
BYTE_ORDER_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"


def shown_path(path: Path, project: Path) -> str:
    """The file as people read it: relative to the project if it lies in it, else in full."""
    return str(path.relative_to(project)) if path.is_relative_to(project) else str(path)


def read_settings_text(path: Path, *, shown: str, inside: Path | None) -> str | None:
    """The text without a byte-order mark; None if there is no such file.

    `inside` is the project a project's file really has to lie in. Raises ConfigError.
    """
    if inside is not None and not _lies_in(path, inside):
        raise ConfigError(
            f"{shown}: is a link that leaves the project, and is not read", path=shown
        )
    try:
        # Without O_NONBLOCK a pipe without a writer would make us wait for one.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise ConfigError(f"{shown}: is not a regular file", path=shown)
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                content = file.read(MAX_BYTES + 1)
        finally:
            os.close(descriptor)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"{shown}: cannot be read: {reason}", path=shown) from error
    if len(content) > MAX_BYTES:
        raise ConfigError(f"{shown}: is too long for a settings file", path=shown)
    try:
        return content.decode("utf-8").removeprefix(BYTE_ORDER_MARK)
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise ConfigError(f"{shown}:{line}:{column}: is not UTF-8 text", path=shown) from None


def _lies_in(path: Path, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))
