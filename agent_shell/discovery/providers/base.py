"""What a program's file has to tell, and the `mcpServers` shape that most of them share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from agent_shell.discovery.entry_words import closest, kind_of, not_a_number, quoted
from agent_shell.discovery.jsonc import JsonDocument, KeyPath
from agent_shell.discovery.read_file import read_config_document, shown_path
from agent_shell.discovery.source import SourceLevel, SourceMeta
from agent_shell.errors import ConfigError
from agent_shell.json_types import JSONObject, JSONValue, as_array, as_object
from agent_shell.paths import AppPaths

SERVERS_KEY = "mcpServers"
DISABLED_KEY = "disabledServers"
ENABLED_KEY = "enabledServers"
_KNOWN_KEYS = (SERVERS_KEY, DISABLED_KEY, ENABLED_KEY, "$schema")
_FOREIGN_KEYS = frozenset({"inputs", "version", "$comment", "//"})
"""What other programs keep beside their servers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where we look: the project folder, our own folders, and the environment."""

    project: Path
    paths: AppPaths


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFile:
    """One file that may define servers.

    `has_name_lists` is true for the one file whose `disabledServers` and `enabledServers` count.
    """

    path: Path
    provider: str
    provider_name: str
    level: SourceLevel
    has_name_lists: bool = False

    @property
    def source(self) -> SourceMeta:
        """The same for labels, precedence and trust."""
        return SourceMeta(
            provider=self.provider,
            provider_name=self.provider_name,
            path=self.path,
            level=self.level,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundEntry:
    """One server as its file writes it; `path` is where it stands in the file."""

    name: str
    raw: JSONValue
    path: KeyPath


@dataclass(frozen=True, slots=True, kw_only=True)
class FileContents:
    """What one file says. `problems` have cost nothing but what they name.

    `place_of(path, at_key)` is the line and column of a value, or of its key.
    """

    file: ConfigFile
    shown: str
    entries: tuple[FoundEntry, ...]
    problems: tuple[ConfigError, ...]
    place_of: Callable[[KeyPath, bool], tuple[int, int]]
    disabled: frozenset[str] = frozenset()
    enabled: frozenset[str] = frozenset()

    def problem(
        self, message: str, path: KeyPath, *, at_key: bool = False, hint: str | None = None
    ) -> ConfigError:
        """A ConfigError with the place of the value at `path`."""
        line, column = self.place_of(path, at_key)
        return ConfigError(f"{self.shown}:{line}:{column}: {message}", hint=hint, path=self.shown)


class ConfigProvider(Protocol):
    """One program that keeps MCP servers in files."""

    @property
    def id(self) -> str:
        """Short and stable, for `--json` and the trust file."""
        ...

    @property
    def name(self) -> str:
        """The label people read."""
        ...

    def files(self, place: Place) -> Sequence[ConfigFile]:
        """Where its files would be, highest rank first. Nothing is read here."""
        ...

    def read(self, file: ConfigFile, place: Place) -> FileContents | None:
        """What one of these files says; None if it is not there. Raises ConfigError."""
        ...


def read_mcp_servers(file: ConfigFile, place: Place) -> FileContents | None:
    """Read a file of the shape `{"mcpServers": {NAME: ENTRY}}`; None if it is not there.

    A file without any value defines no server. Raises ConfigError for a file that can't be used.
    """
    shown = shown_path(file.path, place.project)
    inside = place.project if file.level == "project" else None
    document = read_config_document(file.path, shown=shown, inside=inside)
    if document is None:
        return None
    return _Reading(file, shown, document).contents()


class _Reading:
    """One file being looked through, and the problems met on the way."""

    def __init__(self, file: ConfigFile, shown: str, document: JsonDocument) -> None:
        self.file = file
        self.shown = shown
        self.document = document
        self.problems: list[ConfigError] = []

    def contents(self) -> FileContents:
        value: JSONValue = {} if self.document.is_empty else self.document.value
        root = as_object(value)
        if root is None:
            self.report(f"must hold an object, not {kind_of(value)}", ())
            raise self.problems[0]
        self.look_at_keys(root)
        servers = as_object(root.get(SERVERS_KEY)) or {}
        if root.get(SERVERS_KEY) is not None and as_object(root.get(SERVERS_KEY)) is None:
            what = kind_of(root[SERVERS_KEY])
            self.report(f'"{SERVERS_KEY}" must be an object, not {what}', (SERVERS_KEY,))
        entries = tuple(
            self.entry(name, raw) for name, raw in servers.items() if self.is_name(name)
        )
        self.look_for_repeated_keys(servers)
        return FileContents(
            file=self.file,
            shown=self.shown,
            entries=entries,
            disabled=self.names(root, DISABLED_KEY),
            enabled=self.names(root, ENABLED_KEY),
            problems=tuple(self.problems),
            place_of=lambda path, at_key: self.document.place_of(path, at_key=at_key),
        )

    def report(
        self, message: str, path: KeyPath, *, at_key: bool = False, hint: str | None = None
    ) -> None:
        line, column = self.document.place_of(path, at_key=at_key)
        self.problems.append(
            ConfigError(f"{self.shown}:{line}:{column}: {message}", hint=hint, path=self.shown)
        )

    def entry(self, name: str, raw: JSONValue) -> FoundEntry:
        return FoundEntry(name=name, raw=raw, path=(SERVERS_KEY, name))

    def is_name(self, name: str) -> bool:
        if name:
            return True
        self.report("a server needs a name", (SERVERS_KEY, name), at_key=True)
        return False

    def look_at_keys(self, root: JSONObject) -> None:
        for key, value in root.items():
            wrong = not_a_number(value, (key,)) if key != SERVERS_KEY else None
            if wrong is not None:
                self.report(wrong.message, wrong.path)
            if key in _KNOWN_KEYS or key in _FOREIGN_KEYS:
                continue
            expected = closest(key, _KNOWN_KEYS)
            if expected is None and SERVERS_KEY not in root:
                expected = SERVERS_KEY
            question = f': expected "{expected}"' if expected else ""
            self.report(
                f"unknown key {quoted(key)}{question}",
                (key,),
                at_key=True,
                hint=f'servers stand under "{SERVERS_KEY}"' if expected == SERVERS_KEY else None,
            )

    def look_for_repeated_keys(self, servers: JSONObject) -> None:
        for again in self.document.repeated_keys(()):
            self.report_at(again.start, f"key {quoted(str(again.key))} is repeated")
        for again in self.document.repeated_keys((SERVERS_KEY,)):
            self.report_at(again.start, f"server {quoted(str(again.key))} is defined twice")
        if not self.document.has_repeated_keys:
            return
        for name in servers:
            for again in self.document.repeated_keys((SERVERS_KEY, name)):
                label = f"server {quoted(name)}: field {quoted(str(again.key))} is repeated"
                self.report_at(again.start, label)

    def report_at(self, offset: int, message: str) -> None:
        line, column = self.document.place(offset)
        text = f"{self.shown}:{line}:{column}: {message}; the first one counts"
        self.problems.append(ConfigError(text, path=self.shown))

    def names(self, root: JSONObject, key: str) -> frozenset[str]:
        """One of the two lists, which count in the user's own file only."""
        value = root.get(key)
        if value is None:
            return frozenset()
        if not self.file.has_name_lists:
            self.report(f'"{key}" counts only in your own mcp.json', (key,), at_key=True)
            return frozenset()
        items = as_array(value)
        if items is None:
            self.report(f'"{key}" must be an array of names, not {kind_of(value)}', (key,))
            return frozenset()
        for index, item in enumerate(items):
            if not isinstance(item, str):
                self.report(f'a name in "{key}" must be a string', (key, index))
        return frozenset(item for item in items if isinstance(item, str))
