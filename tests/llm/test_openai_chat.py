"""The provider against a service on loopback that sends exact bytes."""

import base64
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import pytest
from anyio import to_thread

from agent_shell.errors import LLMError
from agent_shell.llm.http_stream import ServiceAddress
from agent_shell.llm.messages import UserMessage
from agent_shell.llm.openai_chat import OpenAIChatProvider
from agent_shell.llm.provider import MessageDone, RetryNotice, StreamEvent, TextPiece
from agent_shell.tools.content import TextContent
from agent_shell.tools.tool import Tool
from tests.fakes.model_server import ModelServer, chat_chunk
from tests.fakes.tools import FakeTool
from tests.llm.recorded_streams import chat_streams, needs_streams
from tests.requirements import requirement

HELLO = [UserMessage(content=(TextContent(text="hello"),))]
FAST_RETRY = {"retry-after-ms": "1"}


@asynccontextmanager
async def talk(
    *script: dict[str, Any], **fields: Any
) -> AsyncGenerator[tuple[ModelServer, OpenAIChatProvider]]:
    """A service with this script, and a provider that is closed afterwards."""
    with ModelServer(script) as server:
        address = ServiceAddress(name="fake", base_url=server.base_url, **fields)
        model = OpenAIChatProvider(address, "test-model")
        try:
            yield server, model
        finally:
            await model.aclose()


async def ask(
    model: OpenAIChatProvider, tools: Sequence[Tool] = (), seen: list[StreamEvent] | None = None
) -> list[StreamEvent]:
    """All events of one request; those seen before an error are in `seen`."""
    events = seen if seen is not None else []
    with anyio.fail_after(10):
        async for event in model.stream(system="be brief", messages=HELLO, tools=tools):
            events.append(event)
    return events


async def answer_to(*script: dict[str, Any]) -> list[StreamEvent]:
    """The events of one request to a service with this script."""
    async with talk(*script) as (_, model):
        return await ask(model)


def text_of(events: list[StreamEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextPiece))


async def test_a_text_comes_in_pieces_and_then_whole() -> None:
    events = await answer_to({"text": ["hel", "lo"]})
    assert text_of(events) == "hello"
    done = events[-1]
    assert isinstance(done, MessageDone)
    assert (done.message.text, done.stop_reason) == ("hello", "stop")
    assert done.usage is not None
    assert done.usage.input_tokens == 10


@needs_streams
async def test_every_recorded_stream_survives_the_wire() -> None:
    texts = [text for name, text in chat_streams() if "tool_use_failed" not in name]
    async with talk(*({"raw": [text]} for text in texts)) as (_, model):
        for _ in texts:
            assert isinstance((await ask(model))[-1], MessageDone)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
async def test_comments_and_empty_fields_are_ignored(ending: str) -> None:
    """(CASES J7)"""
    lines = [": ping", ":", "data:", "retry: 3000", "", chat_chunk({"content": "a"}).rstrip(), ""]
    lines += ["event: message", chat_chunk({"content": "b"}).rstrip(), "", "data: [DONE]", "", ""]
    assert text_of(await answer_to({"raw": [ending.join(lines)]})) == "ab"


async def test_a_body_of_single_bytes_keeps_every_character() -> None:
    """(CASES J8)"""
    text = "漢字 é \U0001f600 \u2028 end"
    payload = chat_chunk({"content": text}).encode("ascii").decode("unicode_escape")
    body = payload.encode("utf-16", "surrogatepass").decode("utf-16").encode()
    body += b"data: [DONE]\n\n"
    single = [{"base64": base64.b64encode(body[at : at + 1]).decode()} for at in range(len(body))]
    assert text_of(await answer_to({"raw": single})) == text


@requirement("L3")
async def test_a_stream_that_is_cut_is_an_error_after_what_was_shown() -> None:
    """(CASES J9)"""
    async with talk({"text": ["half"], "cut": True}) as (server, model):
        seen: list[StreamEvent] = []
        with pytest.raises(LLMError, match="broke"):
            await ask(model, seen=seen)
        assert text_of(seen) == "half"
        assert len(server.chats) == 1


async def test_a_clean_end_without_a_terminal_event_is_an_error_too() -> None:
    """(CASES J9)"""
    async with talk({"raw": [chat_chunk({"content": "half"})]}) as (_, model):
        with pytest.raises(LLMError, match="broke off in the middle"):
            await ask(model)


async def test_a_failure_before_anything_was_shown_is_tried_again() -> None:
    """(CASES J13)"""
    events = await answer_to(
        {"status": 429, "headers": FAST_RETRY, "body": {"error": {"message": "slow down"}}},
        {"text": "hello"},
    )
    assert events[0] == RetryNotice(attempt=1, delay_s=0.001, reason="fake answered 429: slow down")
    assert text_of(events) == "hello"


