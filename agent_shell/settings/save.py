"""Write one changed key back, and leave the rest of the file as it stands."""

import tomllib
from pathlib import Path
from typing import cast

from agent_shell.atomic_file import exclusively, write_atomically
from agent_shell.errors import ConfigError, UsageError
from agent_shell.paths import AppPaths
from agent_shell.settings.load import parse_toml
from agent_shell.settings.read_text import BYTE_ORDER_MARK, read_settings_text
from agent_shell.settings.toml_places import toml_lines
from agent_shell.settings.values import SettingError, check


def save_setting(paths: AppPaths, key: str, value: str | int | bool | None) -> Path:
    """Set `key` (as `mcp.startup_timeout_ms`) in the user's file; None takes it out.

    Returns the file. Raises UsageError for a key or value that does not exist, ConfigError when the
    file can't be parsed or written, or says the key in a way only a person can change; the file is
    then as it was.
    """
    try:
        if value is not None:
            check(key, value)
    except SettingError as error:
        raise UsageError(error.message, hint=error.hint) from None
    file = paths.user_settings
    shown = str(file)
    try:
        with exclusively(file):
            old = read_settings_text(file, shown=shown, inside=None) or ""
            table = parse_toml(old, shown)
            new = _with_value(old, tuple(key.split(".")), value)
            if not _says(new, table, tuple(key.split(".")), value):
                raise ConfigError(
                    f'{shown}: "{key}" can\'t be changed here', hint="edit it by hand"
                )
            if new != old:
                mark = _mark_of(file)
                write_atomically(file, mark + new.encode("utf-8"))
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"{shown}: cannot be written: {reason}", path=shown) from error
    return file


def _with_value(text: str, path: tuple[str, ...], value: str | int | bool | None) -> str:
    line_end = "\r\n" if "\r\n" in text else "\n"
    lines = list(toml_lines(text))
    here = next((line for line in lines if line.path == path and not line.is_header), None)
    written = "" if value is None else f"{path[-1]} = {_toml(value)}{line_end}"
    if here is not None:
        return text[: here.start] + written + text[here.end :]
    if not written:
        return text
    table = path[:-1]
    header = next((line for line in lines if line.is_header and line.path == table), None)
    if table and header is None:
        gap = "" if not text else line_end if text.endswith("\n") else line_end * 2
        return f"{text}{gap}[{'.'.join(table)}]{line_end}{written}"
    # Behind the last line of the table, so that the comments on top of it keep their place.
    last = header.end if header else 0
    for line in lines:
        if line.path[:-1] == table and not line.is_header and line.start >= last:
            last = line.end
        elif line.is_header and line.start > last:
            break
    before = text[:last]
    if before and not before.endswith("\n"):
        before += line_end
    if not table and not last and text:
        written += line_end
    return before + written + text[last:]


def _toml(value: str | int | bool) -> str:
    import tomli_w  # noqa: PLC0415 - only when something is written

    return tomli_w.dumps({"x": value}).removeprefix("x = ").strip()


def _says(
    text: str, before: dict[str, object], path: tuple[str, ...], value: str | int | bool | None
) -> bool:
    """Does the new text hold the old table with just this one change?"""
    try:
        return _flat(tomllib.loads(text)) == _changed(_flat(before), path, value)
    except tomllib.TOMLDecodeError:
        return False


def _flat(table: object, above: tuple[str, ...] = ()) -> dict[tuple[str, ...], object]:
    if not isinstance(table, dict):
        return {above: table}
    result: dict[tuple[str, ...], object] = {}
    for name, value in cast("dict[str, object]", table).items():
        result.update(_flat(value, (*above, name)))
    return result


def _changed(
    flat: dict[tuple[str, ...], object], path: tuple[str, ...], value: object
) -> dict[tuple[str, ...], object]:
    kept = {key: each for key, each in flat.items() if key != path}
    return kept if value is None else {**kept, path: value}


def _mark_of(file: Path) -> bytes:
    """The file's byte-order mark, if it begins with one."""
    mark = BYTE_ORDER_MARK.encode("utf-8")
    return mark if file.exists() and file.read_bytes().startswith(mark) else b""
