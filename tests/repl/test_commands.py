"""The table of commands."""

import pytest

from agent_shell.errors import UsageError
from agent_shell.repl.commands import COMMANDS, find_command
from agent_shell.repl.commands.mcp import SUBCOMMANDS
from agent_shell.repl.commands.suggest import nearest


def test_the_table_holds_what_exists_and_nothing_else() -> None:
    assert sorted(COMMANDS) == [
        "call",
        "clear",
        "exit",
        "help",
        "mcp",
        "model",
        "quit",
        "tools",
    ]
    assert sorted(SUBCOMMANDS) == [
        "add",
        "connect",
        "disable",
        "disconnect",
        "enable",
        "logs",
        "prompts",
        "reconnect",
        "reload",
        "remove",
        "resources",
        "test",
        "timeline",
        "tools",
        "trust",
    ]


def test_every_subcommand_is_in_the_help_of_mcp() -> None:
    for name in SUBCOMMANDS:
        assert f"/mcp {name}" in COMMANDS["mcp"].details


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("hlep", "did you mean /help? /help lists all"),
        ("resume", "/help lists all commands"),
        ("", "/help lists all commands"),
    ],
)
def test_an_unknown_command_names_the_nearest(word: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_command(word)

    assert caught.value.hint == hint


def test_a_beginning_is_near_enough() -> None:
    assert nearest("time", ["tools", "timeline"]) == "timeline"
    assert nearest("zzz", ["tools"]) is None
