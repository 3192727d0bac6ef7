"""Which failures are tried again, and when."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from agent_shell.errors import LLMError
from agent_shell.llm.provider import RetryNotice, StreamEvent, TextPiece
from agent_shell.llm.retry import (
    MAX_BUSY_TRIES,
    MAX_TRIES,
    delay_before_retry_s,
    retry_after_s,
    should_retry_status,
    with_retries,
)

BUSY = LLMError("busy", status=503, can_retry=True)
BROKEN = LLMError("broken", can_retry=True)


class Service:
    """Fails with each of these errors in turn, then answers."""

    def __init__(self, *errors: LLMError, shows_first: bool = False) -> None:
        self.errors = list(errors)
        self.shows_first = shows_first
        self.slept: list[float] = []

    async def stream(self) -> AsyncGenerator[StreamEvent]:
        if self.shows_first:
            yield TextPiece(text="shown")
        if self.errors:
            raise self.errors.pop(0)
        yield TextPiece(text="done")

    async def sleep(self, delay_s: float) -> None:
        self.slept.append(delay_s)

    async def run(self) -> list[StreamEvent]:
        stream = with_retries(self.stream, sleep=self.sleep, chance=lambda: 1.0)
        return [event async for event in stream]


async def test_delays_double_and_each_is_announced() -> None:
    service = Service(BUSY, BUSY, BUSY)
    events = await service.run()
    assert service.slept == [0.5, 1.0, 2.0]
    assert events == [
        RetryNotice(attempt=1, delay_s=0.5, reason="busy"),
        RetryNotice(attempt=2, delay_s=1.0, reason="busy"),
        RetryNotice(attempt=3, delay_s=2.0, reason="busy"),
        TextPiece(text="done"),
    ]


@pytest.mark.parametrize(("error", "tries"), [(BUSY, MAX_BUSY_TRIES), (BROKEN, MAX_TRIES)])
async def test_patience_ends(error: LLMError, tries: int) -> None:
    service = Service(*[error] * 20)
    with pytest.raises(LLMError):
        await service.run()
    assert len(service.slept) == tries - 1


async def test_nothing_is_tried_again_once_something_was_shown() -> None:
    service = Service(BROKEN, shows_first=True)
    with pytest.raises(LLMError, match="broken"):
        await service.run()
    assert service.slept == []


def test_the_service_says_how_long() -> None:
    asked = LLMError("busy", status=429, can_retry=True, retry_after_s=7)
    too_long = LLMError("busy", status=429, can_retry=True, retry_after_s=3_600)
    assert delay_before_retry_s(asked, 1, lambda: 0) == 7
    assert delay_before_retry_s(too_long, 1, lambda: 0) is None


def test_retry_after_is_read_in_all_three_spellings() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert retry_after_s({"retry-after-ms": "250"}) == 0.25
    assert retry_after_s({"retry-after": "3"}) == 3
    assert retry_after_s({"retry-after": later}) == pytest.approx(30, abs=2)
    assert retry_after_s({"retry-after": "soon"}) is None
    assert retry_after_s({}) is None


@pytest.mark.parametrize(
    ("status", "said", "headers", "expected"),
    [
        (500, "", {}, True),
        (429, "slow down", {}, True),
        (429, "You exceeded your current quota", {}, False),
        (400, "", {}, False),
        (400, "", {"x-should-retry": "true"}, True),
        (503, "", {"x-should-retry": "false"}, False),
    ],
)
def test_which_statuses_may_pass(
    status: int, said: str, headers: dict[str, str], expected: bool
) -> None:
    assert should_retry_status(status, said, headers) == expected
