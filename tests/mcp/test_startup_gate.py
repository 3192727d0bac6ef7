"""The 250 ms gate."""

import anyio

from agent_shell.mcp.startup_gate import STARTUP_TIMEOUT_MS, wait_at_gate
from tests.requirements import requirement


@requirement("gate:250ms")
def test_the_gate_is_the_seeds() -> None:
    assert STARTUP_TIMEOUT_MS == 250


@requirement("gate:all-settled")
async def test_it_opens_at_once_when_all_have_settled() -> None:
    event = anyio.Event()
    event.set()

    with anyio.fail_after(1):
        await wait_at_gate([event], 60_000)


@requirement("gate:250ms")
async def test_it_opens_after_its_time_when_one_is_pending() -> None:
    with anyio.fail_after(5):
        await wait_at_gate([anyio.Event()], 10)


async def test_zero_waits_for_all() -> None:
    event = anyio.Event()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait_at_gate, [event], 0)
            await anyio.wait_all_tasks_blocked()
            event.set()
