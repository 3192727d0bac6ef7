"""Servers made with the packages most people use: results, errors, progress, cancellation."""

import anyio
import pytest

from agent_shell.errors import MCPError
from agent_shell.mcp.client import MCPServerConnection, connect_to_server
from agent_shell.mcp_protocol.messages import ContentBlock
from agent_shell.tools.tool import ToolProgress
from tests.peers.conftest import ConnectOptions, PeerFactory
from tests.requirements import requirement

WAYS = [
    ("mcp1", "stdio"),
    ("mcp1", "http"),
    ("mcp1", "sse"),
    ("mcp1", "ws"),
    ("mcp2", "stdio"),
    ("mcp2", "http"),
    ("fastmcp", "stdio"),
    ("fastmcp", "http"),
]


def _texts(content: tuple[ContentBlock, ...]) -> list[object]:
    return [block.get("text") for block in content]


async def _add(connection: MCPServerConnection, a: int, b: int) -> object:
    result = await connection.call_tool("add", {"a": a, "b": b})
    return result.structured_content


@pytest.mark.parametrize(("name", "transport"), WAYS)
@requirement("peer:real-servers", "bridge:structured")
async def test_calls_give_text_structure_errors_and_progress(
    peer: PeerFactory, connect_options: ConnectOptions, name: str, transport: str
) -> None:
    reports: list[ToolProgress] = []
    with anyio.fail_after(60):
        async with connect_to_server(
            peer(name, transport), connect_options(), timeout_s=30
        ) as connection:
            sum_of_two = await connection.call_tool("add", {"a": 2, "b": 40})
            assert (sum_of_two.is_error, _texts(sum_of_two.content)) == (False, ["42"])
            assert sum_of_two.structured_content == {"result": 42}

            failed = await connection.call_tool("fail", {"message": "no luck"})
            assert failed.is_error
            # 2.x keeps the exception's own words to itself.
            assert "fail" in str(_texts(failed.content))

            counted = await connection.call_tool("count", {"steps": 3}, on_progress=reports.append)
            assert _texts(counted.content) == ["counted 3"]

    assert [(report.progress, report.total) for report in reports] == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(("name", "transport"), WAYS)
@requirement("peer:real-servers", "G1", "Y25")
async def test_a_cancelled_call_leaves_the_connection_usable(
    peer: PeerFactory, connect_options: ConnectOptions, name: str, transport: str
) -> None:
    with anyio.fail_after(60):
        async with connect_to_server(
            peer(name, transport), connect_options(), timeout_s=30
        ) as connection:
            with anyio.move_on_after(0.3) as impatience:
                await connection.call_tool("wait", {"seconds": 30})
            assert impatience.cancelled_caught
            assert await _add(connection, 1, 1) == {"result": 2}


@pytest.mark.parametrize(("name", "transport"), WAYS)
@requirement("peer:real-servers")
async def test_twenty_calls_at_once_each_get_their_own_answer(
    peer: PeerFactory, connect_options: ConnectOptions, name: str, transport: str
) -> None:
    sums: dict[int, object] = {}

    with anyio.fail_after(60):
        async with connect_to_server(
            peer(name, transport), connect_options(), timeout_s=30
        ) as connection:

            async def add(number: int) -> None:
                sums[number] = await _add(connection, number, 1000)

            async with anyio.create_task_group() as tasks:
                for number in range(20):
                    tasks.start_soon(add, number)

    assert sums == {number: {"result": number + 1000} for number in range(20)}


@requirement("peer:real-servers", "client:closes-on-failure")
async def test_a_path_that_is_no_endpoint_is_a_clear_error(
    peer: PeerFactory, connect_options: ConnectOptions
) -> None:
    config = peer("mcp1", "sse", path="/nowhere")

    with anyio.fail_after(30), pytest.raises(MCPError, match="404"):
        async with connect_to_server(config, connect_options(), timeout_s=10):
            pass
