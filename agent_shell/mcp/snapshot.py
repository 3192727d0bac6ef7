"""One server as the panel, `mcp list` and `mcp status` show it: a pure reading of the state."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agent_shell.discovery.discovered import DiscoveredServer
from agent_shell.discovery.server_config import TransportKind, transport_kind
from agent_shell.discovery.source import SourceMeta
from agent_shell.mcp.registries import ConnectionStatus, ServerRegistries
from agent_shell.mcp_protocol.messages import ServerInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSnapshot:
    """What is true of one server now.

    `reason` says why it is not connected, in the contract's words: `disabled`, `untrusted`,
    `filtered:exa`, `shadowed by …`, `invalid`, `failed`, `closed`. `timings_ms` holds `spawn` (or
    `connect`), `initialize` and `list_tools` as far as they are known; `started_at` is the clock
    reading (anyio.current_time, seconds) at which connecting began. `deferred` tools come from
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
    pid: int | None = None
    stderr_tail: str = ""


def snapshot_of(
    found: DiscoveredServer, registries: ServerRegistries, started_at: float | None
) -> ServerSnapshot:
    """Read one server's truth off the registries; a shadowed entry has no life of its own."""
    transport = transport_kind(found.config) if found.config is not None else None
    if found.reason is not None:
        return ServerSnapshot(
            name=found.name,
            status="disconnected",
            transport=transport,
            enabled=found.enabled,
            trusted=found.trusted,
            source=found.source,
            shown_path=found.shown_path,
            reason=found.reason,
            error=found.error,
            hint=found.hint,
        )
    name = found.name
    connection = registries.connections.get(name)
    failure = registries.failures.get(name)
    status = registries.status_of(name)
    tool_slice = registries.slices.get(name)
    error = failure.error if failure is not None else None
    return ServerSnapshot(
        name=name,
        status=status,
        transport=transport,
        enabled=found.enabled,
        trusted=found.trusted,
        source=found.source,
        shown_path=found.shown_path,
        reason=None if status != "disconnected" else (failure.reason if failure else "closed"),
        error=error.message if error is not None else None,
        hint=error.hint if error is not None else None,
        tools=len(tool_slice.definitions) if tool_slice is not None else 0,
        deferred=tool_slice is not None and tool_slice.connection is None,
        server=connection.initialize_result.server_info if connection is not None else None,
        protocol=connection.initialize_result.protocol_version if connection is not None else None,
        timings_ms=dict(connection.timings_ms) if connection is not None else {},
        started_at=started_at,
        pid=connection.pid if connection is not None else None,
        stderr_tail=connection.stderr_tail if connection is not None else "",
    )
