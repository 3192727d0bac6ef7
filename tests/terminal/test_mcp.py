"""/mcp on a real terminal, with real processes as servers."""

import json
import os
import re
import signal
from pathlib import Path

import pytest

from tests.requirements import requirement
from tests.terminal.project import (
    Project,
    assert_gone,
    fake_server,
    is_alive,
    read_pid,
    write_servers,
)
from tests.terminal.pty_program import PtyProgram


def panel_row(shell: PtyProgram, name: str) -> str:
    """The panel's row of this server, blanks squeezed."""
    rows = [line for line in shell.lines if re.match(rf"[●◌○✗] {name} ", line)]
    return " ".join(rows[-1].split()) if rows else ""


@requirement("terminal:reload", "H7", "Z11", "Z19", "Y3", "B15")
def test_after_an_edit_and_a_reload_the_panel_shows_every_state(
    project: Project, tmp_path: Path
) -> None:
    file = project.home / "agent-shell" / "config" / "mcp.json"
    first_pid = tmp_path / "first"
    write_servers(file, {"old": fake_server("--pid-file", str(first_pid))})
    with project.shell(columns=100) as shell:
        shell.wait_for("mcp 1 connected")
        write_servers(
            file,
            {
                "good": fake_server(),
                "slow": fake_server("--behave", "silent"),
                "dead": {"command": "no-such-command"},
            },
        )
        shell.send("/mcp reload\r")
        shell.wait_for('error: server "dead": command not found: no-such-command')
        shell.wait_for("/mcp connect dead")
        shell.wait_for("1 connected · 1 connecting: slow")
        assert_gone(read_pid(first_pid))

        shell.send("/mcp\r")
        shell.wait_for("q closes")
        shell.wait_for(lambda shell: panel_row(shell, "good") != "")
        assert panel_row(shell, "good").startswith("● good connected stdio 12 tools")
        assert panel_row(shell, "slow").startswith("◌ slow connecting")
        assert panel_row(shell, "dead").startswith("✗ dead disconnected (failed) stdio")
        seconds = panel_row(shell, "slow")
        shell.wait_for(lambda shell: panel_row(shell, "slow") != seconds)

        shell.send("\x1b")
        shell.wait_for(lambda shell: "q closes" not in shell.screen)
        assert panel_row(shell, "good").startswith("● good connected")


@requirement("terminal:reload")
def test_reload_counts_and_says_what_changed(project: Project) -> None:
    file = project.home / "agent-shell" / "config" / "mcp.json"
    write_servers(file, {"one": fake_server(), "two": fake_server()})
    with project.shell(columns=120) as shell:
        shell.wait_for("mcp 2 connected")
        write_servers(file, {"two": fake_server("--tools", "1"), "three": fake_server()})
        shell.send("/mcp reload\r")
        shell.wait_for("2 connected · 0 connecting · 0 failed")
        shell.wait_for("servers: added three · removed one · altered two")
        assert "mcp_three_echo" in shell.scrollback
        assert "mcp_two_extra_1" in shell.scrollback


@requirement("terminal:enable-disable", "H5", "G3")
def test_disable_and_enable_act_on_their_server_alone(project: Project, tmp_path: Path) -> None:
    project.write_user_servers(
        {
            "other": fake_server("--pid-file", str(tmp_path / "other")),
            "x": fake_server("--pid-file", str(tmp_path / "x")),
        }
    )
    with project.shell() as shell:
        shell.wait_for("mcp 2 connected")
        other, x = read_pid(tmp_path / "other"), read_pid(tmp_path / "x")
        (tmp_path / "x").unlink()

        shell.send("/mcp disable x\r")
        shell.wait_for("x is disabled")
        shell.wait_for("mcp 1 connected")
        assert_gone(x)
        shell.send("/tools mcp_x_echo\r")
        shell.wait_for('no tool has "mcp_x_echo"')

        shell.send("/mcp enable x\r")
        shell.wait_for("x is connected, 12 tools")
        shell.wait_for("mcp 2 connected")
        assert read_pid(tmp_path / "x") != x
        assert is_alive(other)
        assert read_pid(tmp_path / "other") == other


