"""What the manager knows; status is read off it, never stored."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import anyio

from agent_shell.discovery.source import SourceMeta
from agent_shell.errors import MCPClosedError, MCPError
from agent_shell.mcp.client import MCPServerConnection
from agent_shell.mcp.tool_bridge import (
    ConnectionWaiter,
    DeferredMCPTool,
    MCPTool,
)
from agent_shell.mcp.tool_name import assign_tool_names
from agent_shell.mcp_protocol.messages import ToolDefinition

ConnectionStatus = Literal["connected", "connecting", "disconnected"]
SessionTool: TypeAlias = MCPTool | DeferredMCPTool


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerChanged:
    """A server's status, reason or error is not what it was."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsChanged:
    """A server's slice of the tools was replaced or removed."""

    name: str


ManagerEvent: TypeAlias = ServerChanged | ToolsChanged


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a server is not connected: it never was (`failed`), or no longer is (`closed`)."""

    reason: Literal["failed", "closed"]
    error: MCPError | None
    at: float | None = None
    """The clock reading (anyio.current_time, seconds) of its end; None where nothing ran."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSlice:
    """One server's definitions; without a connection they come from the cache."""

    definitions: tuple[ToolDefinition, ...]
    connection: MCPServerConnection | None


class ServerRegistries:
    """The maps of the first seed. Every method is one step: no await inside, at most two events."""

    def __init__(
        self,
        *,
        wait_for_connection: ConnectionWaiter,
        emit: Callable[[ManagerEvent], None],
    ) -> None:
        self.connections: dict[str, MCPServerConnection] = {}
        self.pending_connections: dict[str, anyio.Future[MCPServerConnection]] = {}
        self.pending_tool_loads: dict[str, anyio.Future[tuple[ToolDefinition, ...]]] = {}
        self.sources: dict[str, SourceMeta] = {}
        self.failures: dict[str, Failure] = {}
        self.slices: dict[str, ToolSlice] = {}
        self._tools: Sequence[SessionTool] | None = ()
        self._wait_for_connection = wait_for_connection
        self._emit = emit

    @property
    def tools(self) -> Sequence[SessionTool]:
        """All servers' tools, sorted by session name: never by who connected first.

        Made when it is asked for: a reload of twenty servers changes the slices forty times.
        """
        if self._tools is None:
            self._tools = self._bridged()
        return self._tools

    def status_of(self, name: str) -> ConnectionStatus:
        """Connected wins: a server whose tools still load is usable already."""
        if name in self.connections:
            return "connected"
        if name in self.pending_connections or name in self.pending_tool_loads:
            return "connecting"
        return "disconnected"

    def begin(self, name: str) -> None:
        """The handshake starts."""
        self.failures.pop(name, None)
        self.pending_connections[name] = anyio.Future()
        self._emit(ServerChanged(name=name))

    def connected(self, name: str, connection: MCPServerConnection) -> None:
        """The handshake is done; the tools are still to be listed."""
        self.connections[name] = connection
        self.pending_tool_loads[name] = anyio.Future()
        self.pending_connections.pop(name).return_value = connection
        self._emit(ServerChanged(name=name))

    def tools_loaded(self, name: str, definitions: tuple[ToolDefinition, ...]) -> None:
        """The first listing of a connection is there."""
        self.replace_server_tools(
            name, ToolSlice(definitions=definitions, connection=self.connections[name])
        )
        self.pending_tool_loads.pop(name).return_value = definitions
        self._emit(ServerChanged(name=name))

    def ended(self, name: str, failure: Failure) -> None:
        """The server is gone, before or after it was connected. Its tools stay listed and fail.

        The first seed: "future calls fail until reconnect/reload".
        """
        self.failures[name] = failure
        self._drop_connection(name, failure.error)
        self._emit(ServerChanged(name=name))

    def forget(self, name: str) -> None:
        """`disconnect_server`: pending entries, source and tools of this server go."""
        self.failures.pop(name, None)
        self.sources.pop(name, None)
        self._drop_connection(name, None)
        had_tools = self.slices.pop(name, None) is not None
        self._tools = None
        self._emit(ServerChanged(name=name))
        if had_tools:
            self._emit(ToolsChanged(name=name))

    def replace_server_tools(self, name: str, tool_slice: ToolSlice) -> None:
        """This server's tools are now these; the other servers' are not touched."""
        self.slices[name] = tool_slice
        self._tools = None
        self._emit(ToolsChanged(name=name))

    def _drop_connection(self, name: str, error: MCPError | None) -> None:
        self.connections.pop(name, None)
        reason = error or MCPClosedError(f'server "{name}" was disconnected', server=name)
        pending = self.pending_connections.pop(name, None)
        if pending is not None:
            pending.exception = reason
        pending_load = self.pending_tool_loads.pop(name, None)
        if pending_load is not None:
            pending_load.exception = reason

    def _bridged(self) -> tuple[SessionTool, ...]:
        names = assign_tool_names(
            (server, definition.name)
            for server, tool_slice in self.slices.items()
            for definition in tool_slice.definitions
        )
        tools = dict[str, SessionTool]()
        for server, tool_slice in self.slices.items():
            for definition in tool_slice.definitions:
                name = names[server, definition.name]
                tools[name] = self._bridge(name, server, definition, tool_slice.connection)
        return tuple(tools[name] for name in sorted(tools))

    def _bridge(
        self,
        name: str,
        server: str,
        definition: ToolDefinition,
        connection: MCPServerConnection | None,
    ) -> SessionTool:
        source = self.sources.get(server)
        origin = f"mcp:{server} via {source.provider_name}" if source else f"mcp:{server}"
        if connection is None:
            return DeferredMCPTool(
                name=name,
                server=server,
                definition=definition,
                origin=origin,
                wait_for_connection=self._wait_for_connection,
            )
        return MCPTool(
            name=name, server=server, definition=definition, origin=origin, connection=connection
        )
