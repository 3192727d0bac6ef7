"""The protocol's reference servers doing their own work: clock, repository, page, files, memory."""

import http.server
import json
import subprocess
import threading
from collections.abc import Generator
from pathlib import Path

import anyio
import pytest

from agent_shell.discovery.server_config import ServerConfig
from agent_shell.json_types import JSONObject
from agent_shell.mcp.client import connect_to_server
from agent_shell.mcp_protocol.messages import CallToolResult
from agent_shell.tools.tool import ToolProgress
from tests.peers.conftest import ConnectOptions, PeerFactory
from tests.requirements import requirement

PAGE = b"<html><head><title>t</title></head><body><article><h1>Greetings</h1><p>Hello from \
the loopback page, which is long enough to count as an article.</p></article></body></html>"


class _Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/page.html" else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def page_url() -> Generator[str]:
    """A page on loopback."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Page) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/page.html"
        finally:
            server.shutdown()
            thread.join()


def text_of(result: CallToolResult) -> str:
    """All text of a result."""
    return "\n".join(str(block.get("text", "")) for block in result.content)


async def call(
    config: ServerConfig, options: ConnectOptions, name: str, arguments: JSONObject
) -> CallToolResult:
    """One call on a connection of its own."""
    with anyio.fail_after(60):
        async with connect_to_server(config, options(), timeout_s=30) as connection:
            return await connection.call_tool(name, arguments)


@requirement("peer:real-servers")
async def test_the_time_server_knows_utc(
    peer: PeerFactory, connect_options: ConnectOptions
) -> None:
    result = await call(peer("time"), connect_options, "get_current_time", {"timezone": "UTC"})

    assert json.loads(text_of(result))["timezone"] == "UTC"


@requirement("peer:real-servers")
async def test_the_git_server_reads_a_repository(
    peer: PeerFactory, connect_options: ConnectOptions, tmp_path: Path
) -> None:
    for words in (["init", "-q"], ["add", "a.txt"]):
        (tmp_path / "a.txt").write_text("one\n", "utf-8")
        subprocess.run(["git", *words], cwd=tmp_path, check=True, stdin=subprocess.DEVNULL)

    result = await call(
        peer("git", "stdio", "--repository", str(tmp_path)),
        connect_options,
        "git_status",
        {"repo_path": str(tmp_path)},
    )

    assert (result.is_error, "a.txt" in text_of(result)) == (False, True)


@requirement("peer:real-servers")
async def test_the_fetch_server_reads_a_page(
    peer: PeerFactory, connect_options: ConnectOptions, page_url: str
) -> None:
    config = peer("fetch", "stdio", "--ignore-robots-txt", "--allow-private-ips")

    result = await call(config, connect_options, "fetch", {"url": page_url, "raw": True})

    assert "Hello from" in text_of(result)


@requirement("peer:real-servers", "E10")
async def test_the_filesystem_server_reads_a_file_with_odd_characters(
    peer: PeerFactory, connect_options: ConnectOptions, tmp_path: Path
) -> None:
    text = "tab\tü 漢字 🦉 \u2028 [bold] end"
    (tmp_path / "odd.txt").write_text(text, "utf-8")

    result = await call(
        peer("filesystem", "stdio", str(tmp_path)),
        connect_options,
        "read_text_file",
        {"path": str(tmp_path / "odd.txt")},
    )

    assert text_of(result) == text


@requirement("peer:real-servers", "isolation:tools-stay")
async def test_the_filesystem_server_refuses_what_lies_outside(
    peer: PeerFactory, connect_options: ConnectOptions, tmp_path: Path
) -> None:
    result = await call(
        peer("filesystem", "stdio", str(tmp_path)),
        connect_options,
        "read_text_file",
        {"path": "/etc/hostname"},
    )

    assert result.is_error
    assert "denied" in text_of(result).lower()


@requirement("peer:real-servers")
async def test_the_memory_server_remembers_across_calls(
    peer: PeerFactory, connect_options: ConnectOptions, tmp_path: Path
) -> None:
    config = peer("memory", env={"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")})
    entity = {"name": "Ada", "entityType": "person", "observations": ["likes engines"]}

    with anyio.fail_after(60):
        async with connect_to_server(config, connect_options(), timeout_s=30) as connection:
            await connection.call_tool("create_entities", {"entities": [entity]})
            graph = await connection.call_tool("read_graph", {})

    assert "likes engines" in text_of(graph)


@pytest.mark.parametrize("transport", ["stdio", "http", "sse"])
@requirement("peer:real-servers", "Y29")
async def test_everything_echoes_and_reports_progress(
    peer: PeerFactory, connect_options: ConnectOptions, transport: str
) -> None:
    reports: list[ToolProgress] = []
    with anyio.fail_after(60):
        async with connect_to_server(
            peer("everything", transport), connect_options(), timeout_s=30
        ) as connection:
            echo = await connection.call_tool("echo", {"message": "hi\u2028there"})
            added = await connection.call_tool("get-sum", {"a": 1, "b": 2})
            await connection.call_tool(
                "trigger-long-running-operation",
                {"duration": 1, "steps": 2},
                on_progress=reports.append,
            )
            resources = await connection.list_resources()
            prompts = await connection.list_prompts()
            uri = str(resources[0]["uri"])
            content = await connection.read_resource(uri)

    assert text_of(echo) == "Echo: hi\u2028there"
    assert "3" in text_of(added)
    assert [report.progress for report in reports] == [1, 2]
    assert len(prompts) >= 3
    assert uri in json.dumps(content)
