"""status_panel(snapshot): the servers as a person reads them; a pure drawing."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit.utils import get_cwidth

from agent_shell.errors import ConfigError
from agent_shell.logs import printable_line
from agent_shell.mcp.snapshot import ServerSnapshot
from agent_shell.repl.drawing import foreign, indented, joined
from agent_shell.repl.styled_lines import cut_cells
from agent_shell.repl.theme import Role

if TYPE_CHECKING:
    from rich.console import RenderableType

COLUMN_GAP = 2
MOST_NAME_CELLS = 24

WIDE_ENOUGH = 64
"""Columns from which a server's words fit beside each other."""

_SIGNS: dict[str, tuple[str, Role]] = {
    "connected": ("●", "ok"),
    "connecting": ("◌", "accent"),
    "disconnected": ("○", "quiet"),
}


def status_panel(
    servers: Sequence[ServerSnapshot],
    errors: Sequence[ConfigError],
    *,
    now_s: float,
    width: int,
) -> "RenderableType":
    """One row a server, what is wrong below it; file errors at the end.

    `now_s` is the clock that `started_at` was read from (seconds).
    """
    from rich.console import Group  # noqa: PLC0415 - drawn long after the prompt stands

    rows: list[RenderableType] = []
    if not servers:
        rows.append(foreign("no MCP servers; /mcp add NAME -- COMMAND adds one", "quiet"))
    elif width >= WIDE_ENOUGH:
        rows.extend(_table(servers, now_s))
    else:
        for server in servers:
            rows.extend(_narrow(server, now_s))
    rows.extend(joined(("error: ", "error"), error.message) for error in errors)
    return Group(*rows)


def _table(servers: Sequence[ServerSnapshot], now_s: float) -> list["RenderableType"]:
    """Columns as wide as their words; only the last one, the source, is cut at the edge."""
    table = [_cells(server, now_s) for server in servers]
    widths = [max(get_cwidth(row[column][0]) for row in table) for column in range(len(table[0]))]
    rows: list[RenderableType] = []
    for server, row in zip(servers, table, strict=True):
        line = foreign("", no_wrap=True)
        for (text, role), width in zip(row, widths, strict=True):
            if width:
                padding = " " * (width - get_cwidth(text) + COLUMN_GAP)
                line.append_text(foreign(text + padding, role))
        line.rstrip()
        rows.append(line)
        explanation = explain(server)
        if explanation:
            rows.append(_explained(explanation, server))
    return rows


def _narrow(server: ServerSnapshot, now_s: float) -> list["RenderableType"]:
    (name, role), *others = _cells(server, now_s)
    rows: list[RenderableType] = [joined((name, role))]
    rows.append(indented(joined((" · ".join(text for text, _ in others if text), "quiet"))))
    explanation = explain(server)
    if explanation:
        rows.append(_explained(explanation, server))
    return rows


def _explained(explanation: str, server: ServerSnapshot) -> "RenderableType":
    return indented(joined((explanation, _explanation_role(server))))


def _explanation_role(server: ServerSnapshot) -> Role:
    return "error" if server.error else "quiet"


def _cells(server: ServerSnapshot, now_s: float) -> list[tuple[str, Role | None]]:
    name = cut_cells(server.name, MOST_NAME_CELLS)
    sign, role = _SIGNS[server.status]
    if server.status == "disconnected" and server.error:
        sign, role = "✗", "error"
    tools = f"{server.tools} tool{'' if server.tools == 1 else 's'}"
    if server.deferred:
        tools += " (cached)"
    return [
        (f"{sign} {name}", role),
        (state_words(server, now_s), role),
        (server.transport or "?", None),
        (tools if server.tools or server.status == "connected" else "", None),
        (_timing(server), "quiet"),
        (_source(server), "quiet"),
    ]


def state_words(server: ServerSnapshot, now_s: float) -> str:
    """The status, with the seconds of one that is connecting and the reason of one that is off."""
    if server.status == "connecting" and server.started_at is not None:
        return f"connecting {max(0, int(now_s - server.started_at))}s"
    if server.status == "disconnected" and server.reason:
        return f"disconnected ({server.reason.split(' ', 1)[0]})"
    if server.status == "connected" and "list_tools" not in server.timings_ms:
        return "connected, listing tools"
    return server.status


def explain(server: ServerSnapshot) -> str:
    """Why a server is not connected, and what to type; empty where there is nothing to say."""
    hint = f"; {server.hint}" if server.hint else ""
    if server.error:
        return f"{server.error}{hint}"
    name = printable_line(server.name)
    match server.reason:
        case "untrusted":
            return f"not agreed to yet; /mcp trust {name}"
        case "disabled":
            return f"disabled; /mcp enable {name}"
        case "closed":
            return f"off; /mcp connect {name}"
        case "filtered:exa":
            return "Exa is left to the built-in search"
        case None:
            return ""
        case reason:
            return f"{reason}{hint}"


def _timing(server: ServerSnapshot) -> str:
    total_ms = sum(server.timings_ms.values())
    return f"{total_ms:.0f} ms" if server.timings_ms else ""


def _source(server: ServerSnapshot) -> str:
    home = str(Path.home())
    path = server.shown_path
    if path.startswith(home + os.sep):
        path = "~" + path[len(home) :]
    return f"{server.source.provider_name}: {path}"
