"""What every transport without a process of ours has in common."""

from agent_shell.mcp.transports.inbox import Inbox
from agent_shell.mcp_protocol.jsonrpc import Incoming


class RemoteTransport:
    """Readers fill the inbox, `receive` empties it; there is no process to speak of."""

    def __init__(self) -> None:
        self._inbox = Inbox()

    async def receive(self) -> Incoming:
        """The next message. Raises MCPClosedError."""
        return await self._inbox.receive()

    @property
    def pid(self) -> int | None:
        """There is no process of ours."""
        return None

    @property
    def stderr_tail(self) -> str:
        """There is no standard error."""
        return ""
