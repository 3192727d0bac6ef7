"""MCP results as text and pictures for any model."""

import pytest

from agent_shell.json_types import JSONObject
from agent_shell.mcp.result_content import tool_result_of
from agent_shell.mcp_protocol.messages import CallToolResult
from agent_shell.tools.content import ImageContent, TextContent
from agent_shell.tools.tool import ToolResult
from tests.requirements import requirement


@requirement("F1")
def test_structured_content_without_text_is_given_as_json() -> None:
    """(CASES F1)"""
    result = CallToolResult(content=(), structured_content={"answer": 42})

    assert tool_result_of(result) == ToolResult(
        content=(TextContent(text='{"answer": 42}'),), structured={"answer": 42}
    )


def test_structured_content_beside_text_is_not_repeated() -> None:
    result = CallToolResult(
        content=({"type": "text", "text": "42"},), structured_content={"answer": 42}
    )

    assert tool_result_of(result) == ToolResult(
        content=(TextContent(text="42"),), structured={"answer": 42}
    )


def test_a_text_that_is_a_number_is_shown_as_its_json() -> None:
    result = CallToolResult(content=({"type": "text", "text": 42}, {"type": "text"}))

    assert tool_result_of(result).content == (TextContent(text="42"), TextContent(text=""))


@requirement("F3")
def test_links_and_unknown_blocks_become_short_notes_in_order() -> None:
    """(CASES F3)"""
    result = CallToolResult(
        content=(
            {"type": "text", "text": "see"},
            {"type": "resource_link", "name": "log", "uri": "file:///l", "mimeType": "text/plain"},
            {"type": "foo", "weird": [1]},
            {},
        )
    )

    assert tool_result_of(result).text.splitlines() == [
        "see",
        "[resource link: log · file:///l · text/plain]",
        "[unknown content block: foo]",
        "[unknown content block: without a type]",
    ]


@requirement("F4")
def test_an_embedded_text_is_kept_and_a_blob_becomes_a_note() -> None:
    """(CASES F4)"""
    result = CallToolResult(
        content=(
            {"type": "resource", "resource": {"uri": "demo://a", "text": "inside"}},
            {
                "type": "resource",
                "resource": {
                    "uri": "demo://b",
                    "mimeType": "application/pdf",
                    "blob": "QUJD" * 10,
                },
            },
        )
    )

    assert tool_result_of(result).text == (
        "[resource demo://a]\ninside\n"
        "[resource demo://b: application/pdf, about 30 bytes; not shown]"
    )


@requirement("F5")
def test_a_picture_is_passed_on_and_one_no_model_takes_becomes_a_note() -> None:
    """(CASES F5)"""
    result = CallToolResult(
        content=(
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "image", "data": "AAAA", "mimeType": "image/svg+xml"},
        )
    )

    assert tool_result_of(result).content == (
        ImageContent(data="AAAA", mime_type="image/png"),
        TextContent(text="[image: image/svg+xml, about 3 bytes; not shown]"),
    )


def test_nothing_at_all_is_said_in_words_since_models_refuse_empty_text() -> None:
    assert tool_result_of(CallToolResult(content=(), is_error=True)) == ToolResult(
        content=(TextContent(text="(the tool returned nothing)"),), is_error=True
    )


@pytest.mark.parametrize(
    "block",
    [
        {"type": "text", "text": None},
        {"type": "image"},
        {"type": "audio", "data": 5},
        {"type": "resource", "resource": None},
        {"type": "resource_link"},
        {"type": 7},
    ],
)
def test_malformed_blocks_never_raise(block: JSONObject) -> None:
    assert len(tool_result_of(CallToolResult(content=(block,))).content) == 1
