"""What the manager knows at each moment of a server's life, and how long each phase may last."""

import os
import sys

import anyio
import pytest

from agent_shell.discovery.server_config import DEFAULT_TIMEOUT_MS, StdioServerConfig
from agent_shell.mcp.config import load_all_mcp_configs
from agent_shell.mcp.manager import MCPManager
from agent_shell.mcp.tool_cache import MCPToolCache
from agent_shell.tools.tool import ToolContext
from tests.journeys.conftest import FAKE_SERVER, Place, fake, fake_with_options_in, until
from tests.journeys.processes import command_line, descendants, is_alive
from tests.requirements import requirement


@requirement(
    "registry:connections",
    "registry:pending-connections",
    "registry:pending-tool-loads",
    "registry:tools",
    "registry:sources",
    "status:connected",
    "status:connecting",
    "status:disconnected",
    "connect:stores-source",
)
async def test_each_registry_holds_what_its_name_says_and_status_is_read_off_them(
    place: Place,
) -> None:
    place.define(
        ready=fake(),
        greeting=fake("--behave", "silent-init"),
        listing=fake("--behave", "silent-list"),
        dead={"command": "/nonexistent/server"},
    )

    with anyio.fail_after(20):
        async with place.manager() as manager, anyio.create_task_group() as tasks:
            tasks.start_soon(manager.discover_and_connect)
            known = manager.registries
            await until(
                manager,
                lambda: (
                    any(tool.name == "mcp_ready_echo" for tool in known.tools)
                    and "listing" in known.pending_tool_loads
                    and "dead" in known.failures
                ),
            )
            assert set(known.connections) == {"ready", "listing"}
            assert set(known.pending_connections) == {"greeting"}
            assert set(known.pending_tool_loads) == {"listing"}
            assert set(known.sources) == {"ready", "greeting", "listing", "dead"}
            assert {tool.name.split("_")[1] for tool in known.tools} == {"ready"}
            assert {name: manager.get_connection_status(name) for name in known.sources} == {
                "ready": "connected",
                "greeting": "connecting",
                "listing": "connected",
                "dead": "disconnected",
            }
            tasks.cancel_scope.cancel()


@requirement("late:writes-cache", "late:replaces-slice")
async def test_a_late_servers_tools_replace_the_cached_ones_and_reach_the_cache(
    place: Place,
) -> None:
    options_file = place.folder / "options"
    options_file.write_text("--tools 1", "ascii")
    place.define(late=fake_with_options_in(options_file))
    with anyio.fail_after(30):
        async with place.manager(startup_timeout_ms=0) as manager:
            await manager.discover_and_connect()

        options_file.write_text("--tools 2 --delay 0.6", "ascii")
        async with place.manager() as manager:
            await manager.discover_and_connect()
            assert "mcp_late_extra_2" not in _names(manager)
            await until(manager, lambda: "mcp_late_extra_2" in _names(manager))
            config = (await load_all_mcp_configs(manager.options)).configs["late"]
            cache = MCPToolCache(place.paths.tool_cache)
            while "extra_2" not in {tool.name for tool in cache.get(config) or ()}:  # noqa: ASYNC110
                await anyio.sleep(0.02)  # the cache is written beside, and nobody tells

        options_file.write_text("--behave silent", "ascii")
        async with place.manager() as manager:
            loaded = await manager.discover_and_connect()
            assert loaded.deferred == ("late",)
            assert "mcp_late_extra_2" in _names(manager)


@requirement("F10", "bridge:errors")
async def test_a_protocol_error_of_a_call_is_a_result_the_model_can_read(place: Place) -> None:
    options_file = place.folder / "options"
    options_file.write_text("--tools 1", "ascii")
    place.define(late=fake_with_options_in(options_file))
    with anyio.fail_after(30):
        async with place.manager(startup_timeout_ms=0) as manager:
            await manager.discover_and_connect()

        options_file.write_text("--delay 0.6", "ascii")
        async with place.manager() as manager:
            await manager.discover_and_connect()
            (gone,) = [tool for tool in manager.get_tools() if tool.name == "mcp_late_extra_1"]
            result = await gone.execute({}, ToolContext())

    assert result.is_error
    assert result.text.startswith("MCP error: ")
    assert "unknown tool extra_1" in result.text


