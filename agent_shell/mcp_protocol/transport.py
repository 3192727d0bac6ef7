"""What a transport promises: whole messages, both ways."""

from typing import Protocol

from agent_shell.mcp_protocol.jsonrpc import Incoming, Message


class Transport(Protocol):
    """One connection. Opened by an async context manager of its module, closed by leaving it.

    The transport, not its user, reads ahead, drains side channels and watches for death.
    """

    async def send(self, message: Message) -> None:
        """Hand one message to the other side; returns when it is on its way.

        Raises MCPClosedError when the connection is gone. The failure of one exchange only
        (HTTP) is not raised here: it arrives as RequestFailed.
        """
        ...

    async def receive(self) -> Incoming:
        """The next message. Raises MCPClosedError, saying why, when no more can come."""
        ...

    def handshake_done(self, protocol_version: str) -> None:
        """`initialize` has settled on this protocol revision (HTTP repeats it in a header)."""
        ...

    @property
    def pid(self) -> int | None:
        """The server's process id, for a transport that has a process."""
        ...

    @property
    def stderr_tail(self) -> str:
        """The end of a process's standard error, secrets left out; empty for other transports."""
        ...
