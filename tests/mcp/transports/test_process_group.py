"""Whole groups end, whatever ends us."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest

from agent_shell.mcp.transports.process_group import ProcessGuardian, spawn_group
from tests.fakes.connections import STDIO_SERVER, is_alive, until, until_file
from tests.requirements import requirement

PARENT = """
import os, sys, time
from agent_shell.mcp.transports.process_group import ProcessGuardian, spawn_group
guardian = ProcessGuardian()
for number in range(3):
    pid_file = f"{sys.argv[2]}/pid{number}"
    spawn_group(
        [sys.executable, "-S", "-E", sys.argv[1], "--behave", "stubborn", "--child",
         "--pid-file", pid_file],
        cwd=None, env={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}, guardian=guardian,
    )
print("ready", flush=True)
if sys.argv[3] == "sleep":
    time.sleep(600)
if sys.argv[3] == "close":
    guardian.close()
if sys.argv[3] == "crash":
    os.abort()
"""


def start_parent(folder: Path, ending: str) -> "subprocess.Popen[bytes]":
    """A program of ours with three stubborn servers and their grandchildren."""
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(STDIO_SERVER), str(folder), ending],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert parent.stdout is not None
    assert parent.stdout.readline() == b"ready\n"
    parent.stdout.close()
    return parent


async def pids_of(folder: Path) -> list[int]:
    """All servers and grandchildren, once they run."""
    return [
        int(await until_file(folder / f"pid{number}{suffix}"))
        for number in range(3)
        for suffix in ("", ".child")
    ]


@requirement("end:kill-9")
async def test_after_kill_9_no_process_of_any_group_is_left_two_seconds_later(
    tmp_path: Path,
) -> None:
    parent = start_parent(tmp_path, "sleep")
    with parent, anyio.fail_after(20):
        pids = await pids_of(tmp_path)
        assert all(is_alive(pid) for pid in pids)
        guardian = children_of(parent.pid)
        parent.kill()
        parent.wait()
        killed = time.monotonic()
        await until(lambda: not any(is_alive(pid) for pid in pids))
        assert time.monotonic() - killed < 2
        # The guardian, too, has gone.
        await until(lambda: not any(is_alive(pid) for pid in guardian))


@pytest.mark.parametrize("ending", ["close", "crash", "fall off the end"])
async def test_however_the_program_ends_its_groups_end(ending: str, tmp_path: Path) -> None:
    parent = start_parent(tmp_path, ending)
    with anyio.fail_after(20):
        parent.wait()
        # A server that had no time to write its pid had no time to live either.
        await until(
            lambda: (
                not any(
                    is_alive(int(file.read_text(encoding="ascii")))
                    for file in tmp_path.glob("pid*")
                    if file.suffix != ".new"
                )
            )
        )


def children_of(pid: int) -> list[int]:
    """The direct children of a process."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(child) for child in text.split()]


def is_ignored(pid: int, number: int) -> bool:
    """Whether a process ignores a signal."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    (mask,) = (line.split()[1] for line in lines if line.startswith("SigIgn:"))
    return bool(int(mask, 16) >> (number - 1) & 1)


def sleeper(guardian: ProcessGuardian, script: str = "sleep 60") -> int:
    """A group that does nothing, whose pipes are closed on our side."""
    process = spawn_group(["sh", "-c", script], cwd=None, env=dict(os.environ), guardian=guardian)
    for pipe in (process.stdin, process.stdout, process.stderr):
        assert pipe is not None
        pipe.close()
    process.returncode = 0  # these tests reap by number
    return process.pid


def exit_code(pid: int) -> int:
    """Reap a child of ours; negative means: by that signal."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


async def test_kill_all_now_kills_at_once() -> None:
    guardian = ProcessGuardian()
    pids = [sleeper(guardian), sleeper(guardian, "trap '' TERM; sleep 60")]
    guardian.kill_all_now()

    assert [exit_code(pid) for pid in pids] == [
        -signal.SIGKILL,
        -signal.SIGKILL,
    ]
    for pid in pids:
        guardian.unregister(pid)
    guardian.close()


async def test_an_unregistered_group_is_left_alone_by_the_guardian() -> None:
    guardian = ProcessGuardian()
    kept, gone = sleeper(guardian), sleeper(guardian)
    guardian.unregister(kept)
    guardian.close()

    assert exit_code(gone) == -signal.SIGKILL
    assert is_alive(kept)
    os.killpg(kept, signal.SIGKILL)
    exit_code(kept)


async def test_a_killed_guardian_is_replaced_and_knows_all_groups() -> None:
    before = set(children_of(os.getpid()))
    guardian = ProcessGuardian()
    first = sleeper(guardian)
    (shell,) = set(children_of(os.getpid())) - before - {first}
    os.kill(shell, signal.SIGKILL)
    with anyio.fail_after(5):
        await until(lambda: not is_alive(shell))
    second = sleeper(guardian)
    (replacement,) = set(children_of(os.getpid())) - before - {first, second, shell}

    os.kill(replacement, signal.SIGSTOP)
    os.kill(replacement, signal.SIGCONT)
    guardian.close()
    assert [exit_code(pid) for pid in (first, second)] == [-signal.SIGKILL] * 2


async def test_the_guardian_ignores_the_terminals_signals_and_holds_no_file_of_ours() -> None:
    before = set(children_of(os.getpid()))
    guardian = ProcessGuardian()
    pid = sleeper(guardian)
    (shell,) = set(children_of(os.getpid())) - before - {pid}

    signals = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT)
    with anyio.fail_after(5):
        await until(lambda: all(is_ignored(shell, number) for number in signals))
    for number in signals:
        os.kill(shell, number)
    files = {
        name: os.readlink(f"/proc/{shell}/fd/{name}")  # noqa: PTH115 (a pipe is no path)
        for name in os.listdir(f"/proc/{shell}/fd")  # noqa: PTH208
    }
    assert is_alive(shell)
    assert os.getsid(shell) == shell
    assert [files["1"], files["2"]] == ["/dev/null", "/dev/null"]
    assert not any(target.startswith(("/dev/tty", "/dev/pts")) for target in files.values())
    guardian.close()
    exit_code(pid)


async def test_the_guardian_costs_no_noticeable_time() -> None:
    guardian = ProcessGuardian()
    started = time.perf_counter()
    guardian.start()
    spawned = time.perf_counter()
    guardian.close()

    assert spawned - started < 0.1
    assert time.perf_counter() - spawned < 0.3
