"""Where one `agent-shell mcp` command stands, and how results get out."""

import re
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import anyio.to_thread

from agent_shell.cli.json_text import json_text
from agent_shell.cli.say import say_error
from agent_shell.discovery.discover import discover
from agent_shell.discovery.discovered import DiscoveredServer, Discovery, DiscoveryOptions
from agent_shell.errors import MCPError, UsageError
from agent_shell.json_types import JSONObject
from agent_shell.logs import printable, printable_line
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
    """The definition that counts. Raises UsageError with the names there are.

    A file that could not be read may hold the name: it is said before the name is blamed.
    """
    found = discovery.find(name)
    if found is not None:
        return found
    broken = set(discovery.unusable_files)
    for error in discovery.errors:
        if error.path is not None and Path(error.path).absolute() in broken:
            say_error(error)
    names = sorted(server.name for server in discovery.winners())
    known = f"known: {', '.join(names)}" if names else "no server is configured"
    if broken:
        known += ", as far as the files can be read"
    raise UsageError(f'no server "{name}"; {known}', hint="agent-shell mcp list")


def put_line(text: str) -> None:
    """One line of a result, on standard output: names and words of servers can't end it."""
    put_raw(f"{printable_line(text)}\n")


def put(text: str) -> None:
    """A text of any number of lines, on standard output.

    On a terminal it is made harmless. Elsewhere only control characters are made visible, but for
    line ends and tabs: what is piped into a file may be shown by another program. `--json` gives
    the exact text.
    """
    shown = printable(text) if sys.stdout.isatty() else _CONTROL.sub(_escaped, text)
    put_raw(f"{shown}\n")


def put_raw(text: str) -> None:
    """Text that is already fit for a terminal, without a line end of its own.

    Raises BrokenPipeError when the reader has gone.
    """
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stdout.buffer.flush()


def put_json(value: JSONObject) -> None:
    """One JSON document, on standard output."""
    put_raw(f"{json_text(value, indent=2)}\n")


_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")


def _escaped(found: re.Match[str]) -> str:
    return found.group().encode("unicode_escape").decode("ascii")


def has_colour(environ: Mapping[str, str]) -> bool:
    """Whether standard output takes colours: a terminal, and nobody says no."""
    is_dumb = environ.get("TERM", "dumb") == "dumb"
    return sys.stdout.isatty() and not environ.get("NO_COLOR") and not is_dumb
