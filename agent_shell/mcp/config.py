"""load_all_mcp_configs and validate_server_config: from discovery to what may be started."""

from dataclasses import dataclass
from urllib.parse import urlsplit

import anyio.to_thread

from agent_shell.discovery.discover import discover
from agent_shell.discovery.discovered import DiscoveredServer, Discovery, DiscoveryOptions
from agent_shell.discovery.server_config import (
    HttpServerConfig,
    ServerConfig,
    SseServerConfig,
    StdioServerConfig,
    WebSocketServerConfig,
)
from agent_shell.discovery.source import SourceMeta


@dataclass(frozen=True, slots=True, kw_only=True)
class MCPConfigs:
    """What the first seed's `loadAllMCPConfigs` returns: the usable configs and their sources.

    `discovery` is everything that was found, with the reason why an entry is not used.
    """

    configs: dict[str, ServerConfig]
    sources: dict[str, SourceMeta]
    discovery: Discovery


async def load_all_mcp_configs(options: DiscoveryOptions) -> MCPConfigs:
    """Read every source afresh, in a thread: a slow disk must not hold up the prompt."""
    discovery = await anyio.to_thread.run_sync(discover, options)
    usable = [server for server in discovery.servers if is_usable(server)]
    return MCPConfigs(
        configs={server.name: server.config for server in usable if server.config is not None},
        sources={server.name: server.source for server in usable},
        discovery=discovery,
    )


def is_usable(server: DiscoveredServer) -> bool:
    """May this server be started: nothing speaks against it and its entry could be read."""
    return server.reason is None and server.config is not None


def validate_server_config(config: ServerConfig) -> str | None:
    """What is wrong with the transport fields, or None (first seed)."""
    match config:
        case StdioServerConfig():
            if not config.command.strip():
                return '"command" is empty'
            if "\0" in config.command or any("\0" in word for word in config.args):
                return '"command" and "args" may not hold a NUL character'
        case HttpServerConfig() | SseServerConfig():
            return _url_problem(config.url, ("http", "https"))
        case WebSocketServerConfig():
            return _url_problem(config.url, ("ws", "wss"))
    return None


def _url_problem(url: str, schemes: tuple[str, ...]) -> str | None:
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname)
    except ValueError:
        return '"url" is not a URL'
    if parts.scheme.lower() not in schemes or not has_host:
        return f'"url" must begin with {" or ".join(f"{scheme}://" for scheme in schemes)}'
    return None
