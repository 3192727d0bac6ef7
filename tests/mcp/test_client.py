"""One server as its user sees it: in memory where that is enough, real processes where not."""

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from agent_shell import __version__
from agent_shell.discovery.server_config import HttpServerConfig, ServerConfig, StdioServerConfig
from agent_shell.errors import (
    MCPClosedError,
    MCPConnectError,
    MCPError,
    MCPProtocolError,
    MCPRequestError,
    MCPTimeoutError,
)
from agent_shell.json_types import JSONObject, JSONValue
from agent_shell.mcp.client import (
    MAX_PAGES,
    MCPServerConnection,
    connect_over,
    connect_to_server,
)
from agent_shell.mcp_protocol.jsonrpc import Notification, Request, RpcError
from agent_shell.mcp_protocol.messages import InitializeResult, ServerInfo, ToolDefinition
from agent_shell.tools.tool import ToolProgress
from tests.fakes.connections import (
    client_options,
    is_alive,
    log_of,
    shell_config,
    stdio_config,
    until_file,
)
from tests.fakes.mcp_server import FakeMCPServer
from tests.requirements import requirement

MEMORY = HttpServerConfig(name="fake", url="http://127.0.0.1/")


@asynccontextmanager
async def connected(
    server: FakeMCPServer,
    folder: Path,
    *,
    timeout_s: float | None = 5,
    roots: tuple[Path, ...] = (),
) -> AsyncGenerator[MCPServerConnection]:
    """A connection to a server in memory, bounded."""
    with anyio.fail_after(20), client_options(folder, roots=roots) as options:
        async with (
            server.running() as (transport, _),
            connect_over(transport, MEMORY, options, timeout_s=timeout_s) as connection,
        ):
            yield connection


@asynccontextmanager
async def started(
    config: ServerConfig, folder: Path, *, timeout_s: float | None = 10
) -> AsyncGenerator[MCPServerConnection]:
    """A connection to a real process, bounded."""
    with anyio.fail_after(30), client_options(folder) as options:
        async with connect_to_server(config, options, timeout_s=timeout_s) as connection:
            yield connection


# --- the handshake


@requirement("client:handshake")
async def test_the_handshake_offers_the_newest_revision_and_says_when_it_is_done(
    tmp_path: Path,
) -> None:
    server = FakeMCPServer(instructions="Be kind.")
    async with connected(server, tmp_path) as connection:
        assert connection.initialize_result == InitializeResult(
            protocol_version="2025-11-25",
            capabilities={"tools": {"listChanged": True}},
            server_info=ServerInfo(name="fake", version="1.0"),
            instructions="Be kind.",
        )
        await server.wait_for("notifications/initialized")
        assert set(connection.timings_ms) == {"initialize"}

    assert server.received == [
        Request(
            id=1,
            method="initialize",
            params={
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "agent-shell", "version": __version__},
            },
        ),
        Notification(method="notifications/initialized"),
    ]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18"])
async def test_an_older_revision_is_taken(version: str, tmp_path: Path) -> None:
    async with connected(FakeMCPServer(protocol_version=version), tmp_path) as connection:
        assert connection.initialize_result.protocol_version == version


async def test_an_unknown_revision_ends_the_connection_with_both_sides_words(
    tmp_path: Path,
) -> None:
    with pytest.raises(MCPProtocolError) as caught:
        async with connected(FakeMCPServer(protocol_version="1999-01-01"), tmp_path):
            pass

    assert caught.value.message == (
        "it speaks protocol version '1999-01-01'; "
        "agent-shell speaks 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25"
    )
    assert (caught.value.server, caught.value.stage) == ("fake", "initialize")


