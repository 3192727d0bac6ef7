"""Real commands: bounded in time and memory, and nothing of them left."""

import os
import subprocess
import time
import tracemalloc
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from agent_shell.builtin_tools.plain_text import plain_text
from agent_shell.builtin_tools.run_command import run_command_tool
from agent_shell.builtin_tools.workspace import Workspace
from agent_shell.tools.tool import ToolContext, ToolResult


class Guard:
    """Knows the groups that run."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self.running: set[int] = set()

    def register(self, pgid: int) -> None:
        self.seen.append(pgid)
        self.running.add(pgid)

    def unregister(self, pgid: int) -> None:
        self.running.discard(pgid)


async def run(
    folder: Path, command: str, *, guard: Guard | None = None, timeout_s: int = 20
) -> ToolResult:
    tool = run_command_tool(
        Workspace(root=folder),
        environ=os.environ,
        timeout_s=timeout_s,
        max_bytes=10_000,
        guard=guard,
    )
    with anyio.fail_after(30):
        return await tool.execute({"command": command}, ToolContext())


def group_is_gone(pgid: int) -> bool:
    """Whether no process of the group runs, soon after; what only waits to be reaped does not."""
    deadline = time.monotonic() + 2
    while _runs(pgid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)  # they are not our children: there is no event to wait for
    return True


def _runs(pgid: int) -> bool:
    states = subprocess.run(["ps", "-A", "-o", "pgid=,stat="], capture_output=True, check=True)
    rows = [row.split() for row in states.stdout.decode().splitlines()]
    return any(int(group) == pgid and not state.startswith("Z") for group, state in rows)


async def test_output_and_errors_come_together_and_success_says_nothing_more(
    tmp_path: Path,
) -> None:
    result = await run(tmp_path, "pwd; echo oops >&2")
    assert (result.text, result.is_error) == (f"{tmp_path.resolve()}\noops", False)


async def test_failure_says_how_it_ended(tmp_path: Path) -> None:
    assert (await run(tmp_path, "echo no; exit 3")).text == "no\n[exit code 3]"
    assert (await run(tmp_path, "kill -9 $$")).text == "[ended by signal 9]"
    assert (await run(tmp_path, "true")).text == "[exit code 0]"


@pytest.mark.parametrize(
    "command",
    [
        "sleep 60 & echo done",
        "(while :; do echo x; sleep 1; done) & echo done",
        "setsid sleep 6 & echo done",
    ],
)
async def test_a_background_child_does_not_hold_the_call_up(command: str, tmp_path: Path) -> None:
    """(CASES K8)"""
    guard = Guard()
    began = time.monotonic()
    result = await run(tmp_path, command, guard=guard)
    assert time.monotonic() - began < 3
    assert not result.is_error
    assert "done" in result.text
    assert guard.running == set()
    assert group_is_gone(guard.seen[0])


@pytest.mark.parametrize("command", ["cat", "python3", "read x", "sh -c 'cat; cat'"])
async def test_a_program_that_reads_input_ends_at_once(command: str, tmp_path: Path) -> None:
    """(CASES K9)"""
    began = time.monotonic()
    await run(tmp_path, command)
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    "command",
    [
        "echo begun; sh -c 'sleep 30 & sleep 30'",
        "echo begun; sleep 30 | sleep 30",
        "echo begun; trap '' TERM; sh -c \"trap '' TERM; sleep 30\"; sleep 30",
    ],
)
async def test_the_time_limit_ends_the_whole_group(command: str, tmp_path: Path) -> None:
    """(CASES K11)"""
    guard = Guard()
    began = time.monotonic()
    result = await run(tmp_path, command, guard=guard, timeout_s=1)
    assert time.monotonic() - began < 5
    assert result.text == "begun\n[ended after 1 s: the time limit]"
    assert group_is_gone(guard.seen[0])


async def test_a_cancelled_call_leaves_no_process(tmp_path: Path) -> None:
    guard = Guard()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            os.mkfifo(tmp_path / "begun")
            group.start_soon(lambda: run(tmp_path, "echo > begun; sleep 60", guard=guard))
            # Opening a pipe to read waits until the command opens it to write.
            await to_thread.run_sync((tmp_path / "begun").read_bytes)
            group.cancel_scope.cancel()
    assert group_is_gone(guard.seen[0])
    assert guard.running == set()


async def test_endless_output_is_bounded_in_memory_and_keeps_both_ends(tmp_path: Path) -> None:
    """(CASES K13)"""
    tracemalloc.start()
    try:
        result = await run(
            tmp_path, "echo first; yes 0123456789 | head -c 200000000; echo; echo last"
        )
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000
    assert result.text.startswith("first\n")
    assert result.text.endswith("\nlast")
    assert "bytes left out …]" in result.text
    assert len(result.text) < 11_000


async def test_escape_sequences_are_taken_out(tmp_path: Path) -> None:
    """(CASES K14)"""
    result = await run(tmp_path, r"printf '\033[31'; sleep 0.1; printf 'mred \033]0;t\007'")
    assert result.text == "red "


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (b"10%\r50%\r100%\r\ndone\r\n", "100%\ndone\n"),
        (b"a\x1b[1;31mb\x1b[0m", "ab"),
        (b"a\x1bPq#0\x1b\\b\x1b(Bc\x1b7d", "abcd"),
        (b"cut\x1b[3", "cut"),
        (b"cut\x1b]0;never ends", "cut"),
        (b"a\tb\x00\x08\x7fc", "a\tbc"),
        (b"\xff[/red]", "\ufffd[/red]"),
    ],
)
def test_plain_text(output: bytes, text: str) -> None:
    """(CASES K14, I6, I9)"""
    assert plain_text(output) == text


async def test_a_command_with_half_a_character_is_an_error_result(tmp_path: Path) -> None:
    """(CASES I9)"""
    assert (await run(tmp_path, "echo \ud83d")).is_error
