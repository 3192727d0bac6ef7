"""What argv asks for, before it is parsed."""

import pytest

from agent_shell.cli.argv_glance import find_subcommand, opens_the_shell


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        ([], None),
        (["mcp", "list"], 0),
        (["--no-mcp", "mcp", "list"], 1),
        (["-C", "mcp", "models"], 2),
        (["--cwd=mcp", "help"], 1),
        (["explain mcp"], None),
        (["explain", "mcp"], None),
        (["--", "mcp"], None),
    ],
)
def test_a_subcommand_is_the_first_word_that_is_no_option(
    arguments: list[str], where: int | None
) -> None:
    assert find_subcommand(arguments) == where


@pytest.mark.parametrize(
    ("arguments", "opens"),
    [
        ([], True),
        (["--no-mcp"], True),
        (["-m", "-p"], True),
        (["fix the tests"], True),
        (["--", "-p"], True),
        (["-p", "hi"], False),
        (["hi", "--print"], False),
        (["--help"], False),
        (["mcp", "list"], False),
    ],
)
def test_the_shell_opens_unless_something_else_is_asked_for(
    arguments: list[str], opens: bool
) -> None:
    assert opens_the_shell(arguments) is opens
