"""SIGINT, SIGTERM and SIGHUP of a run without a shell: the first ends it in order, a second now."""

import os
import signal
from collections.abc import Callable

import anyio
from anyio.abc import TaskStatus

SIGNAL_EXIT = 128
"""Exit statuses of signals begin here (CONTRACT section 1)."""


class StopSignals:
    """Watches for one run. `number` is the signal that stopped it, if one did."""

    def __init__(self) -> None:
        self.number: int | None = None

    @property
    def exit_status(self) -> int | None:
        """The exit status of a stopped run; None for one that was not stopped."""
        return None if self.number is None else SIGNAL_EXIT + self.number

    async def watch(
        self,
        scope: anyio.CancelScope,
        kill_now: Callable[[], None],
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Cancel `scope` at the first signal; at a second one call `kill_now` and leave at once."""
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
            task_status.started()
            async for number in signals:
                if self.number is not None:
                    kill_now()
                    os._exit(SIGNAL_EXIT + number)
                self.number = number
                scope.cancel()
