"""One server's failure of any kind never changes another's state, tools or process."""

import os
import signal

import anyio
import pytest

from agent_shell.json_types import JSONObject, JSONValue
from agent_shell.mcp.manager import MCPManager
from agent_shell.mcp.one_server import connect_server
from agent_shell.tools.tool import ToolContext, ToolResult
from tests.journeys.conftest import Place, fake, until
from tests.requirements import requirement

BAD: dict[str, JSONObject] = {
    "dead command": {"command": "/nonexistent/server"},
    "exit at once": fake("--behave", "exit-at-once"),
    "exit after handshake": fake("--behave", "exit-after-init"),
    "garbage": {"command": "sh", "args": ["-c", "while echo garbage; do sleep 0.05; done"]},
    "silence": fake("--behave", "silent"),
    "silence at the list": fake("--behave", "silent-list"),
}


async def call(manager: MCPManager, name: str, **arguments: JSONValue) -> ToolResult:
    """Call one of the manager's tools by its session name."""
    (tool,) = [tool for tool in manager.get_tools() if tool.name == name]
    return await tool.execute(arguments, ToolContext())


def pid_of(manager: MCPManager, name: str) -> int:
    """The live process of a server."""
    connection = manager.connection(name)
    assert connection is not None
    assert connection.pid is not None
    return connection.pid


def tools_of(manager: MCPManager, server: str) -> set[str]:
    """The session names of one server's tools."""
    return {tool.name for tool in manager.get_tools() if tool.name.startswith(f"mcp_{server}_")}


@pytest.mark.parametrize("kind", BAD)
@requirement(
    "isolation:dead-command",
    "isolation:exit-after-handshake",
    "isolation:garbage",
    "isolation:silence",
    "isolation:tools-stay",
    "isolation:connect-and-list",
    "B15",
    "G4",
    "Z8",
    "Y1",
)
async def test_a_bad_server_changes_nothing_for_a_good_one(place: Place, kind: str) -> None:
    place.define(good=fake(), bad={**BAD[kind], "timeout": 1500})

    with anyio.fail_after(20):
        async with place.manager() as manager:
            before: list[tuple[int, set[str]]] = []
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(manager.discover_and_connect)
                await until(manager, lambda: bool(tools_of(manager, "good")))
                assert manager.get_connection_status("good") == "connected"
                before.append((pid_of(manager, "good"), tools_of(manager, "good")))
            assert manager.get_connection_status("bad") == "disconnected"
            (bad,) = [row for row in manager.snapshot() if row.name == "bad"]
            assert bad.reason in {"failed", "closed"}
            assert bad.error
            assert "\n" not in bad.error
            assert tools_of(manager, "bad") == set()
            assert [(pid_of(manager, "good"), tools_of(manager, "good"))] == before
            assert (await call(manager, "mcp_good_echo", text="still here")).text == "still here"


@requirement("isolation:killed-in-call", "B5", "G5", "runtime:no-reconnect", "H8", "Z54")
async def test_a_kill_in_mid_call_ends_that_call_and_nothing_else(place: Place) -> None:
    place.define(good=fake(), victim=fake())
    results: dict[str, ToolResult] = {}

    with anyio.fail_after(20):
        async with place.manager(startup_timeout_ms=0) as manager:
            await manager.discover_and_connect()
            good_pid = pid_of(manager, "good")
            good_tools = tools_of(manager, "good")
            (sleep,) = [tool for tool in manager.get_tools() if tool.name == "mcp_victim_sleep"]

            async def sleep_long() -> None:
                results["sleep"] = await sleep.execute({"seconds": 60}, ToolContext())

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(sleep_long)
                # An answered call shows that the one before it is with the server.
                await call(manager, "mcp_victim_echo", text="x")
                os.kill(pid_of(manager, "victim"), signal.SIGKILL)

            assert results["sleep"].is_error
            assert results["sleep"].text.startswith("MCP error: ")
            # Its owner task notices right after the call does.
            await until(manager, lambda: manager.get_connection_status("victim") == "disconnected")
            assert (pid_of(manager, "good"), tools_of(manager, "good")) == (good_pid, good_tools)
            assert (await call(manager, "mcp_good_echo", text="fine")).text == "fine"

            await connect_server(manager, "victim")
            assert (await call(manager, "mcp_victim_echo", text="back")).text == "back"
            assert pid_of(manager, "good") == good_pid


@requirement("G3", "disconnect:closes", "disconnect:removes-tools")
async def test_servers_close_in_any_order_without_a_trace_in_the_others(place: Place) -> None:
    names = ("a", "b", "c")
    place.define(**{name: fake() for name in names})

    with anyio.fail_after(20):
        async with place.manager(startup_timeout_ms=0) as manager:
            await manager.discover_and_connect()
            for name, left in (("a", ("b", "c")), ("c", ("b",)), ("b", ())):
                await manager.disconnect_server(name)
                assert {other for other in names if tools_of(manager, other)} == set(left)
                for other in left:
                    assert (await call(manager, f"mcp_{other}_echo", text=name)).text == name
