"""One server as its user sees it: connect, list, call."""

import json
import time
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio

from agent_shell.discovery.server_config import ServerConfig, StdioServerConfig
from agent_shell.errors import (
    MCPClosedError,
    MCPConnectError,
    MCPError,
    MCPProtocolError,
    MCPRequestError,
    MCPStage,
    MCPTimeoutError,
)
from agent_shell.json_types import JSONObject, JSONValue, as_object
from agent_shell.logs import ServerLog
from agent_shell.mcp.transports import open_transport
from agent_shell.mcp.transports.process_group import ProcessGuardian
from agent_shell.mcp.transports.redact import Redactor, last_words, secrets_of
from agent_shell.mcp.transports.wire_log import WireLog
from agent_shell.mcp_protocol.dispatcher import Dispatcher, ProgressHandler
from agent_shell.mcp_protocol.handshake import shake_hands
from agent_shell.mcp_protocol.jsonrpc import METHOD_NOT_FOUND, Notification, Request, RpcError
from agent_shell.mcp_protocol.messages import (
    CallToolResult,
    InitializeResult,
    ServerInfo,
    ToolDefinition,
    read_call_tool_result,
    read_page,
    read_tool,
)
from agent_shell.mcp_protocol.one_line import one_line
from agent_shell.mcp_protocol.transport import Transport
from agent_shell.tools.tool import ToolProgress

MAX_PAGES = 200
MAX_ITEMS = 10_000
"""Bounds of one listing: a server that always has one more page must not be listed for ever."""

CALL_MAX_TOTAL_S = 3600.0
"""Progress keeps a call alive, but not for longer than this (or its own time-out, if longer)."""

MAX_ERROR_CHARS = 2000
"""No error of ours is longer; what foreign words are in it has its own, smaller bounds."""

