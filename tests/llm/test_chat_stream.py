"""Putting chunks together: the recorded streams of real services, and what broke others."""

import json

import pytest

from agent_shell.errors import LLMError
from agent_shell.llm.chat_stream import ChatStreamReader, parse_arguments
from agent_shell.llm.messages import ToolCall
from agent_shell.llm.provider import MessageDone, ReasoningPiece, TextPiece, Usage
from tests.llm.recorded_streams import chat_streams, needs_streams, stream

LIKE_GROQ_ERROR = "pydantic-ai/test_groq-test_tool_use_failed_error_streaming.yaml#0"


def read(*payloads: object) -> MessageDone:
    """The message these payloads make."""
    reader = ChatStreamReader("service")
    for payload in payloads:
        reader.feed(payload if isinstance(payload, str) else json.dumps(payload))
    return done(reader)


def read_sse(text: str) -> MessageDone:
    """The message of a recorded stream."""
    reader = ChatStreamReader("service")
    for line in text.splitlines():
        if line.startswith("data:") and line[5:].strip():
            reader.feed(line[5:])
    return done(reader)


def done(reader: ChatStreamReader) -> MessageDone:
    """The last event."""
    last = reader.finish()[-1]
    assert isinstance(last, MessageDone)
    return last


def delta(finish_reason: str | None = None, **fields: object) -> dict[str, object]:
    """One chunk."""
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish_reason}]}


def piece(arguments: object = None, name: str | None = None, **fields: object) -> dict[str, object]:
    """One piece of a tool call."""
    function = {"arguments": arguments} | ({"name": name} if name is not None else {})
    return {"function": function, **fields}


@needs_streams
def test_every_recorded_stream_is_read_to_its_end() -> None:
    names: list[str] = []
    for name, text in chat_streams():
        if name == LIKE_GROQ_ERROR:
            continue
        message = read_sse(text)
        assert message.message.text or message.message.tool_calls, name
        assert all(call.arguments is not None for call in message.message.tool_calls), name
        assert message.usage is not None or name.startswith(("openai-python", "simonw-llm")), name
        names.append(name)
    assert len(names) > 190


@needs_streams
def test_an_error_in_the_middle_of_a_recorded_stream_is_raised() -> None:
    with pytest.raises(LLMError, match="Tool call validation failed"):
        read_sse(stream(LIKE_GROQ_ERROR))


@needs_streams
def test_a_call_whose_arguments_come_in_pieces_is_joined() -> None:
    message = read_sse(stream("vercel-ai/deepseek/chat/deepseek-tool-call.chunks.txt"))

    assert [(call.name, call.arguments) for call in message.message.tool_calls] == [
        ("weather", {"location": "San Francisco"})
    ]
    assert message.stop_reason == "tool_calls"
    assert message.message.reasoning_field == "reasoning_content"
    assert message.usage is not None
    assert message.usage.cached_tokens == 320


@needs_streams
def test_mistral_thinking_in_a_list_of_parts_is_reasoning_not_text() -> None:
    message = read_sse(stream("vercel-ai/mistral/mistral-reasoning.chunks.txt"))

    assert message.message.reasoning != ""
    assert "thinking" not in message.message.text
    assert message.message.text != ""


@needs_streams
def test_openrouters_reasoning_details_are_kept_for_replay() -> None:
    text = next(
        text
        for name, text in chat_streams()
        if name.startswith("fantasy/TestOpenRouterThinking") and "reasoning_details" in text
    )
    data = read_sse(text).message.provider_data
    assert data is not None
    assert data["reasoning_details"]


def test_two_calls_in_one_chunk_without_index_are_two_calls() -> None:
    """(CASES J1)"""
    both = [piece('{"a":1}', "one", id="x1"), piece('{"b":2}', "two", id="x2")]
    assert calls(read(delta(tool_calls=both), "[DONE]")) == [
        ("x1", "one", {"a": 1}),
        ("x2", "two", {"b": 2}),
    ]


