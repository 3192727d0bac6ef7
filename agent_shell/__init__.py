"""agent-shell: a coding agent for the terminal whose MCP servers just work. Read sdk/ first.

Names are loaded when they are first used, so that `agent-shell --version` imports nothing.
"""

TYPE_CHECKING = False  # typing's own would cost a third of `--version`
if TYPE_CHECKING:
    from agent_shell.sdk.create_session import create_agent_session
    from agent_shell.sdk.discover import discover_mcp_servers

__version__ = "0.1.0"

__all__ = ["__version__", "create_agent_session", "discover_mcp_servers"]

_HOMES = {
    "create_agent_session": "agent_shell.sdk.create_session",
    "discover_mcp_servers": "agent_shell.sdk.discover",
}


def __getattr__(name: str) -> object:
    """Import a public name on first use (PEP 562)."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - only a library user pays for it

    return getattr(import_module(home), name)