@requirement("terminal:call-and-cancel", "G1", "Y25")
def test_call_works_and_ctrl_c_cancels_it_on_the_wire(project: Project, tmp_path: Path) -> None:
    record = tmp_path / "record"
    project.write_user_servers({"one": fake_server("--record", str(record))})
    with project.shell() as shell:
        shell.wait_for("mcp 1 connected")
        shell.send("/call mcp_one_add a=1 b=2\r")
        shell.wait_for(lambda shell: re.search(r"✓ .*\n +3$", shell.screen, re.M) is not None)

        shell.send("/call mcp_one_sleep seconds=60\r")
        shell.wait_for("mcp_one_sleep  ")
        shell.wait_for(lambda _: "sleep" in record.read_text(encoding="utf-8"))
        shell.send("\x03")
        shell.wait_for("mcp_one_sleep: cancelled")
        shell.wait_for(lambda _: "notifications/cancelled" in record.read_text(encoding="utf-8"))
        messages = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
        (call,) = [m for m in messages if m.get("params", {}).get("name") == "sleep"]
        (cancelled,) = [m for m in messages if m["method"] == "notifications/cancelled"]
        assert cancelled["params"]["requestId"] == call["id"]

        shell.send('/call mcp_one_echo {"text": "still there"}\r')
        shell.wait_for(lambda shell: "    still there" in shell.lines)
        assert "mcp 1 connected" in shell.screen


@requirement("H3")
@pytest.mark.parametrize(
    "command",
    [
        "connect",
        "reconnect",
        "disconnect",
        "enable",
        "disable",
        "test",
        "logs",
        "tools",
        "resources",
        "remove",
    ],
)
def test_an_unknown_server_is_answered_with_the_known_names(project: Project, command: str) -> None:
    project.write_user_servers({"one": fake_server(), "two": fake_server()})
    with project.shell() as shell:
        shell.wait_for("mcp 2 connected")
        shell.send(f"/mcp {command} nosuch\r")
        shell.wait_for('error: no server "nosuch"; known: one, two', 3)
        shell.send("still typing")
        shell.wait_for("› still typing")


@requirement("H8", "B5")
def test_a_killed_server_is_announced_and_connects_again_when_asked(
    project: Project, tmp_path: Path
) -> None:
    pid_file = tmp_path / "pid"
    project.write_user_servers({"one": fake_server("--pid-file", str(pid_file))})
    with project.shell() as shell:
        shell.wait_for("mcp 1 connected")
        pid = read_pid(pid_file)
        os.kill(pid, signal.SIGKILL)
        shell.wait_for('error: server "one":')
        shell.wait_for("/mcp connect one")
        shell.wait_for("mcp 0 connected · 1 failed: one")
        shell.send("/call mcp_one_echo text=x\r")
        shell.wait_for(lambda shell: "MCP error:" in shell.screen or "no tool" in shell.screen)
        pid_file.unlink()
        shell.send("/mcp reconnect one\r")
        shell.wait_for("one is connected, 12 tools")
        assert read_pid(pid_file) != pid


@requirement("B3", "Y39")
def test_standard_error_is_in_the_log_and_never_on_the_screen(project: Project) -> None:
    project.write_user_servers({"one": fake_server()})
    with project.shell() as shell:
        shell.wait_for("mcp 1 connected")
        shell.send("/call mcp_one_stderr text=nooise\r")
        shell.wait_for(lambda shell: re.search(r"✓", shell.screen) is not None)
        shell.wait_until_quiet()
        assert shell.screen.count("nooise") == 1  # what was typed
        shell.send("/mcp logs one\r")
        shell.wait_for("stderr: nooise")


