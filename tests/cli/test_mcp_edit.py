"""agent-shell mcp add, add-json, remove, enable, disable: the files afterwards."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.mcp_program import Program, fake_words


@pytest.fixture
def program(tmp_path: Path) -> Program:
    (tmp_path / "project").mkdir()
    return Program(tmp_path / "home", tmp_path / "project")


def servers(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))["mcpServers"]


@pytest.mark.parametrize(
    ("words", "entry"),
    [
        # CASES A13
        (("--", "/tmp/a b/srv", "--opt=c d"), {"command": "/tmp/a b/srv", "args": ["--opt=c d"]}),
        (("--", "x"), {"command": "x"}),
        (
            ("-e", "A=b=c", "--env=B=", "--", "x", "-e", "--", "--url"),
            {"command": "x", "args": ["-e", "--", "--url"], "env": {"A": "b=c", "B": ""}},
        ),
        (
            ("--url", "https://h/mcp", "-H", "Authorization: Bearer ${TOKEN:-x}"),
            {"url": "https://h/mcp", "headers": {"Authorization": "Bearer ${TOKEN:-x}"}},
        ),
        (("--url=ws://h", "--transport", "ws"), {"type": "ws", "url": "ws://h"}),
    ],
)
def test_add_writes_exactly_what_was_said(
    program: Program, words: tuple[str, ...], entry: dict[str, Any]
) -> None:
    run = program("add", "x", *words)

    file = program.paths.user_mcp_config
    assert (run.status, run.out, run.err) == (0, f'added "x" to {file}\n', "")
    assert servers(file) == {"x": entry}


def test_a_path_with_blanks_starts_from_there(program: Program, tmp_path: Path) -> None:
    """CASES A13"""
    folder = tmp_path / "a b"
    folder.mkdir()
    command = folder / "srv"
    words = " ".join(f"'{word}'" for word in fake_words())
    script = f'#!/bin/sh\nexec {words} --name "$1"\n'
    command.write_text(script, encoding="utf-8")
    command.chmod(0o755)

    assert program("add", "x", "--", str(command), "--opt=c d").status == 0

    row = program("status", "--json").json["servers"][0]
    assert (row["status"], row["server"]["name"]) == ("connected", "--opt=c d")


def test_a_server_added_to_the_project_is_agreed_to(program: Program) -> None:
    run = program("add", "x", "--scope", "project", "--", *fake_words())

    assert (run.status, run.out) == (0, 'added "x" to .mcp.json\n')
    assert program("status").status == 0
    assert [row["trusted"] for row in program("list", "--json").json["servers"]] == [True]


def test_add_json_takes_an_entry(program: Program) -> None:
    run = program("add-json", "x", '{"command": "c", "args": ["${NOT_SET}"]}')

    assert run.status == 0
    assert run.err == (
        'note: item 1 of "args": variable NOT_SET is not set\n'
        "hint: set it before the start, or write ${NOT_SET:-default}\n"
    )
    assert servers(program.paths.user_mcp_config) == {"x": {"command": "c", "args": ["${NOT_SET}"]}}


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("add",), "the new server needs a name"),
        (("add", "x"), "the command of the server is missing, or its --url"),
        (("add", "x", "y"), 'what is "y"? The command of "x" comes after --'),
        (("add", "x", "--url"), "--url needs a value"),
        (("add", "x", "--url", "u", "--", "c"), "a server has a command or a URL, not both"),
        (("add", "x", "-e", "A", "--", "c"), "-e takes KEY=VALUE"),
        (("add", "x", "-q", "--", "c"), 'unknown option "-q"'),
        (("add", "x", "--scope", "all", "--", "c"), '--scope is one of user, project, not "all"'),
        (
            ("add", "x", "--url", "h"),
            'server "x": "url" of a server of type http must begin with http:// or https://'
            " and a host",
        ),
        (("add-json", "x", "{"), "the entry is not valid JSON: "),
        (("add-json", "x", "[]"), "the entry must be a JSON object"),
        (("add-json", "x", '{"command": ["a"]}'), 'server "x": "command" must be a string'),
        (("add", "", "--", "x"), "the new server needs a name"),
    ],
)
def test_what_can_not_be_added_is_told_and_nothing_written(
    program: Program, words: tuple[str, ...], error: str
) -> None:
    run = program(*words)

    assert (run.status, run.out) == (2, "")
    assert run.err.startswith(f"error: {error}"), run.err
    assert not program.paths.user_mcp_config.exists()


def test_a_file_that_can_not_be_parsed_is_never_written(program: Program) -> None:
    file = program.user()
    file.write_text("{ broken", encoding="utf-8")

    for words in (("add", "x", "--", "c"), ("remove", "x", "--scope", "user")):
        run = program(*words)
        assert run.status == 2
        assert run.err.startswith(f"error: {file}:1:3: expected a key in double quotes\n")
    assert file.read_text(encoding="utf-8") == "{ broken"


def test_a_name_that_is_taken_is_not_overwritten(program: Program) -> None:
    file = program.user(x={"command": "a"})

    run = program("add", "x", "--", "b")

    assert run.status == 2
    assert run.err == (
        f'error: {file}: server "x" is there already\nhint: agent-shell mcp remove x\n'
    )
    assert servers(file) == {"x": {"command": "a"}}


def test_remove_takes_the_definition_that_counts_and_says_which_is_next(program: Program) -> None:
    user = program.user(x={"command": "a"}, y={"command": "b"})
    shared = program.shared(x={"command": "c"})

    run = program("remove", "x")
    assert (run.status, run.out) == (0, f'removed "x" from {user}\n')
    assert run.err == 'note: .mcp.json defines "x" too; that one counts now\n'
    assert (servers(user), servers(shared)) == ({"y": {"command": "b"}}, {"x": {"command": "c"}})

    assert program("remove", "x", "--scope", "user").status == 2
    assert program("remove", "x", "--scope", "project").out == 'removed "x" from .mcp.json\n'
    assert servers(shared) == {}


def test_enable_and_disable_write_the_users_lists_only(program: Program) -> None:
    shared = program.shared(x={"command": "a", "enabled": False}, y={"command": "b"})
    before = shared.read_bytes()
    states = {"x": "disabled", "y": "untrusted"}

    def listed() -> dict[str, str | None]:
        return {row["name"]: row["reason"] for row in program("list", "--json").json["servers"]}

    assert listed() == states
    assert program("enable", "x").out == 'enabled "x"\n'
    assert program("disable", "y").out == 'disabled "y"\n'
    assert listed() == {"x": "untrusted", "y": "disabled"}
    assert program("enable", "y").status == 0
    assert program("disable", "x").status == 0
    assert listed() == states
    assert shared.read_bytes() == before


@pytest.mark.parametrize("command", ["add", "call", "list", "remove"])
def test_every_command_has_help(program: Program, command: str) -> None:
    run = program(command, "--help")

    assert (run.status, run.err) == (0, "")
    assert run.out.startswith(f"usage: agent-shell mcp {command}")
