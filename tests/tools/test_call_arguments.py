"""Words behind a tool's name become what the tool's schema asks for."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_shell.errors import UsageError
from agent_shell.json_types import JSONObject, JSONValue
from agent_shell.tools.call_arguments import parse_call_arguments

SCHEMA: JSONObject = {
    "type": "object",
    "properties": {
        "s": {"type": "string"},
        "i": {"type": "integer"},
        "n": {"type": "number"},
        "b": {"type": "boolean"},
        "a": {"type": "array", "items": {"type": "integer"}},
        "w": {"type": "array"},
        "o": {"type": "object"},
        "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "either": {"type": ["integer", "string"]},
        "strings": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
        "several": {"anyOf": [{"type": "string"}, {"type": "array"}]},
        "level": {"enum": ["low", "high", 3]},
        "free": {},
        "ref": {"$ref": "#/$defs/flag"},
        "loop": {"$ref": "#/$defs/loop"},
    },
    "$defs": {"flag": {"type": "boolean"}, "loop": {"$ref": "#/$defs/loop"}},
}


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("", {}),
        ("  ", {}),
        ('{"s": "x", "o": {"a": [1]}}', {"s": "x", "o": {"a": [1]}}),
        ("s=5", {"s": "5"}),
        ("s=", {"s": ""}),
        ("s='a b=c'", {"s": "a b=c"}),
        ("i=-7 n=1.5 b=true", {"i": -7, "n": 1.5, "b": True}),
        ("n=3", {"n": 3}),
        ("n=1e3", {"n": 1000.0}),
        ("a=1,2,3", {"a": [1, 2, 3]}),
        ("a=1 a=2", {"a": [1, 2]}),
        ("a=[4,5]", {"a": [4, 5]}),
        ("a=", {"a": []}),
        ("w=x,y", {"w": ["x", "y"]}),
        ("o='{\"x\": 1}'", {"o": {"x": 1}}),
        ("maybe=null", {"maybe": None}),
        ("maybe=x", {"maybe": "x"}),
        ("either=5", {"either": 5}),
        ("either=five", {"either": "five"}),
        ("strings=a,b", {"strings": ["a", "b"]}),
        ("several=a,b", {"several": "a,b"}),
        ("several=[1]", {"several": [1]}),
        ("level=low", {"level": "low"}),
        ("level=3", {"level": 3}),
        ("free=5", {"free": 5}),
        ("free=x", {"free": "x"}),
        ("free='[x'", {"free": "[x"}),
        ("ref=false", {"ref": False}),
        ("loop=1", {"loop": 1}),
        ("unknown=true", {"unknown": True}),
        ("s:=null new:='{\"a\": 1}'", {"s": None, "new": {"a": 1}}),
    ],
)
def test_words_are_read_by_the_schema(text: str, arguments: dict[str, JSONValue]) -> None:
    assert parse_call_arguments(text, SCHEMA) == arguments


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", '"x" is not key=value'),
        ("=x", '"=x" is not key=value'),
        ("s='a", "arguments: no closing quotation"),
        ('{"a"', "the arguments: not valid JSON: expecting ':' delimiter (line 1, column 5)"),
        ("{" + '"a":{' * 100_000, None),
        ("i=1.5", '"i" must be an integer, not "1.5"'),
        ("i=1_0", '"i" must be an integer, not "1_0"'),
        ("n=nan", '"n" must be a number, not "nan"'),
        ("b=yes", '"b" must be a boolean, not "yes"'),
        ("a=1,x", 'an item of "a" must be an integer, not "x"'),
        ("o=x", '"o" must be an object, not "x"'),
        ("s=1 s=2", '"s" is given twice'),
        ("s:=x", '"s": not valid JSON: expecting value (line 1, column 1)'),
    ],
)
def test_what_does_not_fit_is_told(text: str, message: str | None) -> None:
    with pytest.raises(UsageError) as caught:
        parse_call_arguments(text, SCHEMA)

    assert message is None or caught.value.message == message


def test_a_key_the_schema_rules_out_is_refused() -> None:
    schema: JSONObject = {"properties": {"b": {}, "a": {}}, "additionalProperties": False}

    with pytest.raises(UsageError, match='the tool has no argument "c"') as caught:
        parse_call_arguments(["c=1"], schema)

    assert caught.value.hint == "its arguments: a, b"


def test_words_of_a_command_line_are_taken_as_they_are() -> None:
    assert parse_call_arguments(["s=a 'b\"", "i=2"], SCHEMA) == {"s": "a 'b\"", "i": 2}
    assert parse_call_arguments(['{"s": "x y"}'], SCHEMA) == {"s": "x y"}
    assert parse_call_arguments([], SCHEMA) == {}


@given(st.dictionaries(st.text("abc", min_size=1), st.integers() | st.booleans() | st.none()))
def test_json_with_a_colon_says_any_value(values: dict[str, JSONValue]) -> None:
    words = [f"{key}:={json.dumps(value)}" for key, value in values.items()]

    assert parse_call_arguments(words, {}) == values


@given(st.text(max_size=30))
def test_no_text_breaks_it(text: str) -> None:
    try:
        parse_call_arguments(text, SCHEMA)
    except UsageError:
        return
