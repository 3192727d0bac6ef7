"""Start-up from the files to the session's tools: the gate, the cache, deferred tools."""

import sys

import anyio

from agent_shell.mcp.loader import discover_and_load_mcp_tools
from agent_shell.tools.tool import ToolContext
from tests.journeys.conftest import FAKE_SERVER, Place, fake, fake_with_options_in
from tests.requirements import requirement

BUSY_MACHINE_MS = 400
"""How much later than the gate a waiting task may run while two cores start servers."""


@requirement("gate:no-cache-waits", "gate:rejected-is-error", "loader:server-failure", "Y9")
async def test_without_a_cache_start_up_waits_and_nobody_is_missing(place: Place) -> None:
    place.define(quick=fake(), slow=fake("--delay", "0.8"), dead={"command": "/nonexistent/x"})

    with anyio.fail_after(20):
        async with place.manager() as manager:
            started = anyio.current_time()
            loaded = await discover_and_load_mcp_tools(manager)
            waited_s = anyio.current_time() - started

            assert waited_s >= 0.8
            assert sorted(loaded.connected_servers) == ["quick", "slow"]
            assert [error.path for error in loaded.errors] == ["mcp:dead"]
            assert {item.path for item in loaded.tools} >= {
                tool.origin for tool in manager.get_tools()
            }


@requirement(
    "gate:250ms",
    "gate:cache-hit-is-deferred",
    "gate:fulfilled-is-live",
    "gate:returns-mixture",
    "bridge:deferred",
    "late:replaces-slice",
    "connect:caches-tools",
    "Z10",
    "Z12",
)
async def test_with_a_cache_the_gate_opens_on_deferred_tools_that_work(place: Place) -> None:
    options_file = place.folder / "options"
    options_file.write_text("", "ascii")
    place.define(late=fake_with_options_in(options_file), quick=fake())
    async with place.manager(startup_timeout_ms=0) as manager:
        await manager.discover_and_connect()
        names = [tool.name for tool in manager.get_tools()]

    options_file.write_text("--delay 1.5", "ascii")
    with anyio.fail_after(20):
        async with place.manager() as manager:
            started = anyio.current_time()
            loaded = await manager.discover_and_connect()
            waited_ms = (anyio.current_time() - started) * 1000

            assert loaded.deferred == ("late",)
            assert 250 <= waited_ms <= 250 + BUSY_MACHINE_MS
            assert manager.get_connection_status("late") == "connecting"
            assert [tool.name for tool in manager.get_tools()] == names
            (echo,) = [tool for tool in manager.get_tools() if tool.name == "mcp_late_echo"]
            result = await echo.execute({"text": "worth the wait"}, ToolContext())
            assert (result.text, result.is_error) == ("worth the wait", False)
            assert manager.get_connection_status("late") == "connected"
            assert [tool.name for tool in manager.get_tools()] == names


@requirement("gate:all-settled", "manager:parallel", "Y5")
async def test_twelve_servers_start_side_by_side_and_the_gate_opens_with_the_last(
    place: Place,
) -> None:
    place.define(**{f"server{number}": fake("--delay", "1") for number in range(12)})

    with anyio.fail_after(30):
        async with place.manager(startup_timeout_ms=0) as manager:
            started = anyio.current_time()
            loaded = await manager.discover_and_connect()
            waited_s = anyio.current_time() - started

    assert len(loaded.connected) == 12
    assert waited_s < 6  # one after the other would be twelve


@requirement("Z14", "connect:skips-known")
async def test_a_server_is_started_once_however_often_it_is_asked_for(place: Place) -> None:
    starts = place.folder / "starts"
    line = f'echo x >> "{starts}"; exec "$0" -S -E "$1"'
    place.define(one={"command": "sh", "args": ["-c", line, sys.executable, str(FAKE_SERVER)]})

    with anyio.fail_after(20):
        async with place.manager() as manager, anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(manager.discover_and_connect)
        assert starts.read_text("ascii") == "x\n"
