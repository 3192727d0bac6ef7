"""A conversation in the words of a chat completion request."""

import json
from typing import Any

from agent_shell.llm.chat_request import (
    ChatDialect,
    ToolListEncoder,
    dialect_of,
    encode_request,
    wire_messages,
)
from agent_shell.llm.messages import (
    AssistantMessage,
    ChatMessage,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agent_shell.tools.content import Content, ImageContent, TextContent
from tests.fakes.tools import FakeTool

LOCAL = ChatDialect()


def user(text: str) -> UserMessage:
    return UserMessage(content=(TextContent(text=text),))


def result(call_id: str, *content: Content, is_error: bool = False) -> ToolResultMessage:
    return ToolResultMessage(call_id=call_id, tool_name="look", content=content, is_error=is_error)


def called(*ids: str, **fields: Any) -> AssistantMessage:
    calls = tuple(ToolCall(id=one, name="look", arguments={"a": 1}) for one in ids)
    return AssistantMessage(tool_calls=calls, **fields)


def wire(*messages: ChatMessage, dialect: ChatDialect = LOCAL) -> list[dict[str, Any]]:
    made: Any = wire_messages("", messages, service="here", dialect=dialect)
    return made


def test_a_turn_with_a_call_keeps_its_order_and_ids() -> None:
    assert wire(user("go"), called("c1"), result("c1", TextContent(text="yes"))) == [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "look", "arguments": '{"a": 1}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "yes"},
    ]


def test_empty_assistant_messages_are_never_sent() -> None:
    """(CASES J16)"""
    assert wire(user("one"), AssistantMessage(text=" \n"), user("two")) == [
        {"role": "user", "content": "one\n\ntwo"}
    ]


def test_a_picture_of_a_tool_follows_the_last_result() -> None:
    """(CASES F5, F8)"""
    picture = ImageContent(data="QUJD", mime_type="image/PNG")
    drawing = ImageContent(data="QUJD", mime_type="image/svg+xml")
    messages = wire(called("c1", "c2"), result("c1", picture), result("c2", drawing))
    assert messages[1:] == [
        {"role": "tool", "tool_call_id": "c1", "content": "(the picture follows)"},
        {
            "role": "tool",
            "tool_call_id": "c2",
            "content": "[image of type image/svg+xml, 3 bytes, not shown]",
        },
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Image from look:"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
            ],
        },
    ]


def test_errors_and_empty_results_are_said_in_words() -> None:
    failed = result("c1", TextContent(text="denied"), is_error=True)
    assert [message["content"] for message in wire(called("c1"), failed, result("c2"))[1:]] == [
        "error: denied",
        "(no output)",
    ]


def test_reasoning_goes_back_in_the_field_it_came_in_only_to_its_service() -> None:
    own = called(
        "c1", reasoning="why", reasoning_field="reasoning", provider_data={"service": "here"}
    )
    other = called(
        "c1", reasoning="why", reasoning_field="reasoning", provider_data={"service": "x"}
    )
    assert [wire(message)[0].get("reasoning") for message in (own, other)] == ["why", None]


def test_deepseek_gets_reasoning_on_every_tool_turn() -> None:
    message = wire(called("c1"), dialect=dialect_of("api.deepseek.com"))[0]
    assert message["reasoning_content"] == ""


def test_ids_are_fitted_to_the_service_the_same_way_in_call_and_result() -> None:
    long = "call_" + "x" * 60
    for host in ("api.openai.com", "api.mistral.ai"):
        messages = wire(called(long), result(long), dialect=dialect_of(host))
        sent = messages[0]["tool_calls"][0]["id"]
        assert sent == messages[1]["tool_call_id"]
        assert len(sent) == (9 if "mistral" in host else 37)


def test_half_characters_never_reach_the_wire() -> None:
    """(CASES I9)"""
    body = encode_request(
        model="m",
        service="here",
        dialect=LOCAL,
        system="s",
        messages=[user("a\ud83d b\udcff")],
        tools=[],
    )
    assert json.loads(body.decode())["messages"][1]["content"] == "a\ufffd b\ufffd"


def test_only_what_a_service_needs_is_sent() -> None:
    bodies = {
        host: json.loads(
            encode_request(
                model="m",
                service="x",
                dialect=dialect_of(host),
                system="",
                messages=[user("hi")],
                tools=[],
                max_output_tokens=5,
            )
        )
        for host in ("127.0.0.1", "api.openai.com", "api.mistral.ai")
    }
    assert {
        host: sorted(set(body) - {"model", "messages", "stream"}) for host, body in bodies.items()
    } == {
        "127.0.0.1": ["max_tokens", "stream_options"],
        "api.openai.com": ["max_completion_tokens", "stream_options"],
        "api.mistral.ai": ["max_tokens"],
    }


def test_a_tools_schema_is_converted_once_while_it_is_in_use() -> None:
    encoder = ToolListEncoder()
    tool = FakeTool(name="one")
    first, second = encoder.encode([tool]), encoder.encode([tool])
    assert first[0] is second[0]
    encoder.encode([])
    assert encoder.encode([tool])[0] is not first[0]
