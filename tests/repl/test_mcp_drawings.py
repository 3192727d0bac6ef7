"""The panel, the toolbar and the timeline are pure drawings of snapshots."""

from pathlib import Path

import pytest

from agent_shell.discovery.source import SourceMeta
from agent_shell.errors import ConfigError
from agent_shell.mcp.snapshot import ServerSnapshot
from agent_shell.repl.commands.mcp_timeline import timeline_lines
from agent_shell.repl.drawing import Drawing
from agent_shell.repl.mcp_toolbar import mcp_toolbar
from agent_shell.repl.status_panel import status_panel

CWD = Path("/project")
SOURCE = SourceMeta(
    provider="mcp-json", provider_name="MCP Config", path=CWD / ".mcp.json", level="project"
)


def server(name: str, **values: object) -> ServerSnapshot:
    known: dict[str, object] = {
        "status": "disconnected",
        "transport": "stdio",
        "enabled": True,
        "trusted": True,
        "source": SOURCE,
        "shown_path": ".mcp.json",
        **values,
    }
    return ServerSnapshot(name=name, **known)  # pyright: ignore[reportArgumentType]


GOOD = server(
    "good",
    status="connected",
    tools=2,
    started_at=10.0,
    timings_ms={"spawn": 3.0, "initialize": 41.0, "list_tools": 2.0},
)
SLOW = server("slow", status="connecting", transport="http", started_at=10.0)
DEAD = server("dead", reason="failed", error="command not found: nope", hint="install it")
OFF = server("off", reason="disabled", enabled=False)
NEW = server("new", reason="untrusted", trusted=False)
HIDDEN = server("good", reason="shadowed by .mcp.json")
ALL = (DEAD, GOOD, NEW, OFF, SLOW)


def drawn(servers: tuple[ServerSnapshot, ...], width: int, *errors: ConfigError) -> list[str]:
    panel = status_panel(servers, errors, now_s=12.4, width=width)
    return Drawing(is_colourless=True).draw(panel, width).splitlines()


def test_a_wide_panel_has_one_row_a_server_and_explanations_below() -> None:
    assert drawn(ALL, 100) == [
        "✗ dead  disconnected (failed)     stdio                  MCP Config: .mcp.json",
        "    command not found: nope; install it",
        "● good  connected                 stdio  2 tools  46 ms  MCP Config: .mcp.json",
        "○ new   disconnected (untrusted)  stdio                  MCP Config: .mcp.json",
        "    not agreed to yet; /mcp trust new",
        "○ off   disconnected (disabled)   stdio                  MCP Config: .mcp.json",
        "    disabled; /mcp enable off",
        "◌ slow  connecting 2s             http                   MCP Config: .mcp.json",
    ]


def test_a_narrow_panel_puts_the_words_below_the_name() -> None:
    assert drawn((DEAD, GOOD), 40) == [
        "✗ dead",
        "    disconnected (failed) · stdio · MCP",
        "    Config: .mcp.json",
        "    command not found: nope; install it",
        "● good",
        "    connected · stdio · 2 tools · 46 ms",
        "    · MCP Config: .mcp.json",
    ]


@pytest.mark.parametrize("width", [10, 40, 64, 80, 200])
def test_no_row_is_wider_than_the_screen(width: int) -> None:
    long = server("n" * 80, reason="failed", error="e" * 300)

    assert all(len(row) <= width for row in drawn((*ALL, long), width))


def test_markup_and_escape_sequences_in_foreign_words_are_text() -> None:
    odd = server("a[/b]", reason="failed", error="\x1b[31m[bold]red\u202e")

    rows = drawn((odd,), 100)

    assert rows[0].startswith("✗ a[/b]")
    assert rows[1] == "    \\x1b[31m[bold]red\\u202e"


def test_no_servers_and_broken_files_are_said() -> None:
    assert drawn((), 80, ConfigError(".mcp.json:1:1: no JSON")) == [
        "no MCP servers; /mcp add NAME -- COMMAND adds one",
        "error: .mcp.json:1:1: no JSON",
    ]


def test_the_toolbar_counts_and_names() -> None:
    text = "".join(text for _, text in mcp_toolbar((*ALL, HIDDEN), 12.4))

    assert text == ("mcp 1 connected · 1 connecting: slow 2s · 1 failed: dead · 1 not trusted: new")


def test_the_toolbar_names_three_and_counts_the_rest() -> None:
    many = tuple(server(f"s{number}", reason="failed", error="x") for number in range(5))

    text = "".join(text for _, text in mcp_toolbar(many, 0))

    assert text == "mcp 0 connected · 5 failed: s0, s1, s2 +2"


def test_disabled_and_switched_off_servers_are_not_failed() -> None:
    off = server("gone", reason="closed")

    assert "".join(text for _, text in mcp_toolbar((OFF, off), 0)) == "mcp 0 connected"
    assert "".join(text for _, text in mcp_toolbar((), 0)) == "mcp: no servers · /help"


def test_the_timeline_puts_all_bars_on_one_axis() -> None:
    late = server(
        "late",
        status="connected",
        started_at=10.05,
        timings_ms={"connect": 25.0, "initialize": 25.0},
    )

    broken = server("bad", reason="failed", started_at=10.0, ended_at=10.04)

    assert timeline_lines((GOOD, late, broken, DEAD), 12.0, 39) == [
        "     0                     100 ms",
        "good siiiiiiiil            46 ms",
        "bad  xxxxxxxx              40 ms",
        "late            ccccciiiii 100 ms",
        "s spawn · c connect · i initialize · l list tools · . still connecting · x failed",
    ]


def test_the_timeline_of_nothing_says_so() -> None:
    assert timeline_lines((DEAD,), 0.0, 80) == ["no server has begun to connect"]
