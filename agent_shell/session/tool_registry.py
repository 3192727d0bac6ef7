"""Which tools exist now; all tools of MCP servers are replaced in one step."""

from collections.abc import Iterable

from agent_shell.tools.tool import Tool

MCP_PREFIX = "mcp_"


class ToolRegistry:
    """Tools by name. Always listed in the order of their names: a stable list can be cached."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        self._active: tuple[Tool, ...] | None = None
        for tool in tools:
            self.add(tool)

    def get(self, name: str) -> Tool | None:
        """The tool of this name, if there is one now."""
        return self._tools.get(name)

    def active(self) -> list[Tool]:
        """Every tool, sorted by name."""
        if self._active is None:
            self._active = tuple(self._tools[name] for name in sorted(self._tools))
        return list(self._active)

    def add(self, tool: Tool) -> None:
        """Add a tool, in place of one of the same name."""
        self._tools[tool.name] = tool
        self._active = None

    def replace_mcp_tools(self, tools: Iterable[Tool]) -> None:
        """Remove every `mcp_` tool and put these in: no await, so nobody sees half of it."""
        kept = {name: tool for name, tool in self._tools.items() if not _is_mcp(name)}
        kept.update((tool.name, tool) for tool in tools if _is_mcp(tool.name))
        self._tools = kept
        self._active = None


def _is_mcp(name: str) -> bool:
    return name.startswith(MCP_PREFIX)
