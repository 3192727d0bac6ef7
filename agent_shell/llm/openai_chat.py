"""OpenAI-compatible chat completions: one model of one service as an LLMProvider."""

import logging
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from agent_shell.errors import LLMError
from agent_shell.llm.chat_request import ToolListEncoder, dialect_of, encode_request
from agent_shell.llm.chat_stream import ChatStreamReader
from agent_shell.llm.http_stream import HttpService, ServiceAddress
from agent_shell.llm.messages import ChatMessage
from agent_shell.llm.provider import RetryNotice, StreamEvent
from agent_shell.llm.retry import with_retries
from agent_shell.tools.tool import Tool

_NAMED_TOOL = re.compile(r"tools[.\[](\d+)")
MAX_ADAPTATIONS = 8
"""How often one request is changed to please a service before its complaint is passed on."""

_log = logging.getLogger(__name__)


class OpenAIChatProvider:
    """An LLMProvider over HTTP. Connections open with the first request; `aclose` closes them.

    `idle_timeout_s` bounds the silence between two bytes; by default it depends on the service.
    """

    def __init__(
        self,
        address: ServiceAddress,
        model_id: str,
        *,
        context_window: int | None = None,
        max_output_tokens: int | None = None,
        idle_timeout_s: float | None = None,
    ) -> None:
        self.model_id = model_id
        self._address = address
        self._service = HttpService(address, idle_timeout_s=idle_timeout_s)
        self._context_window = context_window
        self._max_output_tokens = max_output_tokens
        self._dialect = dialect_of(address.host)
        self._tools = ToolListEncoder()

    @property
    def model(self) -> str:
        """`PROVIDER/MODEL`, as `--model` takes it."""
        return f"{self._address.name}/{self.model_id}"

    @property
    def context_window(self) -> int | None:
        """Tokens that fit, where the service said so."""
        return self._context_window

    async def aclose(self) -> None:
        """Close the connections."""
        await self._service.aclose()

    async def stream(
        self, *, system: str, messages: Sequence[ChatMessage], tools: Sequence[Tool]
    ) -> AsyncGenerator[StreamEvent]:
        """One request, tried again where that may help; see LLMProvider."""
        for _ in range(MAX_ADAPTATIONS):
            was_shown = False
            try:
                async with aclosing(
                    with_retries(lambda: self._stream_once(system, messages, tools))
                ) as events:
                    async for event in events:
                        was_shown = was_shown or not isinstance(event, RetryNotice)
                        yield event
                return
            except LLMError as error:
                change = None if was_shown else self._adapt_to(error, tools)
                if change is None:
                    raise
            yield RetryNotice(attempt=1, delay_s=0, reason=change)
        async with aclosing(self._stream_once(system, messages, tools)) as events:
            async for event in events:
                yield event

    async def _stream_once(
        self, system: str, messages: Sequence[ChatMessage], tools: Sequence[Tool]
    ) -> AsyncGenerator[StreamEvent]:
        body = encode_request(
            model=self.model_id,
            service=self._address.name,
            dialect=self._dialect,
            system=system,
            messages=messages,
            tools=self._tools.encode(tools),
            max_output_tokens=self._max_output_tokens,
        )
        reader = ChatStreamReader(self._address.name)
        async with aclosing(self._service.post_events("/chat/completions", body)) as events:
            async for event in events:
                for piece in reader.feed(event.data):
                    yield piece
        for piece in reader.finish():
            yield piece

    def _adapt_to(self, error: LLMError, tools: Sequence[Tool]) -> str | None:
        """Change what this service cannot take; says what was changed, or None if nothing helps.

        One schema that a service dislikes would otherwise make every request fail.
        """
        if error.status not in {400, 422, 500}:
            return None
        said = error.message
        if "stream_options" in said and self._dialect.asks_for_usage:
            self._dialect = replace(self._dialect, asks_for_usage=False)
            return f"{self._address.name} does not know stream_options: left out"
        if error.status != 500 and (named := _NAMED_TOOL.search(said)):
            offered = self._tools.offered(tools)
            if (place := int(named[1])) < len(offered):
                name = offered[place].name
                self._tools.dropped.add(name)
                _log.warning("%s refused the tool %s: %s", self._address.name, name, said)
                return f"{self._address.name} refused the schema of {name}: left out"
        if "grammar" in said.lower() and not self._tools.is_plain:
            self._tools.is_plain = True
            return f"{self._address.name} cannot follow a tool's schema: simplified"
        return None