@requirement("G1", "G4", "client:timeout", "client:closes-on-failure")
async def test_a_server_that_never_greets_fails_at_its_limit_and_leaves_no_process(
    tmp_path: Path,
) -> None:
    record, pid_file = tmp_path / "record", tmp_path / "pid"
    config = stdio_config(
        "--behave", "silent-init", "--record", str(record), "--pid-file", str(pid_file)
    )
    begun = anyio.current_time()
    with pytest.raises(MCPTimeoutError) as caught:
        async with started(config, tmp_path, timeout_s=1):
            pass

    assert anyio.current_time() - begun < 3
    assert caught.value.message == "no answer to initialize within 1 s"
    assert not is_alive(int(pid_file.read_text(encoding="ascii")))
    # Nothing is cancelled: the specification forbids it for initialize.
    assert [b'"initialize"' in line for line in record.read_bytes().splitlines()] == [True]


@requirement("B4")
async def test_an_early_death_is_a_failure_to_connect_with_status_and_last_words(
    tmp_path: Path,
) -> None:
    with pytest.raises(MCPConnectError) as caught:
        async with started(shell_config("echo no key >&2; exit 3"), tmp_path):
            pass

    assert caught.value.message == "the server exited with status 3 (stderr: no key)"
    assert (caught.value.server, caught.value.stage) == ("fake", "initialize")


async def test_a_command_that_does_not_exist_fails_at_the_spawn_with_a_hint(
    tmp_path: Path,
) -> None:
    with pytest.raises(MCPConnectError) as caught:
        async with started(StdioServerConfig(name="s", command="no-such-command"), tmp_path):
            pass

    assert (caught.value.message, caught.value.server, caught.value.stage) == (
        "command not found: no-such-command",
        "s",
        "spawn",
    )
    assert caught.value.hint is not None


async def test_a_refused_handshake_is_told_with_its_code(tmp_path: Path) -> None:
    async def refuse(request: Request) -> JSONValue:
        raise RpcError(-32000, "go away")

    server = FakeMCPServer()
    server.methods["initialize"] = refuse
    with pytest.raises(MCPRequestError, match=r"go away \(code -32000\)"):
        async with connected(server, tmp_path):
            pass


# --- listing


@requirement("E10")
async def test_all_pages_are_read_in_order_with_an_empty_cursor_among_them(
    tmp_path: Path,
) -> None:
    tools: list[JSONObject] = [{"name": f"tool{number}", "inputSchema": {}} for number in range(6)]
    server = FakeMCPServer(tools=tools, page_size=2)
    async with connected(server, tmp_path) as connection:
        listed = await connection.list_tools()
        assert "list_tools" in connection.timings_ms

    assert listed == tuple(ToolDefinition(name=f"tool{number}") for number in range(6))
    assert [
        request.params
        for request in server.received
        if isinstance(request, Request) and request.method == "tools/list"
    ] == [None, {"cursor": ""}, {"cursor": "1"}]


@requirement("E11")
async def test_a_repeated_cursor_ends_the_list_with_one_warning(tmp_path: Path) -> None:
    record = tmp_path / "record"
    config = stdio_config("--behave", "repeated-cursor", "--record", str(record))
    async with started(config, tmp_path) as connection:
        assert len(await connection.list_tools()) == 8

    assert record.read_bytes().count(b"tools/list") == 2
    assert "listed twice" not in log_of(tmp_path)
    assert log_of(tmp_path).count("tools/list repeats a cursor: the list ends here") == 1


async def test_a_list_without_end_is_cut(tmp_path: Path) -> None:
    server = FakeMCPServer()
    pages = 0

    async def page(request: Request) -> JSONValue:
        nonlocal pages
        pages += 1
        return {"tools": [{"name": f"t{pages}"}], "nextCursor": f"c{pages}"}

    server.methods["tools/list"] = page
    async with connected(server, tmp_path) as connection:
        assert len(await connection.list_tools()) == MAX_PAGES

    assert f"tools/list is too long: cut after {MAX_PAGES} tools" in log_of(tmp_path)


