"""What discovery is asked, and what it found."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agent_shell.discovery.server_config import ServerConfig
from agent_shell.discovery.source import SourceMeta
from agent_shell.errors import ConfigError
from agent_shell.json_types import JSONObject
from agent_shell.paths import AppPaths


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveryOptions:
    """Where to look, and how (CONTRACT sections 1 and 3).

    `extra_files` come from --mcp-config and rank highest, the first one most; `strict` uses no
    other file. `trust_project` accepts the project's servers for this run.
    """

    cwd: Path
    paths: AppPaths
    environ: Mapping[str, str]
    enable_project_config: bool = True
    extra_files: tuple[Path, ...] = ()
    strict: bool = False
    filter_exa: bool = True
    trust_project: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveredServer:
    """One definition of a server, usable or not.

    `reason` is None for a usable one, else `disabled`, `filtered:exa`, `failed`, `untrusted` or
    `shadowed by FILE`; `error` and `hint` are the words for `failed`. `config` has its variables
    put in, and is None when the entry is broken. `raw` is the entry as its file writes it.
    `enabled` is what counts in the end, the user's lists included. `line` is where its key stands.
    """

    name: str
    config: ServerConfig | None
    source: SourceMeta
    shown_path: str
    line: int | None
    raw: JSONObject
    trust_key: str
    enabled: bool
    trusted: bool
    reason: str | None = None
    error: str | None = None
    hint: str | None = None

    @property
    def is_shadowed(self) -> bool:
        """Another definition has the name."""
        return self.reason is not None and self.reason.startswith("shadowed by ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """Everything found, in a fixed order: by rank of the file, then as the file has it.

    `errors` holds the problems of whole files and the warnings about entries. `unusable_files`
    are those that could not be used at all. A name stands more than once in `servers` only as one
    winner and the ones it shadows.
    """

    servers: tuple[DiscoveredServer, ...] = ()
    errors: tuple[ConfigError, ...] = ()
    exa_api_keys: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    unusable_files: tuple[Path, ...] = ()

    def find(self, name: str) -> DiscoveredServer | None:
        """The definition that counts for this name."""
        return next((each for each in self.winners() if each.name == name), None)

    def winners(self) -> tuple[DiscoveredServer, ...]:
        """One definition a name: those that nothing shadows."""
        return tuple(server for server in self.servers if not server.is_shadowed)
