"""One task owns one server: connect, list tools, wait to stop, close."""

import fnmatch
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial

import anyio
import anyio.to_thread

from agent_shell.discovery.server_config import ServerConfig
from agent_shell.errors import MCPError
from agent_shell.mcp.client import ClientOptions, MCPServerConnection, connect_to_server
from agent_shell.mcp.registries import Failure, ServerRegistries, ToolSlice
from agent_shell.mcp.tool_cache import MCPToolCache
from agent_shell.mcp_protocol.messages import ToolDefinition

logger = logging.getLogger(__name__)

LIST_CHANGED_DEBOUNCE_S = 0.1
"""A server that registers ten tools says so ten times; one listing is enough (CASES Z56)."""


@dataclass(slots=True, kw_only=True, eq=False)
class ServerRun:
    """One attempt to have a server, from its start to its end.

    A retired run closes what it opened and changes no registry any more: that is how a late
    connection can't rise again after `disconnect_all`.
    """

    config: ServerConfig
    started_at: float
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    settled: anyio.Event = field(default_factory=anyio.Event)
    ended: anyio.Event = field(default_factory=anyio.Event)
    tools_changed: anyio.Event = field(default_factory=anyio.Event)
    is_retired: bool = False
    allow_background_logging: bool = False

    def retire(self) -> None:
        """Stop, by whatever stage it is in; the task goes on until everything is closed."""
        self.is_retired = True
        self.scope.cancel()
        self.settled.set()


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTaskNeeds:
    """What every owner task shares with the manager."""

    registries: ServerRegistries
    cache: MCPToolCache
    client_options: Callable[[ServerRun], ClientOptions]
    resolve_auth_config: Callable[[ServerConfig], Awaitable[ServerConfig]]
    timeout_s: Callable[[ServerConfig], float | None]


async def own_server(run: ServerRun, needs: ServerTaskNeeds, predecessor: ServerRun | None) -> None:
    """Live one server's whole life. Its failure ends this task and nothing else.

    `predecessor` is the same server's earlier run, if it is still closing: the new process
    starts only when the old one is gone (CASES Z20).
    """
    name = run.config.name
    try:
        with run.scope:
            if predecessor is not None:
                await predecessor.ended.wait()
            await _connect_and_stay(run, needs)
    except MCPError as error:
        _note_end(run, needs, Failure(reason="failed", error=error))
    except Exception as error:  # one server must never take the others with it
        logger.exception("server %r: unexpected failure", name)
        _note_end(run, needs, Failure(reason="failed", error=MCPError(f"internal error: {error}")))
    finally:
        run.settled.set()
        run.ended.set()


def _note_end(run: ServerRun, needs: ServerTaskNeeds, failure: Failure) -> None:
    if run.is_retired:
        return
    failure = replace(failure, at=anyio.current_time())
    needs.registries.ended(run.config.name, failure)
    if run.allow_background_logging:
        logger.warning("server %r: %s: %s", run.config.name, failure.reason, failure.error)


async def _connect_and_stay(run: ServerRun, needs: ServerTaskNeeds) -> None:
    name = run.config.name
    config = await needs.resolve_auth_config(run.config)
    async with connect_to_server(
        config, needs.client_options(run), timeout_s=needs.timeout_s(config)
    ) as connection:
        needs.registries.connected(name, connection)
        definitions = await _listed(run, connection)
        needs.registries.tools_loaded(name, definitions)
        run.settled.set()
        await _remember(run, needs, definitions)
        while await _closed_or_tools_changed(run, connection):
            await _list_again(run, needs, connection)
        if run.is_retired:
            return
        # The tools stay listed: the first seed wants their calls to fail until a reconnect.
        _note_end(run, needs, Failure(reason="closed", error=connection.closed_error))


async def _listed(run: ServerRun, connection: MCPServerConnection) -> tuple[ToolDefinition, ...]:
    return wanted_tools(run.config, await connection.list_tools())


async def _remember(
    run: ServerRun, needs: ServerTaskNeeds, definitions: tuple[ToolDefinition, ...]
) -> None:
    await anyio.to_thread.run_sync(partial(needs.cache.set, run.config, definitions))


async def _closed_or_tools_changed(run: ServerRun, connection: MCPServerConnection) -> bool:
    """Wait for the end of the connection (False) or a `list_changed` (True)."""
    async with anyio.create_task_group() as tasks:

        async def wait_for(event: anyio.Event) -> None:
            await event.wait()
            tasks.cancel_scope.cancel()

        tasks.start_soon(wait_for, connection.closed)
        tasks.start_soon(wait_for, run.tools_changed)
    return not connection.closed.is_set()


async def _list_again(
    run: ServerRun, needs: ServerTaskNeeds, connection: MCPServerConnection
) -> None:
    """A listing that fails leaves the old tools: the server itself may be well."""
    await anyio.sleep(LIST_CHANGED_DEBOUNCE_S)
    run.tools_changed = anyio.Event()
    try:
        definitions = await _listed(run, connection)
    except MCPError as error:
        logger.warning("server %r: cannot list its changed tools: %s", run.config.name, error)
        return
    needs.registries.replace_server_tools(
        run.config.name, ToolSlice(definitions=definitions, connection=connection)
    )
    await _remember(run, needs, definitions)


def wanted_tools(
    config: ServerConfig, definitions: tuple[ToolDefinition, ...]
) -> tuple[ToolDefinition, ...]:
    """What `includeTools` and `excludeTools` (names or globs) leave; a name listed twice once."""
    wanted: dict[str, ToolDefinition] = {}
    for definition in definitions:
        name = definition.name
        if config.include_tools is not None and not _matches(name, config.include_tools):
            continue
        if not _matches(name, config.exclude_tools):
            wanted.setdefault(name, definition)
    return tuple(wanted.values())


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
