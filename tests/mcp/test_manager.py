"""The manager over real little servers."""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from agent_shell.errors import ConfigError, MCPError
from agent_shell.json_types import JSONObject, JSONValue, as_array
from agent_shell.mcp.manager import MCPManager
from agent_shell.mcp.one_server import connect_server, set_enabled, trust_servers
from agent_shell.mcp.registries import ManagerEvent
from agent_shell.mcp.reload import Difference, reload_servers
from agent_shell.mcp.snapshot import ServerSnapshot
from agent_shell.settings.settings import MCPSettings
from agent_shell.tools.tool import ToolContext
from tests.fakes.connections import until_file
from tests.mcp.server_project import ServerProject, fake_server
from tests.requirements import requirement

PATIENT = MCPSettings(startup_timeout_ms=0)
"""For tests of what comes after the gate: wait for every server."""


@pytest.fixture
def project(tmp_path: Path) -> ServerProject:
    return ServerProject(tmp_path)


def names_of(manager: MCPManager) -> list[str]:
    return [tool.name for tool in manager.get_tools()]


def states_of(manager: MCPManager) -> dict[str, tuple[str, str | None]]:
    return {row.name: (row.status, row.reason) for row in manager.snapshot()}


async def until(manager: MCPManager, is_true: Callable[[], bool]) -> None:
    """Wait, at most ten seconds, until it is true after some event of the manager."""
    changed = anyio.Event()

    def wake(_: ManagerEvent) -> None:
        changed.set()

    unsubscribe = manager.subscribe(wake)
    try:
        with anyio.fail_after(10):
            while not is_true():
                await changed.wait()
                changed = anyio.Event()
    finally:
        unsubscribe()


@requirement("manager:parallel", "gate:fulfilled-is-live", "connect:lists-tools", "E13")
async def test_servers_connect_and_their_tools_are_sorted_by_name(project: ServerProject) -> None:
    project.write_user_servers({"y": fake_server("--name", "Y"), "x": fake_server()})

    async with project.manager(settings=PATIENT) as manager:
        loaded = await manager.discover_and_connect()

        assert sorted(loaded.connected) == ["x", "y"]
        assert loaded.errors == {}
        assert {"mcp_x_echo", "mcp_y_echo"} <= set(names_of(manager))
        assert names_of(manager) == sorted(names_of(manager))
        (row,) = [row for row in manager.snapshot() if row.name == "y"]
        assert row.server is not None
        assert (row.status, row.server.name, row.protocol) == ("connected", "Y", "2025-11-25")
        assert row.timings_ms.keys() == {"spawn", "initialize", "list_tools"}
        assert row.pid is not None


@requirement("gate:rejected-is-error", "loader:server-failure", "isolation:connect-and-list", "B15")
async def test_one_dead_server_is_an_error_beside_the_others_tools(project: ServerProject) -> None:
    project.write_user_servers({"good": fake_server(), "dead": {"command": "no-such-program-here"}})

    async with project.manager(settings=PATIENT) as manager:
        loaded = await manager.discover_and_connect()

        assert loaded.connected == ("good",)
        assert list(loaded.errors) == ["dead"]
        assert "no-such-program-here" in loaded.errors["dead"].message
        assert states_of(manager) == {
            "good": ("connected", None),
            "dead": ("disconnected", "failed"),
        }


@requirement("gate:no-cache-waits")
async def test_a_slow_server_without_a_cache_is_waited_for_beyond_the_gate(
    project: ServerProject,
) -> None:
    project.write_user_servers({"slow": fake_server("--delay", "0.6")})

    async with project.manager() as manager:
        loaded = await manager.discover_and_connect()

        assert loaded.connected == ("slow",)
        assert loaded.deferred == ()


@requirement(
    "gate:250ms",
    "gate:returns-mixture",
    "gate:cache-hit-is-deferred",
    "bridge:deferred",
    "late:replaces-slice",
    "status:connecting",
    "Z10",
    "Z12",
    "Y9",
)
async def test_a_pending_server_with_a_cache_is_deferred_and_a_call_waits_for_it(
    project: ServerProject,
) -> None:
    held = HeldServer(project.root)
    project.write_user_servers(
        {"held": held.entry, "quick": fake_server(), "dead": {"command": "no-such-program"}}
    )
    await remember_tools(project, held)

    async with project.manager() as manager:
        loaded = await manager.discover_and_connect()

        assert (loaded.connected, loaded.deferred, list(loaded.errors)) == (
            ("quick",),
            ("held",),
            ["dead"],
        )
        assert manager.get_connection_status("held") == "connecting"
        assert row_of(manager, "held").deferred
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(held.let_start)
            assert await call(manager, "mcp_held_echo", {"text": "late"}) == "late"
        await until(manager, lambda: not row_of(manager, "held").deferred)
        assert manager.get_connection_status("held") == "connected"


