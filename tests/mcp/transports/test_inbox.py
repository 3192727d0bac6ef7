"""Messages between readers and the receiver."""

import anyio
import pytest

from agent_shell.errors import MCPClosedError
from agent_shell.mcp.transports.inbox import ROOM, Inbox
from agent_shell.mcp_protocol.jsonrpc import Notification

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])


async def test_what_was_inside_is_still_handed_out_after_the_end() -> None:
    inbox = Inbox()
    inbox.put(Notification(method="last"))
    inbox.close(MCPClosedError("first reason"))
    inbox.close(MCPClosedError("second reason"))
    inbox.put(Notification(method="too late"))

    assert await inbox.receive() == Notification(method="last")
    with pytest.raises(MCPClosedError, match="first reason"):
        await inbox.receive()


async def test_several_readers_wait_for_room_and_all_go_on() -> None:
    inbox = Inbox()
    for _ in range(ROOM):
        inbox.put(Notification(method="m"))
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(inbox.wait_for_room)
            tasks.start_soon(inbox.wait_for_room)
            await anyio.wait_all_tasks_blocked()
            for _ in range(ROOM // 2):
                await inbox.receive()


async def test_the_end_wakes_whoever_waits() -> None:
    inbox = Inbox()

    async def expect_end() -> None:
        with pytest.raises(MCPClosedError, match="over"):
            await inbox.receive()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(expect_end)
            await anyio.wait_all_tasks_blocked()
            inbox.close(MCPClosedError("over"))
