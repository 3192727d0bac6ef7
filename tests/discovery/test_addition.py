"""The words behind `mcp add` and /mcp add."""

import shlex

import pytest

from agent_shell.discovery.addition import check_new_entry, parse_addition
from agent_shell.errors import UsageError
from agent_shell.json_types import JSONObject


@pytest.mark.parametrize(
    ("text", "scope", "entry"),
    [
        ("x -- server", "user", {"command": "server"}),
        (
            "x --scope project -e A=b=c -- uvx server --flag",
            "project",
            {"command": "uvx", "args": ["server", "--flag"], "env": {"A": "b=c"}},
        ),
        ("x --url http://localhost/mcp", "user", {"url": "http://localhost/mcp"}),
        (
            "--url http://h/sse x --transport sse -H 'X-Key: a: b'",
            "user",
            {"type": "sse", "url": "http://h/sse", "headers": {"X-Key": "a: b"}},
        ),
    ],
)
def test_words_become_an_entry(text: str, scope: str, entry: JSONObject) -> None:
    addition = parse_addition(shlex.split(text), hint="")

    assert (addition.name, addition.scope, addition.entry()) == ("x", scope, entry)


def test_a_command_with_blanks_is_one_word() -> None:
    """(CASES A13)"""
    addition = parse_addition(["x", "--", "/tmp/a b/srv", "--opt=c d"], hint="")

    assert addition.entry() == {"command": "/tmp/a b/srv", "args": ["--opt=c d"]}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "x --",
        "-- server",
        "x y -- server",
        "x --url u -- server",
        "x --scope all -- s",
        "x --url",
        "x -e A -- s",
        "x --what -- s",
        "x --transport stdio --url u",
    ],
)
def test_mistakes_are_usage_errors(text: str) -> None:
    with pytest.raises(UsageError):
        parse_addition(shlex.split(text), hint="")


def test_an_entry_that_could_never_be_used_is_refused_before_it_is_written() -> None:
    with pytest.raises(UsageError, match='server "x": '):
        check_new_entry("x", {"type": "http", "command": "true"}, {})


def test_an_unset_variable_may_be_set_tomorrow() -> None:
    reading = check_new_entry("x", {"command": "true", "env": {"A": "${NOT_SET}"}}, {})

    assert reading.error is not None
    assert reading.error.variable == "NOT_SET"
