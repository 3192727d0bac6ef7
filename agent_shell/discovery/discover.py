"""Ask every provider for its files, rank what they define, and say what may be used."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from agent_shell.discovery.discovered import DiscoveredServer, Discovery, DiscoveryOptions
from agent_shell.discovery.entry import EntryReading, read_entry
from agent_shell.discovery.entry_words import quoted
from agent_shell.discovery.exa import exa_keys, is_exa_server
from agent_shell.discovery.precedence import RankedEntry, rank_entries
from agent_shell.discovery.providers import PROVIDERS
from agent_shell.discovery.providers.base import (
    ConfigFile,
    ConfigProvider,
    FileContents,
    Place,
    read_mcp_servers,
)
from agent_shell.discovery.trust import TrustStore, entry_trust_key
from agent_shell.errors import ConfigError
from agent_shell.json_types import as_object
from agent_shell.paths import AppPaths

__all__ = ["DiscoveredServer", "Discovery", "DiscoveryOptions", "discover"]


def discover(options: DiscoveryOptions) -> Discovery:
    """Read all files afresh and settle every name. Blocks while it reads; starts nothing.

    A bad file or entry is part of the answer, never an exception, and costs nothing but itself.
    """
    search = _Search(options)
    search.read_files()
    return search.settle()


def check_named_file(path: Path, project: Path, paths: AppPaths) -> None:
    """Raises ConfigError when a file of --mcp-config is of no use as a whole."""
    _read_named_file(_named_file(path), Place(project=project, paths=paths))


def _named_file(path: Path) -> ConfigFile:
    return ConfigFile(
        path=path.absolute(),
        provider="command-line",
        provider_name="--mcp-config",
        level="user",
    )


def _read_named_file(file: ConfigFile, place: Place) -> FileContents:
    contents = read_mcp_servers(file, place)
    if contents is None:
        raise ConfigError(f"{file.path}: there is no such file", path=str(file.path))
    return contents


@dataclass(slots=True)
class _Search:
    """One run of discovery."""

    options: DiscoveryOptions
    contents: list[FileContents] = field(default_factory=list[FileContents])
    errors: list[ConfigError] = field(default_factory=list[ConfigError])
    files: list[Path] = field(default_factory=list[Path])
    unusable_files: list[Path] = field(default_factory=list[Path])
    disabled: frozenset[str] = frozenset()
    enabled: frozenset[str] = frozenset()

    @property
    def project(self) -> Path:
        return self.options.cwd.absolute()

    def read_files(self) -> None:
        """Fill the lists, highest rank first; the same file counts once, at its highest rank."""
        place = Place(project=self.project, paths=self.options.paths)
        seen = set[str]()
        for provider, file in self.candidates(place):
            real = os.path.realpath(file.path)
            if real in seen:
                continue
            seen.add(real)
            try:
                contents = (
                    _read_named_file(file, place)
                    if provider is None
                    else provider.read(file, place)
                )
            except ConfigError as error:
                self.errors.append(error)
                self.unusable_files.append(file.path)
                continue
            if contents is None:
                continue
            self.files.append(file.path)
            if file.has_name_lists:
                self.disabled, self.enabled = contents.disabled, contents.enabled
                if self.options.strict:
                    continue
            self.errors.extend(contents.problems)
            self.contents.append(contents)

    def candidates(self, place: Place) -> Iterator[tuple[ConfigProvider | None, ConfigFile]]:
        """Every file that may count. With `strict`, the user's own one counts for its lists."""
        for path in self.options.extra_files:
            yield None, _named_file(path)
        for provider in PROVIDERS:
            for file in provider.files(place):
                if file.level == "project" and not self.options.enable_project_config:
                    continue
                if file.has_name_lists or not self.options.strict:
                    yield provider, file

    def settle(self) -> Discovery:
        store = TrustStore(self.options.paths.trust_file)
        servers: list[DiscoveredServer] = []
        keys: dict[str, None] = {}
        for ranked in rank_entries(self.contents):
            entry = ranked.entry
            reading = read_entry(entry.name, entry.raw, self.options.environ)
            server = self.server(ranked, reading, store)
            servers.append(server)
            if server.is_shadowed or not server.enabled:
                continue
            self.errors.extend(
                ranked.contents.problem(
                    f"server {quoted(entry.name)}: {warning.message}",
                    (*entry.path, *warning.path),
                    at_key=True,
                )
                for warning in reading.warnings
            )
            if (
                server.config is not None
                and server.trusted
                and is_exa_server(server.name, server.raw)
            ):
                keys.update(dict.fromkeys(exa_keys(server.config)))
        if store.problem is not None:
            self.errors.append(store.problem)
        return Discovery(
            servers=tuple(servers),
            errors=tuple(self.errors),
            exa_api_keys=tuple(keys),
            files=tuple(self.files),
            unusable_files=tuple(self.unusable_files),
        )

    def server(
        self, ranked: RankedEntry, reading: EntryReading, store: TrustStore
    ) -> DiscoveredServer:
        contents, entry = ranked.contents, ranked.entry
        source = contents.file.source
        raw = as_object(entry.raw) or {}
        trust_key = entry_trust_key(entry.name, raw, contents.shown)
        enabled = reading.is_enabled or entry.name in self.enabled
        enabled = enabled and entry.name not in self.disabled
        server = DiscoveredServer(
            name=entry.name,
            config=None if reading.config is None else replace(reading.config, enabled=enabled),
            source=source,
            shown_path=contents.shown,
            line=contents.place_of(entry.path, True)[0],
            raw=raw,
            trust_key=trust_key,
            enabled=enabled,
            trusted=self.options.trust_project or store.is_trusted(source, self.project, trust_key),
        )
        if ranked.shadowed_by is not None:
            return replace(server, reason=f"shadowed by {ranked.shadowed_by}")
        if reading.error is not None:
            problem = contents.problem(
                f"server {quoted(entry.name)}: {reading.error.message}",
                (*entry.path, *reading.error.path),
                at_key=not reading.error.path,
            )
            server = replace(server, error=problem.message, hint=reading.error.hint)
        if not enabled:
            return replace(server, reason="disabled")
        if self.options.filter_exa and is_exa_server(entry.name, raw):
            return replace(server, reason="filtered:exa")
        if reading.error is not None:
            return replace(server, reason="failed")
        return server if server.trusted else replace(server, reason="untrusted")