async def test_bad_tools_are_left_out_and_told_and_the_others_stay(tmp_path: Path) -> None:
    tools: list[JSONObject] = [
        {"name": "good", "inputSchema": {"type": "object"}},
        {"name": "bare"},
        {"description": "nameless"},
        {"name": "wrong", "inputSchema": "text"},
        {"name": "good", "description": "again"},
    ]
    async with connected(FakeMCPServer(tools=tools), tmp_path) as connection:
        assert await connection.list_tools() == (
            ToolDefinition(name="good", input_schema={"type": "object"}),
            ToolDefinition(name="bare"),
        )

    log = log_of(tmp_path)
    assert "a tool left out: it has no name" in log
    assert "tool 'wrong' left out: its inputSchema is not an object" in log
    assert "tool 'good' is listed twice: the first counts" in log


async def test_only_what_a_server_offers_is_asked_for(tmp_path: Path) -> None:
    server = FakeMCPServer(capabilities={})
    async with connected(server, tmp_path) as connection:
        assert await connection.list_tools() == ()
        assert await connection.list_resources() == ()
        assert await connection.list_resource_templates() == ()
        assert await connection.list_prompts() == ()
        with pytest.raises(MCPProtocolError, match="offers no resources"):
            await connection.read_resource("x:///")

    assert server.methods_received == ["initialize", "notifications/initialized"]


async def test_resources_and_prompts_are_listed_and_read(tmp_path: Path) -> None:
    async with started(stdio_config(), tmp_path) as connection:
        assert await connection.list_resources() == ({"uri": "fake:///one", "name": "one"},)
        assert await connection.list_resource_templates() == (
            {"uriTemplate": "fake:///{x}", "name": "x"},
        )
        assert await connection.read_resource("fake:///one") == {
            "contents": [{"uri": "fake:///one", "text": "the text of fake:///one"}]
        }
        assert await connection.list_prompts() == ({"name": "greet", "description": "Say hello."},)


# --- calling


async def test_a_call_gives_content_structure_and_the_error_flag(tmp_path: Path) -> None:
    async with started(stdio_config(), tmp_path) as connection:
        total = await connection.call_tool("add", {"a": 1, "b": 2})
        failed = await connection.call_tool("fail", {"text": "denied"})

    assert total.content == ({"type": "text", "text": "3"},)
    assert (total.structured_content, total.is_error) == ({"sum": 3}, False)
    assert failed.content == ({"type": "text", "text": "denied"},)
    assert failed.is_error


async def test_a_servers_own_error_carries_code_server_and_stage(tmp_path: Path) -> None:
    async with connected(FakeMCPServer(), tmp_path) as connection:
        with pytest.raises(MCPRequestError) as caught:
            await connection.call_tool("no-such-tool", {})

    error = caught.value
    assert (error.message, error.code, error.server, error.stage) == (
        "unknown tool: no-such-tool (code -32602)",
        -32602,
        "fake",
        "call",
    )


async def test_progress_reaches_the_caller_and_keeps_a_long_call_alive(tmp_path: Path) -> None:
    reports: list[ToolProgress] = []
    async with started(stdio_config(), tmp_path, timeout_s=1.5) as connection:
        result = await connection.call_tool(
            "progress", {"steps": 4, "seconds": 0.6}, on_progress=reports.append
        )

    assert result.content == ({"type": "text", "text": "done"},)
    assert reports == [
        ToolProgress(progress=step, total=4, message=f"step {step}") for step in range(1, 5)
    ]


@requirement("G1")
async def test_cancel_and_time_out_name_the_request_and_the_next_call_works(
    tmp_path: Path,
) -> None:
    record = tmp_path / "record"
    async with started(stdio_config("--record", str(record)), tmp_path, timeout_s=1) as connection:
        with pytest.raises(MCPTimeoutError, match="no answer to tools/call within 1 s"):
            await connection.call_tool("sleep", {"seconds": 60})
        with anyio.move_on_after(0.2) as scope:
            await connection.call_tool("sleep", {"seconds": 60})
        assert scope.cancelled_caught
        result = await connection.call_tool("echo", {"text": "alive"})
        assert result.content == ({"type": "text", "text": "alive"},)

    text = record.read_text(encoding="utf-8")
    assert '"params":{"requestId":2,"reason":"timed out"}' in text
    assert '"params":{"requestId":3,"reason":"cancelled by the user"}' in text


