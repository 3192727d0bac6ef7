"""`!cmd`: a shell command in its own process group; its output goes above as it comes."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import anyio
from anyio.abc import Process

STOP_GRACE_S = 1.0
"""Between TERM and KILL, for a command that was stopped."""

DRAIN_S = 0.3
"""How long output may still come after the command's end, from children it left behind."""


async def run_shell_command(command: str, cwd: Path, show: Callable[[str], None]) -> int:
    """Run it with standard input closed; `show` gets whole lines. Returns the exit status.

    When the caller is cancelled the whole group is ended. Raises OSError when there is no shell.
    """
    process = await anyio.open_process(
        ["/bin/sh", "-c", command],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    status = 0
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_show_lines, process, show)
            status = await process.wait()
            # Children in the background may hold the pipe for ever.
            tasks.cancel_scope.deadline = anyio.current_time() + DRAIN_S
        return status
    finally:
        with anyio.CancelScope(shield=True):
            await _end_group(process)
            await process.aclose()


async def _show_lines(process: Process, show: Callable[[str], None]) -> None:
    if process.stdout is None:
        return
    rest = b""
    try:
        async for piece in process.stdout:
            *lines, rest = (rest + piece).split(b"\n")
            if lines:
                show("\n".join(_text(line) for line in lines))
    finally:
        if rest:
            show(_text(rest))


def _text(line: bytes) -> str:
    # A progress bar redraws its line with carriage returns: its last state is what counts.
    return line.rstrip(b"\r").rsplit(b"\r", 1)[-1].decode("utf-8", "replace")


async def _end_group(process: Process) -> None:
    if process.returncode is not None:
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            return
        with anyio.move_on_after(STOP_GRACE_S):
            await process.wait()
            return
