"""The words behind /mcp add."""

import pytest

from agent_shell.errors import UsageError
from agent_shell.json_types import JSONObject
from agent_shell.repl.commands.mcp_edit import parse_addition


@pytest.mark.parametrize(
    ("text", "scope", "entry"),
    [
        ("x -- server", "user", {"command": "server", "args": []}),
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
    addition = parse_addition(text)

    assert (addition.name, addition.scope, addition.entry()) == ("x", scope, entry)


def test_a_command_with_blanks_is_one_word() -> None:
    """(CASES A13)"""
    addition = parse_addition('x -- "/tmp/a b/srv" "--opt=c d"')

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
        "x -- 'open",
        "x --transport stdio --url u",
    ],
)
def test_mistakes_are_usage_errors(text: str) -> None:
    with pytest.raises(UsageError):
        parse_addition(text)
