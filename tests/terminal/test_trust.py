"""The question about the project's servers: true, beside the prompt, no by default."""

from pathlib import Path

import pytest

from tests.requirements import requirement
from tests.terminal.project import Project, fake_server, read_pid
from tests.terminal.pty_program import PtyProgram

QUESTION = "start these servers?"


def marked_server(marker: Path) -> dict[str, object]:
    return fake_server("--pid-file", str(marker))


@requirement("trust:question-shows-command", "trust:nothing-before-consent")
def test_the_question_shows_the_command_and_silence_is_no(project: Project, tmp_path: Path) -> None:
    marker = tmp_path / "started"
    project.write_project_servers({"mine": {**marked_server(marker), "env": {"TOKEN": "secret"}}})
    with project.shell() as shell:
        shell.wait_for(QUESTION)
        text = "".join(shell.screen.split())
        assert f"--pid-file{marker}" in text
        assert "TOKEN" in text
        assert "secret" not in text
        assert "file:.mcp.json" in text

        shell.send("/tools read_file\r")
        shell.wait_for("1 tools")
        assert QUESTION in shell.screen
        shell.send("\x04")
        assert shell.wait_exit() == 0
    assert not marker.exists()

    with project.shell() as shell:
        shell.wait_for(QUESTION)


@requirement("trust:nothing-before-consent")
@pytest.mark.parametrize("answer", ["n", "no", "yep", "y y", "y\x1b\ry"])
def test_anything_but_a_yes_starts_nothing(project: Project, tmp_path: Path, answer: str) -> None:
    marker = tmp_path / "started"
    project.write_project_servers({"mine": marked_server(marker)})
    with project.shell() as shell:
        shell.wait_for(QUESTION)
        shell.type_slowly(answer)
        shell.send("\r")
        if answer in ("n", "no"):
            shell.wait_for(lambda shell: QUESTION not in shell.screen)
            shell.wait_for("1 not trusted: mine")
        else:
            shell.wait_for("hint:")  # it was a turn, and there is no model
            assert QUESTION in shell.screen
        shell.send("\x04")
        assert shell.wait_exit() == 0
    assert not marker.exists()


@requirement("trust:nothing-before-consent")
@pytest.mark.parametrize("keys", ["\x1b[200~y\x1b[201~\r", "\x1b[200~y\n\x1b[201~\r"])
def test_a_paste_never_says_yes(project: Project, tmp_path: Path, keys: str) -> None:
    marker = tmp_path / "started"
    project.write_project_servers({"mine": marked_server(marker)})
    with project.shell() as shell:
        shell.wait_for(QUESTION)
        shell.send(keys)
        shell.wait_for("hint:")
        assert QUESTION in shell.screen
    assert not marker.exists()


@requirement("trust:nothing-before-consent")
def test_what_was_typed_before_the_question_does_not_answer_it(
    project: Project, tmp_path: Path
) -> None:
    marker = tmp_path / "started"
    project.write_project_servers({"mine": marked_server(marker)})
    with PtyProgram.agent_shell(home=project.home, cwd=project.folder) as shell:
        shell.wait_for("›", settle_s=0)
        shell.send("y\r")
        shell.wait_for(QUESTION)
        shell.wait_for("hint:")
    assert not marker.exists()


@pytest.mark.parametrize("keys", ["y", "a"])
def test_yes_starts_them_and_is_remembered(project: Project, tmp_path: Path, keys: str) -> None:
    marker = tmp_path / "started"
    project.write_project_servers({"mine": marked_server(marker)})
    with project.shell() as shell:
        shell.wait_for(QUESTION)
        shell.type_slowly(keys + "\r")
        shell.wait_for("mcp 1 connected")
        assert QUESTION not in shell.screen
    read_pid(marker)

    with project.shell() as shell:
        shell.wait_for("mcp 1 connected")
        assert QUESTION not in shell.scrollback


@requirement("trust:changed-entry-asks")
def test_a_changed_entry_asks_again_unless_the_folder_is_trusted(
    project: Project, tmp_path: Path
) -> None:
    project.write_project_servers({"mine": marked_server(tmp_path / "one")})
    with project.shell() as shell:
        shell.wait_for(QUESTION)
        shell.type_slowly("y\r")
        shell.wait_for("mcp 1 connected")
        project.write_project_servers({"mine": marked_server(tmp_path / "two")})
        shell.send("/mcp reload\r")
        shell.wait_for("1 not trusted: mine")
        shell.wait_for(QUESTION)
        assert not (tmp_path / "two").exists()

        shell.send("/mcp trust mine\r")
        shell.wait_for("mine is trusted as it stands")
        shell.wait_for("mcp 1 connected")
        assert QUESTION not in shell.screen
        read_pid(tmp_path / "two")


def test_trust_project_starts_them_unasked(project: Project, tmp_path: Path) -> None:
    project.write_project_servers({"mine": marked_server(tmp_path / "one")})
    with project.shell("--trust-project") as shell:
        shell.wait_for("mcp 1 connected")
        assert QUESTION not in shell.scrollback


@requirement("no-mcp:touches-nothing")
def test_without_mcp_nothing_is_read_or_started(project: Project, tmp_path: Path) -> None:
    project.write_user_servers({"mine": marked_server(tmp_path / "one")})
    (project.folder / ".mcp.json").write_text("this is no JSON", encoding="utf-8")
    with project.shell("--no-mcp") as shell:
        shell.wait_for("mcp off")
        shell.send("/mcp\r")
        shell.wait_for("error: MCP is off in this run (--no-mcp)")
        shell.wait_for("hint: start agent-shell without --no-mcp")
        assert "JSON" not in shell.scrollback
    assert not (tmp_path / "one").exists()
