"""Turns on a real terminal against a model service on loopback."""

import re
from pathlib import Path

import pytest

from tests.fakes.model_server import ModelServer
from tests.requirements import requirement
from tests.terminal.project import Project, fake_server
from tests.terminal.pty_program import PtyProgram

WRITE_CALL = {"id": "c1", "name": "write_file", "arguments": {"path": "new.txt", "content": "hi"}}
QUESTION = "[y]es once"


def is_idle(shell: PtyProgram) -> bool:
    return "Ctrl-C stops" not in shell.screen


def test_an_answer_streams_and_ends_in_the_scrollback(project: Project) -> None:
    answer = ["# Title\n\nSome **bold", "** words\n\n- a\n- b\n", {"gate": "end"}, "\nlast"]
    with ModelServer([{"text": answer}]) as model:
        project.settings_for(model.base_url)
        with project.shell() as shell:
            shell.send("begin\r")
            shell.wait_for("Some bold words")
            model.open_gate("end")
            shell.wait_for("last")
            shell.wait_for(is_idle)

            assert "**" not in shell.screen
            assert " • a\n • b" in shell.screen
            assert shell.scrollback.count("Some bold words") == 1
            assert shell.scrollback.count("› begin") == 1
            assert shell.is_alternate_screen_used is False


@requirement("I6")
def test_markup_in_an_answer_is_shown_as_it_is(project: Project) -> None:
    with ModelServer([{"text": "a[/b] [bold [/INST] <div>x</div> \x1b[31mred"}]) as model:
        project.settings_for(model.base_url)
        with project.shell() as shell:
            shell.send("begin [/i]\r")
            shell.wait_for(r"a[/b] [bold [/INST] <div>x</div> \x1b[31mred")
            shell.wait_for("› begin [/i]")
            shell.wait_for(is_idle)


@requirement("I8", "G8")
def test_ctrl_c_keeps_the_partial_answer_and_the_session(project: Project) -> None:
    answers = [{"text": ["half an ", "answer", {"gate": "never"}]}, {"text": "second"}]
    with ModelServer(answers) as model:
        project.settings_for(model.base_url)
        with project.shell() as shell:
            shell.send("one\r")
            shell.wait_for("half an answer")
            shell.send("\x03")
            shell.wait_for("stopped")
            assert "half an answer" in shell.screen

            shell.send("two\r")
            shell.wait_for("second")
            shell.wait_for(is_idle)
            roles = [message["role"] for message in model.chats[1].body["messages"]]
            assert roles == ["system", "user", "assistant", "user"]
        model.open_gate("never")


def test_a_line_during_a_turn_is_queued_shown_and_run_next(project: Project) -> None:
    with ModelServer([{"text": ["first", {"gate": "go"}]}, {"text": "the second"}]) as model:
        project.settings_for(model.base_url)
        with project.shell() as shell:
            shell.send("one\r")
            shell.wait_for("first")
            shell.send("two\r")
            shell.wait_for("queued: two")
            assert len(model.chats) == 1
            model.open_gate("go")
            shell.wait_for("the second")
            shell.wait_for(is_idle)
            assert "queued" not in shell.screen
            assert shell.scrollback.index("› two") < shell.scrollback.index("the second")


def test_commands_run_at_once_during_a_turn_but_do_not_change_its_history(
    project: Project,
) -> None:
    with ModelServer([{"text": ["first", {"gate": "go"}]}]) as model:
        project.settings_for(model.base_url)
        with project.shell() as shell:
            shell.send("one\r")
            shell.wait_for("first")
            shell.send("/tools read_file\r")
            shell.wait_for("1 tools")
            shell.send("/clear\r")
            shell.wait_for("error: a turn runs")
            model.open_gate("go")
            shell.wait_for(lambda shell: shell.lines_with("first") != [])


def test_a_turn_without_a_model_says_how_to_get_one(project: Project) -> None:
    project.write_settings('model = "openai/gpt-none"\n')
    with project.shell() as shell:
        shell.send("hello\r")
        shell.wait_for("error: ")
        shell.wait_for("hint: ")
        shell.send("/tools read_file\r")
        shell.wait_for("1 tools")


