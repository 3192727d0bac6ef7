"""What a headless run says of its MCP servers: who is waited for, who is not there, and why."""

import anyio

from agent_shell.cli.say import say, say_error
from agent_shell.errors import MCPError
from agent_shell.mcp.manager import MCPManager
from agent_shell.mcp.snapshot import ServerSnapshot
from agent_shell.sdk.create_session import CreateAgentSessionResult

SILENT_WAIT_S = 1.0
"""Waiting longer than this is said: a script's author should not have to guess."""
_NOT_WANTED = ("disabled", "filtered", "shadowed")
"""Reasons for which a server need not be ready."""


class PrintServers:
    """The servers of one run. Nothing is said of one twice."""

    def __init__(self, created: CreateAgentSessionResult, manager: MCPManager) -> None:
        self._created = created
        self._manager = manager
        self._told = set[str]()

    async def start(self) -> None:
        """Start them, to the gate, and say what is wrong by then."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._say_who_is_waited_for)
            await self._created.start_mcp()
            group.cancel_scope.cancel()
        loaded = self._created.mcp_load
        for problem in loaded.errors if loaded is not None else ():
            self._told.add(problem.path.removeprefix("mcp:"))
            say(f"error: {problem.path}: {problem.error}", problem.hint)
        for problem in self._manager.config_errors:
            say_error(problem)
        for found in self._manager.discovery.servers:
            if found.reason == "failed" and found.error is not None:
                self._tell(found.name, found.error, found.hint)
            elif found.reason == "untrusted":
                self._told.add(found.name)
                say(
                    f'note: the project\'s server "{found.name}" was not started: '
                    "nobody agreed to it yet",
                    "agent-shell asks about it, or pass --trust-project",
                )

    async def not_ready(self) -> list[str]:
        """Those that should be ready and are not, once none is connecting any more."""
        for row in self._manager.snapshot():
            if row.status == "connecting":
                try:
                    await self._manager.wait_for_connection(row.name)
                except MCPError as error:
                    self._tell(row.name, f"mcp:{row.name}: {error.message}", error.hint)
        missing = self._missing()
        for row in missing:
            self._tell(row.name, f"mcp:{row.name}: {_why(row)}", row.hint)
        unusable = self._manager.discovery.unusable_files
        return [*(row.name for row in missing), *(str(path) for path in unusable)]

    def report_absent(self) -> None:
        """At the end: who was promised by the cache, or was lost, and is not there."""
        for row in self._missing():
            if row.name not in self._told:
                self._told.add(row.name)
                say(f'note: MCP server "{row.name}" did not come up in this run: {_why(row)}')

    def _missing(self) -> list[ServerSnapshot]:
        return [
            row
            for row in self._manager.snapshot()
            if row.status != "connected" and not (row.reason or "").startswith(_NOT_WANTED)
        ]

    def _tell(self, name: str, error: str, hint: str | None) -> None:
        if name not in self._told:
            self._told.add(name)
            say(f"error: {error}", hint)

    async def _say_who_is_waited_for(self) -> None:
        await anyio.sleep(SILENT_WAIT_S)
        for row in self._manager.snapshot():
            found = self._manager.discovery.find(row.name)
            if row.status != "connecting" or row.deferred or found is None or not found.config:
                continue
            limit_s = self._manager.timeout_s(found.config)
            limit = "it has no time-out" if limit_s is None else f"its time-out is {limit_s:g} s"
            say(f'waiting for MCP server "{row.name}" (no tools are known yet; {limit})')


def _why(row: ServerSnapshot) -> str:
    if row.error is not None:
        return row.error
    return "it was still connecting" if row.status == "connecting" else row.reason or "it is gone"
