"""A child process in a group of its own: bounded in time and output, and gone afterwards."""

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import anyio
from anyio.abc import Process

from agent_shell.builtin_tools.truncate import HeadAndTail

DRAIN_S = 0.2
"""After the child's end its last output is still in the pipe; a background child may hold it."""
TERM_GRACE_S = 0.5
"""Between TERM and KILL: time to remove temporary files, not more."""


class ProcessGroupGuard(Protocol):
    """Learns of groups that must not outlive the program, even if it is killed."""

    def register(self, pgid: int) -> None: ...

    def unregister(self, pgid: int) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildResult:
    """How a child ended. `exit_code` is negative for a signal, None where time ran out."""

    exit_code: int | None
    output: HeadAndTail


async def run_child(
    command: Sequence[str],
    *,
    cwd: Path,
    environ: Mapping[str, str],
    timeout_s: float,
    max_bytes: int,
    stdin: bytes | None = None,
    guard: ProcessGroupGuard | None = None,
    on_output: Callable[[bytes], None] | None = None,
) -> ChildResult:
    """Run to the end of the command itself, standard error joined to standard output.

    Without `stdin` the child reads an empty file. `on_output` gets each piece as it comes, besides
    what is kept of it. Whatever is left of its group is ended when this
    returns, also by cancellation. Raises OSError if it can't be started.
    """
    output = HeadAndTail(max_bytes)
    process = await anyio.open_process(
        command,
        cwd=cwd,
        env=dict(environ),
        stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    # The spawn has succeeded: no await until the try, or a cancellation would leak the child.
    if guard is not None:
        guard.register(process.pid)
    exit_code: int | None = None
    try:
        with anyio.move_on_after(timeout_s):
            exit_code = await _wait_and_collect(process, output, stdin, on_output)
    finally:
        with anyio.CancelScope(shield=True):
            await _end_group(process, is_running=exit_code is None)
            # Also the pipes: a child that left the group may hold their other ends.
            await process.aclose()
        if guard is not None:
            guard.unregister(process.pid)
    return ChildResult(exit_code=exit_code, output=output)


async def _wait_and_collect(
    process: Process,
    output: HeadAndTail,
    stdin: bytes | None,
    on_output: Callable[[bytes], None] | None,
) -> int | None:
    exit_code: int | None = None
    async with anyio.create_task_group() as group:
        all_read = anyio.Event()

        async def read() -> None:
            assert process.stdout is not None
            async for piece in process.stdout:
                output.add(piece)
                if on_output is not None:
                    on_output(piece)
            all_read.set()

        async def write(content: bytes) -> None:
            assert process.stdin is not None
            try:
                await process.stdin.send(content)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return  # it ended without reading all of it
            finally:
                await process.stdin.aclose()

        group.start_soon(read)
        if stdin is not None:
            group.start_soon(write, stdin)
        exit_code = await process.wait()
        with anyio.move_on_after(DRAIN_S):
            await all_read.wait()
        group.cancel_scope.cancel()
    return exit_code


async def _end_group(process: Process, *, is_running: bool) -> None:
    """End every process of the group: politely where the command itself still runs."""
    if is_running and _signal_group(process.pid, signal.SIGTERM):
        with anyio.move_on_after(TERM_GRACE_S):
            await process.wait()
    _signal_group(process.pid, signal.SIGKILL)
    await process.wait()


def _signal_group(pgid: int, number: signal.Signals) -> bool:
    """Whether there was a group to signal. macOS answers EPERM where only zombies are left."""
    try:
        os.killpg(pgid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
