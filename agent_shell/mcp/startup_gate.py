"""Wait until all have settled or 250 ms have passed."""

import math
from collections.abc import Iterable

import anyio

STARTUP_TIMEOUT_MS = 250
"""The first seed's fast startup gate, in milliseconds."""


async def wait_at_gate(
    settled: Iterable[anyio.Event], timeout_ms: int, *, since: float | None = None
) -> None:
    """Return when every event is set, or `timeout_ms` after `since` (anyio.current_time; now).

    0 waits for all (CONTRACT section 2).
    """
    began = anyio.current_time() if since is None else since
    deadline = began + timeout_ms / 1000 if timeout_ms > 0 else math.inf
    with anyio.CancelScope(deadline=deadline):
        for event in settled:
            await event.wait()
