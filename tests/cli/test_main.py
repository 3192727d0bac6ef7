"""The program as scripts see it: answers, exit statuses, and what is imported for them."""

import subprocess
import sys
from pathlib import Path

import pytest

from agent_shell import __version__
from tests.requirements import requirement

NETWORK = ("httpx", "httpx_sse", "websockets", "jsonschema_rs", "watchfiles")


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    root = str(Path(__file__).parents[2])
    return subprocess.run(
        [sys.executable, "-m", "agent_shell", *arguments],
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "HOME": str(cwd), "PYTHONPATH": root},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=30,
        check=False,
    )


def test_version_prints_name_and_version(tmp_path: Path) -> None:
    done = run("--version", cwd=tmp_path)

    assert (done.returncode, done.stdout, done.stderr) == (0, f"agent-shell {__version__}\n", "")


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["help"], ["--no-mcp", "--help"]])
def test_help_names_options_and_subcommands(tmp_path: Path, words: list[str]) -> None:
    done = run(*words, cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert "--strict-mcp-config" in done.stdout
    assert "mcp COMMAND" in done.stdout


def test_help_names_nothing_that_does_not_exist(tmp_path: Path) -> None:
    done = run("--help", cwd=tmp_path)

    for word in ("--resume", "--continue", " serve ", "doctor", "sessions"):
        assert word not in done.stdout


@pytest.mark.parametrize("words", [["help", "nothing"], ["--nope"], ["mcp", "nope"]])
def test_wrong_usage_is_two_lines_on_standard_error_and_status_2(
    tmp_path: Path, words: list[str]
) -> None:
    done = run(*words, cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    first, second = done.stderr.splitlines()
    assert first.startswith("error: ")
    assert second.startswith("hint: ")


def test_without_a_terminal_the_shell_says_what_to_do(tmp_path: Path) -> None:
    done = run(cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: the shell needs a terminal on standard input and output\n"
        'hint: agent-shell -p "PROMPT" runs one prompt without a terminal\n'
    )


def test_a_closed_pipe_ends_the_program_quietly(tmp_path: Path) -> None:
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        ["/bin/sh", "-c", f"{sys.executable} -m agent_shell --help | head -n 1; true"],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": root},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=30,
        check=False,
    )

    assert (done.stdout, done.stderr) == ("usage: agent-shell [OPTIONS] [PROMPT]\n", "")


@requirement("speed:imports")
@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        (
            "from agent_shell.cli.main import main; main(['--version'])",
            ["argparse", "dataclasses", "prompt_toolkit", "anyio"],
        ),
        (
            "from agent_shell.cli.main import main; main(['--help'])",
            ["prompt_toolkit", "anyio", "httpx", "agent_shell.repl", "agent_shell.llm"],
        ),
        (
            # Everything that is imported before the prompt stands.
            "import agent_shell.cli.first_paint, agent_shell.cli.read_argv, agent_shell.repl.repl",
            [*NETWORK, "rich", "argparse", "msgspec", "agent_shell.llm", "agent_shell.mcp"],
        ),
        (
            # Everything behind the prompt, before the first turn or server.
            "import agent_shell.repl.shell",
            [*NETWORK, "rich.markdown"],
        ),
    ],
)
def test_nothing_heavy_is_imported_too_early(
    tmp_path: Path, statement: str, absent: list[str]
) -> None:
    root = str(Path(__file__).parents[2])
    script = f"{statement}\nimport sys; print([m for m in {absent!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": root},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=30,
        check=True,
    )

    assert done.stdout.splitlines()[-1] == "[]"