@requirement("B5", "G5")
async def test_a_death_in_the_middle_of_a_call_ends_it_at_once_and_not_the_body(
    tmp_path: Path,
) -> None:
    async with started(stdio_config(), tmp_path, timeout_s=None) as connection:
        begun = anyio.current_time()
        with pytest.raises(MCPClosedError) as caught:
            await connection.call_tool("crash", {"status": 5})
        assert anyio.current_time() - begun < 1
        assert caught.value.message == "the server exited with status 5 (stderr: crashing)"
        await connection.closed.wait()
        assert connection.closed_error is not None
        assert connection.closed_error.message == caught.value.message
        with pytest.raises(MCPClosedError, match="status 5"):
            await connection.list_tools()


@requirement("G5")
async def test_a_server_killed_from_outside_is_noticed_without_a_call(tmp_path: Path) -> None:
    async with started(stdio_config(), tmp_path) as connection:
        assert connection.pid is not None
        os.kill(connection.pid, 9)
        await connection.closed.wait()
        with pytest.raises(MCPClosedError, match="ended by SIGKILL"):
            await connection.ping()


@requirement("B11")
async def test_bad_bytes_and_junk_cost_no_call(tmp_path: Path) -> None:
    for behaviour in ("badbytes", "garbage", "separators", "batch", "noisy"):
        async with started(stdio_config("--behave", behaviour), tmp_path) as connection:
            assert len(await connection.list_tools()) == 12
            result = await connection.call_tool("add", {"a": 20, "b": 22})
            assert result.structured_content == {"sum": 42}


@requirement("B12")
async def test_line_separators_inside_a_text_arrive_unchanged(tmp_path: Path) -> None:
    async with started(stdio_config("--behave", "separators"), tmp_path) as connection:
        result = await connection.call_tool("echo", {})

    assert result.content == ({"type": "text", "text": "a\u2028b\u2029c\u0085d"},)


async def test_odd_errors_fail_their_call_and_not_the_connection(tmp_path: Path) -> None:
    async with started(stdio_config("--behave", "odd-errors"), tmp_path) as connection:
        with pytest.raises(MCPRequestError, match=r"odd \(code -32700\)"):
            await connection.call_tool("null-id", {})
        with pytest.raises(MCPRequestError, match=r"no code \(code -32603\)"):
            await connection.call_tool("no-code", {})
        assert (await connection.call_tool("add", {"a": 1, "b": 1})).structured_content == {
            "sum": 2
        }


@requirement("Z55")
async def test_a_server_that_knows_no_ping_is_alive(tmp_path: Path) -> None:
    async def unknown(request: Request) -> JSONValue:
        raise RpcError(-32601, "unknown method")

    server = FakeMCPServer()
    async with connected(server, tmp_path) as connection:
        await connection.ping()
        server.methods["ping"] = unknown
        await connection.ping()


# --- being asked


async def test_a_servers_questions_are_answered_or_refused_with_the_right_code(
    tmp_path: Path,
) -> None:
    server = FakeMCPServer()
    async with connected(server, tmp_path, roots=(tmp_path,)) as connection:
        conversation = server.conversation
        assert conversation is not None
        assert await conversation.request("ping", timeout_s=5) == {}
        assert await conversation.request("roots/list", timeout_s=5) == {
            "roots": [{"uri": tmp_path.as_uri(), "name": tmp_path.name}]
        }
        for method in ("sampling/createMessage", "elicitation/create", "no/such"):
            with pytest.raises(MCPRequestError) as caught:
                await conversation.request(method, timeout_s=5)
            assert caught.value.code == -32601
        assert connection.closed_error is None


