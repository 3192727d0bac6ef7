"""Variables and defaults."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_shell.discovery.expand import ExpandError, expand, expand_home
from tests.requirements import requirement


@requirement("A10")
@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("plain $X {Y}", "plain $X {Y}"),
        ("${A}", "a"),
        ("x${A}y${A}z", "xayaz"),
        ("${NONE:-d}", "d"),
        ("${EMPTY}", ""),
        ("${EMPTY:-d}", "d"),
        ("${NONE:-}", ""),
        ("${A:-${NONE}}", "a"),
        ("${NONE:-${HOME}/x}:/m", "/h/x:/m"),
        ("${NONE:-${OTHER:-${A}b}c}d", "abcd"),
        ("${NESTED}", "${A}"),
        ("${A}}", "a}"),
        ("${NONE:-{b}}", "{b}"),
    ],
)
def test_variables_are_put_in(text: str, expanded: str) -> None:
    environ = {"A": "a", "EMPTY": "", "HOME": "/h", "NESTED": "${A}"}

    assert expand(text, environ) == expanded


@pytest.mark.parametrize(
    ("text", "message", "variable"),
    [
        ("${NONE}", "variable NONE is not set", "NONE"),
        ("a${B:-${NONE}}", "variable NONE is not set", "NONE"),
        ("${A:-x", 'a "${" has no "}"', None),
        ("${", "after ${ there is no name of a variable", None),
        ("${A", "after ${ there is no name of a variable", None),
        ("${env:A}", "after ${ there is no name of a variable", None),
        ("${1}", "after ${ there is no name of a variable", None),
    ],
)
def test_what_cannot_be_expanded_is_told(text: str, message: str, variable: str | None) -> None:
    with pytest.raises(ExpandError) as caught:
        expand(text, {"A": "a"})

    assert (caught.value.message, caught.value.variable) == (message, variable)


def test_deep_nesting_and_repeated_large_values_are_bounded() -> None:
    assert expand("${N:-" * 50_000 + "x" + "}" * 50_000, {}) == "x"
    with pytest.raises(ExpandError, match="too long"):
        expand("${A}" * 100, {"A": "x" * 100_000})


@given(st.text(alphabet="${}:-AB", max_size=40))
def test_no_dollar_brace_of_the_text_is_left(text: str) -> None:
    try:
        expanded = expand(text, {"A": "1"})
    except ExpandError:
        return
    assert "${" not in expanded or "${" not in text


def test_a_leading_tilde_is_the_home_folder() -> None:
    environ = {"HOME": "/h"}

    words = ["~/x", "~", "~other/x", "a~/x", "~/"]
    assert [expand_home(word, environ) for word in words] == [
        "/h/x",
        "/h",
        "~other/x",
        "a~/x",
        "/h/",
    ]
    assert expand_home("~/x", {}) == "~/x"
