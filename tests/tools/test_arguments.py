"""Checking arguments against a schema."""

from typing import Any

import pytest

from agent_shell.errors import ToolArgumentsError
from agent_shell.tools.arguments import check_arguments

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "deep": {"properties": {"n": {"type": "integer"}}}},
    "required": ["path"],
}


def test_fitting_arguments_pass() -> None:
    check_arguments(SCHEMA, {"path": "x", "deep": {"n": 1}})


def test_the_message_names_each_place_and_what_is_wrong() -> None:
    with pytest.raises(ToolArgumentsError) as raised:
        check_arguments(SCHEMA, {"path": 1, "deep": {"n": "x"}})
    assert raised.value.message == (
        'the arguments do not fit: /path: 1 is not of type "string"; '
        '/deep/n: "x" is not of type "integer"'
    )


def test_a_long_value_does_not_fill_the_message() -> None:
    with pytest.raises(ToolArgumentsError) as raised:
        check_arguments({"properties": {"a": {"type": "integer"}}}, {"a": "x" * 100_000})
    assert len(raised.value.message) < 500


def test_many_problems_are_counted() -> None:
    schema: dict[str, Any] = {"additionalProperties": {"type": "integer"}}
    with pytest.raises(ToolArgumentsError, match="and 15 more"):
        check_arguments(schema, {f"k{number}": "x" for number in range(20)})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "no such type"},
        {"properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}},
        {"properties": {"a": {"$ref": "file:///etc/passwd"}}},
        {"properties": {"a": {"$ref": "#/nowhere"}}},
        {"properties": {"a": {"pattern": "("}}},
        {"$schema": "http://example.org/own"},
    ],
)
def test_an_unusable_schema_checks_nothing(schema: dict[str, Any]) -> None:
    check_arguments(schema, {"a": "anything"})


def test_a_draft_7_schema_is_read_as_such() -> None:
    schema: dict[str, Any] = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"a": {"items": [{"type": "integer"}]}},
    }
    with pytest.raises(ToolArgumentsError):
        check_arguments(schema, {"a": ["x"]})


def test_half_characters_in_arguments_are_no_crash() -> None:
    """(CASES I9)"""
    check_arguments(SCHEMA, {"path": "\ud83d"})
