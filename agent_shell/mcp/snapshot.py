"""One server as the panel, `mcp list` and `mcp status` show it: a pure reading of the state."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from agent_shell.discovery.discovered import DiscoveredServer
from agent_shell.discovery.server_config import ServerConfig, TransportKind, transport_kind
from agent_shell.discovery.source import SourceMeta
from agent_shell.mcp.registries import ConnectionStatus, ServerRegistries
from agent_shell.mcp_protocol.messages import ServerInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSnapshot:
    """What is true of one server now.

    `reason` says why it is not connected, in the contract's words: `disabled`, `untrusted`,
    `filtered:exa`, `shadowed by …`, `failed`, `closed`. `timings_ms` holds `spawn` (or
    `connect`), `initialize` and `list_tools` as far as they are known; `started_at` is the clock
    reading (anyio.current_time, seconds) at which connecting began, `ended_at` the one at which it
    failed or the connection was lost. `deferred` tools come from
    the cache. `stderr_tail` is the end of a stdio server's standard error.
    """

    name: str
    status: ConnectionStatus
    transport: TransportKind | None
    enabled: bool
    trusted: bool
    source: SourceMeta
    shown_path: str
    reason: str | None = None
    error: str | None = None
    hint: str | None = None
    tools: int = 0
    deferred: bool = False
    server: ServerInfo | None = None
    protocol: str | None = None
    timings_ms: Mapping[str, float] = field(default_factory=dict[str, float])
    started_at: float | None = None
    ended_at: float | None = None
    pid: int | None = None
    stderr_tail: str = ""


def snapshot_of(
    found: DiscoveredServer, registries: ServerRegistries, started_at: float | None
) -> ServerSnapshot:
    """One definition's truth. A shadowed one has no life of its own.

    One that lives is shown alive, even if its entry was turned off in the file since then.
    """
    at_rest = ServerSnapshot(
        name=found.name,
        status="disconnected",
        transport=transport_kind(found.config) if found.config is not None else None,
        enabled=found.enabled,
        trusted=found.trusted,
        source=found.source,
        shown_path=found.shown_path,
        reason=found.reason,
        error=found.error,
        hint=found.hint,
    )
    lives = registries.status_of(found.name) != "disconnected"
    if found.is_shadowed or (found.reason is not None and not lives):
        return at_rest
    return _with_life(at_rest, registries, started_at)


def snapshot_without_entry(
    config: ServerConfig,
    source: SourceMeta,
    registries: ServerRegistries,
    started_at: float | None,
) -> ServerSnapshot:
    """The truth of a server that was started from an entry which is in no file any more."""
    at_rest = ServerSnapshot(
        name=config.name,
        status="disconnected",
        transport=transport_kind(config),
        enabled=True,
        trusted=True,
        source=source,
        shown_path=str(source.path),
    )
    alive = _with_life(at_rest, registries, started_at)
    return replace(
        alive, error=alive.error or "its entry is gone from the file", hint="/mcp reload closes it"
    )


def _with_life(
    row: ServerSnapshot, registries: ServerRegistries, started_at: float | None
) -> ServerSnapshot:
    """The same row with what the registries know of the server."""
    name = row.name
    status = registries.status_of(name)
    failure = registries.failures.get(name)
    error = failure.error if failure is not None else None
    tool_slice = registries.slices.get(name)
    row = replace(
        row,
        status=status,
        reason=None if status != "disconnected" else (failure.reason if failure else "closed"),
        error=error.message if error is not None else None,
        hint=error.hint if error is not None else None,
        tools=len(tool_slice.definitions) if tool_slice is not None else 0,
        deferred=tool_slice is not None and tool_slice.connection is None,
        started_at=started_at,
        ended_at=failure.at if failure is not None else None,
    )
    connection = registries.connections.get(name)
    if connection is None:
        return row
    return replace(
        row,
        server=connection.initialize_result.server_info,
        protocol=connection.initialize_result.protocol_version,
        timings_ms=dict(connection.timings_ms),
        pid=connection.pid,
        stderr_tail=connection.stderr_tail,
    )
