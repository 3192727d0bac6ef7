"""MCP's own words: what a server gets wrong costs as little as can be."""

import pytest

from agent_shell.errors import MCPProtocolError
from agent_shell.json_types import JSONObject
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


def test_a_result_may_lack_content_and_keeps_unknown_blocks() -> None:
    raw = {"structuredContent": {"answer": 42}, "isError": True}
    odd = {"content": [{"type": "foo"}, 3]}

    assert read_call_tool_result(raw) == CallToolResult(
        content=(), is_error=True, structured_content={"answer": 42}, raw=raw
    )
    assert read_call_tool_result(odd) == CallToolResult(content=({"type": "foo"},), raw=odd)
    with pytest.raises(MCPProtocolError, match="not an object"):
        read_call_tool_result("text")
