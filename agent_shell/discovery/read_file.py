"""Read one configuration file as JSON with comments; every trouble is a ConfigError with a place.

Only regular files are opened for reading, so that no pipe can make us wait. A file that belongs to
a project must lie in it: a link that leads out of the project is refused, since what it shows was
not part of what the user looked at (THREATS.md).
"""

import os
import stat
from pathlib import Path

from agent_shell.discovery.jsonc import JsoncError, JsonDocument, parse_jsonc
from agent_shell.errors import ConfigError

MAX_CONFIG_BYTES = 32 * 1024 * 1024
"""Far more than thousands of servers need; it bounds what a stray file can cost."""

BYTE_ORDER_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"


def shown_path(path: Path, project: Path) -> str:
    """The file as people read it: relative to the project if it lies in it, else in full."""
    try:
        return str(path.relative_to(project))
    except ValueError:
        return str(path)


def read_config_text(path: Path, *, shown: str, inside: Path | None = None) -> str | None:
    """The file's text, with its byte-order mark if it has one; None if there is no such file.

    `inside` is the folder a project's file must really lie in. Raises ConfigError when the file
    can't be read: no regular file, no permission, too long, not UTF-8, or outside of its project.
    """
    try:
        content = _read_regular_file(path, shown, inside)
    except (FileNotFoundError, NotADirectoryError):
        if not path.is_symlink():
            return None
        raise ConfigError(f"{shown}: is a link to a file that is not there", path=shown) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"{shown}: cannot be read: {reason}", path=shown) from error
    except ValueError as error:
        raise ConfigError(f"{shown}: is no usable file name: {error}", path=shown) from None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8")
        line = before.count("\n") + 1
        column = len(before) - before.rfind("\n")
        raise ConfigError(
            f"{shown}:{line}:{column}: is not UTF-8 text",
            hint="save the file with the encoding UTF-8",
            path=shown,
        ) from None


def read_config_document(
    path: Path, *, shown: str, inside: Path | None = None
) -> JsonDocument | None:
    """The file as JSON with comments; None if there is no such file.

    Offsets count from after a byte-order mark. Raises ConfigError as `read_config_text` does, and
    for a text that is not JSON.
    """
    text = read_config_text(path, shown=shown, inside=inside)
    return None if text is None else parse_config_text(text, shown=shown)


def parse_config_text(text: str, *, shown: str) -> JsonDocument:
    """The text as JSON with comments. Raises ConfigError where it is not JSON."""
    try:
        return parse_jsonc(text.removeprefix(BYTE_ORDER_MARK))
    except JsoncError as error:
        raise ConfigError(
            f"{shown}:{error.line}:{error.column}: {error.message}", path=shown
        ) from None


def _read_regular_file(path: Path, shown: str, inside: Path | None) -> bytes:
    real = path
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
    if inside is not None:
        real = Path(os.path.realpath(path))
        if not real.is_relative_to(os.path.realpath(inside)):
            raise ConfigError(
                f"{shown}: is a link that leaves the project, and is not read",
                hint="copy the file into the project, or name it with --mcp-config",
                path=shown,
            )
        # The way was resolved just now: a link that appears meanwhile is not followed.
        flags |= os.O_NOFOLLOW
    descriptor = os.open(real, flags)
    try:
        kind = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(kind):
            raise ConfigError(f"{shown}: is a folder, not a file", path=shown)
        if not stat.S_ISREG(kind):
            raise ConfigError(f"{shown}: is not a regular file", path=shown)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            content = file.read(MAX_CONFIG_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(content) > MAX_CONFIG_BYTES:
        limit = f"{MAX_CONFIG_BYTES // (1024 * 1024)} MiB"
        raise ConfigError(f"{shown}: is longer than {limit}", path=shown)
    return content
