"""Values, comments, trailing commas and places."""

import contextlib
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_shell.discovery.jsonc import JsoncError, NotANumber, parse_jsonc
from tests.requirements import requirement

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)


@requirement("A3")
def test_comments_are_read_and_what_looks_like_one_in_a_string_is_text() -> None:
    document = parse_jsonc(
        '// note\n{"url": "http://h/a", /* a\n block */ "args": ["/* kept", "a//b",], // end\n}'
    )

    assert document.value == {"url": "http://h/a", "args": ["/* kept", "a//b"]}
    assert document.place_of(("args", 1)) == (3, 31)
    assert document.place_of(("args",), at_key=True) == (3, 11)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a" 1}', ('expected ":"', 1, 6)),
        ("{\n  'a': 1}", ("expected a key in double quotes", 2, 3)),
        ('{"a": 1}}', ("expected nothing more after the end of the first value", 1, 9)),
        ('{"a": "b', ("this string has no end", 1, 7)),
        ("{} /* x", ("this comment has no end", 1, 4)),
        ("/*/", ("this comment has no end", 1, 1)),
        ("[,]", ("expected a value", 1, 2)),
        ("[1,,]", ("expected a value", 1, 4)),
        (",]", ("expected a value", 1, 1)),
        ("\ufeff{}", ("there is a second byte-order mark", 1, 1)),
        ('"\\q"', ("this backslash begins no escape that JSON knows", 1, 2)),
        ("[" * 200, ("nested deeper than 100 levels", 1, 101)),
        ("[" * 2_000_000, ("nested deeper than 100 levels", 1, 101)),
        ('"a\tb"', ("a string may not hold this control character", 1, 3)),
        ("}", ("expected a value", 1, 1)),
    ],
)
def test_a_mistake_has_a_place(text: str, problem: tuple[str, int, int]) -> None:
    with pytest.raises(JsoncError) as caught:
        parse_jsonc(text)

    assert (caught.value.message, caught.value.line, caught.value.column) == problem


@pytest.mark.parametrize("text", ["", "  \n\t", "// only words\n", "/* */"])
def test_a_text_without_a_value_is_empty(text: str) -> None:
    document = parse_jsonc(text)

    assert (document.is_empty, document.value) == (True, None)


def test_of_a_repeated_key_the_first_counts_and_the_others_are_told() -> None:
    document = parse_jsonc('{"a": {"x": 1},\n "b": 2,\n "a": 3}')

    assert document.value == {"a": {"x": 1}, "b": 2}
    assert [document.place(member.start) for member in document.repeated_keys(())] == [(3, 2)]
    assert list(document.repeated_keys(("a",))) == []


@given(JSON_VALUES)
def test_everything_json_can_say_is_read_as_the_standard_library_reads_it(value: object) -> None:
    for text in (json.dumps(value), json.dumps(value, indent=1, ensure_ascii=False)):
        assert parse_jsonc(text).value == value


@given(st.text(alphabet='{}[]",:/*\\\n tfn1-.e', max_size=60))
def test_no_text_breaks_it(text: str) -> None:
    try:
        document = parse_jsonc(text)
    except JsoncError:
        return
    assert len(document.plain) == len(text)
    document.place_of(("a", 0))


@pytest.mark.parametrize(
    "text",
    [
        "/*/*" * 1_000_000,
        '"' * 4_000_000,
        "//\n" * 1_000_000 + "1",
        "[" + "[]," * 1_000_000 + "1]",
        "[1" + ", " * 2_000_000 + "]",
        '"' + "a\\n" * 1_000_000 + '"',
    ],
    ids=["comments", "quotes", "lines", "pairs", "commas", "string"],
)
def test_time_is_linear_for_hostile_texts(text: str) -> None:
    began = time.process_time()
    with contextlib.suppress(JsoncError):
        parse_jsonc(text)

    assert time.process_time() - began < 10


def test_what_is_no_number_of_json_stays_recognisable_as_such() -> None:
    text = f"[NaN, -Infinity, 1e999, {'9' * 5_000}, 1.5, 2]"
    value = parse_jsonc(text).value

    assert value == ["NaN", "-Infinity", "1e999", "9" * 5_000, 1.5, 2]
    assert isinstance(value, list)
    assert [isinstance(each, NotANumber) for each in value] == [*[True] * 4, False, False]
