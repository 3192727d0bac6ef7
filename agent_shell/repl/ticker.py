"""The clock of what moves on the screen. It stands still when nothing does."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

import anyio


class Ticker:
    """Calls `on_tick` as often as the most impatient user needs, and not at all without users."""

    def __init__(self, on_tick: Callable[[], None]) -> None:
        self._on_tick = on_tick
        self._intervals_s: list[float] = []
        self._wanted = anyio.Event()

    @contextmanager
    def ticking(self, interval_s: float) -> Generator[None]:
        """Tick at least this often during the block."""
        self.start(interval_s)
        try:
            yield
        finally:
            self.stop(interval_s)

    def start(self, interval_s: float) -> None:
        """Tick at least this often until `stop` is called with the same interval."""
        self._intervals_s.append(interval_s)
        self._wanted.set()

    def stop(self, interval_s: float) -> None:
        """End what `start` began."""
        self._intervals_s.remove(interval_s)
        if not self._intervals_s:
            self._wanted = anyio.Event()

    async def run(self) -> None:
        """Tick; runs until it is cancelled."""
        while True:
            await self._wanted.wait()
            while self._intervals_s:
                await anyio.sleep(min(self._intervals_s))
                if self._intervals_s:
                    self._on_tick()