def test_later_pieces_without_index_belong_to_the_latest_call() -> None:
    """(CASES J1)"""
    message = read(
        delta(tool_calls=[piece("", "one", id="x1")]),
        delta(tool_calls=[piece('{"a"')]),
        delta(tool_calls=[piece(":1}")]),
        "[DONE]",
    )
    assert calls(message) == [("x1", "one", {"a": 1})]


def test_arguments_in_five_pieces_with_an_index_are_one_call() -> None:
    """(CASES J2)"""
    parts = ['{"pa', 'th":', ' "a b', '/ü"', "}"]
    message = read(
        delta(tool_calls=[piece("", "read", id="x1", index=0)]),
        *[delta(tool_calls=[piece(part, index=0)]) for part in parts],
        delta(finish_reason="tool_calls"),
    )
    assert calls(message) == [("x1", "read", {"path": "a b/ü"})]


def test_parallel_calls_that_all_claim_index_0_are_told_apart_by_their_ids() -> None:
    message = read(
        delta(tool_calls=[piece('{"a":1}', "one", id="x1", index=0)]),
        delta(tool_calls=[piece('{"a":2}', "one", id="x2", index=0)]),
        "[DONE]",
    )
    assert calls(message) == [("x1", "one", {"a": 1}), ("x2", "one", {"a": 2})]


def test_whole_calls_with_index_0_and_no_ids_are_told_apart_by_their_names() -> None:
    message = read(
        delta(tool_calls=[piece('{"a":1}', "one", index=0)]),
        delta(tool_calls=[piece('{"b":2}', "two", index=0)]),
        "[DONE]",
    )
    assert [(name, given) for _, name, given in calls(message)] == [
        ("one", {"a": 1}),
        ("two", {"b": 2}),
    ]
    assert len({call.id for call in message.message.tool_calls}) == 2


def test_empty_ids_and_names_in_later_pieces_change_nothing() -> None:
    message = read(
        delta(tool_calls=[piece("", "one", id="x1", index=0)]),
        delta(tool_calls=[piece('{"a":1}', "", id="", index=0)]),
        "[DONE]",
    )
    assert calls(message) == [("x1", "one", {"a": 1})]


def test_a_fresh_id_on_every_piece_does_not_split_a_call() -> None:
    message = read(
        delta(tool_calls=[piece('{"a"', "one", id="x1", index=0)]),
        delta(tool_calls=[piece(":1}", id="x2", index=0)]),
        "[DONE]",
    )
    assert calls(message) == [("x1", "one", {"a": 1})]


def test_a_signature_in_a_delta_of_its_own_stays_with_its_call() -> None:
    signature = {"google": {"thought_signature": "abc"}}
    message = read(
        delta(tool_calls=[piece("{}", "one", id="x1")]),
        delta(tool_calls=[{"extra_content": signature}]),
        delta(finish_reason="stop"),
    )
    assert message.message.tool_calls == (
        ToolCall(
            id="x1",
            name="one",
            arguments={},
            arguments_text="{}",
            provider_data={"extra_content": signature},
        ),
    )


@pytest.mark.parametrize("text", ["", "  \n", "null"])
def test_empty_arguments_are_an_empty_object(text: str) -> None:
    """(CASES J4)"""
    assert parse_arguments(text) == {}


def test_arguments_that_are_null_or_absent_or_an_object_are_understood() -> None:
    """(CASES J4)"""
    message = read(
        delta(tool_calls=[piece(None, "one", id="a"), {"id": "b", "function": {"name": "two"}}]),
        delta(tool_calls=[piece({"k": 1}, "three", id="c")]),
        "[DONE]",
    )
    assert calls(message) == [("a", "one", {}), ("b", "two", {}), ("c", "three", {"k": 1})]


def test_arguments_that_are_no_object_are_kept_as_text() -> None:
    message = read(delta(tool_calls=[piece('{"a": ', "one", id="a")], finish_reason="length"))
    call = message.message.tool_calls[0]
    assert (call.arguments, call.arguments_text, message.stop_reason) == (None, '{"a": ', "length")