@requirement("late:logs-after-startup", "bridge:errors")
async def test_a_deferred_server_that_fails_late_is_logged_and_its_call_is_an_error(
    project: ServerProject, caplog: pytest.LogCaptureFixture
) -> None:
    held = HeldServer(project.root)
    project.write_user_servers({"held": held.entry})
    await remember_tools(project, held)

    async with project.manager() as manager:
        await manager.discover_and_connect()
        assert caplog.records == []
        answer = ""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(held.let_start, "exit 3")
            answer = await call(manager, "mcp_held_echo", {"text": "late"})

        assert answer.startswith("MCP error: ")
        assert "exited with status 3" in answer
        await until(manager, lambda: states_of(manager)["held"] == ("disconnected", "failed"))
        assert [record.levelname for record in caplog.records] == ["WARNING"]


@requirement("disconnect-all:clears", "disconnect:forgets-pending", "Z37")
async def test_a_late_connection_cannot_rise_again_after_disconnect_all(
    project: ServerProject,
) -> None:
    held = HeldServer(project.root)
    project.write_user_servers({"held": held.entry})

    async with project.manager(settings=PATIENT) as manager:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(manager.discover_and_connect)
            await held.started()
            assert manager.get_connection_status("held") == "connecting"
            await manager.disconnect_all()

        assert manager.get_connection_status("held") == "disconnected"
        assert manager.get_source("held") is None
        assert names_of(manager) == []
        assert not held.is_alive()


@requirement("disconnect:closes", "disconnect:removes-tools", "isolation:tools-stay", "G3", "H5")
async def test_disconnecting_one_server_touches_no_other(project: ServerProject) -> None:
    project.write_user_servers({"a": fake_server(), "b": fake_server(), "c": fake_server()})

    async with project.manager(settings=PATIENT) as manager:
        await manager.discover_and_connect()
        pids = {row.name: row.pid for row in manager.snapshot()}
        with anyio.fail_after(10):
            await manager.disconnect_server("b")
            await manager.disconnect_server("a")

        assert states_of(manager) == {
            "a": ("disconnected", "closed"),
            "b": ("disconnected", "closed"),
            "c": ("connected", None),
        }
        assert {name.split("_")[1] for name in names_of(manager)} == {"c"}
        assert row_of(manager, "c").pid == pids["c"]
        assert [is_alive(pids[name]) for name in "abc"] == [False, False, True]
        assert await call(manager, "mcp_c_add", {"a": 1, "b": 2}) == "3"


@requirement("B5", "runtime:no-reconnect", "isolation:killed-in-call", "status:disconnected")
async def test_a_server_that_dies_in_a_call_is_shown_closed_and_fails_later_calls(
    project: ServerProject,
) -> None:
    project.write_user_servers({"a": fake_server(), "b": fake_server()})

    async with project.manager(settings=PATIENT) as manager:
        await manager.discover_and_connect()
        answer = await call(manager, "mcp_a_crash", {"status": 1})

        assert answer.startswith("MCP error: ")
        await until(manager, lambda: states_of(manager)["a"] == ("disconnected", "closed"))
        later = await call(manager, "mcp_a_echo", {"text": "still there?"})
        assert later.startswith("MCP error: ")
        assert "/mcp connect a" in later
        assert states_of(manager)["b"] == ("connected", None)
        assert await call(manager, "mcp_b_echo", {"text": "yes"}) == "yes"


@requirement("H8", "runtime:explicit-reconnect", "Z18")
async def test_a_killed_server_connects_again_when_asked(project: ServerProject) -> None:
    project.write_user_servers({"a": fake_server()})

    async with project.manager(settings=PATIENT) as manager:
        await manager.discover_and_connect()
        first = row_of(manager, "a").pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        await until(manager, lambda: manager.get_connection_status("a") == "disconnected")

        loaded = await connect_server(manager, "a")

        assert loaded.connected == ("a",)
        assert row_of(manager, "a").pid != first
        assert await call(manager, "mcp_a_echo", {"text": "back"}) == "back"


@requirement("H1", "Z56")
async def test_a_tool_that_a_server_adds_appears_without_a_command(project: ServerProject) -> None:
    project.write_user_servers({"a": fake_server()})

    async with project.manager(settings=PATIENT) as manager:
        await manager.discover_and_connect()
        await call(manager, "mcp_a_add_tool", {"name": "fresh"})
        await until(manager, lambda: "mcp_a_fresh" in names_of(manager))


@requirement("H3")
async def test_connecting_an_unknown_name_names_the_known_ones(project: ServerProject) -> None:
    project.write_user_servers({"a": fake_server(), "b": fake_server()})

    async with project.manager(settings=PATIENT) as manager:
        with pytest.raises(MCPError, match=r'^no server "nosuch"; known: a, b$'):
            await connect_server(manager, "nosuch")


