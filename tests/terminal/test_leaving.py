"""Every way out: the terminal as it was, no server left, the right exit status."""

import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fakes.model_server import ModelServer
from tests.requirements import requirement
from tests.terminal.project import Project, assert_gone, fake_server, read_pid
from tests.terminal.pty_program import PtyProgram, shell_environment

Way = Callable[[PtyProgram], None]

WAYS: dict[str, tuple[Way, int]] = {
    "ctrl-d": (lambda shell: shell.send("\x04"), 0),
    "ctrl-c twice": (lambda shell: shell.send("\x03\x03"), 0),
    "/quit": (lambda shell: shell.send("/quit\r"), 0),
    "/exit": (lambda shell: shell.send("/exit\r"), 0),
    "SIGTERM": (lambda shell: shell.signal(signal.SIGTERM), 143),
    "SIGHUP": (lambda shell: shell.signal(signal.SIGHUP), 129),
    "SIGINT": (lambda shell: shell.signal(signal.SIGINT), 130),
}


def assert_terminal_as_it_was(shell: PtyProgram) -> None:
    assert shell.stty() == shell.stty_before
    assert not shell.is_bracketed_paste_on
    assert shell.is_cursor_visible


@requirement("I10", "B7", "end:every-way", "end:terminal")
@pytest.mark.parametrize("way", WAYS)
def test_leaving_restores_the_terminal_and_ends_every_server(
    project: Project, tmp_path: Path, way: str
) -> None:
    pids = [tmp_path / "direct.pid", tmp_path / "wrapped.pid"]
    direct = fake_server("--pid-file", str(pids[0]), "--child")
    wrapped = fake_server("--pid-file", str(pids[1]))
    line = " ".join([wrapped["command"], *wrapped["args"]])
    project.write_user_servers(
        {"direct": direct, "wrapped": {"command": "sh", "args": ["-c", f"{line}; true"]}}
    )
    leave, status = WAYS[way]
    with project.shell() as shell:
        shell.wait_for("mcp 2 connected")
        running = [read_pid(file) for file in pids]
        running.append(read_pid(tmp_path / "direct.pid.child"))
        leave(shell)

        assert shell.wait_exit(5) == status
        assert_terminal_as_it_was(shell)
        assert shell.screen == (f"› {way}" if way.startswith("/") else "")
        assert_gone(*running)