async def test_roots_are_declared_only_where_there_are_some(tmp_path: Path) -> None:
    server = FakeMCPServer()
    async with connected(server, tmp_path, roots=(tmp_path,)):
        pass
    greeting = server.received[0]
    assert isinstance(greeting, Request)
    assert greeting.params is not None
    assert greeting.params["capabilities"] == {"roots": {}}

    async with connected(FakeMCPServer(), tmp_path):
        pass


@requirement("H1")
async def test_a_change_of_tools_is_announced(tmp_path: Path) -> None:
    changed = anyio.Event()
    server = FakeMCPServer()
    with (
        anyio.fail_after(10),
        client_options(tmp_path, on_tools_changed=changed.set) as options,
    ):
        async with (
            server.running() as (transport, _),
            connect_over(transport, MEMORY, options, timeout_s=5) as connection,
        ):
            await server.change_tools([{"name": "new"}])
            await changed.wait()
            assert await connection.list_tools() == (ToolDefinition(name="new"),)


async def test_a_handler_of_changes_that_fails_does_not_end_the_connection(
    tmp_path: Path,
) -> None:
    def fail() -> None:
        raise ValueError("mine")

    server = FakeMCPServer()
    with anyio.fail_after(10), client_options(tmp_path, on_tools_changed=fail) as options:
        async with (
            server.running() as (transport, _),
            connect_over(transport, MEMORY, options, timeout_s=5) as connection,
        ):
            await server.change_tools([])
            await connection.ping()


# --- secrets


@requirement("B4")
async def test_no_secret_of_the_entry_is_in_a_message_or_the_log(tmp_path: Path) -> None:
    config = StdioServerConfig(
        name="s",
        command="sh",
        args=("-c", 'echo "bad key $KEY" >&2; exit 1'),
        env={"KEY": "s3cr3t-value"},
    )
    with pytest.raises(MCPConnectError) as caught:
        async with started(config, tmp_path):
            pass

    assert caught.value.message == "the server exited with status 1 (stderr: bad key [hidden])"
    assert "s3cr3t" not in log_of(tmp_path)
    assert "bad key [hidden]" in log_of(tmp_path)


@pytest.mark.parametrize(
    ("result", "why"),
    [
        ("NaN", "not JSON (NaN is not JSON)"),
        ("[" * 100_000 + "]" * 100_000, "not JSON (nested too deeply)"),
        ("1" * 10_000, "not JSON ("),
    ],
    ids=["NaN", "nested", "long number"],
)
async def test_an_answer_that_cannot_be_read_fails_its_call_at_once_and_not_the_connection(
    result: str, why: str, tmp_path: Path
) -> None:
    script = tmp_path / "server.py"
    script.write_text(ODD_ANSWERS, encoding="utf-8")
    (tmp_path / "result").write_text(result, encoding="utf-8")
    config = StdioServerConfig(
        name="odd", command=sys.executable, args=(str(script), str(tmp_path / "result"))
    )
    async with started(config, tmp_path, timeout_s=20) as connection:
        with anyio.fail_after(5), pytest.raises(MCPProtocolError) as caught:
            await connection.call_tool("t", {})
        await connection.ping()

    assert caught.value.message.startswith(f"the server's answer cannot be read: {why}")


ODD_ANSWERS = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "tools/call":
        print("hello")
        print('{"level": "info", "progress": NaN}')
        result = open(sys.argv[1]).read()
    elif message["method"] == "initialize":
        result = '{"protocolVersion": "2025-11-25", "serverInfo": {"name": "odd"}}'
    else:
        result = "{}"
    if "id" in message:
        print('{"jsonrpc": "2.0", "id": %d, "result": %s}' % (message["id"], result), flush=True)