@requirement("H5", "config:disabled-skipped", "terminal:enable-disable")
async def test_disable_and_enable_act_on_their_server_alone(project: ServerProject) -> None:
    project.write_user_servers({"a": fake_server(), "b": fake_server()})

    async with project.manager(settings=PATIENT) as manager:
        await manager.discover_and_connect()
        before = {row.name: row.pid for row in manager.snapshot()}

        await set_enabled(manager, "a", enabled=False)
        assert states_of(manager)["a"] == ("disconnected", "disabled")
        assert not is_alive(before["a"])
        assert row_of(manager, "b").pid == before["b"]

        await set_enabled(manager, "a", enabled=True)
        assert states_of(manager)["a"] == ("connected", None)
        assert row_of(manager, "b").pid == before["b"]


@requirement("Z54")
async def test_a_live_server_is_shown_even_when_the_files_have_changed_under_it(
    project: ServerProject,
) -> None:
    project.write_user_servers({"a": fake_server(), "b": fake_server(), "c": fake_server()})

    async with project.manager(settings=PATIENT) as manager:
        await manager.discover_and_connect()
        project.write_user_servers({"b": {**fake_server(), "enabled": False}, "c": fake_server()})
        await connect_server(manager, "c")

        assert states_of(manager) == dict.fromkeys("abc", ("connected", None))
        assert row_of(manager, "a").error == "its entry is gone from the file"
        report = await reload_servers(manager)
        assert report.servers == Difference(removed=("a", "b"))
        assert states_of(manager) == {
            "b": ("disconnected", "disabled"),
            "c": ("connected", None),
        }


@requirement("connect:validates")
async def test_an_invalid_entry_is_an_error_of_its_own(project: ServerProject) -> None:
    project.write_user_servers(
        {"bad": {"type": "http", "url": "ftp://127.0.0.1/"}, "good": fake_server()}
    )

    async with project.manager(settings=PATIENT) as manager:
        loaded = await manager.discover_and_connect()

        assert loaded.connected == ("good",)
        bad = row_of(manager, "bad")
        assert bad.status == "disconnected"
        assert "url" in (bad.error or "")


async def test_waiting_for_an_entry_that_cannot_be_used_says_what_is_wrong_with_it(
    project: ServerProject,
) -> None:
    project.write_user_servers({"bad": {"command": 42}})

    async with project.manager(settings=PATIENT) as manager:
        await manager.discover_and_connect()
        reason = row_of(manager, "bad").error
        with pytest.raises(MCPError) as caught:
            await manager.wait_for_connection("bad")

    assert reason
    assert caught.value.message == f'server "bad" is not connected: {reason}'


@requirement("connect:skips-known", "Z14")
async def test_a_server_that_is_up_or_coming_is_not_started_twice(project: ServerProject) -> None:
    project.write_user_servers({"a": fake_server("--delay", "0.2")})

    async with project.manager(settings=PATIENT) as manager:
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(manager.discover_and_connect)
        pid = row_of(manager, "a").pid
        await manager.discover_and_connect()

        assert row_of(manager, "a").pid == pid


@requirement("trust:nothing-before-consent", "trust:changed-entry-asks")
async def test_a_project_server_starts_only_after_consent_to_that_entry(
    project: ServerProject,
) -> None:
    marker = project.root / "marker"
    project.write_project_servers({"p": fake_server("--pid-file", str(marker))})
    async with project.manager(settings=PATIENT) as manager:
        await manager.discover_and_connect()
        assert states_of(manager) == {"p": ("disconnected", "untrusted")}
        with pytest.raises(MCPError, match="is not started: untrusted"):
            await connect_server(manager, "p")
        assert not marker.exists()

        await trust_servers(manager, ["p"], whole_folder=False)
        assert states_of(manager) == {"p": ("connected", None)}

    project.write_project_servers({"p": fake_server("--pid-file", str(marker), "--name", "other")})
    async with project.manager(settings=PATIENT) as manager:
        await manager.discover_and_connect()
        assert states_of(manager) == {"p": ("disconnected", "untrusted")}


async def test_include_and_exclude_lists_choose_the_tools(project: ServerProject) -> None:
    project.write_user_servers(
        {
            "a": {**fake_server(), "includeTools": ["e*", "add"], "excludeTools": ["env"]},
        }
    )

    async with project.manager(settings=PATIENT) as manager:
        await manager.discover_and_connect()

        assert names_of(manager) == ["mcp_a_add", "mcp_a_echo"]