def test_the_prompt_on_the_command_line_is_the_first_turn(project: Project) -> None:
    with ModelServer([{"text": "an answer"}]) as model:
        project.settings_for(model.base_url)
        with project.shell("say something") as shell:
            shell.wait_for("an answer")
            assert "› say something" in shell.screen


@requirement("I2")
@pytest.mark.parametrize(
    "keys", ["\x1b[200~x\ny\n\x1b[201~", "\x1b[200~y\x1b[201~", "x\ny\n", "y\r"]
)
def test_a_paste_never_answers_an_approval(project: Project, keys: str) -> None:
    with ModelServer([{"tool_calls": [WRITE_CALL]}, {"text": "finished"}]) as model:
        project.settings_for(model.base_url)
        with project.shell() as shell:
            shell.send("write\r")
            shell.wait_for(QUESTION)
            assert "path: new.txt" in shell.screen
            shell.send(keys)
            shell.wait_for("when the line below is empty")

            assert QUESTION in shell.screen
            assert not (project.folder / "new.txt").exists()
            shell.send("\x1b")
            shell.wait_for("finished")
            assert not (project.folder / "new.txt").exists()


def test_two_keys_in_a_burst_go_to_the_draft_in_their_order(project: Project) -> None:
    with ModelServer([{"tool_calls": [WRITE_CALL]}, {"text": "finished"}]) as model:
        project.settings_for(model.base_url)
        with project.shell() as shell:
            shell.send("write\r")
            shell.wait_for(QUESTION)
            shell.send("y")
            shell.send("es please")
            shell.wait_for("› yes please")
            assert QUESTION in shell.screen


@pytest.mark.parametrize(("key", "is_written"), [("y", True), ("a", True), ("n", False)])
def test_one_deliberate_key_answers(project: Project, key: str, is_written: bool) -> None:
    with ModelServer([{"tool_calls": [WRITE_CALL]}, {"text": "finished"}]) as model:
        project.settings_for(model.base_url)
        with project.shell() as shell:
            shell.send("write\r")
            shell.wait_for(QUESTION)
            shell.type_slowly(key)
            shell.wait_for("finished")
            assert (project.folder / "new.txt").exists() is is_written


@requirement("turn:mcp-tool")
def test_a_turn_calls_an_mcp_tool_after_a_question(project: Project) -> None:
    project.write_user_servers({"one": fake_server()})
    call = {"id": "c1", "name": "mcp_one_add", "arguments": {"a": 40, "b": 2}}
    with ModelServer([{"tool_calls": [call]}, {"text": "it is 42"}]) as model:
        project.settings_for(model.base_url)
        with project.shell() as shell:
            shell.wait_for("mcp 1 connected")
            shell.send("add\r")
            shell.wait_for("allow mcp_one_add (mcp:one")
            shell.type_slowly("y")
            shell.wait_for("it is 42")
            assert re.search(r"⏺ mcp_one_add .*\n  ✓ .*\n    42", shell.screen) is not None


@requirement("Z6", "Z10", "Y9")
def test_the_first_turn_waits_for_a_server_without_a_cache_and_esc_skips(
    project: Project,
) -> None:
    project.write_user_servers({"slow": fake_server("--behave", "silent")})
    with ModelServer([{"text": "an answer"}]) as model:
        project.settings_for(model.base_url)
        with project.shell() as shell:
            shell.send("hello\r")
            shell.wait_for("waiting for MCP: slow")
            assert model.chats == []
            shell.send("\x1b")
            shell.wait_for("an answer")


def test_a_mentioned_file_goes_along(project: Project, tmp_path: Path) -> None:
    (project.folder / "notes.txt").write_text("remember the milk", encoding="utf-8")
    with ModelServer([{"text": "an answer"}]) as model:
        project.settings_for(model.base_url)
        with project.shell() as shell:
            shell.send("read @notes.txt please\r")
            shell.wait_for("an answer")
            (message,) = [m for m in model.chats[0].body["messages"] if m["role"] == "user"]
            assert "read @notes.txt please" in str(message["content"])
            assert "remember the milk" in str(message["content"])