DOWNLOADERS = {"npx", "uvx", "bunx", "docker", "pipx"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOptions:
    """What a connection needs of its surroundings.

    `roots` are the folders `roots/list` answers; the first is a stdio server's working folder.
    `on_tools_changed` is called, from the reader, when the server says its tools have changed.
    """

    server_log: ServerLog
    roots: tuple[Path, ...]
    guardian: ProcessGuardian
    environ: Mapping[str, str]
    on_tools_changed: Callable[[], None]


class MCPServerConnection:
    """An open, greeted server. Its methods may be called from any task, also at the same time.

    All of them raise MCPError only: MCPClosedError once it is gone, MCPTimeoutError,
    MCPRequestError for the server's own errors, MCPProtocolError for answers without sense.
    """

    def __init__(
        self,
        transport: Transport,
        config: ServerConfig,
        options: ClientOptions,
        log: WireLog,
        timeout_s: float | None,
    ) -> None:
        self.config = config
        self.name = config.name
        self.timings_ms: dict[str, float] = {}
        self.initialize_result = InitializeResult(
            protocol_version="", capabilities={}, server_info=ServerInfo(name="")
        )
        self.conversation = Dispatcher(
            transport,
            on_request=self._on_request,
            on_notification=self._on_notification,
            redact=log.redact,
        )
        self._options = options
        self._log = log
        self._timeout_s = timeout_s
        self._transport = transport

    @property
    def pid(self) -> int | None:
        """The server's process id, if it is a process."""
        return self._transport.pid

    @property
    def stderr_tail(self) -> str:
        """The last lines of a stdio server's standard error."""
        return self._transport.stderr_tail

    @property
    def closed(self) -> anyio.Event:
        """Set when the connection has ended, by whatever cause."""
        return self.conversation.closed

    @property
    def closed_error(self) -> MCPError | None:
        """Why it ended."""
        error = self.conversation.closed_error
        if error is not None:
            _make_ours(error, self.name, None, self._log.redact)
        return error

    async def list_tools(self) -> tuple[ToolDefinition, ...]:
        """All pages of `tools/list`; bad entries are left out and logged."""
        if not self._has("tools"):
            return ()
        started = time.perf_counter()
        tools: dict[str, ToolDefinition] = {}
        for item in await self._list("tools/list", "tools"):
            tool = read_tool(item)
            if isinstance(tool, str):
                self._log.write("wire", tool)
            elif tool.name in tools:
                self._log.write("wire", f"tool {tool.name!r} is listed twice: the first counts")
            else:
                tools[tool.name] = tool
        self.timings_ms["list_tools"] = _ms_since(started)
        return tuple(tools.values())

    async def call_tool(
        self,
        name: str,
        arguments: JSONObject,
        *,
        on_progress: Callable[[ToolProgress], None] | None = None,
    ) -> CallToolResult:
        """Call a tool. Cancelling the caller cancels the call at the server, too."""

        def report(params: JSONObject) -> None:
            # Always asked for, since a report also proves that the server is still at work.
            progress = _read_progress(params)
            if on_progress is not None and progress is not None:
                on_progress(progress)

        value = await self._request(
            "tools/call", {"name": name, "arguments": arguments}, stage="call", on_progress=report
        )
        with self._errors("call"):
            return read_call_tool_result(value)

    async def list_resources(self) -> tuple[JSONObject, ...]:
        """All pages of `resources/list`; none where the server offers no resources."""
        return await self._list("resources/list", "resources") if self._has("resources") else ()

    async def list_resource_templates(self) -> tuple[JSONObject, ...]:
        """All pages of `resources/templates/list`; none where it offers no resources."""
        if not self._has("resources"):
            return ()
        return await self._list("resources/templates/list", "resourceTemplates")

    async def read_resource(self, uri: str) -> JSONObject:
        """The result of `resources/read`, as it came."""
        with self._errors("call"):
            if not self._has("resources"):
                raise MCPProtocolError("this server offers no resources")
        value = await self._request("resources/read", {"uri": uri}, stage="call")
        with self._errors("call"):
            result = as_object(value)
            if result is None:
                raise MCPProtocolError("the answer to resources/read is not an object")
            return result

    async def list_prompts(self) -> tuple[JSONObject, ...]:
        """All pages of `prompts/list`; none where the server offers no prompts."""
        return await self._list("prompts/list", "prompts") if self._has("prompts") else ()

    async def ping(self) -> None:
        """Ask for a sign of life. A server that does not know `ping` has given one."""
        try:
            await self._request("ping", None, stage="call")
        except MCPRequestError as error:
            if error.code != METHOD_NOT_FOUND:
                raise

    async def greet(self) -> None:
        """Shake hands, once: for whoever opens the connection. Raises MCPError."""
        started = time.perf_counter()
        with self._errors("initialize"):
            try:
                self.initialize_result = await shake_hands(
                    self.conversation,
                    self._transport,
                    offers_roots=bool(self._options.roots),
                    timeout_s=self._timeout_s,
                )
            except MCPClosedError as error:
                raise MCPConnectError(error.message) from error
            except MCPTimeoutError as error:
                message = error.message + last_words(self.stderr_tail)
                raise MCPTimeoutError(message, hint=self._slow_start_hint()) from error
        self.timings_ms["initialize"] = _ms_since(started)

    def _slow_start_hint(self) -> str | None:
        config = self.config
        if isinstance(config, StdioServerConfig) and config.command in DOWNLOADERS:
            return 'its first start may have to download; a larger "timeout" allows for that'
        return None

    # --- asking

    async def _request(
        self,
        method: str,
        params: JSONObject | None,
        *,
        stage: MCPStage,
        on_progress: ProgressHandler | None = None,
    ) -> JSONValue:
        timeout_s = self._timeout_s
        with self._errors(stage):
            return await self.conversation.request(
                method,
                params,
                timeout_s=timeout_s,
                max_total_s=max(CALL_MAX_TOTAL_S, timeout_s) if timeout_s else None,
                on_progress=on_progress,
            )

    async def _list(self, method: str, key: str) -> tuple[JSONObject, ...]:
        """All pages. A missing cursor is the end; "" is a cursor; a repeated one is a slip."""
        items: list[JSONObject] = []
        cursor: str | None = None
        seen: set[str] = set()
        for _ in range(MAX_PAGES):
            params = None if cursor is None else {"cursor": cursor}
            value = await self._request(method, params, stage="list")
            with self._errors("list"):
                page = read_page(value, key)
            for problem in page.problems:
                self._log.write("wire", problem)
            items.extend(page.items)
            cursor = page.next_cursor
            if cursor is None:
                return tuple(items)
            if cursor in seen:
                self._log.write("wire", f"{method} repeats a cursor: the list ends here")
                return _without_repetition(items)
            if len(items) >= MAX_ITEMS:
                break
            seen.add(cursor)
        self._log.write("wire", f"{method} is too long: cut after {len(items)} {key}")
        return tuple(items[:MAX_ITEMS])

    def _has(self, capability: str) -> bool:
        return self.initialize_result.capabilities.get(capability) is not None

    # --- being asked

    async def _on_request(self, request: Request) -> JSONValue:
        if request.method == "ping":
            return {}
        if request.method == "roots/list" and self._options.roots:
            return {
                "roots": [
                    {"uri": root.absolute().as_uri(), "name": root.name}
                    for root in self._options.roots
                ]
            }
        raise RpcError(METHOD_NOT_FOUND, f"unknown method: {request.method}")

    def _on_notification(self, notification: Notification) -> None:
        if notification.method == "notifications/tools/list_changed":
            self._options.on_tools_changed()
        elif notification.method == "notifications/message":
            params = notification.params or {}
            self._log.write_some("log", lambda: f"{params.get('level')}: {params.get('data')}")

    # --- errors

    @contextmanager
    def _errors(self, stage: MCPStage) -> Generator[None]:
        """The one door through which a connection's errors leave."""
        try:
            yield
        except MCPError as error:
            _make_ours(error, self.name, stage, self._log.redact)
            raise


@asynccontextmanager
async def connect_to_server(
    config: ServerConfig, options: ClientOptions, *, timeout_s: float | None
) -> AsyncGenerator[MCPServerConnection]:
    """Open the transport and perform `initialize` + `notifications/initialized`.

    `timeout_s` (seconds; None or 0: no limit) bounds that, and later each request. Raises MCPError
    with the stage; the transport is closed then. Leaving closes it within 3 s, also when
    cancelled. The connection's death does not raise into the body: `closed` is set.
    """
    log = WireLog(options.server_log, Redactor(secrets_of(config)))
    is_stdio = isinstance(config, StdioServerConfig)
    started = time.perf_counter()
    is_open = False
    try:
        async with open_transport(
            config,
            environ=options.environ,
            default_cwd=options.roots[0] if options.roots else None,
            guardian=options.guardian,
            log=log,
            timeout_s=timeout_s or None,
        ) as transport:
            opened_ms = _ms_since(started)
            async with connect_over(transport, config, options, timeout_s=timeout_s) as connection:
                connection.timings_ms["spawn" if is_stdio else "connect"] = opened_ms
                is_open = True
                yield connection
    except MCPError as error:
        if not is_open:
            _make_ours(error, config.name, "spawn" if is_stdio else "connect", log.redact)
        raise


@asynccontextmanager
async def connect_over(
    transport: Transport, config: ServerConfig, options: ClientOptions, *, timeout_s: float | None
) -> AsyncGenerator[MCPServerConnection]:
    """The handshake over a transport that is open already, and stays open. Raises MCPError."""
    log = WireLog(options.server_log, Redactor(secrets_of(config)))
    connection = MCPServerConnection(transport, config, options, log, timeout_s or None)
    try:
        async with connection.conversation:
            await connection.greet()
            yield connection
    finally:
        log.end_flood()


def _make_ours(
    error: MCPError, server: str, stage: MCPStage | None, redact: Callable[[str], str]
) -> None:
    """Complete an error: the server's name, the stage, no secrets, and one line of bounded size."""
    error.server = error.server or server
    error.stage = error.stage or stage
    error.message = one_line(redact(error.message), MAX_ERROR_CHARS)
    error.args = (error.message,)
    error.hint = None if error.hint is None else redact(error.hint)


def _without_repetition(items: list[JSONObject]) -> tuple[JSONObject, ...]:
    """What pages that came again hold again is no news, and worth no warning."""
    firsts: dict[str, JSONObject] = {}
    for item in items:
        firsts.setdefault(json.dumps(item, sort_keys=True), item)
    return tuple(firsts.values())


def _read_progress(params: JSONObject) -> ToolProgress | None:
    progress, total, message = (params.get(key) for key in ("progress", "total", "message"))
    if not isinstance(progress, int | float):
        return None
    return ToolProgress(
        progress=progress,
        total=total if isinstance(total, int | float) else None,
        message=message if isinstance(message, str) else "",
    )


def _ms_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