@pytest.mark.parametrize("reason", ["stop", "tool_calls", "something_new"])
def test_calls_make_a_tool_turn_whatever_the_finish_reason_says(reason: str) -> None:
    """(CASES J11)"""
    call = delta(tool_calls=[piece("{}", "one", id="a")], content="text", finish_reason=reason)
    assert read(call).stop_reason == "tool_calls"


def test_chunks_without_choices_carry_usage_or_nothing() -> None:
    """(CASES J6)"""
    message = read(
        {"choices": [], "prompt_filter_results": []},
        {"choices": None},
        delta(content="hi"),
        {"choices": [{"index": 0, "delta": None, "finish_reason": "stop"}]},
        {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2, "cost": 0.5}},
    )
    assert (message.message.text, message.usage) == (
        "hi",
        Usage(input_tokens=7, output_tokens=2, cost_usd=0.5),
    )


def test_the_same_reasoning_in_two_fields_is_taken_once() -> None:
    reader = ChatStreamReader("service")
    events = reader.feed(json.dumps(delta(reasoning_content="why", reasoning="why")))
    assert events == [ReasoningPiece(text="why")]


def test_think_tags_at_the_beginning_are_reasoning() -> None:
    pieces = ["<th", "ink>a<b", "</thi", "nk>\n\nso: </think>"]
    message = read(*[delta(content=piece) for piece in pieces], "[DONE]").message
    assert (message.reasoning, message.text) == ("a<b", "so: </think>")


def test_half_an_emoji_waits_for_its_other_half() -> None:
    """(CASES J8)"""
    reader = ChatStreamReader("service")
    first = reader.feed('{"choices":[{"delta":{"content":"a\\ud83d"}}]}')
    second = reader.feed('{"choices":[{"delta":{"content":"\\ude00b"}}]}')
    assert [*first, *second] == [TextPiece(text="a"), TextPiece(text="\U0001f600b")]


def test_half_an_emoji_that_stays_alone_becomes_a_replacement_character() -> None:
    """(CASES I9)"""
    message = read('{"choices":[{"delta":{"content":"a\\ud83d"},"finish_reason":"stop"}]}')
    assert message.message.text == "a\ufffd"


@pytest.mark.parametrize(
    "chunks", [[], [delta(content="half")], [delta(tool_calls=[piece("{", "one", id="a")])]]
)
def test_a_stream_without_its_terminal_event_is_an_error(chunks: list[object]) -> None:
    """(CASES J9)"""
    with pytest.raises(LLMError, match="broke off"):
        read(*chunks)


def test_an_answer_that_ignored_stream_true_is_read_whole() -> None:
    whole = {
        "choices": [
            {
                "message": {"content": "hi", "tool_calls": [piece("{}", "one", id="a")]},
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1},
    }
    message = read(whole)
    assert (message.message.text, calls(message)) == ("hi", [("a", "one", {})])


@pytest.mark.parametrize(
    ("error", "can_retry"),
    [
        ({"error": {"message": "busy", "code": 503}}, True),
        ({"error": {"message": "no", "code": 400}}, False),
        ({"error": {"message": "full", "type": "overloaded_error"}}, True),
        ({"error": "plain words"}, False),
    ],
)
def test_an_error_object_in_the_stream_is_raised(error: dict[str, object], can_retry: bool) -> None:
    """(CASES J13)"""
    with pytest.raises(LLMError) as raised:
        read(delta(content="some"), error)
    assert raised.value.can_retry == can_retry


def test_a_refusal_is_text_and_a_reason() -> None:
    message = read(delta(refusal="I can't"), delta(finish_reason="stop"))
    assert (message.message.text, message.stop_reason) == ("I can't", "refusal")


def calls(message: MessageDone) -> list[tuple[str, str, object]]:
    """The calls as (id, name, arguments)."""
    return [(call.id, call.name, call.arguments) for call in message.message.tool_calls]
