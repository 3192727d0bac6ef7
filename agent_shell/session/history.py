"""The messages so far."""

from collections.abc import Callable, Sequence

from agent_shell.llm.messages import ChatMessage


class History:
    """A conversation's messages in order; `on_added` hears of each new one."""

    def __init__(self, on_added: Callable[[ChatMessage], None] | None = None) -> None:
        self._messages: list[ChatMessage] = []
        self._on_added = on_added

    @property
    def messages(self) -> Sequence[ChatMessage]:
        """All messages."""
        return self._messages

    def add(self, message: ChatMessage) -> None:
        """Append one."""
        self._messages.append(message)
        if self._on_added is not None:
            self._on_added(message)

    def clear(self) -> None:
        """Forget them all."""
        self._messages = []
