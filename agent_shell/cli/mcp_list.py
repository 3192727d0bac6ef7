"""agent-shell mcp list, get and logs: answered from files and the cache; nothing is started."""

import json
from argparse import Namespace
from collections.abc import Iterable

import anyio.to_thread

from agent_shell.cli.mcp_place import (
    CommandPlace,
    has_colour,
    known_server,
    put,
    put_json,
    put_line,
    put_raw,
)
from agent_shell.cli.mcp_rows import by_name, errors_json, found_json, found_row, table_lines
from agent_shell.cli.say import say
from agent_shell.discovery.discovered import DiscoveredServer
from agent_shell.discovery.masked import masked_entry
from agent_shell.discovery.server_config import transport_kind
from agent_shell.json_types import JSONValue
from agent_shell.mcp.server_task import wanted_tools
from agent_shell.mcp.tool_cache import MCPToolCache


async def list_servers(place: CommandPlace, namespace: Namespace) -> int:
    """`mcp list`: every definition, and whether it may be used."""
    discovery = await place.discover()
    rows = by_name(discovery.servers)
    counts = await anyio.to_thread.run_sync(_cached_counts, place, rows)
    pairs = list(zip(rows, counts, strict=True))
    if namespace.json:
        servers = [found_json(row, count) for row, count in pairs]
        put_json({"servers": servers, "errors": errors_json(discovery)})
        return 0
    for error in discovery.errors:
        say(f"error: {error.message}", error.hint)
    if not rows:
        put_line("no MCP servers")
        say("hint: agent-shell mcp add NAME -- COMMAND ARGS… adds one")
        return 0
    colour = has_colour(place.discovery_options.environ)
    lines = table_lines([found_row(row, count) for row, count in pairs], has_colour=colour)
    put_raw("".join(f"{line}\n" for line in lines))
    waiting = [row.name for row in rows if row.reason == "untrusted"]
    if waiting:
        say(
            f"note: not agreed to yet: {', '.join(waiting)}",
            "agent-shell asks about them; --trust-project accepts them for one run",
        )
    return 0


async def get(place: CommandPlace, namespace: Namespace) -> int:
    """`mcp get NAME`: the entry that counts and what it comes to; secrets are hidden."""
    discovery = await place.discover()
    found = known_server(discovery, namespace.name)
    [count] = await anyio.to_thread.run_sync(_cached_counts, place, [found])
    entry = masked_entry(found.raw)
    shadowed = [
        row.shown_path for row in discovery.servers if row.name == found.name and row.is_shadowed
    ]
    if namespace.json:
        put_json({**found_json(found, count), "line": found.line, "entry": entry})
        return 0
    place_of = found.shown_path if found.line is None else f"{found.shown_path}:{found.line}"
    facts: list[tuple[str, str | None]] = [
        ("name", found.name),
        ("state", found.reason or "ready"),
        ("error", found.error),
        ("hint", found.hint if found.error else None),
        ("transport", transport_kind(found.config) if found.config is not None else None),
        ("defined in", f"{place_of} ({found.source.provider_name}, {found.source.level})"),
        ("shadows", ", ".join(shadowed) or None),
        ("tools", f"{count}, as of the last connection" if count is not None else None),
        ("timeout", _timeout_words(place, found)),
        *((key, _shown(value)) for key, value in entry.items() if key != "timeout"),
    ]
    width = max(len(label) for label, text in facts if text is not None)
    for label, text in facts:
        if text is not None:
            put_line(f"{label:<{width}}  {text}")
    return 0


async def logs(place: CommandPlace, namespace: Namespace) -> int:
    """`mcp logs NAME`: the whole log, which is bounded."""
    path = place.discovery_options.paths.server_log(namespace.name)
    try:
        content = await anyio.to_thread.run_sync(path.read_bytes)
    except OSError:
        # The log outlives the entry; without either the name is a slip.
        known_server(await place.discover(), namespace.name)
        content = b""
    text = content.decode("utf-8", "replace")
    if namespace.json:
        lines: list[JSONValue] = list(text.splitlines())
        put_json({"name": namespace.name, "path": str(path), "lines": lines})
        return 0
    if not text:
        say(f"note: nothing is logged yet for {namespace.name}")
        return 0
    put(text.removesuffix("\n"))
    return 0


def _cached_counts(place: CommandPlace, rows: Iterable[DiscoveredServer]) -> list[int | None]:
    cache = MCPToolCache(place.discovery_options.paths.tool_cache)
    counts: list[int | None] = []
    for row in rows:
        if row.config is None or row.is_shadowed:
            counts.append(None)
            continue
        tools = cache.get(row.config)
        counts.append(None if tools is None else len(wanted_tools(row.config, tools)))
    return counts


def _timeout_words(place: CommandPlace, found: DiscoveredServer) -> str | None:
    """The limit that counts and who set it (CASES Z9)."""
    if found.config is None:
        return None
    override = place.settings.mcp.timeout_override_ms
    if override is not None:
        return f"{override} ms (your settings or AGENT_SHELL_MCP_TIMEOUT_MS)"
    who = "its entry" if found.raw.get("timeout") is not None else "the default"
    return f"{found.config.timeout_ms} ms ({who})"


def _shown(value: JSONValue) -> str:
    is_plain = isinstance(value, str) and "\n" not in value
    return str(value) if is_plain else json.dumps(value, ensure_ascii=False)
