"""The clock stands still when nothing moves."""

import anyio

from agent_shell.repl.ticker import Ticker


async def test_it_ticks_only_while_somebody_wants_it() -> None:
    ticks = 0
    ticked = anyio.Event()

    def on_tick() -> None:
        nonlocal ticks
        ticks += 1
        ticked.set()

    ticker = Ticker(on_tick)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ticker.run)
        await anyio.wait_all_tasks_blocked()
        assert ticks == 0

        with anyio.fail_after(5), ticker.ticking(0.001):
            await ticked.wait()
        seen = ticks
        await anyio.sleep(0.05)
        assert ticks == seen
        tasks.cancel_scope.cancel()
