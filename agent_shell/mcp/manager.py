"""MCPManager: the servers of one program run, from discovery to their end."""

import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Self

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from agent_shell.discovery.discovered import DiscoveredServer, Discovery, DiscoveryOptions
from agent_shell.discovery.server_config import ServerConfig
from agent_shell.discovery.source import SourceMeta
from agent_shell.discovery.trust import TrustStore
from agent_shell.errors import ConfigError, MCPConnectError, MCPError
from agent_shell.logs import ServerLog
from agent_shell.mcp.client import ClientOptions, MCPServerConnection
from agent_shell.mcp.config import (
    MCPConfigs,
    is_usable,
    load_all_mcp_configs,
    validate_server_config,
)
from agent_shell.mcp.registries import (
    ConnectionStatus,
    Failure,
    ManagerEvent,
    ServerChanged,
    ServerRegistries,
    SessionTool,
    ToolSlice,
)
from agent_shell.mcp.resolve_auth import SecretCommands
from agent_shell.mcp.server_task import ServerRun, ServerTaskNeeds, own_server
from agent_shell.mcp.snapshot import ServerSnapshot, snapshot_of, snapshot_without_entry
from agent_shell.mcp.startup_gate import wait_at_gate
from agent_shell.mcp.tool_cache import MCPToolCache
from agent_shell.mcp.transports.process_group import ProcessGuardian
from agent_shell.settings.settings import MCPSettings

logger = logging.getLogger(__name__)

