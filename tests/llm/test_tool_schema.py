"""The copy of a schema that services accept."""

from typing import Any

import pytest

from agent_shell.llm.tool_schema import MAX_DESCRIPTION_CHARACTERS, schema_for_model


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"properties": None}])
def test_an_empty_schema_becomes_an_object_with_properties(schema: dict[str, Any]) -> None:
    """(CASES E5)"""
    assert schema_for_model(schema) == {"type": "object", "properties": {}}


def test_local_references_are_put_in_place_and_other_keys_kept() -> None:
    """(CASES E1)"""
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"q": {"$ref": "#/$defs/Q", "description": "the query", "default": {}}},
        "$defs": {"Q": {"type": "object", "properties": {"t": {"type": "string"}}}},
    }
    assert schema_for_model(schema) == {
        "type": "object",
        "properties": {
            "q": {
                "type": "object",
                "properties": {"t": {"type": "string"}},
                "description": "the query",
                "default": {},
            }
        },
    }


def test_recursion_is_cut_with_an_open_object() -> None:
    """(CASES E3)"""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"children": {"type": "array", "items": {"$ref": "#"}}},
    }
    assert schema_for_model(schema) == {
        "type": "object",
        "properties": {
            "children": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"children": {"type": "array", "items": {"type": "object"}}},
                },
            }
        },
    }


def test_references_that_fan_out_do_not_explode() -> None:
    steps: dict[str, Any] = {
        f"s{n}": {"anyOf": [{"$ref": f"#/$defs/s{n + 1}"}] * 8} for n in range(11)
    }
    steps["s11"] = {}
    schema: dict[str, Any] = {"properties": {"a": {"$ref": "#/$defs/s0"}}, "$defs": steps}
    assert len(str(schema_for_model(schema))) < 10_000_000


def test_a_remote_reference_is_left_open() -> None:
    schema: dict[str, Any] = {"properties": {"a": {"$ref": "https://example.org/x"}}}
    assert schema_for_model(schema)["properties"] == {"a": {"type": "object"}}


def test_properties_with_the_names_of_keywords_stay() -> None:
    schema: dict[str, Any] = {"properties": {"$ref": {"type": "string"}, "required": True}}
    assert schema_for_model(schema)["properties"] == {"$ref": {"type": "string"}, "required": {}}


def test_alternatives_at_the_root_become_one_object() -> None:
    schema: dict[str, Any] = {
        "oneOf": [
            {"properties": {"a": {"type": "string"}, "c": {}}, "required": ["a", "c"]},
            {"properties": {"b": {"type": "string"}, "c": {}}, "required": ["b", "c"]},
        ]
    }
    assert schema_for_model(schema) == {
        "type": "object",
        "properties": {"a": {"type": "string"}, "c": {}, "b": {"type": "string"}},
        "required": ["c"],
        "description": "Give the properties of one of these alternatives: {a, c} or {b, c}",
    }


def test_arrays_without_items_and_boolean_schemas_are_completed() -> None:
    schema: dict[str, Any] = {
        "properties": {"a": {"type": "array"}, "b": True, "c": {"type": "object"}},
        "additionalProperties": False,
    }
    assert schema_for_model(schema) == {
        "type": "object",
        "properties": {
            "a": {"type": "array", "items": {}},
            "b": {},
            "c": {"type": "object", "properties": {}},
        },
        "additionalProperties": False,
    }


def test_a_long_description_is_cut() -> None:
    schema: dict[str, Any] = {"properties": {"a": {"description": "x" * 9_000}}}
    made: Any = schema_for_model(schema)
    assert len(made["properties"]["a"]["description"]) == MAX_DESCRIPTION_CHARACTERS


def test_the_plain_copy_lacks_patterns_and_formats() -> None:
    schema: dict[str, Any] = {
        "properties": {"a": {"type": "string", "pattern": "(?=x)", "format": "uri"}}
    }
    assert schema_for_model(schema, is_plain=True)["properties"] == {"a": {"type": "string"}}


def test_the_original_is_not_touched() -> None:
    schema: dict[str, Any] = {"properties": {"a": {"type": "array"}}, "required": ["a"]}
    schema_for_model(schema)
    assert schema == {"properties": {"a": {"type": "array"}}, "required": ["a"]}
