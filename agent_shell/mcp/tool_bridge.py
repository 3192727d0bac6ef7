"""MCPTool and DeferredMCPTool: an MCP tool as one of the session's Tools."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from agent_shell.errors import MCPClosedError, MCPError
from agent_shell.json_types import JSONObject
from agent_shell.logs import printable
from agent_shell.mcp.client import MCPServerConnection
from agent_shell.mcp.result_content import tool_result_of
from agent_shell.mcp_protocol.messages import ToolDefinition
from agent_shell.tools.tool import ToolContext, ToolEffect, ToolResult, text_result

MAX_DESCRIPTION_CHARACTERS = 8_000
"""Longer descriptions are cut: they are paid for in every request (THREATS.md: poisoning)."""

ConnectionWaiter: TypeAlias = Callable[[str], Awaitable[MCPServerConnection]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgedTool:
    """What live and deferred tools share: a server's definition under a session name."""

    name: str
    server: str
    definition: ToolDefinition
    origin: str

    @property
    def remote_name(self) -> str:
        """The tool's own name, as the server knows it."""
        return self.definition.name

    @property
    def description(self) -> str:
        """The server's words, made harmless, with the server named (CASES Y17)."""
        words = printable(self.definition.description or self.definition.title or "")
        if len(words) > MAX_DESCRIPTION_CHARACTERS:
            words = words[:MAX_DESCRIPTION_CHARACTERS] + " […]"
        return f"{words}\n(MCP server: {printable(self.server)})".lstrip()

    @property
    def input_schema(self) -> JSONObject:
        return self.definition.input_schema

    @property
    def effect(self) -> ToolEffect:
        """Always `other`: a server's own read-only hint is not to be trusted (MCP.md item 96)."""
        return "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class MCPTool(BridgedTool):
    """Calls through an already connected server (first seed)."""

    connection: MCPServerConnection

    async def execute(self, arguments: JSONObject, context: ToolContext) -> ToolResult:
        """Call once; every failure but cancellation is a result that begins `MCP error: `."""
        try:
            result = await self.connection.call_tool(
                self.remote_name, arguments, on_progress=context.report_progress
            )
        except MCPError as error:
            return mcp_error_result(self.server, error)
        return tool_result_of(result)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeferredMCPTool(BridgedTool):
    """Known from the cache, usable before its server is up (first seed)."""

    wait_for_connection: ConnectionWaiter

    async def execute(self, arguments: JSONObject, context: ToolContext) -> ToolResult:
        """Wait for the server, then do what MCPTool does."""
        try:
            connection = await self.wait_for_connection(self.server)
        except MCPError as error:
            return mcp_error_result(self.server, error)
        live = MCPTool(
            name=self.name,
            server=self.server,
            definition=self.definition,
            origin=self.origin,
            connection=connection,
        )
        return await live.execute(arguments, context)


def mcp_error_result(server: str, error: MCPError) -> ToolResult:
    """The failure as the model, or the person at /call, reads it (first seed: `MCP error: …`)."""
    hint = error.hint
    if hint is None and isinstance(error, MCPClosedError):
        hint = f"/mcp connect {server} starts it again"
    error.server = error.server or server
    words = f"MCP error: {error.described}"
    return text_result(printable(f"{words}\nhint: {hint}" if hint else words), is_error=True)
