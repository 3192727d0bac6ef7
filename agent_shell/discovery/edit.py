"""Change our own files of servers: one member at a time, everything else as it was.

Every change reads the file afresh, holds other processes of ours off, checks that the new text says
what it should, and replaces the file in one step. A file that can't be parsed is never written.
"""

import os
from collections.abc import Callable
from pathlib import Path

from agent_shell.atomic_file import exclusively, write_atomically
from agent_shell.discovery.entry_words import kind_of, quoted
from agent_shell.discovery.jsonc import JsonDocument, parse_jsonc
from agent_shell.discovery.jsonc_edit import with_array_item, with_member, without_member
from agent_shell.discovery.providers.base import DISABLED_KEY, ENABLED_KEY, SERVERS_KEY
from agent_shell.discovery.read_file import (
    BYTE_ORDER_MARK,
    parse_config_text,
    read_config_text,
)
from agent_shell.errors import ConfigError
from agent_shell.json_types import JSONObject, JSONValue, as_array, as_object
from agent_shell.paths import AppPaths


def set_server_enabled(
    paths: AppPaths, name: str, enabled: bool, *, overrides_entry: bool = True
) -> None:
    """Write the user's lists: `disabledServers`, and for an entry that is off `enabledServers`.

    With `overrides_entry` false the name is not put into `enabledServers`: the entry itself is on.
    Raises ConfigError when the user's file can't be used or written; it is then as it was.
    """

    shown = str(paths.user_mcp_config)

    def change(text: str) -> str:
        if not enabled:
            text = _without_name(text, ENABLED_KEY, name)
            return _with_name(text, DISABLED_KEY, name, shown)
        text = _without_name(text, DISABLED_KEY, name)
        return _with_name(text, ENABLED_KEY, name, shown) if overrides_entry else text

    _edit(paths.user_mcp_config, change)


def add_server(
    file: Path, name: str, entry: JSONObject, *, inside: Path | None = None, replace: bool = False
) -> None:
    """Write one entry. `inside` is the project a project's file has to lie in.

    Raises ConfigError when the file can't be used, or has the name already and `replace` is false.
    """

    def change(text: str) -> str:
        document = _document(text)
        servers = _servers(document, file)
        if name in servers and not replace:
            raise ConfigError(
                f"{file}: server {quoted(name)} is there already",
                hint=f"agent-shell mcp remove {name}",
                path=str(file),
            )
        root = as_object(document.value) or {}
        if root.get(SERVERS_KEY) is None:
            return with_member(document, (), SERVERS_KEY, {name: entry})
        return with_member(document, (SERVERS_KEY,), name, entry)

    _edit(file, change, inside=inside)


def remove_server(file: Path, name: str, *, inside: Path | None = None) -> bool:
    """Take one entry out; False if the file has no such server. Raises ConfigError."""
    removed = False

    def change(text: str) -> str:
        nonlocal removed
        document = _document(text)
        while name in _servers(document, file):
            # A name that is defined twice goes twice: else the second one would come to life.
            text = without_member(document, (SERVERS_KEY,), name)
            document = parse_jsonc(text)
            removed = True
        return text

    _edit(file, change, inside=inside)
    return removed


def _edit(file: Path, change: Callable[[str], str], *, inside: Path | None = None) -> None:
    shown = str(file)
    if inside is not None and not _lies_in(file, inside):
        raise ConfigError(f"{shown}: is a link that leaves the project", path=shown)
    try:
        with exclusively(file):
            old = read_config_text(file, shown=shown, inside=inside) or ""
            mark = BYTE_ORDER_MARK if old.startswith(BYTE_ORDER_MARK) else ""
            text = old.removeprefix(BYTE_ORDER_MARK)
            document = parse_config_text(text, shown=shown)
            if document.is_empty:
                # Comments of a file without a value stay in front of it.
                text = f"{text.rstrip()}\n{{}}\n" if text.strip() else "{}\n"
            elif as_object(document.value) is None:
                what = kind_of(document.value)
                raise ConfigError(f"{shown}: must hold an object, not {what}", path=shown)
            new = change(text)
            parse_config_text(new, shown=shown)
            if mark + new != old:
                write_atomically(file, (mark + new).encode("utf-8"))
    except UnicodeEncodeError:
        message = f"{shown}: not written: a name or value is not valid text"
        raise ConfigError(message, path=shown) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"{shown}: cannot be written: {reason}", path=shown) from error


def _lies_in(file: Path, folder: Path) -> bool:
    return Path(os.path.realpath(file)).is_relative_to(os.path.realpath(folder))


def _document(text: str) -> JsonDocument:
    return parse_jsonc(text)


def _servers(document: JsonDocument, file: Path) -> JSONObject:
    value = (as_object(document.value) or {}).get(SERVERS_KEY)
    servers: JSONValue = {} if value is None else value
    found = as_object(servers)
    if found is None:
        raise ConfigError(
            f'{file}: "{SERVERS_KEY}" must be an object, not {kind_of(value)}', path=str(file)
        )
    return found


def _names(document: JsonDocument, key: str) -> list[JSONValue]:
    return list(as_array((as_object(document.value) or {}).get(key)) or ())


def _with_name(text: str, key: str, name: str, shown: str) -> str:
    document = parse_jsonc(text)
    value = (as_object(document.value) or {}).get(key)
    if value is None:
        return with_member(document, (), key, [name])
    if as_array(value) is None:
        line, column = document.place_of((key,))
        what = f'"{key}" must be an array, not {kind_of(value)}'
        raise ConfigError(f"{shown}:{line}:{column}: {what}", path=shown)
    return text if name in _names(document, key) else with_array_item(document, (key,), name)


def _without_name(text: str, key: str, name: str) -> str:
    document = parse_jsonc(text)
    while name in (names := _names(document, key)):
        text = without_member(document, (key,), names.index(name))
        document = parse_jsonc(text)
    return text
