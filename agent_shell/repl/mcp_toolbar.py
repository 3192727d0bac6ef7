"""The MCP state in one line: counts, who is still connecting, who failed."""

from collections.abc import Sequence

from agent_shell.mcp.snapshot import ServerSnapshot
from agent_shell.repl.styled_lines import Line

MOST_NAMES = 3


def mcp_toolbar(rows: Sequence[ServerSnapshot], now_s: float) -> Line:
    """The toolbar's MCP part; `now_s` is the clock that `started_at` was read from."""
    live = [row for row in rows if not (row.reason or "").startswith(("shadowed", "filtered"))]
    connected = [row for row in live if row.status == "connected"]
    connecting = [row for row in live if row.status == "connecting"]
    failed = [row for row in live if row.reason == "failed" or _is_lost(row)]
    untrusted = [row for row in live if row.reason == "untrusted"]
    if not live:
        return [("class:quiet", "mcp: no servers · /help")]
    parts: Line = [("class:quiet", f"mcp {len(connected)} connected")]
    if connecting:
        names = _names([_with_age(row, now_s) for row in connecting])
        parts.append(("class:accent", f" · {len(connecting)} connecting: {names}"))
    if failed:
        names = _names([row.name for row in failed])
        parts.append(("class:error", f" · {len(failed)} failed: {names}"))
    if untrusted:
        names = _names([row.name for row in untrusted])
        parts.append(("class:warning", f" · {len(untrusted)} not trusted: {names}"))
    return parts


def _is_lost(row: ServerSnapshot) -> bool:
    """Closed, but not because the user said so."""
    return row.reason == "closed" and row.error is not None


def _with_age(row: ServerSnapshot, now_s: float) -> str:
    if row.started_at is None:
        return row.name
    return f"{row.name} {max(0, int(now_s - row.started_at))}s"


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MOST_NAMES])
    more = len(names) - MOST_NAMES
    return shown if more <= 0 else f"{shown} +{more}"
