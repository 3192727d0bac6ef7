"""The real program with -p, against a service on loopback."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest

from tests.cli.mcp_program import fake, fake_words
from tests.fakes.model_server import ModelServer
from tests.requirements import requirement

TIMEOUT_S = 60
RUN_CALL = {"name": "run_command", "arguments": {"command": "echo ran > marker; echo ran"}}


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    status: int
    out: str
    err: str

    def result(self) -> dict[str, Any]:
        """Its one JSON document."""
        return json.loads(self.out)


@dataclass
class Program:
    """Runs the program in a folder, with a service that plays a script."""

    folder: Path

    def environ(self, **more: str) -> dict[str, str]:
        return {**os.environ, **more}

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "agent_shell", "-C", str(self.folder), *arguments]

    def run(
        self,
        *arguments: str,
        script: Sequence[dict[str, Any]] = (),
        stdin: "int | IO[bytes]" = subprocess.DEVNULL,
        text: str | None = None,
        **environ: str,
    ) -> Ended:
        with ModelServer(script) as server:
            done = subprocess.run(
                self.command(*arguments),
                env=self.environ(OPENAI_BASE_URL=server.base_url, **environ),
                stdin=None if text is not None else stdin,
                input=text.encode() if text is not None else None,
                capture_output=True,
                timeout=TIMEOUT_S,
                check=False,
            )
            self.chats = server.chats
        return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())

    def prompt(self) -> str:
        """The last prompt the service was sent."""
        return self.chats[-1].body["messages"][-1]["content"]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    folder = tmp_path / "project"
    folder.mkdir()
    return Program(folder)


def test_the_answer_is_on_standard_output_and_nothing_else(program: Program) -> None:
    ended = program.run("-p", "hi", script=[{"text": ["a[/b] ", "[bold] é"]}])
    assert ended == Ended(0, "a[/b] [bold] é\n", "")


def test_the_prompt_comes_from_the_argument_and_from_standard_input(program: Program) -> None:
    program.run("-p", "explain", script=[{"text": "ok"}], text="the text\n")
    assert program.prompt() == "explain\n\nthe text\n"
    program.run("-p", script=[{"text": "ok"}], text="only this")
    assert program.prompt() == "only this"


@requirement("L1")
def test_an_open_silent_standard_input_does_not_hold_the_run_up(program: Program) -> None:
    with subprocess.Popen(["sleep", "600"], stdout=subprocess.PIPE) as sleeper:
        assert sleeper.stdout is not None
        began = time.monotonic()
        ended = program.run("-p", "hi", script=[{"text": "ok"}], stdin=sleeper.stdout)
        assert time.monotonic() - began < 15
        sleeper.kill()
    assert (ended.status, ended.out) == (0, "ok\n")
    assert "standard input is open but silent" in ended.err


def test_no_prompt_at_all_is_wrong_usage(program: Program) -> None:
    ended = program.run("-p")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("error: there is no prompt\nhint: ")


@requirement("L1")
def test_a_missing_key_fails_fast(program: Program) -> None:
    ended = program.run("-p", "hi", "-m", "openrouter/x")
    expected = "error: there is no key for openrouter\nhint: set OPENROUTER_API_KEY\n"
    assert ended == Ended(1, "", expected)
    assert program.chats == []


@requirement("L3")
@pytest.mark.parametrize("output", ["text", "json", "stream-json"])
@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ({"status": 401, "body": {"error": {"message": "bad key"}}}, "answered 401: bad key"),
        (
            {"status": 500, "headers": {"x-should-retry": "false"}, "body": {"error": "down"}},
            "answered 500: down",
        ),
        ({"text": ["half an "], "cut": True}, "broke"),
    ],
)
def test_a_models_failure_is_said_and_the_status_is_1(
    answer: dict[str, Any], error: str, output: str, program: Program
) -> None:
    ended = program.run("-p", "hi", "--output-format", output, script=[answer])
    assert ended.status == 1
    assert ended.err.startswith("error: ")
    assert error in ended.err
    if output == "text":
        assert ended.out == ("half an \n" if "text" in answer else "")
    else:
        last = json.loads(ended.out.splitlines()[-1])
        assert (last["outcome"], error in last["error"]) == ("failed", True)


@requirement("L5")
def test_a_call_that_needs_leave_is_refused_at_once(program: Program) -> None:
    script = [{"tool_calls": [RUN_CALL]}, {"text": "I was not allowed"}]
    ended = program.run("-p", "hi", script=script)
    assert (ended.status, ended.out) == (3, "I was not allowed\n")
    assert "approval" in ended.err
    assert not (program.folder / "marker").exists()


@requirement("L4")
def test_json_output_is_one_document(program: Program) -> None:
    script = [{"text": "I run", "tool_calls": [{**RUN_CALL, "id": "c1"}]}, {"text": "done"}]
    arguments = ["-p", "hi", "--approval", "all", "--debug", "--output-format", "json"]
    ended = program.run(*arguments, script=script)
    result = ended.result()
    session_id = result.pop("session_id")
    assert result == {
        "type": "result",
        "outcome": "done",
        "text": "done",
        "error": None,
        "hint": None,
        "needs_approval": False,
        "model": "openai/test-model",
        "usage": {
            "input_tokens": 20,
            "output_tokens": 10,
            "cached_tokens": 0,
            "cost_usd": None,
        },
        "tool_calls": [
            {
                "id": "c1",
                "tool": "run_command",
                "arguments": RUN_CALL["arguments"],
                "is_error": False,
                "content": [{"type": "text", "text": "ran"}],
                "structured": None,
            }
        ],
    }
    assert (ended.status, ended.err) == (0, "")
    home = Path(os.environ["AGENT_SHELL_HOME"])
    assert [path.stem for path in home.glob("data/sessions/*/*.jsonl")] == [session_id]


@requirement("L4")
def test_stream_json_is_one_object_a_line_as_things_happen(program: Program) -> None:
    script = [{"tool_calls": [RUN_CALL]}, {"text": ["do", "ne"]}]
    arguments = ["-p", "hi", "--approval", "all", "--output-format", "stream-json"]
    ended = program.run(*arguments, script=script)
    kinds = [json.loads(line)["type"] for line in ended.out.splitlines()]
    assert kinds == ["message", "tool_call", "tool_result", "text", "text", "message", "result"]


@requirement("L4")
def test_servers_that_fail_or_are_not_trusted_are_said_on_standard_error(
    program: Program,
) -> None:
    noisy = {"command": "sh", "args": ["-c", "echo noise; echo noise >&2; exit 3"]}
    servers = {"mcpServers": {"bad": noisy}}
    (program.folder / ".mcp.json").write_text(json.dumps(servers))
    arguments = ["-p", "hi", "--output-format", "json"]

    untrusted = program.run(*arguments, script=[{"text": "ok"}])
    assert (untrusted.status, untrusted.result()["text"]) == (0, "ok")
    assert '"bad" was not started' in untrusted.err
    assert "--trust-project" in untrusted.err

    failed = program.run(*arguments, "--trust-project", script=[{"text": "ok"}])
    assert (failed.status, failed.result()["text"]) == (0, "ok")
    assert "bad" in failed.err

    required = program.run(
        *arguments, "--trust-project", script=[{"text": "ok"}], AGENT_SHELL_MCP_REQUIRE_READY="1"
    )
    assert (required.status, required.result()["outcome"]) == (1, "failed")
    assert program.chats == []


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_ends_the_turn_and_its_commands(
    number: signal.Signals, status: int, program: Program
) -> None:
    os.mkfifo(program.folder / "begun")
    command = {"command": "echo $$ > begun; sleep 600"}
    script = [{"tool_calls": [{"name": "run_command", "arguments": command}]}]
    with ModelServer(script) as server:
        arguments = ["-p", "hi", "--approval", "all", "--output-format", "json"]
        with subprocess.Popen(
            program.command(*arguments),
            env=program.environ(OPENAI_BASE_URL=server.base_url),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as running:
            # Opening the pipe waits until the command runs.
            group = int((program.folder / "begun").read_text())
            running.send_signal(number)
            out, err = running.communicate(timeout=10)
    assert running.returncode == status
    assert json.loads(out)["outcome"] == "aborted"
    assert b"Traceback" not in err
    with pytest.raises(ProcessLookupError):
        os.kill(group, 0)


def test_a_reader_that_goes_away_ends_the_run_quietly(program: Program) -> None:
    text: list[Any] = [*["x" * 1_000] * 100, {"gate": "more"}, *["y" * 1_000] * 400]
    with (
        ModelServer([{"text": text}]) as server,
        subprocess.Popen(
            program.command("-p", "hi", "--output-format", "stream-json"),
            env=program.environ(OPENAI_BASE_URL=server.base_url),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as running,
    ):
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        server.open_gate("more")
        err = running.stderr.read()
        status = running.wait(timeout=10)
    assert (status, err) == (0, b"")


@requirement("I9")
def test_an_argument_with_invalid_bytes_reaches_the_model_as_valid_text(program: Program) -> None:
    with ModelServer([{"text": "ok"}]) as server:
        done = subprocess.run(
            [*map(os.fsencode, program.command("-p")), b"caf\xe9"],
            env=program.environ(OPENAI_BASE_URL=server.base_url),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    assert (done.returncode, done.stdout) == (0, b"ok\n")
    assert server.chats[0].body["messages"][-1]["content"] == "caf\ufffd"


@pytest.mark.parametrize("output", ["text", "json"])
def test_what_there_is_of_an_answer_that_broke_off_is_printed(
    output: str, program: Program
) -> None:
    ended = program.run(
        "-p", "hi", "--output-format", output, script=[{"text": ["half an "], "cut": True}]
    )
    text = ended.out.removesuffix("\n") if output == "text" else ended.result()["text"]
    assert (ended.status, text) == (1, "half an ")
    assert ended.err.startswith("error: ")


def test_what_there_is_of_an_interrupted_answer_is_printed(program: Program) -> None:
    answer = {"text": ["half an ", {"gate": "never"}]}
    with (
        ModelServer([answer]) as server,
        subprocess.Popen(
            program.command("-p", "hi", "--output-format", "stream-json"),
            env=program.environ(OPENAI_BASE_URL=server.base_url),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        ) as running,
    ):
        assert running.stdout is not None
        running.stdout.readline()
        running.send_signal(signal.SIGINT)
        out, _ = running.communicate(timeout=10)
        server.open_gate("never")
    assert running.returncode == 130
    assert json.loads(out.splitlines()[-1])["text"] == "half an "


def test_a_refused_call_is_in_the_stream_before_its_result(program: Program) -> None:
    script = [{"tool_calls": [RUN_CALL]}, {"text": "no"}]
    ended = program.run("-p", "hi", "--output-format", "stream-json", script=script)
    rows = [json.loads(line) for line in ended.out.splitlines()]
    call, result = (row for row in rows if row["type"] in ("tool_call", "tool_result"))
    assert [call["type"], result["type"]] == ["tool_call", "tool_result"]
    assert (call["id"], call["arguments"]) == (result["id"], RUN_CALL["arguments"])


def test_an_entry_that_cannot_be_used_is_said_with_its_place(
    program: Program, tmp_path: Path
) -> None:
    file = tmp_path / "servers.json"
    servers: dict[str, Any] = {"u": {"command": "true", "args": ["${NOPE_X}"]}, "x": {"command": 5}}
    file.write_text(json.dumps({"mcpServers": servers}))
    named = ["-p", "hi", "--mcp-config", str(file)]
    said = (
        f'error: {file}:1:51: server "u": item 1 of "args": variable NOPE_X is not set\n'
        "hint: set it before the start, or write ${NOPE_X:-default}\n"
        f'error: {file}:1:83: server "x": "command" must be a string, not a number\n'
    )

    ended = program.run(*named, script=[{"text": "ok"}])
    assert ended == Ended(0, "ok\n", said)

    required = program.run(*named, AGENT_SHELL_MCP_REQUIRE_READY="1")
    assert required == Ended(1, "", f"{said}error: not every MCP server is ready: u, x\n")


@pytest.mark.parametrize(
    ("content", "problem"), [("{", ":1:2: "), ("[]", ":1:1: must hold an object, not an array")]
)
def test_an_unusable_file_named_on_the_command_line_runs_nothing(
    content: str, problem: str, program: Program, tmp_path: Path
) -> None:
    file = tmp_path / "servers.json"
    file.write_text(content)
    ended = program.run("-p", "hi", "--mcp-config", str(file), script=[{"text": "ok"}])
    assert (ended.status, ended.out, program.chats) == (2, "", [])
    assert ended.err.startswith(f"error: {file}{problem}")
    folder = program.run("-p", "hi", "--mcp-config", str(tmp_path))
    assert folder == Ended(2, "", f"error: {tmp_path}: is a folder, not a file\n")


def test_waiting_for_a_server_whose_tools_nobody_knows_is_said(
    program: Program, tmp_path: Path
) -> None:
    file = tmp_path / "servers.json"
    file.write_text(json.dumps({"mcpServers": {"slow": fake("--delay", "1.5")}}))
    ended = program.run("-p", "hi", "--mcp-config", str(file), script=[{"text": "ok"}])
    said = 'waiting for MCP server "slow" (no tools are known yet; its time-out is 30 s)\n'
    assert ended == Ended(0, "ok\n", said)


def test_a_server_that_never_came_up_is_named_at_the_end(program: Program, tmp_path: Path) -> None:
    file = tmp_path / "servers.json"
    hangs = tmp_path / "hangs"
    words = ["-c", f"test -e '{hangs}' && exec sleep 600; exec \"$@\"", "sh", *fake_words()]
    file.write_text(json.dumps({"mcpServers": {"late": {"command": "sh", "args": words}}}))
    named = ["-p", "hi", "--mcp-config", str(file)]
    assert program.run(*named, script=[{"text": "ok"}]) == Ended(0, "ok\n", "")
    # The same configuration, and so the same tools in the cache; but now its program hangs.
    hangs.touch()

    ended = program.run(*named, script=[{"text": "ok"}])

    said = 'note: MCP server "late" did not come up in this run: it was still connecting\n'
    assert ended == Ended(0, "ok\n", said)
