"""Servers as rows of a table and as JSON (CONTRACT section 4)."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_shell.discovery.discovered import DiscoveredServer, Discovery
from agent_shell.discovery.server_config import transport_kind
from agent_shell.discovery.source import SourceMeta
from agent_shell.json_types import JSONObject, JSONValue
from agent_shell.logs import printable_line
from agent_shell.mcp.snapshot import ServerSnapshot

_COLOURS = {"connected": "32", "connecting": "36", "failed": "31"}
_SIGNS = {"connected": "●", "connecting": "◌"}


def errors_json(discovery: Discovery) -> list[JSONValue]:
    """Problems of files, with the file they are in."""
    return [{"path": error.path or "", "error": error.message} for error in discovery.errors]


def found_json(found: DiscoveredServer, tools: int | None) -> JSONObject:
    """A server nobody has connected to: from the files and the cache alone."""
    return {
        "name": found.name,
        "status": None,
        "transport": transport_kind(found.config) if found.config is not None else None,
        "enabled": found.enabled,
        "trusted": found.trusted,
        "source": _source_json(found.source, found.shown_path),
        "tools": tools,
        "reason": found.reason,
        "error": found.error,
        "server": None,
        "protocol": None,
        "timings_ms": {},
        "pid": None,
    }


def snapshot_json(row: ServerSnapshot) -> JSONObject:
    """A server as the manager knows it now."""
    server: JSONValue = None
    if row.server is not None:
        server = {"name": row.server.name, "version": row.server.version}
    return {
        "name": row.name,
        "status": row.status,
        "transport": row.transport,
        "enabled": row.enabled,
        "trusted": row.trusted,
        "source": _source_json(row.source, row.shown_path),
        "tools": row.tools,
        "reason": row.reason,
        "error": row.error,
        "server": server,
        "protocol": row.protocol,
        "timings_ms": {step: round(ms, 1) for step, ms in row.timings_ms.items()},
        "pid": row.pid,
    }


def _source_json(source: SourceMeta, shown_path: str) -> JSONObject:
    return {
        "provider": source.provider,
        "provider_name": source.provider_name,
        "path": shown_path,
        "level": source.level,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One server in a table: its cells, and below them what is wrong."""

    cells: tuple[str, ...]
    state: str = ""
    notes: tuple[str, ...] = ()


def found_row(found: DiscoveredServer, tools: int | None) -> Row:
    """A line of `mcp list`."""
    kind = transport_kind(found.config) if found.config is not None else "?"
    notes = [note for note in (found.error,) if note]
    if found.hint and found.error:
        notes.append(f"hint: {found.hint}")
    return Row(
        cells=(
            found.name,
            found.reason or "ready",
            kind,
            _count(tools) if tools is not None else "",
            f"{found.source.provider_name}: {found.shown_path}",
        ),
        state="failed" if found.reason == "failed" else "",
        notes=tuple(notes),
    )


def snapshot_row(row: ServerSnapshot, now_s: float) -> Row:
    """A line of `mcp status`; `now_s` is the clock that `started_at` was read from."""
    state = row.status if row.status != "disconnected" else (row.reason or "")
    words = state
    if row.status == "connecting" and row.started_at is not None:
        words = f"connecting {max(0, int(now_s - row.started_at))}s"
    elif row.status == "disconnected":
        words = f"disconnected ({row.reason})" if row.reason else "disconnected"
    is_failed = row.status == "disconnected" and bool(row.error)
    total_ms = sum(row.timings_ms.values())
    notes = [note for note in (row.error,) if note]
    if row.hint and row.error:
        notes.append(f"hint: {row.hint}")
    sign = "✗" if is_failed else _SIGNS.get(row.status, "○")
    return Row(
        cells=(
            f"{sign} {row.name}",
            words,
            row.transport or "?",
            _count(row.tools) if row.status == "connected" else "",
            f"{total_ms:.0f} ms" if row.timings_ms else "",
            f"{row.source.provider_name}: {row.shown_path}",
        ),
        state="failed" if is_failed else row.status,
        notes=tuple(notes),
    )


def table_lines(
    rows: Sequence[Row], *, width: int | None = None, has_colour: bool = False
) -> list[str]:
    """The rows with their columns below each other; with `width`, no line is longer (in cells)."""
    from rich.cells import cell_len, set_cell_size  # noqa: PLC0415 - only when a table is drawn

    shown = [[printable_line(cell) for cell in row.cells] for row in rows]
    count = max((len(cells) for cells in shown), default=0)
    widths = [max(cell_len(cells[at]) for cells in shown) for at in range(count)]
    lines: list[str] = []
    for row, cells in zip(rows, shown, strict=True):
        padded = [
            cell + " " * (size - cell_len(cell)) for cell, size in zip(cells, widths, strict=True)
        ]
        texts = ["  ".join(padded).rstrip(), *(f"    {printable_line(note)}" for note in row.notes)]
        for text in texts:
            if width is not None and cell_len(text) > width:
                text = set_cell_size(text, max(width - 1, 1)) + "…"
            lines.append(_coloured(text, row.state) if has_colour else text)
    return lines


def _coloured(text: str, state: str) -> str:
    code = _COLOURS.get(state)
    return f"\x1b[{code}m{text}\x1b[0m" if code else text


def _count(tools: int) -> str:
    return f"{tools} tool{'' if tools == 1 else 's'}"


def by_name(rows: Sequence[DiscoveredServer]) -> list[DiscoveredServer]:
    """Sorted by name; the definition that counts stands before the ones it shadows."""
    return sorted(rows, key=lambda row: (row.name, row.is_shadowed))