async def test_an_error_in_the_stream_after_some_text_is_not_tried_again() -> None:
    """(CASES J13)"""
    broken = [chat_chunk({"content": "some"}), 'data: {"error":{"message":"overloaded"}}\n\n']
    async with talk({"raw": broken}, {"text": "again"}) as (server, model):
        with pytest.raises(LLMError, match="overloaded"):
            await ask(model)
        assert len(server.chats) == 1


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (401, {"error": {"message": "bad key sk-secret"}}, "fake answered 401: bad key [hidden]"),
        (404, {"error": "model not found"}, "fake answered 404: model not found"),
        (400, [{"error": {"message": "in a list"}}], "fake answered 400: in a list"),
        (422, {"detail": "what"}, "fake answered 422: what"),
        (413, "too large, in plain text", "fake answered 413: too large, in plain text"),
        (429, {"error": {"code": "insufficient_quota"}}, "fake answered 429: insufficient_quota"),
    ],
)
async def test_a_hopeless_answer_is_one_clear_error(
    status: int, body: object, message: str
) -> None:
    script = {"status": status, "body": body}
    async with talk(script, secret="sk-secret", key_hint="check THE_KEY") as (server, model):
        with pytest.raises(LLMError) as raised:
            await ask(model)
        assert raised.value.message == message
        assert raised.value.hint == ("check THE_KEY" if status == 401 else raised.value.hint)
        assert len(server.chats) == 1


async def test_a_kept_connection_that_died_is_replaced_at_once() -> None:
    async with talk({"text": "one", "close": True}, {"text": "two"}) as (_, model):
        assert text_of(await ask(model)) == "one"
        events = await ask(model)
    assert text_of(events) == "two"
    assert not any(isinstance(event, RetryNotice) for event in events)


async def test_nobody_listening_is_said_at_once() -> None:
    async with talk() as (server, model):
        server.stop()
        with pytest.raises(LLMError) as raised:
            await ask(model)
    assert raised.value.message.startswith(f"cannot reach fake at {server.base_url}: ")
    assert raised.value.hint == "is it running?"


async def test_a_service_on_this_machine_is_not_asked_through_a_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """(CASES C14)"""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert text_of(await answer_to({"text": "hello"})) == "hello"


async def test_cancelling_closes_the_connection() -> None:
    async with talk({"text": ["one", {"gate": "never"}]}) as (server, model):

        async def read(scope: anyio.CancelScope) -> None:
            with scope:
                async for event in model.stream(system="", messages=HELLO, tools=[]):
                    if isinstance(event, TextPiece):
                        scope.cancel()

        with anyio.fail_after(5):
            await read(anyio.CancelScope())
            left = server.chats[0].client_left
            assert await to_thread.run_sync(partial(left.wait, 5))


async def test_a_tool_whose_schema_is_refused_is_left_out_and_named() -> None:
    tools = [FakeTool(name="bad"), FakeTool(name="good")]
    refusal = {"error": {"message": "Invalid schema for tools[0].function.parameters"}}
    async with talk({"status": 400, "body": refusal}, {"text": "hello"}) as (server, model):
        events = await ask(model, tools)
    assert events[0] == RetryNotice(
        attempt=1, delay_s=0, reason="fake refused the schema of bad: left out"
    )
    offered = [tool["function"]["name"] for tool in server.chats[1].body["tools"]]
    assert offered == ["good"]


async def test_a_service_without_stream_options_is_asked_without_them() -> None:
    refusal = {"error": {"message": "unknown field: stream_options"}}
    async with talk({"status": 422, "body": refusal}, {"text": "hello"}) as (server, model):
        await ask(model)
    assert "stream_options" not in server.chats[1].body


async def test_an_html_error_page_does_not_end_up_in_the_message() -> None:
    async with talk({"status": 404, "body": "<html>" + "x" * 9_000}) as (_, model):
        with pytest.raises(LLMError) as raised:
            await ask(model)
    assert raised.value.message == "fake answered 404: Not Found"


@pytest.mark.parametrize("body", ["null", "{}", "[]", '""'])
async def test_an_error_body_that_says_nothing_leaves_the_status_text(body: str) -> None:
    async with talk({"status": 400, "body": body}) as (_, model):
        with pytest.raises(LLMError) as raised:
            await ask(model)
    assert raised.value.message == "fake answered 400: Bad Request"


async def test_a_web_page_is_no_answer() -> None:
    page = {"raw": ["<html></html>"], "headers": {"content-type": "text/html"}}
    async with talk(page) as (_, model):
        with pytest.raises(LLMError, match="answered with a web page"):
            await ask(model)


async def test_silence_between_two_bytes_has_a_limit() -> None:
    with ModelServer([{"text": ["half", {"gate": "never"}]}]) as server:
        address = ServiceAddress(name="fake", base_url=server.base_url)
        model = OpenAIChatProvider(address, "m", idle_timeout_s=0.2)
        with pytest.raises(LLMError, match="fake sent nothing for too long"):
            await ask(model)
        await model.aclose()


async def test_a_proxy_of_an_unknown_kind_is_one_clear_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ALL_PROXY", "gopher://127.0.0.1:9")
    address = ServiceAddress(name="far", base_url="http://model.invalid/v1")
    with pytest.raises(LLMError, match="HTTP can't be used") as raised:
        await ask(OpenAIChatProvider(address, "m"))
    assert "ALL_PROXY" in (raised.value.hint or "")


async def test_a_json_answer_to_a_stream_request_is_understood() -> None:
    whole = {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}
    assert text_of(await answer_to({"status": 200, "body": whole})) == "hi"
