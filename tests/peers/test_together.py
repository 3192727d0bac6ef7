"""Real servers side by side in one session: found in a project's file, trusted, called, closed."""

import json
import os
from pathlib import Path

import anyio

from agent_shell.discovery.server_config import ServerConfig, StdioServerConfig
from agent_shell.json_types import JSONObject
from agent_shell.paths import app_paths
from agent_shell.sdk.create_session import SessionOptions, create_agent_session
from agent_shell.settings.settings import MCPSettings, Settings
from tests.peers.conftest import PeerFactory
from tests.requirements import requirement

EXPECTED = {
    "everything": "everything/http",
    "fastmcp": "fastmcp/http",
    "filesystem": "filesystem/stdio",
    "mcp1": "mcp1/ws",
    "mcp2": "mcp2/stdio",
    "time": "time/stdio",
}


def entry_of(config: ServerConfig) -> JSONObject:
    """The definition as `.mcp.json` writes it."""
    if isinstance(config, StdioServerConfig):
        return {"command": config.command, "args": list(config.args)}
    return {"url": config.url}


@requirement(
    "peer:real-servers",
    "sdk:tools-in-registry",
    "sdk:startup-loads-mcp",
    "session:returns-manager",
    "manager:parallel",
)
async def test_a_session_uses_six_real_servers_over_three_transports_at_once(
    peer: PeerFactory, tmp_path: Path, agent_shell_home: Path
) -> None:
    entries = {
        name: entry_of(peer(*way.split("/"), *([str(tmp_path)] if name == "filesystem" else [])))
        for name, way in EXPECTED.items()
    }
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": entries}), "utf-8")
    (tmp_path / "note.txt").write_text("read by node", "utf-8")
    options = SessionOptions(
        cwd=tmp_path,
        paths=app_paths(os.environ),
        environ=dict(os.environ),
        settings=Settings(mcp=MCPSettings(startup_timeout_ms=0)),
        trust_project=True,
    )

    with anyio.fail_after(90):
        async with create_agent_session(options) as result:
            assert result.mcp_load is not None
            assert (result.mcp_load.errors, sorted(result.mcp_load.connected_servers)) == (
                (),
                sorted(EXPECTED),
            )
            session = result.session
            note = await session.call_tool(
                "mcp_filesystem_read_text_file", {"path": str(tmp_path / "note.txt")}
            )
            sums = [
                (await session.call_tool(f"mcp_{name}_add", {"a": 1, "b": 2})).text
                for name in ("mcp1", "mcp2", "fastmcp")
            ]
            echo = await session.call_tool("mcp_everything_echo", {"message": "[bold]"})
            assert result.mcp_manager is not None
            pids = [row.pid for row in result.mcp_manager.snapshot() if row.pid is not None]

    assert note.text.splitlines()[0] == "read by node"
    assert [text.splitlines()[0] for text in sums] == ["3", "3", "3"]
    assert echo.text == "Echo: [bold]"
    assert len(pids) == 3
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []
