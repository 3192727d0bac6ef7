"""Each real server over each of its transports: greet, list, ping, close, and nothing is left."""

from pathlib import Path

import anyio
import pytest

from agent_shell.discovery.server_config import StdioServerConfig
from agent_shell.mcp.client import connect_to_server
from tests.peers.conftest import ConnectOptions, PeerFactory
from tests.requirements import requirement

EXPECTED_TOOLS = {
    "time": {"get_current_time", "convert_time"},
    "git": {"git_status", "git_log", "git_diff"},
    "fetch": {"fetch"},
    "everything": {"echo", "get-sum"},
    "filesystem": {"read_text_file", "write_file", "list_directory"},
    "memory": {"create_entities", "read_graph"},
    "mcp1": {"add", "fail", "count", "wait"},
    "mcp2": {"add", "fail", "count", "wait"},
    "fastmcp": {"add", "fail", "count", "wait"},
}

WAYS = [
    ("time", "stdio"),
    ("git", "stdio"),
    ("fetch", "stdio"),
    ("filesystem", "stdio"),
    ("memory", "stdio"),
    ("everything", "stdio"),
    ("everything", "http"),
    ("everything", "sse"),
    ("mcp1", "stdio"),
    ("mcp1", "http"),
    ("mcp1", "sse"),
    ("mcp1", "ws"),
    ("mcp2", "stdio"),
    ("mcp2", "http"),
    ("fastmcp", "stdio"),
    ("fastmcp", "http"),
]


@pytest.mark.parametrize(("name", "transport"), WAYS)
@requirement("peer:real-servers", "client:transports", "client:handshake", "connect:lists-tools")
async def test_a_real_server_is_greeted_listed_pinged_and_closed(
    peer: PeerFactory, connect_options: ConnectOptions, tmp_path: Path, name: str, transport: str
) -> None:
    arguments = (str(tmp_path),) if name == "filesystem" else ()
    config = peer(name, transport, *arguments)

    with anyio.fail_after(60):
        async with connect_to_server(config, connect_options(), timeout_s=30) as connection:
            assert connection.initialize_result.protocol_version == "2025-11-25"
            assert connection.initialize_result.server_info.name
            tools = {tool.name for tool in await connection.list_tools()}
            assert tools >= EXPECTED_TOOLS[name]
            await connection.ping()
            pid = connection.pid

    assert (pid is not None) == isinstance(config, StdioServerConfig)
    if pid is not None:
        assert not Path(f"/proc/{pid}").exists()
