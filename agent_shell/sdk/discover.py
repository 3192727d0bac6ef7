"""discover_mcp_servers: what the machine's files know, and the tools behind it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from agent_shell.discovery.discovered import DiscoveryOptions
from agent_shell.mcp.loader import MCPToolsLoadResult, discover_and_load_mcp_tools
from agent_shell.mcp.manager import MCPManager
from agent_shell.settings.settings import MCPSettings


@asynccontextmanager
async def discover_mcp_servers(
    options: DiscoveryOptions, *, settings: MCPSettings | None = None
) -> AsyncGenerator[MCPToolsLoadResult]:
    """Find, connect and list: the loader's result without a session around it (first seed).

    The servers live until the `async with` block is left.
    """
    async with MCPManager(options, settings=settings or MCPSettings()) as manager:
        yield await discover_and_load_mcp_tools(manager)
