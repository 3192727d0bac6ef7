"""Back-off for failures that may pass: which, how often, how long (MODELS.md 2.7)."""

import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from email.utils import parsedate_to_datetime

import anyio

from agent_shell.errors import LLMError
from agent_shell.llm.provider import RetryNotice, StreamEvent

BUSY_STATUSES = frozenset({429, 503, 529})
"""The service is there but overloaded: worth more patience."""
MAX_BUSY_TRIES = 6
MAX_TRIES = 3
MAX_RETRY_AFTER_S = 120.0
"""A service that asks for more patience than this is reported instead."""

_HOPELESS_WORDS = ("insufficient_quota", "exceeded your current quota", "billing", "credit balance")


def should_retry_status(status: int, said: str, headers: Mapping[str, str]) -> bool:
    """Whether an HTTP answer may be different next time. The service's own word counts most."""
    wish = headers.get("x-should-retry")
    if wish in {"true", "false"}:
        return wish == "true"
    if any(word in said.lower() for word in _HOPELESS_WORDS):
        return False
    return status in {408, 409, 429} or status >= 500


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds the service asks to wait: `retry-after-ms`, `retry-after` in seconds or as a date."""
    try:
        if (milliseconds := headers.get("retry-after-ms")) is not None:
            return float(milliseconds) / 1000
        asked = headers.get("retry-after")
        if asked is None:
            return None
        try:
            return float(asked)
        except ValueError:
            return parsedate_to_datetime(asked).timestamp() - time.time()
    except (ValueError, TypeError):
        return None


def delay_before_retry_s(
    error: LLMError, attempt: int, chance: Callable[[], float]
) -> float | None:
    """Seconds until try number `attempt` + 1, or None to give up."""
    if not error.can_retry:
        return None
    if attempt >= (MAX_BUSY_TRIES if error.status in BUSY_STATUSES else MAX_TRIES):
        return None
    asked = error.retry_after_s
    if asked is not None and asked > MAX_RETRY_AFTER_S:
        return None
    if asked is not None and asked > 0:
        return asked
    # Three quarters to all of the step: many clients must not come back in the same instant.
    return min(0.5 * 2 ** (attempt - 1), 8.0) * (0.75 + 0.25 * chance())


async def with_retries(
    open_stream: Callable[[], AsyncGenerator[StreamEvent]],
    *,
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    chance: Callable[[], float] = random.random,
) -> AsyncGenerator[StreamEvent]:
    """The stream's events; a failure before the first one is tried again after a RetryNotice.

    Once anything was shown the failure is the caller's to report: repeating would show it twice.
    Raises LLMError.
    """
    attempt = 1
    while True:
        was_shown = False
        try:
            async with aclosing(open_stream()) as events:
                async for event in events:
                    was_shown = True
                    yield event
            return
        except LLMError as error:
            delay_s = None if was_shown else delay_before_retry_s(error, attempt, chance)
            if delay_s is None:
                raise
            reason = error.message
        yield RetryNotice(attempt=attempt, delay_s=delay_s, reason=reason)
        await sleep(delay_s)
        attempt += 1
