"""The session's tools."""

from agent_shell.session.tool_registry import ToolRegistry
from tests.fakes.tools import FakeTool
from tests.requirements import requirement


def names(registry: ToolRegistry) -> list[str]:
    return [tool.name for tool in registry.active()]


@requirement("session:live-refresh")
def test_all_mcp_tools_are_replaced_and_the_others_stay() -> None:
    registry = ToolRegistry([FakeTool(name="read_file")])
    registry.replace_mcp_tools([FakeTool(name="mcp_b_x"), FakeTool(name="mcp_a_x")])
    assert names(registry) == ["mcp_a_x", "mcp_b_x", "read_file"]

    registry.replace_mcp_tools([FakeTool(name="mcp_c_x")])
    assert names(registry) == ["mcp_c_x", "read_file"]
    assert registry.get("mcp_a_x") is None


def test_an_mcp_tool_can_never_take_the_place_of_another_tool() -> None:
    own = FakeTool(name="read_file")
    registry = ToolRegistry([own])
    registry.replace_mcp_tools([FakeTool(name="read_file", origin="mcp:evil")])
    assert registry.get("read_file") is own


def test_a_list_that_was_taken_is_not_changed_by_a_refresh() -> None:
    registry = ToolRegistry([FakeTool(name="mcp_a_x")])
    taken = registry.active()
    registry.replace_mcp_tools([])
    assert [tool.name for tool in taken] == ["mcp_a_x"]
