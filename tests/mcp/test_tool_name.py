"""Session names of MCP tools."""

import random
import re

from hypothesis import given
from hypothesis import strategies as st

from agent_shell.mcp.tool_name import assign_tool_names
from tests.requirements import requirement


@requirement("tools:name-form")
def test_a_plain_name_is_server_and_tool() -> None:
    assert assign_tool_names([("time", "get_current_time")]) == {
        ("time", "get_current_time"): "mcp_time_get_current_time"
    }


def test_characters_that_models_refuse_become_underscores() -> None:
    assert assign_tool_names([("my.server", "read file")]) == {
        ("my.server", "read file"): "mcp_my_server_read_file"
    }


@requirement("E8")
def test_tools_that_differ_only_in_replaced_characters_stay_distinct() -> None:
    """(CASES E8)"""
    origins = [("s", "a.b"), ("s", "a/b"), ("s", "a_b"), ("s", "aéb")]

    names = assign_tool_names(origins)

    assert names["s", "a_b"] == "mcp_s_a_b"
    assert len(set(names.values())) == 4


@requirement("E7")
def test_long_names_are_cut_to_64_and_stay_distinct() -> None:
    """(CASES E7)"""
    origins = [("s" * 40, "t" * 39 + "1"), ("s" * 40, "t" * 39 + "2")]

    names = assign_tool_names(origins)

    assert {len(name) for name in names.values()} == {64}
    assert len(set(names.values())) == 2


@requirement("E13")
def test_the_same_tool_of_two_servers_keeps_both_names_plain() -> None:
    """(CASES E13)"""
    assert assign_tool_names([("x", "search"), ("y", "search")]) == {
        ("x", "search"): "mcp_x_search",
        ("y", "search"): "mcp_y_search",
    }


def test_servers_whose_names_share_a_prefix_do_not_take_each_others_tools() -> None:
    """(CASES Y17)"""
    names = assign_tool_names([("a", "b_c"), ("a_b", "c")])

    assert names["a", "b_c"] == "mcp_a_b_c"
    assert names["a_b", "c"].startswith("mcp_a_b_c_")


@given(st.lists(st.tuples(st.text(max_size=50), st.text(max_size=50)), max_size=30), st.randoms())
def test_names_are_legal_distinct_and_independent_of_the_order(
    origins: list[tuple[str, str]], shuffler: random.Random
) -> None:
    names = assign_tool_names(origins)
    shuffled = list(origins)
    shuffler.shuffle(shuffled)

    assert assign_tool_names(shuffled) == names
    assert len(set(names.values())) == len(set(origins))
    assert all(re.fullmatch(r"mcp_[a-zA-Z0-9_-]{1,60}", name) for name in names.values())
