"""/mcp add and remove: edit our own files of servers, and apply it at once."""

import shlex
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio.to_thread

from agent_shell.discovery.edit import add_server, remove_server
from agent_shell.errors import MCPError, UsageError
from agent_shell.json_types import JSONObject, JSONValue
from agent_shell.repl.commands.command import CommandContext, one_name
from agent_shell.repl.commands.mcp_subcommand import Subcommand

ADD_USAGE = (
    "/mcp add NAME [--scope user|project] [-e K=V]… -- COMMAND ARGS…, or "
    "/mcp add NAME [--scope user|project] --url URL [--transport http|sse|ws] [-H 'K: V']…"
)
PROJECT_FILE = ".mcp.json"
EDITABLE_PROVIDERS = ("agent-shell", "mcp-json")
"""Files of ours, and the project's shared one; other programs' files are theirs to edit."""


@dataclass(slots=True)
class Addition:
    """What `/mcp add` was asked for."""

    name: str = ""
    scope: str = "user"
    url: str | None = None
    transport: str | None = None
    command: list[str] = field(default_factory=list[str])
    env: dict[str, JSONValue] = field(default_factory=dict[str, JSONValue])
    headers: dict[str, JSONValue] = field(default_factory=dict[str, JSONValue])

    def entry(self) -> JSONObject:
        """The entry as the file will hold it."""
        if self.url is not None:
            entry: dict[str, JSONValue] = {"url": self.url}
            if self.transport is not None:
                entry = {"type": self.transport, **entry}
            return {**entry, "headers": self.headers} if self.headers else entry
        entry = {"command": self.command[0], "args": self.command[1:]}
        return {**entry, "env": self.env} if self.env else entry


def parse_addition(text: str) -> Addition:
    """The words behind `/mcp add`. Raises UsageError for what can't be meant."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"/mcp add: {str(error).lower()}") from error
    addition = Addition()
    while words:
        word = words.pop(0)
        match word:
            case "--":
                addition.command, words = words, []
            case "--scope":
                addition.scope = _choice(word, words, ("user", "project"))
            case "--transport":
                addition.transport = _choice(word, words, ("http", "sse", "ws"))
            case "--url":
                addition.url = _value(word, words)
            case "-e" | "--env":
                key, value = _pair(word, words, "=")
                addition.env[key] = value
            case "-H" | "--header":
                key, value = _pair(word, words, ":")
                addition.headers[key] = value.strip()
            case _ if word.startswith("-") or addition.name:
                raise UsageError(f'/mcp add: what is "{word}"?', hint=f"usage: {ADD_USAGE}")
            case _:
                addition.name = word
    if not addition.name or bool(addition.command) == (addition.url is not None):
        raise UsageError(f"usage: {ADD_USAGE}")
    return addition


def _value(option: str, words: list[str]) -> str:
    if not words:
        raise UsageError(f"/mcp add: {option} needs a value", hint=f"usage: {ADD_USAGE}")
    return words.pop(0)


def _choice(option: str, words: list[str], choices: tuple[str, ...]) -> str:
    value = _value(option, words)
    if value not in choices:
        raise UsageError(f"/mcp add: {option} is one of {', '.join(choices)}")
    return value


def _pair(option: str, words: list[str], sign: str) -> tuple[str, str]:
    key, found, value = _value(option, words).partition(sign)
    if not found or not key:
        raise UsageError(f"/mcp add: {option} takes KEY{sign}VALUE")
    return key, value


async def add(context: CommandContext, rest: str) -> None:
    """Write the entry, then connect it: who types a command has agreed to it."""
    manager = context.require_manager()
    addition = parse_addition(rest)
    is_project = addition.scope == "project"
    file = context.cwd / PROJECT_FILE if is_project else context.paths.user_mcp_config
    inside = context.cwd if is_project else None
    await anyio.to_thread.run_sync(
        partial(add_server, file, addition.name, addition.entry(), inside=inside)
    )
    context.print_text(f"{addition.name} is written to {file}")
    with context.activities.run(f"connecting {addition.name}"):
        try:
            await manager.connect_server(addition.name)
        except MCPError:
            waiting = {server.name for server in manager.untrusted()}
            if addition.name not in waiting:
                raise
            await manager.trust_servers([addition.name], whole_folder=False)
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
            await manager.connect_server(name)
        except MCPError:
            return  # as it should be: no file defines the name any more
        context.print_text(f"{name} is now the one of {context.require_server(name).source.path}")


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
