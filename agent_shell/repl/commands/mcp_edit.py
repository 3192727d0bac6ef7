"""/mcp add and remove: edit our own files of servers, and apply it at once."""

import shlex
from functools import partial
from pathlib import Path

import anyio.to_thread

from agent_shell.discovery.addition import check_new_entry, parse_addition
from agent_shell.discovery.edit import add_server, remove_server
from agent_shell.errors import MCPError, UsageError
from agent_shell.mcp.one_server import agree_to, connect_server
from agent_shell.repl.commands.command import CommandContext, one_name
from agent_shell.repl.commands.mcp_subcommand import Subcommand

ADD_USAGE = (
    "/mcp add NAME [--scope user|project] [-e K=V]… -- COMMAND ARGS…, or "
    "/mcp add NAME [--scope user|project] --url URL [--transport http|sse|ws] [-H 'K: V']…"
)
PROJECT_FILE = ".mcp.json"
EDITABLE_PROVIDERS = ("agent-shell", "mcp-json")
"""Files of ours, and the project's shared one; other programs' files are theirs to edit."""


async def add(context: CommandContext, rest: str) -> None:
    """Write the entry, then connect it: who types a command has agreed to it."""
    manager = context.require_manager()
    addition = parse_addition(_words(rest), hint=f"usage: {ADD_USAGE}")
    check_new_entry(addition.name, addition.entry(), context.environ)
    is_project = addition.scope == "project"
    file = context.cwd / PROJECT_FILE if is_project else context.paths.user_mcp_config
    inside = context.cwd if is_project else None
    await anyio.to_thread.run_sync(
        partial(add_server, file, addition.name, addition.entry(), inside=inside)
    )
    context.print_text(f"{addition.name} is written to {file}")
    with context.activities.run(f"connecting {addition.name}"):
        if is_project:
            # Who types the command has read it: the question would show the same words again.
            await agree_to(manager, addition.name)
        await connect_server(manager, addition.name)
        row = context.require_server(addition.name)
        if row.status == "connected":
            context.print_text(f"{addition.name} is connected, {row.tools} tools")


async def remove(context: CommandContext, rest: str) -> None:
    """Take the entry out of the file it stands in, and close the server."""
    manager = context.require_manager()
    name = one_name(rest, "/mcp remove NAME")
    source = context.require_server(name).source
    if source.provider not in EDITABLE_PROVIDERS:
        raise UsageError(
            f'server "{name}" is defined in {source.path}, a file of {source.provider_name}',
            hint=f"/mcp disable {name} turns it off here",
        )
    inside = context.cwd if source.level == "project" else None
    removed = await anyio.to_thread.run_sync(
        partial(remove_server, Path(source.path), name, inside=inside)
    )
    if not removed:
        raise UsageError(f'{source.path} does not define "{name}" any more', hint="/mcp reload")
    await manager.disconnect_server(name)
    context.print_text(f"{name} is removed from {source.path}")
    with context.activities.run(f"looking for another {name}"):
        try:
            await connect_server(manager, name)
        except MCPError:
            return  # as it should be: no file defines the name any more
        context.print_text(f"{name} is now the one of {context.require_server(name).source.path}")


def _words(text: str) -> list[str]:
    """Split as a shell does. Raises UsageError for an open quotation mark."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"/mcp add: {str(error).lower()}") from error


SUBCOMMANDS = (
    Subcommand(
        name="add",
        usage="NAME … -- COMMAND ARGS… | NAME … --url URL",
        summary="add a server to your file (--scope project: to .mcp.json) and connect it",
        run=add,
    ),
    Subcommand(
        name="remove",
        usage="NAME",
        summary="take a server out of its file and close it",
        run=remove,
        takes_server=True,
    ),
)
