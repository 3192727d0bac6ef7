"""agent-shell mcp add, add-json, remove, enable, disable: our own files are changed."""

from argparse import Namespace
from functools import partial
from pathlib import Path

import anyio.to_thread

from agent_shell.cli.mcp_place import CommandPlace, known_server, put_line
from agent_shell.cli.say import say
from agent_shell.discovery.addition import check_new_entry, parse_addition
from agent_shell.discovery.edit import add_server, remove_server, set_server_enabled
from agent_shell.discovery.entry import read_entry
from agent_shell.discovery.jsonc import JsoncError, parse_jsonc
from agent_shell.discovery.providers.agent_shell import PROJECT_FILE
from agent_shell.discovery.providers.mcp_json import FILE_NAME
from agent_shell.discovery.read_file import shown_path
from agent_shell.discovery.trust import TrustStore
from agent_shell.errors import UsageError
from agent_shell.json_types import JSONObject, as_object


async def add(place: CommandPlace, namespace: Namespace) -> int:
    """`mcp add NAME … -- COMMAND ARGS…`, or with --url."""
    addition = parse_addition(namespace.words, hint="agent-shell mcp add --help")
    return await _add(place, addition.name, addition.entry(), addition.scope)


async def add_json(place: CommandPlace, namespace: Namespace) -> int:
    """`mcp add-json NAME JSON`."""
    try:
        entry = as_object(parse_jsonc(namespace.entry).value)
    except JsoncError as error:
        where = f"line {error.line}, column {error.column}"
        raise UsageError(f"the entry is not valid JSON: {where}: {error.message}") from None
    if entry is None:
        raise UsageError("the entry must be a JSON object")
    return await _add(place, namespace.name, entry, namespace.scope)


async def _add(place: CommandPlace, name: str, entry: JSONObject, scope: str) -> int:
    reading = check_new_entry(name, entry, place.discovery_options.environ)
    file, inside = _file_of(place, scope)
    await anyio.to_thread.run_sync(partial(add_server, file, name, entry, inside=inside))
    put_line(f'added "{name}" to {_shown(place, file)}')
    for warning in reading.warnings:
        say(f"warning: {warning.message}")
    if reading.error is not None:
        say(f"note: {reading.error.message}", reading.error.hint)
    discovery = await place.discover()
    own = [row for row in discovery.servers if row.name == name and row.source.path == file]
    if own and own[0].source.level == "project" and not own[0].trusted:
        # Who types the command has read it: the question would show the same words again.
        store = TrustStore(place.discovery_options.paths.trust_file)
        project = place.discovery_options.cwd
        await anyio.to_thread.run_sync(store.trust_entry, project, name, own[0].trust_key)
    if own and own[0].is_shadowed:
        say(f"note: it is {own[0].reason}, which counts first")
    elif own and own[0].reason == "disabled":
        say(f'note: "{name}" is disabled', f"agent-shell mcp enable {name}")
    elif own and own[0].reason == "filtered:exa":
        say(f'note: "{name}" is Exa, which is left to the built-in search')
    return 0


async def remove(place: CommandPlace, namespace: Namespace) -> int:
    """`mcp remove NAME`: from the file that counts, or from the one --scope names."""
    name: str = namespace.name
    if namespace.scope is not None:
        file, inside = _file_of(place, namespace.scope)
        candidates = [(file, inside)]
        if namespace.scope == "project":
            project = place.discovery_options.cwd.absolute()
            candidates.append((project / PROJECT_FILE, project))
    else:
        source = known_server(await place.discover(), name).source
        if source.provider == "command-line":
            raise UsageError(f'"{name}" is defined in {source.path}, which --mcp-config names')
        inside = place.discovery_options.cwd.absolute() if source.level == "project" else None
        candidates = [(source.path, inside)]
    for file, inside in candidates:
        if await anyio.to_thread.run_sync(partial(remove_server, file, name, inside=inside)):
            put_line(f'removed "{name}" from {_shown(place, file)}')
            left = (await place.discover()).find(name)
            if left is not None:
                say(f'note: {left.shown_path} defines "{name}" too; that one counts now')
            return 0
    shown = " and ".join(_shown(place, file) for file, _ in candidates)
    raise UsageError(f'no server "{name}" in {shown}', hint="agent-shell mcp list")


async def enable(place: CommandPlace, namespace: Namespace) -> int:
    """`mcp enable NAME`: in your own lists, whatever file defines it."""
    found = known_server(await place.discover(), namespace.name)
    reading = read_entry(found.name, found.raw, place.discovery_options.environ)
    await _set_enabled(place, found.name, enabled=True, overrides_entry=not reading.is_enabled)
    put_line(f'enabled "{found.name}"')
    now = known_server(await place.discover(), found.name)
    if now.reason == "untrusted":
        say(f'note: "{found.name}" still waits for your consent', "agent-shell asks about it")
    elif now.error is not None:
        say(f"error: {now.error}", now.hint)
    return 0


async def disable(place: CommandPlace, namespace: Namespace) -> int:
    """`mcp disable NAME`: in your own lists, whatever file defines it."""
    found = known_server(await place.discover(), namespace.name)
    await _set_enabled(place, found.name, enabled=False, overrides_entry=False)
    put_line(f'disabled "{found.name}"')
    return 0


async def _set_enabled(
    place: CommandPlace, name: str, *, enabled: bool, overrides_entry: bool
) -> None:
    paths = place.discovery_options.paths
    await anyio.to_thread.run_sync(
        partial(set_server_enabled, paths, name, enabled, overrides_entry=overrides_entry)
    )


def _file_of(place: CommandPlace, scope: str) -> tuple[Path, Path | None]:
    """The file that `--scope` means, and the folder it has to lie in."""
    if scope == "project":
        project = place.discovery_options.cwd.absolute()
        return project / FILE_NAME, project
    return place.discovery_options.paths.user_mcp_config, None


def _shown(place: CommandPlace, file: Path) -> str:
    return shown_path(file, place.discovery_options.cwd.absolute())
