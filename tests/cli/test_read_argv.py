"""argv as options, and what is said about mistakes."""

from pathlib import Path

import pytest

from agent_shell.cli.arguments import CLIOptions
from agent_shell.cli.read_argv import parse_arguments
from agent_shell.errors import UsageError


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_no_arguments_are_the_defaults() -> None:
    assert parse_arguments([]) == CLIOptions(cwd=Path.cwd())


def test_every_option_is_read(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    servers = tmp_path / "servers.json"
    servers.write_text("{}", encoding="utf-8")

    words = (
        "-C project -m a/b --approval edits --no-mcp --no-project-mcp --mcp-config servers.json "
        "--strict-mcp-config --trust-project --debug -p --output-format json do-it"
    )
    arguments: list[str] = [*words.split()]
    options = parse_arguments(arguments)

    assert options == CLIOptions(
        cwd=project,
        model="a/b",
        approval="edits",
        no_mcp=True,
        no_project_mcp=True,
        mcp_config=(servers,),
        strict_mcp_config=True,
        trust_project=True,
        print_mode=True,
        output_format="json",
        prompt="do-it",
        debug=True,
    )
    assert Path.cwd() == project


def test_a_subcommand_keeps_its_own_arguments() -> None:
    options = parse_arguments(["--no-project-mcp", "models", "--json"])

    assert options is not None
    assert options.no_project_mcp
    assert options.command is not None
    assert (options.command.command, options.command.json) == ("models", True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--nope"], "unrecognized arguments: --nope"),
        (["--appr", "all"], "unrecognized arguments: --appr"),
        (["--approval", "some"], "argument --approval: invalid choice"),
        (["-C", "missing"], "--cwd missing: No such file or directory"),
        (["--mcp-config", "missing"], "--mcp-config: no such file: "),
        (["serve"], 'unknown command "serve"'),
        (["--debug", "sessions", "list"], 'unknown command "sessions"'),
        (["--strict-mcp-config"], "--strict-mcp-config needs --mcp-config FILE"),
        (["mcp"], "the following arguments are required: COMMAND"),
    ],
)
def test_mistakes_are_usage_errors(arguments: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_arguments(arguments)

    assert caught.value.message.startswith(message)


@pytest.mark.parametrize("arguments", [["--", "serve"], ["serve the file"], ["-p", "doctor"]])
def test_a_prompt_that_is_meant_as_one_stays_one(arguments: list[str]) -> None:
    options = parse_arguments(arguments)

    assert options is not None
    assert options.prompt == arguments[-1]
