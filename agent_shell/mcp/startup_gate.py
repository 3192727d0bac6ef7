"""Wait until all have settled or 250 ms have passed."""

from collections.abc import Iterable

import anyio

STARTUP_TIMEOUT_MS = 250
"""The first seed's fast startup gate, in milliseconds."""


async def wait_at_gate(settled: Iterable[anyio.Event], timeout_ms: int) -> None:
    """Return when every event is set, or after `timeout_ms`; 0 waits for all (CONTRACT 2)."""
    with anyio.move_on_after(timeout_ms / 1000 if timeout_ms > 0 else None):
        for event in settled:
            await event.wait()