"""


# --- lifetimes


@requirement("G3")
@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
async def test_connections_close_in_any_order_without_a_trace(
    order: tuple[int, int], tmp_path: Path
) -> None:
    stops = [anyio.Event(), anyio.Event()]
    ends = [anyio.Event(), anyio.Event()]
    connections: dict[int, MCPServerConnection] = {}
    ready = [anyio.Event(), anyio.Event()]
    with client_options(tmp_path) as options, anyio.fail_after(20):

        async def own(number: int) -> None:
            async with connect_to_server(stdio_config(), options, timeout_s=5) as connection:
                connections[number] = connection
                ready[number].set()
                await stops[number].wait()
            ends[number].set()

        async with anyio.create_task_group() as tasks:
            for number in (0, 1):
                tasks.start_soon(own, number)
                await ready[number].wait()
            first, second = order
            stops[first].set()
            await ends[first].wait()
            await connections[second].ping()
            with pytest.raises(MCPClosedError):
                await connections[first].ping()
            stops[second].set()


async def test_an_error_of_the_body_passes_through_unchanged(tmp_path: Path) -> None:
    with pytest.raises(MCPClosedError, match="another server") as caught:
        async with started(stdio_config(), tmp_path):
            raise MCPClosedError("another server", server="other")

    assert caught.value.server == "other"


@requirement("B6")
async def test_leaving_by_cancellation_in_the_middle_of_a_call_ends_the_process(
    tmp_path: Path,
) -> None:
    pid_file = tmp_path / "pid"
    config = stdio_config("--behave", "stubborn", "--pid-file", str(pid_file))
    with anyio.CancelScope() as scope:
        async with started(config, tmp_path) as connection, anyio.create_task_group() as tasks:
            tasks.start_soon(connection.call_tool, "sleep", {"seconds": 60})
            await until_file(pid_file)
            scope.cancel()

    assert not is_alive(int(pid_file.read_text(encoding="ascii")))


async def test_a_failed_server_does_not_slow_a_good_one(tmp_path: Path) -> None:
    errors: list[MCPError] = []
    with client_options(tmp_path) as options, anyio.fail_after(20):

        async def fail(config: ServerConfig) -> None:
            try:
                async with connect_to_server(config, options, timeout_s=2):
                    pass
            except MCPError as error:
                errors.append(error)

        async with anyio.create_task_group() as tasks:
            for config in (
                StdioServerConfig(name="dead", command="no-such-command"),
                stdio_config("--behave", "silent", name="silent"),
                stdio_config("--behave", "exit-at-once", name="leaving"),
            ):
                tasks.start_soon(fail, config)
            async with connect_to_server(stdio_config(), options, timeout_s=5) as connection:
                begun = anyio.current_time()
                assert len(await connection.list_tools()) == 12
                assert anyio.current_time() - begun < 1

    assert sorted((error.server, error.stage) for error in errors) == [
        ("dead", "spawn"),
        ("leaving", "initialize"),
        ("silent", "initialize"),
    ]


@requirement("B9")
async def test_a_50_mb_line_costs_at_most_three_times_its_size(tmp_path: Path) -> None:
    script = tmp_path / "measure.py"
    script.write_text(MEASURE, encoding="utf-8")
    result = await anyio.run_process(
        [sys.executable, str(script), *stdio_config().args], env={**os.environ, "PYTHONPATH": "."}
    )
    growth_mb, seconds = (float(word) for word in result.stdout.split())

    assert growth_mb < 3 * 50 * 1.05
    assert seconds < 10


MEASURE = """
import resource, sys, time
from pathlib import Path
import anyio
from agent_shell.discovery.server_config import StdioServerConfig
from tests.fakes.connections import client_options
from agent_shell.mcp.client import connect_to_server

def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

async def main():
    config = StdioServerConfig(name="s", command=sys.executable, args=tuple(sys.argv[1:]))
    with client_options(Path("/nonexistent")) as options:
        async with connect_to_server(config, options, timeout_s=60) as connection:
            await connection.list_tools()
            before, started = peak_mb(), time.perf_counter()
            size = 50 << 20
            result = await connection.call_tool("big", {"size": size})
            assert len(result.content[0]["text"]) == size
            print(peak_mb() - before, time.perf_counter() - started)

anyio.run(main)
"""