Listener = Callable[[ManagerEvent], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class MCPLoadResult:
    """What one `connect_servers` came to when its gate opened.

    `errors` maps a server to why it failed; `connected` and `deferred` are server names.
    """

    tools: Sequence[SessionTool]
    errors: dict[str, MCPError] = field(default_factory=dict[str, MCPError])
    connected: tuple[str, ...] = ()
    deferred: tuple[str, ...] = ()


class MCPManager(anyio.AsyncContextManagerMixin):
    """Owns every MCP server of this run. Enter it; leaving closes all servers within 3 s."""

    def __init__(
        self,
        options: DiscoveryOptions,
        *,
        settings: MCPSettings,
        guardian: ProcessGuardian | None = None,
    ) -> None:
        self.options = options
        self.trust = TrustStore(options.paths.trust_file)
        self.guardian = guardian or ProcessGuardian()
        self._owns_guardian = guardian is None
        self.discovery = Discovery()
        self._settings = settings
        self._cache = MCPToolCache(options.paths.tool_cache)
        self._secrets = SecretCommands(options.environ)
        self._listeners: list[Listener] = []
        self._logs: dict[str, ServerLog] = {}
        self._runs: dict[str, ServerRun] = {}
        self._closing: dict[str, ServerRun] = {}
        self._epoch = 0
        self._tasks: TaskGroup | None = None
        self.registries = ServerRegistries(
            wait_for_connection=self.wait_for_connection, emit=self._emit
        )
        self._needs = ServerTaskNeeds(
            registries=self.registries,
            cache=self._cache,
            client_options=self._client_options,
            resolve_auth_config=self.resolve_auth_config,
            timeout_s=self.timeout_s,
        )

    @asynccontextmanager
    async def __asynccontextmanager__(self) -> AsyncGenerator[Self]:
        try:
            async with anyio.create_task_group() as tasks:
                self._tasks = tasks
                try:
                    yield self
                finally:
                    # Every transport bounds its own closing; all of them close at once.
                    with anyio.CancelScope(shield=True):
                        await self.disconnect_all()
                    if self._owns_guardian:
                        self.guardian.close()
                    self._tasks = None
                    for log in self._logs.values():
                        log.close()
        except BaseExceptionGroup as group:
            # Owner tasks never raise, so it is the block's own exception: give it back as it was.
            if len(group.exceptions) == 1:
                raise group.exceptions[0] from None
            raise

    # -- reading ---------------------------------------------------------------------------

    def get_connection_status(self, name: str) -> ConnectionStatus:
        """Derived from the registries (first seed)."""
        return self.registries.status_of(name)

    def get_tools(self) -> Sequence[SessionTool]:
        """The current tools of all servers, sorted by session name."""
        return self.registries.tools

    def get_source(self, name: str) -> SourceMeta | None:
        """Where a server was found, also before it is connected."""
        return self.registries.sources.get(name)

    def started_configs(self) -> dict[str, ServerConfig]:
        """Every server that was started since the last `disconnect_all`, however it went."""
        return {name: run.config for name, run in self._runs.items()}

    def connection(self, name: str) -> MCPServerConnection | None:
        """The live connection, if there is one."""
        return self.registries.connections.get(name)

    def instructions(self) -> dict[str, str]:
        """What the connected servers say about how to use them, by server, sorted.

        An entry's own `instructions` come before the server's words.
        """
        words: dict[str, str] = {}
        for name, connection in sorted(self.registries.connections.items()):
            text = connection.config.instructions or connection.initialize_result.instructions
            if text:
                words[name] = text
        return words

    def snapshot(self) -> tuple[ServerSnapshot, ...]:
        """Every server that was found, usable or not, sorted by name."""
        rows = [
            snapshot_of(found, self.registries, self._started_at(found.name))
            for found in self.discovery.servers
        ]
        # What lives is shown, even if the files have changed under it and no longer know it.
        known = {found.name for found in self.discovery.winners()}
        rows += [
            snapshot_without_entry(
                run.config, self.registries.sources[name], self.registries, run.started_at
            )
            for name, run in self._runs.items()
            if name not in known and name in self.registries.sources
        ]
        return tuple(sorted(rows, key=lambda row: (row.name, row.reason or "")))

    def untrusted(self) -> tuple[DiscoveredServer, ...]:
        """The project's servers that wait for the user's word."""
        return tuple(found for found in self.discovery.servers if found.reason == "untrusted")

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` at every change of state; returns how to stop that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def server_log(self, name: str) -> ServerLog:
        """The log of one server, shared by all its connections."""
        if name not in self._logs:
            self._logs[name] = ServerLog(self.options.paths.server_log(name))
        return self._logs[name]

    # -- connecting ------------------------------------------------------------------------

    async def discover_and_connect(
        self, *, since: float | None = None, configs: MCPConfigs | None = None
    ) -> MCPLoadResult:
        """Read every source afresh, connect what may be connected (first seed).

        The gate's time counts from `since` (anyio.current_time), or from this call: what reading
        the files takes is not added to it. `configs` is what the caller has read a moment ago.
        Raises what discovery raises; one server's trouble is in the result instead.
        """
        epoch = self._epoch
        since = anyio.current_time() if since is None else since
        if configs is None:
            configs = await load_all_mcp_configs(self.options)
        if epoch != self._epoch:
            return MCPLoadResult(tools=self.get_tools())
        self._take_discovery(configs.discovery)
        return await self.connect_servers(configs.configs, configs.sources, since=since)

    async def connect_servers(
        self,
        configs: dict[str, ServerConfig],
        sources: dict[str, SourceMeta],
        *,
        startup_timeout_ms: int | None = None,
        since: float | None = None,
    ) -> MCPLoadResult:
        """Start all of them in parallel and return when the startup gate opens (first seed).

        At the gate a connected server has its tools, a failed one its error, and one that is
        still pending has deferred tools from the cache; without cached tools it is waited for.
        `startup_timeout_ms` replaces the setting's; 0 waits until all have settled. The time
        counts from `since` (anyio.current_time), or from this call.
        """
        since = anyio.current_time() if since is None else since
        timeout_ms = self._settings.startup_timeout_ms
        if startup_timeout_ms is not None:
            timeout_ms = startup_timeout_ms
        started: dict[str, ServerRun] = {}
        errors: dict[str, MCPError] = {}
        for name, config in configs.items():
            self.registries.sources[name] = sources[name]
            if name in self._runs and not self._runs[name].ended.is_set():
                continue
            problem = validate_server_config(config)
            if problem is not None:
                errors[name] = MCPError(problem, server=name, stage="config")
                self.registries.ended(name, Failure(reason="failed", error=errors[name]))
                continue
            started[name] = self._start(config)
        cached = await anyio.to_thread.run_sync(self._cached_tools, started)
        await wait_at_gate((run.settled for run in started.values()), timeout_ms, since=since)
        deferred = [name for name, run in started.items() if self._defer(run, cached.get(name))]
        for name, run in started.items():
            if name not in deferred:
                await run.settled.wait()
            run.allow_background_logging = True
        errors |= {
            name: failure.error
            for name in started
            if (failure := self.registries.failures.get(name)) is not None
            and failure.error is not None
        }
        return MCPLoadResult(
            tools=self.get_tools(),
            errors=errors,
            connected=tuple(name for name in started if name in self.registries.connections),
            deferred=tuple(deferred),
        )

    async def connect_found(
        self, rows: Sequence[DiscoveredServer], *, startup_timeout_ms: int | None = None
    ) -> MCPLoadResult:
        """`connect_servers` for the usable ones among these definitions."""
        usable = [row for row in rows if is_usable(row)]
        return await self.connect_servers(
            {row.name: row.config for row in usable if row.config is not None},
            {row.name: row.source for row in usable},
            startup_timeout_ms=startup_timeout_ms,
        )

    async def rediscover(self) -> Discovery:
        """Read every source afresh and connect nothing."""
        self._secrets.forget()
        self._take_discovery((await load_all_mcp_configs(self.options)).discovery)
        return self.discovery

    async def wait_for_connection(self, name: str) -> MCPServerConnection:
        """The connection, when it is up. Raises MCPError when it can't come (first seed)."""
        pending = self.registries.pending_connections.get(name)
        if pending is not None:
            await pending.wait()
            if pending.status is anyio.Future.Status.FINISHED:
                return pending.return_value
        connection = self.registries.connections.get(name)
        if connection is not None:
            return connection
        found = self.discovery.find(name)
        failure = self.registries.failures.get(name)
        why = failure.error.message if failure is not None and failure.error else None
        if why is None and found is not None:
            why = found.error or found.reason
        hint = found.hint if found is not None and failure is None else None
        raise MCPConnectError(
            f'server "{name}" is not connected' + (f": {why}" if why else ""),
            hint=hint or f"/mcp connect {name} tries again",
            server=name,
        )

    # -- disconnecting ---------------------------------------------------------------------

    async def disconnect_server(self, name: str) -> None:
        """Close one server; its tools leave the view at once (first seed)."""
        run = self._retire(name)
        if run is not None:
            await run.ended.wait()

    async def disconnect_all(self, *, wait: bool = True) -> None:
        """Close all servers at the same time; the registries are empty when this returns.

        With `wait=False` their processes may still be ending: a server of the same name is
        started only when its predecessor is gone, so a reload need not wait for the slowest.
        """
        self._epoch += 1
        self._secrets.forget()
        names = {*self._runs, *self.registries.sources, *self.registries.failures}
        for name in sorted(names):
            self._retire(name)
        if wait:
            await self.wait_until_closed()

    async def wait_until_closed(self) -> None:
        """Wait for the end of everything that is being closed; each closing is bounded."""
        for run in list(self._closing.values()):
            await run.ended.wait()

    def kill_all_now(self) -> None:
        """End every server's process group this instant; for a second Ctrl-C and for crashes."""
        self.guardian.kill_all_now()

    # -- inside ----------------------------------------------------------------------------

    def _started_at(self, name: str) -> float | None:
        run = self._runs.get(name)
        return run.started_at if run is not None else None

    def _emit(self, event: ManagerEvent) -> None:
        for listener in list(self._listeners):
            listener(event)

    def _take_discovery(self, discovery: Discovery) -> None:
        self.discovery = discovery
        for found in discovery.servers:
            self._emit(ServerChanged(name=found.name))

    def _start(self, config: ServerConfig) -> ServerRun:
        if self._tasks is None:
            raise RuntimeError("MCPManager is used outside its `async with`")
        run = ServerRun(config=config, started_at=anyio.current_time())
        self._runs[config.name] = run
        self.registries.begin(config.name)
        self._tasks.start_soon(self._own, run, self._closing.get(config.name))
        return run

    async def _own(self, run: ServerRun, predecessor: ServerRun | None) -> None:
        await own_server(run, self._needs, predecessor)
        if self._closing.get(run.config.name) is run:
            del self._closing[run.config.name]

    def _retire(self, name: str) -> ServerRun | None:
        run = self._runs.pop(name, None)
        if run is not None:
            run.retire()
            if not run.ended.is_set():
                self._closing[name] = run
        self.registries.forget(name)
        return self._closing.get(name)

    def _cached_tools(self, started: dict[str, ServerRun]) -> dict[str, ToolSlice]:
        slices: dict[str, ToolSlice] = {}
        for name, run in started.items():
            definitions = self._cache.get(run.config)
            if definitions is not None:
                slices[name] = ToolSlice(definitions=definitions, connection=None)
        return slices

    def _defer(self, run: ServerRun, cached: ToolSlice | None) -> bool:
        """Offer a pending server's cached tools; says whether the server is deferred."""
        if run.settled.is_set() or run.is_retired or cached is None:
            return False
        self.registries.replace_server_tools(run.config.name, cached)
        return True

    def _client_options(self, run: ServerRun) -> ClientOptions:
        def note_tools_changed() -> None:
            run.tools_changed.set()

        return self.client_options(run.config.name, on_tools_changed=note_tools_changed)

    async def resolve_auth_config(self, config: ServerConfig) -> ServerConfig:
        """The configuration with its `!command` values run; raises MCPConnectError."""
        return await self._secrets.resolve_auth_config(config)

    def client_options(
        self, name: str, *, on_tools_changed: Callable[[], None] = lambda: None
    ) -> ClientOptions:
        """What a connection to this server may use of its surroundings."""
        return ClientOptions(
            server_log=self.server_log(name),
            roots=(self.options.cwd,),
            guardian=self.guardian,
            environ=self.options.environ,
            on_tools_changed=on_tools_changed,
        )

    def timeout_s(self, config: ServerConfig) -> float | None:
        """Environment before server before default; 0 is none (CONTRACT section 2, CASES Z9)."""
        override = self._settings.timeout_override_ms
        timeout_ms = config.timeout_ms if override is None else override
        return timeout_ms / 1000 if timeout_ms > 0 else None

    @property
    def config_errors(self) -> tuple[ConfigError, ...]:
        """What is wrong with whole files, as the last discovery saw it."""
        return self.discovery.errors
