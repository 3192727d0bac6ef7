"""The prompt on a real terminal: early keys, drafts, history, quiet."""

import re

import pytest

from tests.fakes.model_server import ModelServer
from tests.requirements import requirement
from tests.terminal.project import Project, fake_server
from tests.terminal.pty_program import PtyProgram


def start(project: Project) -> PtyProgram:
    """The shell, not waited for."""
    return PtyProgram.agent_shell(home=project.home, cwd=project.folder)


@requirement("speed:early-keys")
def test_keys_typed_right_after_the_paint_land_in_the_draft_once_and_whole(
    project: Project,
) -> None:
    with start(project) as shell:
        shell.wait_for("›", settle_s=0)
        shell.send("hello wörld")
        shell.wait_for("mcp: no servers")
        shell.wait_until_quiet()

        assert shell.lines[0] == "› hello wörld"
        assert shell.screen.count("hello") == 1


@requirement("speed:early-keys")
def test_keys_typed_before_the_paint_are_kept_too(project: Project) -> None:
    with start(project) as shell:
        shell.send("early")
        shell.wait_for("mcp: no servers")
        shell.wait_until_quiet()

        assert any(line == "› early" for line in shell.lines)


def test_an_early_enter_submits_the_line_once(project: Project) -> None:
    with start(project) as shell:
        shell.wait_for("›", settle_s=0)
        shell.send("/help\r")
        shell.wait_for("leave (so do Ctrl-D")
        shell.wait_until_quiet()

        assert shell.scrollback.count("› /help") == 1


def test_the_prompt_line_is_never_painted_twice(project: Project) -> None:
    with project.shell() as shell:
        shell.wait_until_quiet()

        assert shell.lines[0] == "›"
        assert [line for line in shell.lines if "›" in line] == ["›"]


def test_a_draft_has_several_lines_and_is_sent_as_one(project: Project) -> None:
    with project.shell() as shell:
        shell.send("/help one\x1b\rtwo")
        shell.wait_for("two")
        assert shell.lines[:2] == ["› /help one", "  two"]

        shell.send("\\\rthree\r")
        shell.wait_for("error: usage: /help [TOPIC]")
        assert "› /help one\n  two\n  three" in shell.screen


def test_the_up_arrow_brings_back_lines_of_this_run_and_of_the_last(project: Project) -> None:
    with project.shell() as shell:
        shell.send("/tools nothing-like-it\r")
        shell.wait_for("no tool has")
        shell.send("\x1b[A")
        shell.wait_until_quiet()
        assert shell.lines_with("› /tools nothing-like-it") == ["› /tools nothing-like-it"] * 2
        shell.send("\x03\x04")
        assert shell.wait_exit() == 0

    with project.shell() as shell:
        shell.send("\x1b[A")
        shell.wait_for("› /tools nothing-like-it")


@requirement("I1")
def test_a_paste_during_a_turn_is_one_draft_of_three_lines_and_is_not_sent(
    project: Project,
) -> None:
    with ModelServer([{"text": ["working ", {"gate": "go"}, "done"]}]) as model:
        project.settings_for(model.base_url)
        with project.shell() as shell:
            shell.send("begin\r")
            shell.wait_for("working")
            shell.paste("a\nb\nc ")
            shell.wait_for(lambda shell: "› a\n  b\n  c" in shell.screen)
            model.open_gate("go")
            shell.wait_for("working done")
            shell.wait_for(lambda shell: "Ctrl-C stops" not in shell.screen)

            assert "› a\n  b\n  c" in shell.screen
            assert "queued" not in shell.scrollback
            assert len(model.chats) == 1


@requirement("Y43")
def test_an_idle_prompt_writes_nothing(project: Project) -> None:
    project.write_user_servers({"good": fake_server(), "dead": {"command": "no-such-command"}})
    with project.shell() as shell:
        shell.wait_for("mcp 1 connected · 1 failed: dead")
        shell.wait_until_quiet(0.5)

        assert shell.output_during(2) == b""


def test_help_fits_forty_columns(project: Project) -> None:
    with project.shell(columns=40, rows=50) as shell:
        shell.send("/help\r")
        shell.wait_for("about one command")
        shell.wait_until_quiet()

        assert all(len(line) <= 40 for line in shell.lines)
        words = " ".join(shell.screen.split())
        assert "call a session tool by hand" in words or "call a session" in words
        assert shell.lines[-1] == "" or "mcp" in shell.screen


@pytest.mark.parametrize("how", ["NO_COLOR", "theme"])
def test_without_colour_no_colour_is_ever_written(project: Project, how: str) -> None:
    project.write_user_servers({"dead": {"command": "no-such-command"}})
    if how == "theme":
        project.write_settings('theme = "plain"\n')
    with project.shell(env={"NO_COLOR": "1"} if how == "NO_COLOR" else {}) as shell:
        shell.wait_for("1 failed: dead")
        shell.send("/help\r")
        shell.wait_for("about one command")
        shell.send("/mcp\r")
        shell.wait_for("q closes")

        colours = re.findall(rb"\x1b\[[0-9;]*(?:3[0-7]|9[0-7]|4[0-7]|38;)[0-9;]*m", shell.output)
        assert colours == []


def test_the_normal_screen_is_used(project: Project) -> None:
    with project.shell() as shell:
        shell.send("/help\r")
        shell.wait_for("about one command")

        assert not shell.is_alternate_screen_used


def test_unknown_commands_name_the_nearest(project: Project) -> None:
    with project.shell() as shell:
        shell.send("/tolls\r")
        shell.wait_for("error: no command /tolls")
        shell.wait_for("hint: did you mean /tools?")


def test_a_shell_command_shows_its_output_and_is_stopped_by_ctrl_c(project: Project) -> None:
    with project.shell() as shell:
        shell.send("!echo one; echo two >&2; exit 3\r")
        shell.wait_for("exit status 3")
        assert "one\ntwo\nexit status 3" in shell.screen

        shell.send("!echo begun; sleep 60\r")
        shell.wait_for(lambda shell: "begun\n" in shell.screen)
        shell.send("\x03")
        shell.wait_for("stopped")
        shell.wait_until_quiet()
        assert shell.is_running


def test_completion_offers_commands_and_enter_takes_the_chosen_one(project: Project) -> None:
    with project.shell() as shell:
        shell.send("/mc")
        shell.wait_for("the servers: their state")
        shell.send("\t\r")
        shell.wait_for(lambda shell: "› /mcp" in shell.lines)
        shell.wait_until_quiet()
        assert "the servers: their state" not in shell.screen
        shell.send(" rel\t")
        shell.wait_for("› /mcp reload")


@requirement("I9")
def test_invalid_bytes_in_a_line_do_no_harm(project: Project) -> None:
    with project.shell() as shell:
        shell.send(b"/help \xff\xed\xa0\xbd\r")
        shell.wait_for("error: no help on")
        shell.send("\x04")
        assert shell.wait_exit() == 0

    history = project.home / "agent-shell" / "state" / "input-history"
    history.read_text(encoding="utf-8")
    with project.shell() as shell:
        shell.send("\x1b[A")
        shell.wait_for("› /help ")