@requirement("Z39", "end:every-way")
def test_a_terminal_that_goes_away_ends_the_program(project: Project, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    project.write_user_servers({"one": fake_server("--pid-file", str(pid_file))})
    with project.shell() as shell:
        shell.wait_for("mcp 1 connected")
        shell.hang_up()

        assert shell.wait_exit(5) == 129
        assert_gone(read_pid(pid_file))


@requirement("end:every-way")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_while_modules_load_leaves_quietly(project: Project, number: int) -> None:
    with PtyProgram.agent_shell(home=project.home, cwd=project.folder) as shell:
        shell.wait_for("›", settle_s=0)
        shell.signal(number)

        assert shell.wait_exit(5) == 128 + number
        assert_terminal_as_it_was(shell)
        assert shell.screen == ""


@requirement("end:every-way")
def test_ctrl_c_right_after_the_paint_leaves_or_clears_but_never_hangs(project: Project) -> None:
    with PtyProgram.agent_shell(home=project.home, cwd=project.folder) as shell:
        shell.wait_for("›", settle_s=0)
        shell.send("\x03")
        shell.wait_for(lambda shell: not shell.is_running or shell.lines_with("mcp") != [])
        if shell.is_running:
            shell.send("\x04")
        assert shell.wait_exit(5) in (0, 130)
        assert_terminal_as_it_was(shell)
        assert "Traceback" not in shell.scrollback


@requirement("end:every-way", "Z36")
@pytest.mark.parametrize("way", ["ctrl-d", "SIGTERM", "SIGHUP", "SIGINT"])
def test_leaving_while_servers_connect_ends_them(
    project: Project, tmp_path: Path, way: str
) -> None:
    pid_file = tmp_path / "pid"
    project.write_user_servers(
        {"silent": fake_server("--behave", "silent", "--pid-file", str(pid_file))}
    )
    leave, status = WAYS[way]
    with project.shell() as shell:
        shell.wait_for("1 connecting: silent")
        pid = read_pid(pid_file)
        leave(shell)

        assert shell.wait_exit(5) == status
        assert_gone(pid)


@requirement("end:every-way")
@pytest.mark.parametrize("way", ["ctrl-d", "SIGTERM", "SIGINT"])
def test_leaving_during_a_call_ends_the_server(project: Project, tmp_path: Path, way: str) -> None:
    pid_file = tmp_path / "pid"
    project.write_user_servers({"one": fake_server("--pid-file", str(pid_file))})
    leave, status = WAYS[way]
    with project.shell() as shell:
        shell.wait_for("mcp 1 connected")
        shell.send("/call mcp_one_sleep seconds=60\r")
        shell.wait_for("mcp_one_sleep  ")
        leave(shell)

        assert shell.wait_exit(5) == status
        assert_terminal_as_it_was(shell)
        assert_gone(read_pid(pid_file))


@requirement("end:every-way")
@pytest.mark.parametrize("way", ["ctrl-d", "SIGTERM", "SIGHUP", "SIGINT"])
def test_leaving_while_a_model_streams(project: Project, way: str) -> None:
    leave, status = WAYS[way]
    with ModelServer([{"text": ["some ", {"gate": "never"}]}]) as model:
        project.settings_for(model.base_url)
        with project.shell() as shell:
            shell.send("begin\r")
            shell.wait_for("some")
            leave(shell)

            assert shell.wait_exit(5) == status
        model.open_gate("never")


@requirement("B6", "Y27", "end:bounded")
def test_a_stubborn_server_is_spoken_of_and_killed_in_time(
    project: Project, tmp_path: Path
) -> None:
    pid_file = tmp_path / "pid"
    project.write_user_servers(
        {"mule": fake_server("--behave", "stubborn", "--pid-file", str(pid_file))}
    )
    with project.shell() as shell:
        shell.wait_for("mcp 1 connected")
        pid = read_pid(pid_file)
        began_at = time.monotonic()
        shell.send("\x04")
        shell.wait_for("closing 1 server")

        assert shell.wait_exit(5) == 0
        assert time.monotonic() - began_at < 3.5
        assert_terminal_as_it_was(shell)
        assert_gone(pid)


@requirement("end:second-interrupt", "Y27")
def test_ctrl_c_while_leaving_ends_it_now(project: Project, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    project.write_user_servers(
        {"mule": fake_server("--behave", "stubborn", "--pid-file", str(pid_file))}
    )
    with project.shell() as shell:
        shell.wait_for("mcp 1 connected")
        pid = read_pid(pid_file)
        shell.send("\x04")
        shell.wait_for("closing 1 server")
        shell.send("\x03")

        assert shell.wait_exit(1) == 130
        assert_terminal_as_it_was(shell)
        assert_gone(pid)


CRASHING = """
import sys
from agent_shell.cli import main
from agent_shell.repl import {module}
def crash(*ignored, **also_ignored):
    raise RuntimeError("this [must] not happen")
{module}.{name} = crash
sys.exit(main.main([]))
"""


@requirement("I10", "end:every-way")
@pytest.mark.parametrize(
    ("module", "name", "keys"),
    [
        ("line_editor", "_enter", "x\r"),  # in a key
        ("repl", "Repl._toolbar", "x"),  # in a drawing
        ("repl", "Repl.line_entered", "x\r"),
        ("shell", "Shell.line_entered", "x\r"),
    ],
)
def test_an_unforeseen_error_restores_the_terminal_and_names_the_log(
    project: Project, tmp_path: Path, module: str, name: str, keys: str
) -> None:
    pid_file = tmp_path / "pid"
    project.write_user_servers({"one": fake_server("--pid-file", str(pid_file))})
    script = CRASHING.format(module=module, name=name)
    with PtyProgram(
        [sys.executable, "-c", script], env=shell_environment(project.home), cwd=project.folder
    ) as shell:
        if "toolbar" not in name:
            shell.wait_for("mcp 1 connected")
            shell.send(keys)

        assert shell.wait_exit(5) == 1
        words = "error: RuntimeError: this [must] not happen; see"
        assert " ".join(shell.scrollback.split()).startswith(words)
        assert "agent-shell.log" in shell.scrollback.replace("\n", "")
        assert_terminal_as_it_was(shell)
        if "toolbar" not in name:
            assert_gone(read_pid(pid_file))
            assert "this [must] not happen" in project.log


def test_leaving_leaves_the_scrollback_and_takes_the_prompt_away(project: Project) -> None:
    with project.shell() as shell:
        shell.send("/tools nothing\r")
        shell.wait_for("no tool has")
        shell.send("half a line")
        shell.wait_for("› half a line")
        shell.signal(signal.SIGTERM)

        assert shell.wait_exit(5) == 143
        assert shell.screen == '› /tools nothing\nno tool has "nothing" in its name or origin'
