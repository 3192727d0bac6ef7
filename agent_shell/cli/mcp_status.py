"""agent-shell mcp status and test: every server is tried, in parallel, and closed again."""

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict

import anyio

from agent_shell.cli.mcp_place import (
    CommandPlace,
    check_named_files,
    has_colour,
    put_json,
    put_line,
    put_raw,
)
from agent_shell.cli.mcp_rows import errors_json, snapshot_json, snapshot_row, table_lines
from agent_shell.cli.say import say
from agent_shell.discovery.discovered import Discovery
from agent_shell.json_types import JSONValue
from agent_shell.logs import printable_line
from agent_shell.mcp.check_server import CheckStep, check_server
from agent_shell.mcp.manager import MCPManager
from agent_shell.mcp.registries import ManagerEvent
from agent_shell.mcp.snapshot import ServerSnapshot

FAILED_EXIT = 1
TICK_S = 1.0
"""How often the seconds of a server that is connecting are drawn anew."""

_FAILURES = ("failed", "closed", "needs login")


async def status(place: CommandPlace, namespace: Namespace) -> int:
    """`mcp status`: connect to every usable server; 1 when an enabled, trusted one failed."""
    async with place.manager() as manager:
        if namespace.json or not _is_live(place):
            await manager.discover_and_connect()
            rows = manager.snapshot()
            now_s = anyio.current_time()
        else:
            rows, now_s = await _connect_and_show(place, manager)
        discovery = manager.discovery
        check_named_files(place.discovery_options, discovery)
        if namespace.json:
            servers: list[JSONValue] = [snapshot_json(row) for row in rows]
            put_json({"servers": servers, "errors": errors_json(discovery)})
        else:
            _say_problems(discovery)
            if not _is_live(place):
                lines = table_lines([snapshot_row(row, now_s) for row in rows])
                put_raw("".join(f"{line}\n" for line in lines))
            if not rows:
                put_line("no MCP servers")
            _say_untrusted(rows)
    return FAILED_EXIT if any(_has_failed(row) for row in rows) else 0


async def test(place: CommandPlace, namespace: Namespace) -> int:
    """`mcp test [NAME]`: step by step with timings; 1 if a tested server failed."""
    if namespace.name is not None:
        await place.usable_server(namespace.name)
        names = [namespace.name]
    else:
        winners = (await place.discover()).winners()
        names = [
            row.name
            for row in winners
            if row.enabled and row.trusted and row.reason in (None, "failed")
        ]
        for row in winners:
            if row.reason == "untrusted":
                say(f"note: {row.name} is not tested: you have not agreed to it yet")
    steps: dict[str, list[CheckStep]] = {name: [] for name in names}
    async with place.manager() as manager, anyio.create_task_group() as group:
        for name in names:
            group.start_soon(_test_one, manager, name, steps[name], not namespace.json)
    if namespace.json:
        servers: list[JSONValue] = [
            {
                "name": name,
                "ok": all(step.ok for step in found),
                "steps": [asdict(step) for step in found],
            }
            for name, found in steps.items()
        ]
        put_json({"servers": servers})
    elif not names:
        put_line("no server to test")
    return 0 if all(step.ok for found in steps.values() for step in found) else FAILED_EXIT


async def _test_one(manager: MCPManager, name: str, steps: list[CheckStep], is_shown: bool) -> None:
    async for step in check_server(manager, name):
        steps.append(step)
    if not is_shown:
        return
    # A server's steps stay together, whichever other server is being tested meanwhile.
    lines = [name]
    for step in steps:
        took = f" {step.duration_ms:.0f} ms" if step.duration_ms is not None else ""
        detail = f"  {step.detail}" if step.detail else ""
        lines.append(f"  {'✓' if step.ok else '✗'} {step.name}{took}{detail}")
        if step.hint:
            lines.append(f"    hint: {step.hint}")
    put_raw("".join(f"{printable_line(line)}\n" for line in lines))


def _has_failed(row: ServerSnapshot) -> bool:
    is_wanted = row.enabled and row.trusted and row.status != "connected"
    return is_wanted and row.reason in _FAILURES


def _say_problems(discovery: Discovery) -> None:
    for error in discovery.errors:
        say(f"error: {error.message}", error.hint)


def _say_untrusted(rows: Sequence[ServerSnapshot]) -> None:
    names = [row.name for row in rows if row.reason == "untrusted"]
    if names:
        say(
            f"note: not started, since you have not agreed to them yet: {', '.join(names)}",
            "agent-shell asks about them; --trust-project accepts them for one run",
        )


def _is_live(place: CommandPlace) -> bool:
    is_dumb = place.discovery_options.environ.get("TERM", "dumb") == "dumb"
    return sys.stdout.isatty() and not is_dumb


async def _connect_and_show(
    place: CommandPlace, manager: MCPManager
) -> tuple[tuple[ServerSnapshot, ...], float]:
    """Connect, and draw the table over itself at every change until all have settled."""
    panel = _Panel(has_colour=has_colour(place.discovery_options.environ))
    changed = anyio.Event()

    def on_event(event: ManagerEvent) -> None:
        changed.set()

    stop = manager.subscribe(on_event)
    try:
        async with anyio.create_task_group() as group:

            async def draw_changes() -> None:
                nonlocal changed
                while True:
                    with anyio.move_on_after(TICK_S):
                        await changed.wait()
                    changed = anyio.Event()
                    panel.draw(manager.snapshot(), anyio.current_time())

            group.start_soon(draw_changes)
            await manager.discover_and_connect()
            group.cancel_scope.cancel()
    finally:
        stop()
    rows, now_s = manager.snapshot(), anyio.current_time()
    panel.draw(rows, now_s, is_last=True)
    return rows, now_s


class _Panel:
    """A table that is drawn over itself; on a screen too small for it only the last one is."""

    def __init__(self, *, has_colour: bool) -> None:
        self._has_colour = has_colour
        self._lines_above = 0

    def draw(self, rows: Sequence[ServerSnapshot], now_s: float, *, is_last: bool = False) -> None:
        size = os.get_terminal_size(sys.stdout.fileno())
        lines = table_lines(
            [snapshot_row(row, now_s) for row in rows],
            width=None if is_last else size.columns - 1,
            has_colour=self._has_colour,
        )
        if not is_last and len(lines) >= size.lines - 1:
            return
        up = f"\x1b[{self._lines_above}A\r\x1b[J" if self._lines_above else ""
        put_raw(up + "".join(f"{line}\n" for line in lines))
        self._lines_above = len(lines)
