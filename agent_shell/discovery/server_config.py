"""One MCP server's definition after reading: what to start or reach, and how to treat it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from agent_shell.json_types import JSONObject

DEFAULT_TIMEOUT_MS = 30_000
"""The first seed: "uses timeout (config.timeout or 30s default)"."""

TransportKind = Literal["stdio", "http", "sse", "ws"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseServerConfig:
    """What every definition may say. `timeout_ms` is in milliseconds, 0 means none.

    `literal_values` names the variables or headers whose value begins with `!` only because a
    variable was put in: such a value is a value, never a shell command.
    """

    name: str
    enabled: bool = True
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    instructions: str | None = None
    include_tools: tuple[str, ...] | None = None
    exclude_tools: tuple[str, ...] = ()
    auth: JSONObject | None = None
    oauth: JSONObject | None = None
    literal_values: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class StdioServerConfig(BaseServerConfig):
    """A program to start. `inherit_env`: True for everything, or the names to pass besides."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    cwd: str | None = None
    inherit_env: bool | tuple[str, ...] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpServerConfig(BaseServerConfig):
    """A streamable HTTP endpoint."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class SseServerConfig(BaseServerConfig):
    """An endpoint of the older HTTP+SSE transport (revision 2024-11-05)."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSocketServerConfig(BaseServerConfig):
    """A WebSocket endpoint."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


ServerConfig: TypeAlias = (
    StdioServerConfig | HttpServerConfig | SseServerConfig | WebSocketServerConfig
)


def transport_kind(config: ServerConfig) -> TransportKind:
    """The transport's name as `.mcp.json` and `mcp list` write it."""
    match config:
        case StdioServerConfig():
            return "stdio"
        case HttpServerConfig():
            return "http"
        case SseServerConfig():
            return "sse"
        case WebSocketServerConfig():
            return "ws"
