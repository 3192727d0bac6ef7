"""create_agent_session: what it hands on and logs, and that it waits for nobody it need not."""

import json
import logging

import anyio
import pytest

from agent_shell.sdk.create_session import SessionOptions, create_agent_session
from agent_shell.settings.settings import MCPSettings, Settings
from tests.journeys.conftest import Place, fake, fake_with_options_in, until
from tests.requirements import requirement


def options(
    place: Place, *, mcp: MCPSettings | None = None, wait_for_mcp: bool = True
) -> SessionOptions:
    """A session of this place, without a model."""
    return SessionOptions(
        cwd=place.project,
        paths=place.paths,
        environ=place.environ,
        settings=Settings(mcp=mcp or MCPSettings()),
        trust_project=True,
        wait_for_mcp=wait_for_mcp,
    )


@requirement("session:passes-settings", "config:project-off")
async def test_folder_project_setting_and_cache_are_handed_on(place: Place) -> None:
    options_file = place.folder / "options"
    options_file.write_text("", "ascii")
    place.define(mine=fake_with_options_in(options_file))
    (place.project / ".mcp.json").write_text(
        json.dumps({"mcpServers": {"theirs": fake()}}), "utf-8"
    )

    with anyio.fail_after(30):
        async with create_agent_session(options(place)) as result:
            assert result.mcp_load is not None
            assert sorted(result.mcp_load.connected_servers) == ["mine", "theirs"]
        options_file.write_text("--behave silent", "ascii")
        without_project = MCPSettings(enable_project_config=False)
        async with create_agent_session(options(place, mcp=without_project)) as result:
            names = {tool.name for tool in result.session.registry.active()}

    assert "mcp_mine_echo" in names
    assert "mcp_theirs_echo" not in names


@requirement("session:always-filters-exa", "config:exa-filtered", "config:exa-keys")
async def test_exa_is_always_filtered_and_its_key_kept(place: Place) -> None:
    place.define(
        exa={"url": "https://mcp.exa.ai/mcp?exaApiKey=key-of-a-test"},
        mine=fake(),
    )

    with anyio.fail_after(30):
        async with create_agent_session(options(place)) as result:
            assert result.mcp_manager is not None
            assert result.mcp_load is not None
            reasons = {row.name: row.reason for row in result.mcp_manager.snapshot()}

    assert reasons == {"exa": "filtered:exa", "mine": None}
    assert result.mcp_load.exa_api_keys == ("key-of-a-test",)


@requirement("session:logs-server-errors", "Z11")
async def test_each_servers_failure_is_logged_with_its_name(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    place.define(dead={"command": "/nonexistent/x"}, early=fake("--behave", "exit-at-once"))
    caplog.set_level(logging.WARNING, "agent_shell")

    with anyio.fail_after(30):
        async with create_agent_session(options(place)):
            pass

    logged = "\n".join(record.getMessage() for record in caplog.records)
    assert "dead" in logged
    assert "early" in logged


@requirement("Z1", "Z7", "Y7")
async def test_without_waiting_a_session_is_there_at_once_whoever_hangs(place: Place) -> None:
    place.define(**{f"silent{number}": fake("--behave", "silent") for number in range(5)})

    with anyio.fail_after(30):
        async with (
            create_agent_session(options(place, wait_for_mcp=False)) as result,
            anyio.create_task_group() as tasks,
        ):
            assert not result.mcp_ready.is_set()
            tasks.start_soon(result.start_mcp)
            assert (await result.session.call_tool("list_files", {})).is_error is False
            tasks.cancel_scope.cancel()


@requirement("Z23", "Z24", "refresh:replaces-mcp-tools", "session:live-refresh")
async def test_after_a_reload_the_sessions_tools_are_those_of_the_files(place: Place) -> None:
    place.define(old=fake(), stays=fake())

    with anyio.fail_after(30):
        async with create_agent_session(options(place)) as result:
            manager = result.mcp_manager
            assert manager is not None
            place.define(stays=fake(), new=fake())
            await manager.disconnect_all()
            await manager.discover_and_connect()
            await until(manager, lambda: "new" in manager.registries.slices)
            result.session.refresh_mcp_tools(manager.get_tools())
            names = {tool.name for tool in result.session.registry.active()}

    servers = {name.split("_")[1] for name in names if name.startswith("mcp_")}
    assert servers == {"stays", "new"}
    assert "read_file" in names
