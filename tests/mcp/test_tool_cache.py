"""The last known tools of a server configuration, on disk."""

from dataclasses import replace
from pathlib import Path

from agent_shell.discovery.server_config import HttpServerConfig, StdioServerConfig
from agent_shell.mcp.tool_cache import MCPToolCache
from agent_shell.mcp_protocol.messages import ToolDefinition
from tests.requirements import requirement

TIME = StdioServerConfig(name="time", command="uvx", args=("mcp-server-time",))
TOOLS = (
    ToolDefinition(
        name="now",
        description="tells the time ✓",
        title="Now",
        input_schema={"type": "object", "properties": {"tz": {"type": "string"}}},
        output_schema={"type": "object"},
        annotations={"readOnlyHint": True},
    ),
    ToolDefinition(name="bare"),
)


@requirement("connect:caches-tools")
def test_what_was_set_is_what_another_process_gets(tmp_path: Path) -> None:
    MCPToolCache(tmp_path).set(TIME, TOOLS)

    assert MCPToolCache(tmp_path).get(TIME) == TOOLS


def test_another_command_is_another_server(tmp_path: Path) -> None:
    cache = MCPToolCache(tmp_path)
    cache.set(TIME, TOOLS)

    assert cache.get(replace(TIME, args=("mcp-server-git",))) is None
    assert cache.get(HttpServerConfig(name="time", url="http://127.0.0.1/mcp")) is None


def test_a_spoiled_file_counts_as_absent(tmp_path: Path) -> None:
    cache = MCPToolCache(tmp_path)
    cache.set(TIME, TOOLS)
    (file,) = tmp_path.iterdir()

    for content in (b"", b"{", b"[]", b'{"format":1}', b'{"format":99,"tools":[]}'):
        file.write_bytes(content)
        assert cache.get(TIME) is None
    file.write_bytes(b'{"format":1,"tools":[{"name":"a"},{"nope":1},3]}')
    assert cache.get(TIME) == (ToolDefinition(name="a"),)


def test_secret_values_are_in_neither_name_nor_content(tmp_path: Path) -> None:
    config = replace(TIME, env={"TOKEN": "s3cret-value"})
    MCPToolCache(tmp_path).set(config, TOOLS)

    (file,) = tmp_path.iterdir()
    assert b"s3cret-value" not in file.read_bytes()
    assert MCPToolCache(tmp_path).get(replace(config, env={"TOKEN": "another"})) == TOOLS


@requirement("isolation:cache-best-effort")
def test_a_folder_that_cannot_be_made_is_only_logged(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("", encoding="utf-8")

    MCPToolCache(blocker / "cache").set(TIME, TOOLS)

    assert MCPToolCache(blocker / "cache").get(TIME) is None
