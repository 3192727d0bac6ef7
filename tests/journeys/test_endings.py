"""Whatever ends the program, no process of any server is left, and it was quick."""

import os
import signal
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent_shell.cli.first_paint import PROMPT
from agent_shell.json_types import JSONObject
from tests.journeys.conftest import Place, fake, fake_behind_shell
from tests.journeys.processes import is_alive, pid_in, seconds_until_gone
from tests.requirements import requirement
from tests.terminal.pty_program import PtyProgram

ENDING_LIMIT_S = 3.0
SUDDEN_DEATH_LIMIT_S = 2.0
BUSY_MACHINE_S = 1.0
"""The limits are the program's; two cores that run other tests beside it need a little more."""

pytestmark = pytest.mark.terminal


def _quit(shell: PtyProgram) -> None:
    shell.send("/quit\r")


def _control_d(shell: PtyProgram) -> None:
    shell.send("\x04")


def _control_c_twice(shell: PtyProgram) -> None:
    shell.send("\x03")
    shell.wait_until_quiet()
    shell.send("\x03")


def _signal(number: int) -> Callable[[PtyProgram], None]:
    return lambda shell: shell.signal(number)


WAYS: dict[str, tuple[Callable[[PtyProgram], None], int]] = {
    "/quit": (_quit, 0),
    "Ctrl-D": (_control_d, 0),
    "Ctrl-C twice": (_control_c_twice, 0),
    "SIGTERM": (_signal(signal.SIGTERM), 143),
    "SIGHUP": (_signal(signal.SIGHUP), 129),
}


def _define_hard_ones(place: Place, count: int = 1) -> list[str]:
    """Servers that are hard to end, and the files that hold the process ids they stand for."""
    files: list[str] = []
    servers: dict[str, JSONObject] = {}
    for number in range(count):
        behind, stubborn, parent = (
            str(place.folder / f"{name}{number}.pid") for name in ("behind", "stubborn", "parent")
        )
        servers[f"behind{number}"] = fake_behind_shell("--pid-file", behind)
        servers[f"stubborn{number}"] = fake("--behave", "stubborn", "--pid-file", stubborn)
        servers[f"parent{number}"] = fake("--child", "--pid-file", parent)
        files += [behind, stubborn, parent, f"{parent}.child"]
    place.define(**servers)
    return files


@contextmanager
def _shell_with(place: Place, files: list[str]) -> Generator[tuple[PtyProgram, set[int]]]:
    """The real program at its prompt, and the processes of its servers, all running."""
    with PtyProgram.agent_shell(
        home=place.folder,
        cwd=place.project,
        env={"AGENT_SHELL_HOME": place.environ["AGENT_SHELL_HOME"]},
    ) as shell:
        shell.wait_for(PROMPT.rstrip())
        pids = {pid_in(Path(file)) for file in files}
        assert all(is_alive(pid) for pid in pids)
        try:
            yield shell, pids
        finally:
            for pid in filter(is_alive, pids):
                os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("way", WAYS)
@requirement("end:every-way", "end:bounded", "end:terminal", "B6", "B7", "Y27", "Z36", "I10")
def test_no_server_process_is_left_whichever_way_one_leaves(place: Place, way: str) -> None:
    leave, status = WAYS[way]
    with _shell_with(place, _define_hard_ones(place)) as (shell, pids):
        shell.wait_for("3")  # the toolbar counts the connected servers
        left_at = time.monotonic()
        leave(shell)
        assert shell.wait_exit() == status
        took = time.monotonic() - left_at

        assert [pid for pid in pids if is_alive(pid)] == []
        assert took <= ENDING_LIMIT_S + BUSY_MACHINE_S
        assert shell.stty() == shell.stty_before
        assert shell.is_cursor_visible
        assert not shell.is_bracketed_paste_on


@requirement("end:bounded", "Y27")
def test_twelve_hard_servers_are_ended_in_one_deadline(place: Place) -> None:
    with _shell_with(place, _define_hard_ones(place, count=4)) as (shell, pids):
        left_at = time.monotonic()
        shell.send("/quit\r")
        assert shell.wait_exit() == 0
        took = time.monotonic() - left_at

        assert [pid for pid in pids if is_alive(pid)] == []
        assert took <= ENDING_LIMIT_S + BUSY_MACHINE_S


@requirement("end:kill-9")
def test_after_kill_9_no_server_process_is_left_two_seconds_later(place: Place) -> None:
    with _shell_with(place, _define_hard_ones(place)) as (shell, pids):
        os.kill(shell.pid, signal.SIGKILL)
        shell.wait_exit()

        assert seconds_until_gone(pids, limit_s=10) <= SUDDEN_DEATH_LIMIT_S


@requirement("end:every-way", "G4", "Z37")
def test_leaving_while_servers_still_connect_leaves_none(place: Place) -> None:
    file = str(place.folder / "silent.pid")
    place.define(silent=fake("--behave", "silent", "--pid-file", file))
    with _shell_with(place, [file]) as (shell, pids):
        left_at = time.monotonic()
        shell.send("\x04")
        assert shell.wait_exit() == 0
        took = time.monotonic() - left_at

        assert [pid for pid in pids if is_alive(pid)] == []
        assert took <= ENDING_LIMIT_S + BUSY_MACHINE_S


@requirement("end:second-interrupt", "Y27")
def test_a_second_interrupt_while_leaving_ends_it_now(place: Place) -> None:
    file = str(place.folder / "stubborn.pid")
    place.define(stubborn=fake("--behave", "stubborn", "--pid-file", file))
    with _shell_with(place, [file]) as (shell, pids):
        shell.send("/quit\r")
        time.sleep(0.3)  # into the second that the server is given to leave by itself
        assert shell.is_running
        left_at = time.monotonic()
        shell.signal(signal.SIGINT)
        shell.wait_exit()
        took = time.monotonic() - left_at

        assert took < BUSY_MACHINE_S
        assert [pid for pid in pids if is_alive(pid)] == []
