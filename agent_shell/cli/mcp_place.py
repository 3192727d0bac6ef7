"""Where one `agent-shell mcp` command stands, and how it speaks: results out, diagnostics aside."""

import json
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import anyio.to_thread

from agent_shell.discovery.discover import discover
from agent_shell.discovery.discovered import DiscoveredServer, Discovery, DiscoveryOptions
from agent_shell.errors import AgentShellError, MCPError, UsageError
from agent_shell.json_types import JSONObject
from agent_shell.logs import printable
from agent_shell.mcp.client import MCPServerConnection
from agent_shell.mcp.manager import MCPManager
from agent_shell.mcp.one_server import connect_server
from agent_shell.mcp.transports.process_group import ProcessGuardian
from agent_shell.settings.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandPlace:
    """Files, settings and the guardian of one run."""

    discovery_options: DiscoveryOptions
    settings: Settings
    guardian: ProcessGuardian

    async def discover(self) -> Discovery:
        """Read all files. Raises UsageError when a file named by --mcp-config is of no use."""
        discovery = await anyio.to_thread.run_sync(discover, self.discovery_options)
        check_named_files(self.discovery_options, discovery)
        return discovery

    @asynccontextmanager
    async def manager(self) -> AsyncGenerator[MCPManager]:
        """A manager for the length of the block: leaving closes every server.

        It waits for all servers: a command wants an answer, not a prompt.
        """
        settings = replace(self.settings.mcp, startup_timeout_ms=0)
        async with MCPManager(
            self.discovery_options, settings=settings, guardian=self.guardian
        ) as manager:
            yield manager

    @asynccontextmanager
    async def connected(self, name: str) -> AsyncGenerator[tuple[MCPManager, MCPServerConnection]]:
        """A connection to one server for the length of the block. Raises AgentShellError."""
        await self.usable_server(name)
        async with self.manager() as manager:
            loaded = await connect_server(manager, name)
            if name in loaded.errors:
                raise loaded.errors[name]
            yield manager, await manager.wait_for_connection(name)

    async def usable_server(self, name: str) -> DiscoveredServer:
        """The server of this name. Raises UsageError if there is none or it may not be started."""
        discovery = await self.discover()
        found = known_server(discovery, name)
        if found.reason is None:
            return found
        match found.reason:
            case "untrusted":
                hint = "--trust-project accepts the project's servers for this run"
                message = f'server "{name}" is not started: you have not agreed to it yet'
            case "disabled":
                hint = f"agent-shell mcp enable {name}"
                message = f'server "{name}" is disabled'
            case reason:
                hint = found.hint
                message = found.error or f'server "{name}" is not started: {reason}'
        raise MCPError(message, hint=hint, server=name, stage="config")


def check_named_files(options: DiscoveryOptions, discovery: Discovery) -> None:
    """Raises UsageError when a file named by --mcp-config can't be used (exit code 2)."""
    named = {path.absolute() for path in options.extra_files}
    if not named.intersection(discovery.unusable_files):
        return
    shown = {str(path) for path in named}
    for error in discovery.errors:
        if error.path is not None and str(options.cwd.absolute() / error.path) in shown:
            raise UsageError(error.message, hint=error.hint)
    raise UsageError("a file of --mcp-config can't be used")


def known_server(discovery: Discovery, name: str) -> DiscoveredServer:
    """The definition that counts. Raises UsageError with the names there are."""
    found = discovery.find(name)
    if found is None:
        names = sorted(server.name for server in discovery.winners())
        known = f"known: {', '.join(names)}" if names else "no server is configured"
        raise UsageError(f'no server "{name}"; {known}', hint="agent-shell mcp list")
    return found


def say(line: str, hint: str | None = None) -> None:
    """A diagnostic, on standard error."""
    text = f"{printable(line)}\n"
    if hint:
        text += f"hint: {printable(hint)}\n"
    sys.stderr.buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stderr.buffer.flush()


def say_error(error: AgentShellError) -> None:
    """An error that does not end the command."""
    say(f"error: {error.message}", error.hint)


def put(text: str) -> None:
    """A result, on standard output: harmless on a terminal, unchanged in a pipe."""
    if sys.stdout.isatty():
        text = printable(text)
    put_raw(f"{text}\n")


def put_raw(text: str) -> None:
    """Text that is already fit for a terminal, without a line end of its own.

    Raises BrokenPipeError when the reader has gone.
    """
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stdout.buffer.flush()


def put_json(value: JSONObject) -> None:
    """One JSON document, on standard output."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, indent=2)
    put_raw(f"{text}\n")


def has_colour(environ: Mapping[str, str]) -> bool:
    """Whether standard output takes colours: a terminal, and nobody says no."""
    is_dumb = environ.get("TERM", "dumb") == "dumb"
    return sys.stdout.isatty() and not environ.get("NO_COLOR") and not is_dumb
