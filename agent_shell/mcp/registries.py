"""What the manager knows; status is read off it, never stored."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import anyio

from agent_shell.discovery.server_config import ServerConfig, TransportKind
from agent_shell.discovery.source import SourceMeta
from agent_shell.errors import MCPError
from agent_shell.mcp.client import MCPServerConnection
from agent_shell.mcp.tool_bridge import BridgedTool
from agent_shell.mcp_protocol.messages import ServerInfo

ConnectionStatus = Literal["connected", "connecting", "disconnected"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSnapshot:
    """One server as the panel, `mcp list` and `mcp status` show it.

    `reason` says why it is not connected, in the contract's words: `disabled`, `untrusted`,
    `filtered:exa`, `shadowed by …`, `failed`, `closed`, `off` (disconnected by the user).
    `timings_ms` holds `spawn`, `initialize` and `list_tools` as far as they are known;
    `started_at` is the clock reading (anyio.current_time, seconds) at which connecting began.
    `stderr_tail` is the end of a stdio server's standard error.
    """

    name: str
    status: ConnectionStatus
    transport: TransportKind | None
    enabled: bool
    trusted: bool
    source: SourceMeta | None
    reason: str | None = None
    error: str | None = None
    tools: int = 0
    deferred: bool = False
    server: ServerInfo | None = None
    protocol: str | None = None
    timings_ms: Mapping[str, float] = field(default_factory=dict[str, float])
    started_at: float | None = None
    pid: int | None = None
    stderr_tail: str = ""
