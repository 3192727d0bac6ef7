"""The life of MCP servers here. Read loader.py, then manager.py, then server_task.py.

The first seed's module exports loader, manager and client to outside callers; they are imported
when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_shell.mcp.client import MCPServerConnection, connect_to_server
    from agent_shell.mcp.loader import MCPToolsLoadResult, discover_and_load_mcp_tools
    from agent_shell.mcp.manager import MCPLoadResult, MCPManager

__all__ = [
    "MCPLoadResult",
    "MCPManager",
    "MCPServerConnection",
    "MCPToolsLoadResult",
    "connect_to_server",
    "discover_and_load_mcp_tools",
]

_HOMES = {
    "MCPLoadResult": "agent_shell.mcp.manager",
    "MCPManager": "agent_shell.mcp.manager",
    "MCPServerConnection": "agent_shell.mcp.client",
    "MCPToolsLoadResult": "agent_shell.mcp.loader",
    "connect_to_server": "agent_shell.mcp.client",
    "discover_and_load_mcp_tools": "agent_shell.mcp.loader",
}


def __getattr__(name: str) -> object:
    """Import a public name on first use (PEP 562)."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)
