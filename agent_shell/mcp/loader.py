"""discover_and_load_mcp_tools: the one call that start-up makes."""

import logging
from dataclasses import dataclass

from agent_shell.mcp.manager import MCPManager
from agent_shell.tools.tool import Tool

logger = logging.getLogger(__name__)

DISCOVERY_ERROR_PATH = ".mcp.json"
"""The path of the one synthetic error that stands for a failed discovery (first seed)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedCustomTool:
    """A tool with its label: `mcp:<server> via <provider name>` where the source is known."""

    path: str
    tool: Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class MCPLoadError:
    """`path` is `.mcp.json` for discovery as a whole, else `mcp:<server>`."""

    path: str
    error: str
    hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MCPToolsLoadResult:
    """What start-up gets: the tools so far, and what went wrong for which server."""

    manager: MCPManager
    tools: tuple[LoadedCustomTool, ...] = ()
    errors: tuple[MCPLoadError, ...] = ()
    connected_servers: tuple[str, ...] = ()
    exa_api_keys: tuple[str, ...] = ()


async def discover_and_load_mcp_tools(
    manager: MCPManager, *, since: float | None = None
) -> MCPToolsLoadResult:
    """Discover, connect, and hand over the tools; never raises for what is in files or servers.

    Two classes of failure (first seed): discovery as a whole fails → no tools and one error with
    the path `.mcp.json`; a server fails → its error beside the others' tools. `since`: the moment
    (anyio.current_time) from which the start-up gate's time counts.
    """
    try:
        loaded = await manager.discover_and_connect(since=since)
    except Exception as error:
        logger.warning("MCP discovery failed: %s", error, exc_info=True)
        return MCPToolsLoadResult(
            manager=manager, errors=(MCPLoadError(path=DISCOVERY_ERROR_PATH, error=str(error)),)
        )
    for name, error in loaded.errors.items():
        logger.warning("server %r failed at start: %s", name, error)
    return MCPToolsLoadResult(
        manager=manager,
        tools=tuple(LoadedCustomTool(path=tool.origin, tool=tool) for tool in loaded.tools),
        errors=tuple(
            MCPLoadError(path=f"mcp:{name}", error=error.message, hint=error.hint)
            for name, error in sorted(loaded.errors.items())
        ),
        connected_servers=loaded.connected,
        exa_api_keys=manager.discovery.exa_api_keys,
    )