@requirement("reload:three-steps", "H7", "Z19", "Z38")
async def test_a_reload_reads_anew_and_says_what_changed(project: ServerProject) -> None:
    project.write_user_servers(
        {"stays": fake_server(), "goes": fake_server(), "turns": fake_server()}
    )

    async with project.manager(settings=PATIENT) as manager:
        await manager.discover_and_connect()
        before = {row.name: row.pid for row in manager.snapshot()}
        project.write_user_servers(
            {
                "stays": fake_server(),
                "turns": {**fake_server("--tools", "1"), "excludeTools": ["cwd"]},
                "comes": {**fake_server(), "includeTools": ["echo"]},
            }
        )

        report = await reload_servers(manager)

        assert (report.connected, report.connecting, report.failed) == (3, 0, 0)
        assert report.servers == Difference(added=("comes",), removed=("goes",), altered=("turns",))
        assert report.tools.added == ("mcp_comes_echo", "mcp_turns_extra_1")
        assert "mcp_turns_cwd" in report.tools.removed
        assert "mcp_goes_echo" in report.tools.removed
        assert report.tools.altered == ()
        await manager.wait_until_closed()
        assert not any(is_alive(pid) for pid in before.values())


async def test_a_half_saved_file_changes_nothing_at_a_reload(project: ServerProject) -> None:
    project.write_user_servers({"a": fake_server()})

    async with project.manager(settings=PATIENT) as manager:
        await manager.discover_and_connect()
        pid = row_of(manager, "a").pid
        file = project.paths.user_mcp_config
        file.write_text(file.read_text(encoding="utf-8")[:-9], encoding="utf-8")

        with pytest.raises(ConfigError) as caught:
            await reload_servers(manager)

        assert str(file) in caught.value.message
        assert "nothing was changed" in (caught.value.hint or "")
        assert row_of(manager, "a").pid == pid
        assert await call(manager, "mcp_a_echo", {"text": "still here"}) == "still here"


@requirement("Z20")
async def test_a_reconnected_server_starts_when_its_old_process_is_gone(
    project: ServerProject,
) -> None:
    lock = project.root / "only-one"
    script = f'mkdir "{lock}" || exit 9; trap \'rmdir "{lock}"\' EXIT; "$0" "$@"'
    server = fake_server()
    entry = {"command": "sh", "args": ["-c", script, sys.executable, *_args_of(server)]}
    project.write_user_servers({"a": entry})

    async with project.manager(settings=PATIENT) as manager:
        await manager.discover_and_connect()
        for _ in range(3):
            report = await reload_servers(manager)
            assert report.connected == 1


async def test_leaving_the_manager_leaves_no_process(project: ServerProject) -> None:
    project.write_user_servers(
        {"good": fake_server(), "stubborn": fake_server("--behave", "stubborn")}
    )

    async with project.manager(settings=PATIENT) as manager:
        await manager.discover_and_connect()
        pids = [row.pid for row in manager.snapshot()]
        assert all(is_alive(pid) for pid in pids)

    assert not any(is_alive(pid) for pid in pids)


class HeldServer:
    """A server whose program waits at a FIFO until the test lets it start."""

    def __init__(self, folder: Path) -> None:
        self._fifo = folder / "held"
        self._pid_file = folder / "held.pid"
        os.mkfifo(self._fifo)
        script = f'echo $$ >"{self._pid_file}"; read word <"{self._fifo}"; $word; exec "$0" "$@"'
        self.entry: dict[str, JSONValue] = {
            "command": "sh",
            "args": ["-c", script, sys.executable, *_args_of(fake_server())],
        }

    async def let_start(self, first: str = "true") -> None:
        """Open the gate; `first` is a shell command of one line to run before the server."""
        with anyio.fail_after(10):
            await anyio.to_thread.run_sync(
                lambda: self._fifo.write_text(f"{first}\n", encoding="utf-8"),
                abandon_on_cancel=True,
            )

    async def started(self) -> None:
        """Wait until the program has come to the FIFO."""
        with anyio.fail_after(10):
            await until_file(self._pid_file)

    def is_alive(self) -> bool:
        return is_alive(int(self._pid_file.read_text(encoding="utf-8")))


async def remember_tools(project: ServerProject, held: HeldServer) -> None:
    """Have the held server once, so that its tools are in the cache."""
    async with project.manager(settings=PATIENT) as manager, anyio.create_task_group() as tasks:
        tasks.start_soon(held.let_start)
        await manager.discover_and_connect()
        assert manager.get_connection_status("held") == "connected"


async def call(manager: MCPManager, tool_name: str, arguments: JSONObject) -> str:
    (tool,) = [tool for tool in manager.get_tools() if tool.name == tool_name]
    with anyio.fail_after(10):
        return (await tool.execute(arguments, ToolContext())).text


def row_of(manager: MCPManager, name: str) -> ServerSnapshot:
    (row,) = [row for row in manager.snapshot() if row.name == name]
    return row


def is_alive(pid: int | None) -> bool:
    """Is there such a process, other than a zombie?"""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def _args_of(server: JSONObject) -> Sequence[JSONValue]:
    return as_array(server["args"]) or ()
