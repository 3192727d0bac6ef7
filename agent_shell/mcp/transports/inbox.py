"""Messages between a transport's readers and its `receive`."""

from collections import deque

import anyio

from agent_shell.errors import MCPClosedError, MCPError
from agent_shell.mcp_protocol.jsonrpc import Incoming

ROOM = 64
"""Messages that may wait before the readers pause: a flood must not become memory."""


class Inbox:
    """Filled by readers without waiting, emptied by one receiver.

    `close` says why no more will come; what is already inside is still handed out.
    """

    def __init__(self) -> None:
        self._messages: deque[Incoming] = deque()
        self._changed = anyio.Event()
        self._taken = anyio.Event()
        self.closed_error: MCPError | None = None

    def put(self, message: Incoming) -> None:
        """Add one message; after `close` it is dropped."""
        if self.closed_error is None:
            self._messages.append(message)
            self._changed.set()

    def close(self, error: MCPError) -> None:
        """No more messages: only the first reason counts."""
        if self.closed_error is None:
            self.closed_error = error
            self._changed.set()
            self._taken.set()

    async def wait_for_room(self) -> None:
        """Return when the receiver keeps up, or nothing is wanted any more."""
        while len(self._messages) >= ROOM and self.closed_error is None:
            if self._taken.is_set():  # else another reader waits for this one, too
                self._taken = anyio.Event()
            await self._taken.wait()

    async def receive(self) -> Incoming:
        """The next message. Raises the closing error when there are no more."""
        while not self._messages:
            if self.closed_error is not None:
                raise MCPClosedError(self.closed_error.message, hint=self.closed_error.hint)
            self._changed = anyio.Event()
            await self._changed.wait()
        message = self._messages.popleft()
        if len(self._messages) <= ROOM // 2:  # a reader that is woken for each message costs time
            self._taken.set()
        return message
