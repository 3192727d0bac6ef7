"""MCP's own words: what a server gets wrong costs as little as can be."""

import pytest

from agent_shell.errors import MCPProtocolError
from agent_shell.json_types import JSONObject, JSONValue
from agent_shell.mcp_protocol.messages import (
    CallToolResult,
    InitializeResult,
    Page,
    ServerInfo,
    ToolDefinition,
    read_call_tool_result,
    read_initialize_result,
    read_page,
    read_tool,
)
from tests.requirements import requirement


def text_block(text: JSONValue) -> JSONObject:
    return {"type": "text", "text": text}


def test_an_initialize_result_may_lack_all_but_its_version() -> None:
    assert read_initialize_result({"protocolVersion": "2024-11-05"}) == InitializeResult(
        protocol_version="2024-11-05", capabilities={}, server_info=ServerInfo(name="")
    )


@pytest.mark.parametrize("value", [None, [], {}, {"protocolVersion": 3}])
def test_an_initialize_result_without_version_is_refused(value: None) -> None:
    with pytest.raises(MCPProtocolError, match="names no protocol version"):
        read_initialize_result(value)


@requirement("E10")
def test_an_empty_cursor_is_a_cursor() -> None:
    assert read_page({"tools": [], "nextCursor": ""}, "tools") == Page(items=(), next_cursor="")
    assert read_page({"tools": [], "nextCursor": None}, "tools") == Page(items=())


def test_items_that_are_no_objects_are_left_out_and_told() -> None:
    assert read_page({"prompts": [{"name": "a"}, 1, None]}, "prompts") == Page(
        items=({"name": "a"},), problems=("2 of prompts left out: not an object",)
    )


@pytest.mark.parametrize("value", [None, {}, {"tools": {}}, []])
def test_a_page_without_list_is_refused(value: None) -> None:
    with pytest.raises(MCPProtocolError, match="no list of tools"):
        read_page(value, "tools")


def test_schemas_and_annotations_are_kept_as_they_came() -> None:
    schema: JSONObject = {
        "type": "object",
        "$defs": {"Q": {"$anchor": "q"}},
        "allOf": [{"if": True}],
    }
    tool: JSONObject = {
        "name": "t",
        "title": "T",
        "description": "d",
        "inputSchema": schema,
        "outputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True},
        "icons": [],
    }

    assert read_tool(tool) == ToolDefinition(
        name="t",
        title="T",
        description="d",
        input_schema=schema,
        output_schema={"type": "object"},
        annotations={"readOnlyHint": True},
    )


def test_a_tool_without_schema_is_kept_and_one_without_name_is_not() -> None:
    assert read_tool({"name": "bare"}) == ToolDefinition(name="bare")
    assert read_tool({"name": ""}) == "a tool left out: it has no name"
    assert (
        read_tool({"name": "t", "inputSchema": "x"})
        == "tool 't' left out: its inputSchema is not an object"
    )


@pytest.mark.parametrize(
    ("content", "blocks"),
    [
        ("str", ({"type": "text", "text": "str"},)),
        ({"type": "foo"}, ({"type": "foo"},)),
        ([{"type": "foo"}, 3, None, "x"], ({"type": "foo"}, text_block(3), text_block("x"))),
    ],
)
def test_content_of_the_wrong_shape_is_kept_and_not_lost(
    content: JSONValue, blocks: tuple[JSONObject, ...]
) -> None:
    raw: JSONObject = {"content": content}

    assert read_call_tool_result(raw) == CallToolResult(content=blocks, raw=raw)


@pytest.mark.parametrize(
    ("flag", "is_error"),
    [("yes", True), (1, True), ("true", True), ("false", False), (0, False), (None, False)],
)
def test_an_error_flag_that_is_no_boolean_still_counts(flag: JSONValue, is_error: bool) -> None:
    assert read_call_tool_result({"content": [], "isError": flag}).is_error is is_error


def test_a_servers_name_stays_in_one_line_of_bounded_length() -> None:
    answer: JSONObject = {
        "protocolVersion": "2025-11-25",
        "serverInfo": {"name": "a\nerror: b", "version": "9" * 1000, "title": "t\x1b"},
    }

    assert read_initialize_result(answer).server_info == ServerInfo(
        name="a error: b", version="9" * 200 + "…", title="t\\x1b"
    )


def test_a_result_may_lack_content_and_keeps_unknown_blocks() -> None:
    raw = {"structuredContent": {"answer": 42}, "isError": True}
    assert read_call_tool_result(raw) == CallToolResult(
        content=(), is_error=True, structured_content={"answer": 42}, raw=raw
    )
    with pytest.raises(MCPProtocolError, match="not an object"):
        read_call_tool_result("text")
