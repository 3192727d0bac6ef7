"""The parts joined: a session with its servers, as a program or the shell gets it."""

from pathlib import Path

import anyio
import pytest

from agent_shell.discovery.discovered import DiscoveryOptions
from agent_shell.sdk.create_session import SessionOptions, create_agent_session
from agent_shell.sdk.discover import discover_mcp_servers
from agent_shell.settings.settings import MCPSettings, Settings
from tests.fakes.connections import until
from tests.mcp.server_project import ServerProject, fake_server
from tests.requirements import requirement


@pytest.fixture
def project(tmp_path: Path) -> ServerProject:
    return ServerProject(tmp_path)


def options_for(
    project: ServerProject, *, enable_mcp: bool = True, wait_for_mcp: bool = True
) -> SessionOptions:
    return SessionOptions(
        cwd=project.project,
        paths=project.paths,
        environ=project.environ,
        settings=Settings(mcp=MCPSettings(startup_timeout_ms=0)),
        enable_mcp=enable_mcp,
        wait_for_mcp=wait_for_mcp,
    )


@requirement(
    "sdk:startup-loads-mcp",
    "sdk:tools-in-registry",
    "session:mcp-on-by-default",
    "session:returns-manager",
    "loader:session-survives",
)
async def test_a_session_has_its_servers_tools_beside_the_built_in_ones(
    project: ServerProject,
) -> None:
    project.write_user_servers({"a": fake_server(), "dead": {"command": "no-such-program"}})

    async with create_agent_session(options_for(project)) as result:
        names = [tool.name for tool in result.session.registry.active()]

        assert {"mcp_a_echo", "read_file", "run_command"} <= set(names)
        assert result.mcp_manager is not None
        assert result.mcp_manager.get_connection_status("a") == "connected"
        assert result.mcp_load is not None
        assert [error.path for error in result.mcp_load.errors] == ["mcp:dead"]
        answer = await result.session.call_tool("mcp_a_add", {"a": 2, "b": 3})
        assert answer.text == "5"


@requirement("session:mcp-off-skips-discovery", "no-mcp:touches-nothing")
async def test_with_mcp_off_nothing_is_read_or_started(project: ServerProject) -> None:
    marker = project.root / "marker"
    project.write_user_servers({"a": fake_server("--pid-file", str(marker))})

    async with create_agent_session(options_for(project, enable_mcp=False)) as result:
        assert result.mcp_manager is None
        assert result.mcp_load is None
        assert result.mcp_ready.is_set()
        names = [tool.name for tool in result.session.registry.active()]
        assert not any(name.startswith("mcp_") for name in names)
    assert not marker.exists()


@requirement("session:live-refresh", "refresh:late-connection", "H1")
async def test_what_changes_in_the_manager_reaches_the_session(project: ServerProject) -> None:
    project.write_user_servers({"a": fake_server()})

    async with create_agent_session(options_for(project, wait_for_mcp=False)) as result:
        assert result.session.registry.get("mcp_a_echo") is None
        await result.start_mcp()
        assert result.session.registry.get("mcp_a_echo") is not None
        await result.session.call_tool("mcp_a_add_tool", {"name": "fresh"})
        with anyio.fail_after(10):
            await until(lambda: result.session.registry.get("mcp_a_fresh") is not None)
        assert result.mcp_manager is not None
        await result.mcp_manager.disconnect_server("a")
        assert result.session.registry.get("mcp_a_echo") is None


@requirement("exports:discover", "loader:labels", "config:keeps-source", "config:exa-keys")
async def test_discover_mcp_servers_gives_the_loaders_result(project: ServerProject) -> None:
    project.write_user_servers(
        {
            "a": {**fake_server(), "includeTools": ["echo"]},
            "exa": {"type": "http", "url": "https://mcp.exa.ai/mcp?exaApiKey=k-1"},
        }
    )
    options = DiscoveryOptions(cwd=project.project, paths=project.paths, environ=project.environ)

    async with discover_mcp_servers(options, settings=MCPSettings(startup_timeout_ms=0)) as loaded:
        (tool,) = loaded.tools
        assert tool.tool.name == "mcp_a_echo"
        assert tool.path.startswith("mcp:a via ")
        assert loaded.connected_servers == ("a",)
        assert loaded.exa_api_keys == ("k-1",)


@requirement("loader:discovery-failure")
async def test_a_failing_discovery_is_one_error_and_a_session_without_tools(
    project: ServerProject,
) -> None:
    options = DiscoveryOptions(cwd=project.project, paths=project.paths, environ=project.environ)
    object.__setattr__(options, "extra_files", None)  # nothing a file could do makes it raise

    async with discover_mcp_servers(options) as loaded:
        assert loaded.tools == ()
        assert [error.path for error in loaded.errors] == [".mcp.json"]
