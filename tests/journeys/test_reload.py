"""/mcp reload as often as one likes: what changed is told, and nothing piles up."""

import gc
import os

import anyio
import pytest

from agent_shell.mcp.reload import reload_servers
from tests.journeys.conftest import Place, fake
from tests.journeys.processes import descendants, open_files, resident_bytes
from tests.requirements import requirement

ROUNDS = 200
SETTLED_AFTER = 5
SAMPLES = 5


@requirement("H7", "Z19", "reload:three-steps", "runtime:explicit-reconnect")
async def test_a_reload_reads_the_files_anew_and_says_what_changed(place: Place) -> None:
    place.define(stays=fake(), goes=fake())

    with anyio.fail_after(30):
        async with place.manager(startup_timeout_ms=0) as manager:
            await manager.discover_and_connect()
            before = manager.connection("stays")
            place.define(stays=fake("--tools", "1"), comes=fake())
            report = await reload_servers(manager)

            assert (report.connected, report.connecting, report.failed) == (2, 0, 0)
            assert report.servers.added == ("comes",)
            assert report.servers.removed == ("goes",)
            assert report.servers.altered == ("stays",)
            assert "mcp_stays_extra_1" in report.tools.added
            assert "mcp_goes_echo" in report.tools.removed
            assert manager.connection("stays") is not before
            assert manager.connection("goes") is None


@pytest.mark.slow
@requirement("leak:reload", "Z38", "Z20")
async def test_two_hundred_reloads_leave_everything_as_after_the_fifth(place: Place) -> None:
    place.define(**{f"server{number}": fake() for number in range(5)})
    counts: dict[int, tuple[int, int, int]] = {}
    memory: dict[int, int] = {}

    with anyio.fail_after(240):
        async with place.manager(startup_timeout_ms=0) as manager:
            await manager.discover_and_connect()
            for number in range(1, ROUNDS + 1):
                report = await reload_servers(manager)
                assert report.connected == 5
                if number in {SETTLED_AFTER, ROUNDS}:
                    counts[number] = await _settled_counts()
                    gc.collect()
                    memory[number] = resident_bytes()

    assert counts[ROUNDS] == counts[SETTLED_AFTER]
    assert memory[ROUNDS] <= memory[SETTLED_AFTER] * 1.05


async def _settled_counts() -> tuple[int, int, int]:
    """Open files, processes and tasks, once they have stayed the same for a while.

    A reload waits neither for the last closings nor for the cache to be written.
    """
    seen: list[tuple[int, int, int]] = []
    with anyio.fail_after(20):
        while len(seen) < SAMPLES or len(set(seen[-SAMPLES:])) > 1:
            await anyio.sleep(0.1)  # there is no event for what no longer happens
            tasks = len(anyio.get_running_tasks())
            seen.append((open_files(), len(descendants(os.getpid())), tasks))
    return seen[-1]