@requirement("bridge:abort", "Y25")
async def test_an_aborted_call_is_an_abort_and_no_result(place: Place) -> None:
    place.define(live=fake(), hanging=fake("--behave", "silent-init"))
    results: list[object] = []

    with anyio.fail_after(20):
        async with place.manager() as manager, anyio.create_task_group() as tasks:
            tasks.start_soon(manager.discover_and_connect)
            await until(manager, lambda: "mcp_live_sleep" in _names(manager))
            (sleep,) = [tool for tool in manager.get_tools() if tool.name == "mcp_live_sleep"]
            with anyio.move_on_after(0.2) as call:
                results.append(await sleep.execute({"seconds": 60}, ToolContext()))
            with anyio.move_on_after(0.2) as wait:
                results.append(await manager.wait_for_connection("hanging"))
            assert (call.cancelled_caught, wait.cancelled_caught, results) == (True, True, [])
            assert manager.get_connection_status("live") == "connected"
            tasks.cancel_scope.cancel()


@requirement("disconnect-all:closes-all", "disconnect-all:clears", "B6", "Z37")
async def test_disconnect_all_ends_good_stubborn_and_connecting_ones_at_once(place: Place) -> None:
    place.define(
        good=fake(),
        stubborn=fake("--behave", "stubborn"),
        greeting=fake("--behave", "silent-init"),
        listing=fake("--behave", "silent-list"),
    )

    with anyio.fail_after(30):
        async with place.manager() as manager, anyio.create_task_group() as tasks:
            tasks.start_soon(manager.discover_and_connect)
            await until(manager, lambda: {"good", "stubborn"} <= set(manager.registries.slices))
            servers = _servers_of_this_process()
            started = anyio.current_time()
            await manager.disconnect_all()
            took_s = anyio.current_time() - started

            assert took_s < 3.5  # 3 s are allowed; the rest is for two busy cores
            assert [pid for pid in servers if is_alive(pid)] == []
            known = manager.registries
            assert (known.connections, known.pending_connections, known.pending_tool_loads) == (
                {},
                {},
                {},
            )
            assert (known.sources, list(known.tools)) == ({}, [])


@requirement("client:timeout", "Z2", "G4", "Y11")
@pytest.mark.parametrize("behave", ["silent-init", "silent-list"])
async def test_each_phase_of_a_start_ends_at_the_servers_own_limit(
    place: Place, behave: str
) -> None:
    place.define(slow={**fake("--behave", behave), "timeout": 400})

    with anyio.fail_after(10):
        async with place.manager(startup_timeout_ms=0) as manager:
            loaded = await manager.discover_and_connect()

    error = loaded.errors["slow"]
    assert error.stage == {"silent-init": "initialize", "silent-list": "list"}[behave]
    assert "\n" not in error.message


@requirement("client:timeout", "Z3", "Z9", "Z13")
async def test_environment_beats_server_beats_thirty_seconds(place: Place) -> None:
    plain = StdioServerConfig(name="a", command="x")
    long = StdioServerConfig(name="a", command="x", timeout_ms=3_600_000)
    unlimited = StdioServerConfig(name="a", command="x", timeout_ms=0)

    own = place.manager()
    overridden = place.manager(timeout_override_ms=90_000)
    without = place.manager(timeout_override_ms=0)

    assert DEFAULT_TIMEOUT_MS == 30_000
    assert [own.timeout_s(config) for config in (plain, long, unlimited)] == [30, 3600, None]
    assert [overridden.timeout_s(config) for config in (plain, long, unlimited)] == [90, 90, 90]
    assert without.timeout_s(plain) is None


@requirement("runtime:no-health-monitor", "runtime:no-reconnect", "Z22")
async def test_nobody_asks_after_a_quiet_server_or_starts_a_dead_one_again(place: Place) -> None:
    record = place.folder / "received"
    starts = place.folder / "starts"
    line = f'echo x >> "{starts}"; exec "$0" -S -E "$@"'
    words = [sys.executable, str(FAKE_SERVER), "--behave", "exit-after-init"]
    place.define(
        quiet=fake("--record", str(record)),
        dying={"command": "sh", "args": ["-c", line, *words]},
    )

    with anyio.fail_after(20):
        async with place.manager(startup_timeout_ms=0) as manager:
            await manager.discover_and_connect()
            await until(manager, lambda: "dying" in manager.registries.failures)
            received = record.read_bytes()
            await anyio.sleep(1.5)  # what is tested is that nothing happens in this time
            assert record.read_bytes() == received
            assert starts.read_text("ascii") == "x\n"


@requirement("config:result-shape", "config:keeps-source")
async def test_the_configs_come_with_their_sources(place: Place) -> None:
    place.define(on=fake(), off={**fake(), "enabled": False})

    configs = await load_all_mcp_configs(place.manager().options)

    assert list(configs.configs) == ["on"]
    assert {name: source.path for name, source in configs.sources.items()} == {
        "on": place.paths.user_mcp_config
    }


def _names(manager: MCPManager) -> set[str]:
    return {tool.name for tool in manager.get_tools()}


def _servers_of_this_process() -> set[int]:
    return {pid for pid in descendants(os.getpid()) if "stdio_server.py" in command_line(pid)}
