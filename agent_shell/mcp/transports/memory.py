"""Two joined ends in one process, for tests and for servers that are a library."""

import anyio.lowlevel

from agent_shell.errors import MCPClosedError
from agent_shell.mcp.transports.inbox import Inbox
from agent_shell.mcp_protocol.jsonrpc import Incoming, Message, RequestFailed, decode, encode


class MemoryTransport:
    """One end. What is sent passes through JSON, so that both sides meet what a wire carries."""

    def __init__(self, inbox: Inbox, peer: Inbox) -> None:
        self.inbox = inbox
        self.peer = peer
        self.protocol_version: str | None = None

    async def send(self, message: Message) -> None:
        """Put one message into the other end's inbox. Raises MCPClosedError."""
        await anyio.lowlevel.checkpoint()
        if self.peer.closed_error is not None:
            raise MCPClosedError(self.peer.closed_error.message)
        for arrived in decode(encode(message)).messages:
            self.peer.put(arrived)

    def fail_request(self, failure: RequestFailed) -> None:
        """Play an HTTP transport: one of this end's requests will get no answer."""
        self.inbox.put(failure)

    async def receive(self) -> Incoming:
        """The next message from the other end. Raises MCPClosedError."""
        return await self.inbox.receive()

    def close(self, reason: str = "the other end was closed") -> None:
        """End both directions; what was sent before still arrives."""
        self.peer.close(MCPClosedError(reason))
        self.inbox.close(MCPClosedError(reason))

    def handshake_done(self, protocol_version: str) -> None:
        """Remember the revision, for whoever asks."""
        self.protocol_version = protocol_version

    @property
    def pid(self) -> int | None:
        """There is no process."""
        return None

    @property
    def stderr_tail(self) -> str:
        """There is no standard error."""
        return ""


def memory_transport_pair() -> tuple[MemoryTransport, MemoryTransport]:
    """Two ends: what one sends the other receives."""
    here, there = Inbox(), Inbox()
    return MemoryTransport(here, there), MemoryTransport(there, here)
