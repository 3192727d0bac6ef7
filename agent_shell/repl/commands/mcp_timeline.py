"""/mcp timeline: start-up of every server on one time axis."""

from collections.abc import Sequence

from prompt_toolkit.utils import get_cwidth

from agent_shell.mcp.snapshot import ServerSnapshot
from agent_shell.repl.commands.command import CommandContext
from agent_shell.repl.commands.mcp_subcommand import Subcommand
from agent_shell.repl.styled_lines import cut_cells

STEPS: tuple[tuple[str, str], ...] = (
    ("spawn", "s"),
    ("connect", "c"),
    ("initialize", "i"),
    ("list_tools", "l"),
)
LEGEND = "s spawn · c connect · i initialize · l list tools · . still connecting · x failed"
MOST_NAME_CELLS = 16


async def timeline(context: CommandContext, rest: str) -> None:
    """Draw it for the servers that began to connect."""
    context.require_manager()
    lines = timeline_lines(context.snapshot(), context.now_s(), context.screen.width - 1)
    context.print_text("\n".join(lines))


def timeline_lines(servers: Sequence[ServerSnapshot], now_s: float, width: int) -> list[str]:
    """One bar a server, all from the moment the first of them began; `now_s` in seconds."""
    rows = [row for row in servers if row.started_at is not None and _has_bar(row)]
    if not rows:
        return ["no server has begun to connect"]
    began_s = min(row.started_at or 0.0 for row in rows)
    total_ms = max(1.0, *(_end_ms(row, began_s, now_s) for row in rows))
    name_cells = min(MOST_NAME_CELLS, max(get_cwidth(row.name) for row in rows))
    bar_cells = max(8, width - name_cells - 14)
    lines = [f"{'':{name_cells}} 0{'':{bar_cells}}{total_ms:.0f} ms"]
    for row in sorted(rows, key=lambda row: row.started_at or 0.0):
        bar = _bar(row, began_s, now_s, total_ms, bar_cells)
        end_ms = _end_ms(row, began_s, now_s)
        name = cut_cells(row.name, name_cells)
        name += " " * (name_cells - get_cwidth(name))
        lines.append(f"{name} {bar:{bar_cells}} {end_ms:.0f} ms")
    return [*lines, LEGEND]


def _has_bar(row: ServerSnapshot) -> bool:
    return bool(row.timings_ms) or row.status == "connecting" or _has_failed(row)


def _has_failed(row: ServerSnapshot) -> bool:
    return row.reason == "failed" and row.ended_at is not None


def _offset_ms(row: ServerSnapshot, began_s: float) -> float:
    return ((row.started_at or began_s) - began_s) * 1000


def _end_ms(row: ServerSnapshot, began_s: float, now_s: float) -> float:
    if row.status == "connecting":
        return (now_s - began_s) * 1000
    if _has_failed(row) and row.ended_at is not None:
        return (row.ended_at - began_s) * 1000
    return _offset_ms(row, began_s) + sum(row.timings_ms.values())


def _bar(row: ServerSnapshot, began_s: float, now_s: float, total_ms: float, cells: int) -> str:
    at_ms = _offset_ms(row, began_s)
    bar = " " * _cell(at_ms, total_ms, cells)
    for step, sign in STEPS:
        if step in row.timings_ms:
            at_ms += row.timings_ms[step]
            # A step that took any time at all is seen.
            bar += sign * max(1, _cell(at_ms, total_ms, cells) - len(bar))
    if row.status == "connecting":
        bar += "." * max(1, _cell((now_s - began_s) * 1000, total_ms, cells) - len(bar))
    if _has_failed(row):
        bar += "x" * max(1, _cell(_end_ms(row, began_s, now_s), total_ms, cells) - len(bar))
    return bar[:cells]


def _cell(at_ms: float, total_ms: float, cells: int) -> int:
    return round(at_ms / total_ms * cells)


SUBCOMMANDS = (
    Subcommand(name="timeline", summary="start-up of every server on one axis", run=timeline),
)