@requirement("Z7", "Y7")
def test_commands_work_while_every_server_hangs(project: Project) -> None:
    project.write_user_servers(
        {f"hang{number}": fake_server("--behave", "silent") for number in range(3)}
    )
    with project.shell() as shell:
        shell.wait_for("3 connecting")
        shell.send("/tools read_file\r")
        shell.wait_for("1 tools", 3)
        shell.send("/mcp disconnect hang1\r")
        shell.wait_for("hang1 is disconnected", 5)
        shell.wait_for("2 connecting")


@requirement("I6")
def test_markup_in_server_names_and_errors_is_text(project: Project) -> None:
    project.write_user_servers({"a[/b] [bold": {"command": "no[/such]"}})
    with project.shell() as shell:
        shell.wait_for("1 failed: a[/b] [bold")
        shell.wait_for("command not found: no[/such]")
        shell.send("/mcp\r")
        shell.wait_for("✗ a[/b] [bold")


def test_test_goes_step_by_step_beside_the_live_connection(
    project: Project, tmp_path: Path
) -> None:
    pid_file = tmp_path / "pid"
    project.write_user_servers(
        {"one": fake_server("--pid-file", str(pid_file)), "dead": {"command": "no-such-command"}}
    )
    with project.shell() as shell:
        shell.wait_for("mcp 1 connected")
        pid = read_pid(pid_file)
        shell.send("/mcp test one\r")
        shell.wait_for("✓ list tools")
        assert "✓ initialize" in shell.screen
        assert is_alive(pid)
        assert "mcp 1 connected" in shell.screen
        shell.send("/mcp test dead\r")
        shell.wait_for("✗ command  command not found: no-such-command")


def test_add_and_remove_edit_the_users_file_and_act_at_once(project: Project) -> None:
    server = fake_server()
    words = " ".join([server["command"], *server["args"]])
    with project.shell() as shell:
        shell.send(f"/mcp add new -e A=b -- {words}\r")
        shell.wait_for("new is connected, 12 tools")
        file = project.home / "agent-shell" / "config" / "mcp.json"
        assert json.loads(file.read_text(encoding="utf-8")) == {
            "mcpServers": {"new": {**server, "env": {"A": "b"}}}
        }
        shell.send("/mcp remove new\r")
        shell.wait_for("new is removed")
        shell.wait_for("mcp: no servers")
        assert json.loads(file.read_text(encoding="utf-8")) == {"mcpServers": {}}


def test_the_panel_wraps_at_forty_columns(project: Project) -> None:
    project.write_user_servers({"good": fake_server(), "dead": {"command": "no-such-command"}})
    with project.shell(columns=40) as shell:
        shell.wait_for("mcp 1 connected")
        shell.send("/mcp\r")
        shell.wait_for("q closes")
        shell.wait_until_quiet()
        assert "● good" in shell.lines
        assert "✗ dead" in shell.lines
        assert "12 tools" in shell.screen


def test_timeline_draws_a_bar_for_each_server(project: Project) -> None:
    project.write_user_servers({"one": fake_server(), "two": fake_server("--delay", "0.2")})
    with project.shell() as shell:
        shell.wait_for("mcp 2 connected")
        shell.send("/mcp timeline\r")
        shell.wait_for("s spawn")
        assert any(re.match(r"two +s.*i+", line) for line in shell.lines)


def test_lists_of_tools_and_resources(project: Project) -> None:
    project.write_user_servers({"one": fake_server(), "two": fake_server()})
    with project.shell(rows=60) as shell:
        shell.wait_for("mcp 2 connected")
        shell.send("/mcp tools two\r")
        shell.wait_for("12 MCP tools")
        assert "mcp_one_" not in shell.screen
        shell.send("/mcp resources\r")
        shell.wait_for(lambda shell: re.search(r"\d+ resources", shell.screen) is not None)
        shell.send("/mcp prompts one\r")
        shell.wait_for(lambda shell: re.search(r"\d+ prompts", shell.screen) is not None)
