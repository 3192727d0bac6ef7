"""What runs now and can be stopped: a command, a call, a test. Ctrl-C stops the newest."""

import time
from collections.abc import Generator
from contextlib import contextmanager

import anyio

from agent_shell.repl.live_region import ORDER_ACTIVITY, LiveRegion
from agent_shell.repl.styled_lines import Line, cut_cells
from agent_shell.repl.theme import SPINNER, SPINNER_FRAMES_PER_S
from agent_shell.repl.ticker import Ticker


class Activity:
    """One running thing: its title, what it reports, and the scope that ends it."""

    def __init__(self, title: str, scope: anyio.CancelScope) -> None:
        self.title = title
        self.detail = ""
        self.was_stopped = False
        self._scope = scope
        self._started_at = time.monotonic()

    def stop(self) -> None:
        """End it; the task that runs it sees a cancellation."""
        self.was_stopped = True
        self._scope.cancel()

    def rows(self, width: int) -> list[Line]:
        """Spinner, title, seconds, and the last report."""
        elapsed_s = time.monotonic() - self._started_at
        text = f"{spinner(elapsed_s)} {self.title}  {elapsed_s:.0f}s"
        if self.detail:
            text += f" · {self.detail}"
        return [[("class:accent", cut_cells(text, width))]]


class Activities:
    """All that runs, oldest first."""

    def __init__(self, live: LiveRegion, ticker: Ticker) -> None:
        self._live = live
        self._ticker = ticker
        self._running: list[Activity] = []

    @property
    def newest(self) -> Activity | None:
        """What Ctrl-C stops."""
        return self._running[-1] if self._running else None

    @contextmanager
    def run(self, title: str) -> Generator[Activity]:
        """Show the block as running; `Activity.was_stopped` says afterwards whether it was ended.

        The cancellation of a stopped activity does not leave the block.
        """
        with anyio.CancelScope() as scope:
            activity = Activity(title, scope)
            self._running.append(activity)
            self._live.show(activity, ORDER_ACTIVITY)
            try:
                with self._ticker.ticking(1 / SPINNER_FRAMES_PER_S):
                    yield activity
            finally:
                self._running.remove(activity)
                self._live.hide(activity)


def spinner(elapsed_s: float) -> str:
    """The sign of something that moves."""
    return SPINNER[int(elapsed_s * SPINNER_FRAMES_PER_S) % len(SPINNER)]
