"""agent-shell mcp status, test, tools, call, resources, read, prompts, with real servers."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.mcp_program import Program, fake
from tests.requirements import requirement
from tests.terminal.pty_program import PtyProgram


@pytest.fixture
def program(tmp_path: Path) -> Program:
    (tmp_path / "project").mkdir()
    return Program(tmp_path / "home", tmp_path / "project")


def is_alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


@requirement("Z37", "trust:headless")
def test_status_tries_every_usable_server_and_leaves_none_behind(
    program: Program, tmp_path: Path
) -> None:
    marker = tmp_path / "marker"
    pid_file = tmp_path / "pid"
    program.user(
        good=fake("--pid-file", str(pid_file)),
        dead={"command": "no-such-program"},
        silent={**fake("--behave", "silent"), "timeout": 500},
        off={**fake(), "enabled": False},
    )
    program.shared(theirs={"command": "touch", "args": [str(marker)]})

    run = program("status", "--json")

    rows = {row["name"]: row for row in run.json["servers"]}
    assert {name: (row["status"], row["reason"]) for name, row in rows.items()} == {
        "dead": ("disconnected", "failed"),
        "good": ("connected", None),
        "off": ("disconnected", "disabled"),
        "silent": ("disconnected", "failed"),
        "theirs": ("disconnected", "untrusted"),
    }
    assert rows["good"]["tools"] == 12
    assert rows["good"]["server"] == {"name": "fake", "version": "1.0"}
    assert rows["good"]["protocol"] == "2025-11-25"
    assert sorted(rows["good"]["timings_ms"]) == ["initialize", "list_tools", "spawn"]
    assert rows["dead"]["error"] == "command not found: no-such-program"
    assert run.status == 1
    assert rows["good"]["pid"] == int(pid_file.read_text(encoding="utf-8"))
    assert not is_alive(rows["good"]["pid"])
    assert not marker.exists()


def test_status_is_fine_when_every_enabled_and_trusted_server_is(program: Program) -> None:
    program.user(good=fake(), off={"command": "x", "enabled": False})
    program.shared(theirs={"command": "x"})

    run = program("status")

    assert run.status == 0
    assert [line.split()[:3] for line in run.out.splitlines()] == [
        ["●", "good", "connected"],
        ["○", "off", "disconnected"],
        ["○", "theirs", "disconnected"],
    ]
    assert run.err == (
        "note: not started, since you have not agreed to them yet: theirs\n"
        "hint: agent-shell asks about them; --trust-project accepts them for one run\n"
    )


def test_trusting_the_project_for_one_run_starts_its_servers(program: Program) -> None:
    program.shared(theirs=fake())

    run = program("status", "--json", before=("--trust-project",))

    assert [row["status"] for row in run.json["servers"]] == ["connected"]
    assert not program.paths.trust_file.exists()


@requirement("Z5")
def test_status_fills_a_panel_on_a_terminal(program: Program, tmp_path: Path) -> None:
    program.user(good=fake(), slow=fake("--delay", "0.7"), dead={"command": "no-such-program"})
    argv = [sys.executable, "-m", "agent_shell", "mcp", "status"]
    environ = {**program.full_environ, "TERM": "xterm-256color"}

    with PtyProgram(argv, env=environ, cwd=program.project, columns=300) as terminal:
        terminal.wait_for("◌ slow")
        terminal.wait_for("● slow")
        assert terminal.wait_exit() == 1
        rows = [row.split()[:3] for row in terminal.lines if row.strip()]
        output = terminal.output

    assert rows[0] == ["✗", "dead", "disconnected"]
    assert rows[1:3] == [
        ["command", "not", "found:"],
        ["hint:", "check", '"command"'],
    ]
    assert [row[:3] for row in rows[3:5]] == [
        ["●", "good", "connected"],
        ["●", "slow", "connected"],
    ]
    assert b"\x1b[32m" in output


def test_a_terminal_without_colour_gets_none(program: Program) -> None:
    program.user(good=fake())
    argv = [sys.executable, "-m", "agent_shell", "mcp", "status"]
    environ = {**program.full_environ, "TERM": "xterm-256color", "NO_COLOR": "1"}

    with PtyProgram(argv, env=environ, cwd=program.project, columns=300) as terminal:
        terminal.wait_for("● good")
        assert terminal.wait_exit() == 0
        assert b"m\xe2" not in terminal.output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_servers_too(
    program: Program, tmp_path: Path, number: signal.Signals
) -> None:
    pid_file = tmp_path / "pid"
    program.user(silent=fake("--behave", "silent", "--pid-file", str(pid_file)))

    with subprocess.Popen(
        [sys.executable, "-m", "agent_shell", "mcp", "status"],
        cwd=program.project,
        env=program.full_environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        deadline = time.monotonic() + 20
        while not pid_file.exists() or not pid_file.read_text(encoding="utf-8"):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(number)
        out, err = process.communicate(timeout=20)

    assert (process.returncode, out, err) == (128 + number, b"", b"")
    assert not is_alive(int(pid_file.read_text(encoding="utf-8")))


def test_test_goes_step_by_step(program: Program) -> None:
    program.user(good=fake(), dead={"command": "no-such-program"})

    run = program("test", "--json")

    servers = {row["name"]: row for row in run.json["servers"]}
    assert [(step["name"], step["ok"]) for step in servers["dead"]["steps"]][-1] == (
        "command",
        False,
    )
    assert [step["name"] for step in servers["good"]["steps"]] == [
        "found",
        "trusted",
        "command",
        "spawn",
        "initialize",
        "list tools",
    ]
    assert run.status == 1
    assert program("test", "good").status == 0
    assert program("test", "dead").status == 1


def test_tools_are_listed_with_their_schema_and_session_name(program: Program) -> None:
    program.user(a=fake(), b={**fake(), "includeTools": ["echo"]})

    assert program("tools", "b").out == "b: echo  Say it back.\n"
    assert program("tools", "b", "--json").json == {
        "tools": [
            {
                "server": "b",
                "name": "echo",
                "session_name": "mcp_b_echo",
                "title": None,
                "description": "Say it back.",
                "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
                "outputSchema": None,
                "annotations": {"readOnlyHint": True},
            }
        ],
        "errors": [],
    }
    assert len(program("tools").out.splitlines()) == 13


def test_a_server_that_failed_does_not_hide_the_others_tools(program: Program) -> None:
    program.user(a=fake(), dead={"command": "no-such-program"})

    run = program("tools", "--json")

    assert len(run.json["tools"]) == 12
    assert run.json["errors"] == [{"server": "dead", "error": "command not found: no-such-program"}]
    assert run.status == 1
    assert run.err.startswith('error: server "dead": command not found: no-such-program\n')


@pytest.mark.parametrize(
    ("words", "status", "out"),
    [
        (("echo", "text=5"), 0, "5\n"),
        (("echo", "text=a b\nc"), 0, "a b\nc\n"),
        (("add", "a=1", "b=2.5"), 0, "3.5\n"),
        (("add", '{"a": 1, "b": 2}'), 0, "3\n"),
        (("mcp_s_add", "a:=1", "b:=-2"), 0, "-1\n"),
        (("fail", "text=denied"), 1, "denied\n"),
    ],
)
def test_call_prints_the_text_of_the_result(
    program: Program, words: tuple[str, ...], status: int, out: str
) -> None:
    program.user(s=fake())

    run = program("call", "s", *words)

    assert (run.status, run.out) == (status, out)


def test_call_prints_the_whole_result_as_json(program: Program) -> None:
    program.user(s=fake())

    assert program("call", "s", "fail", "text=no", "--json").json == {
        "content": [{"type": "text", "text": "no"}],
        "isError": True,
    }


@pytest.mark.parametrize(
    ("words", "status", "error"),
    [
        (("s", "nosuch"), 2, 'error: server "s" has no tool "nosuch"; it has: add, add_tool, '),
        (("s", "add", "a"), 2, 'error: "a" is not key=value\n'),
        (("s", "add", "a=x"), 2, 'error: "a" must be a number, not "x"\n'),
        (("s", "add", '{"a"'), 2, "error: the arguments: not valid JSON: "),
        (("s", "add", '{"a": "x"}'), 1, "error: the arguments do not fit: /a: "),
        (("s",), 2, "error: a server and a tool are needed\n"),
        (("s", "crash"), 1, "error: "),
        (("off", "add"), 1, 'error: server "off" is disabled\nhint: agent-shell mcp enable off\n'),
        (("theirs", "add"), 1, 'error: server "theirs" is not started: you have not agreed'),
    ],
)
def test_a_call_that_can_not_be_made_is_one_error(
    program: Program, words: tuple[str, ...], status: int, error: str
) -> None:
    program.user(s=fake(), off={**fake(), "enabled": False})
    program.shared(theirs=fake())

    run = program("call", *words)

    assert (run.status, run.out) == (status, "")
    assert run.err.startswith(error), run.err


def test_resources_and_prompts_are_listed_and_read(program: Program) -> None:
    program.user(s=fake())

    assert program("resources", "s").out == "s: fake:///one  one\ns: fake:///{x}  x\n"
    listed = program("resources", "--json").json
    assert [row["uri"] for row in listed["resources"]] == ["fake:///one"]
    assert [row["uriTemplate"] for row in listed["templates"]] == ["fake:///{x}"]
    assert program("read", "s", "fake:///one").out == "the text of fake:///one\n"
    assert list(program("read", "s", "fake:///one", "--json").json) == ["contents"]
    assert program("prompts").out == "s: greet  Say hello.\n"
    assert [row["name"] for row in program("prompts", "s", "--json").json["prompts"]] == ["greet"]


def test_a_closed_pipe_ends_it_quietly(program: Program) -> None:
    program.user(s=fake("--tools", "3000"))
    with subprocess.Popen(
        [sys.executable, "-m", "agent_shell", "mcp", "tools", "--json"],
        cwd=program.project,
        env=program.full_environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr is not None
        err = process.stderr.read()
        assert (process.wait(timeout=20), err) == (0, b"")


@requirement("A11")
def test_an_unset_variable_is_named_and_nothing_started(program: Program, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    entry = {"command": "touch", "args": [str(marker)], "env": {"D": "${NOT_SET}/d"}}
    file = program.user(bad=entry, good=fake())

    run = program("status", "--json")

    line = file.read_text(encoding="utf-8").splitlines().index('        "D": "${NOT_SET}/d"') + 1
    error = f'{file}:{line}:14: server "bad": "D" in "env": variable NOT_SET is not set'
    assert [(row["name"], row["error"]) for row in run.json["servers"]] == [
        ("bad", error),
        ("good", None),
    ]
    assert run.status == 1
    assert not marker.exists()


@requirement("A10")
def test_the_child_gets_expanded_words(program: Program) -> None:
    program.user(s={**fake("--name", "${A:-${HOME}/x}:/m"), "env": {"E": "${A:-none}"}})

    row = program("status", "--json").json["servers"][0]
    assert row["server"]["name"] == f"{program.home}/x:/m"
    program.environ["A"] = "/data"
    row = program("status", "--json").json["servers"][0]
    assert row["server"]["name"] == "/data:/m"
    assert json.loads(program("call", "s", "env", "name=E", "--json").out)["content"] == [
        {"type": "text", "text": "/data"}
    ]


def test_what_a_server_says_can_not_write_to_the_terminal(program: Program) -> None:
    program.user(**{"a\nb": fake("--name", "x\x1b[2J\ny")})

    called = program("call", "a\nb", "echo", "text=one\ttwo\x1b[2J\x07\nthree\r\n\u00e9\rfour")
    tested = program("test")

    assert called.out == "one\ttwo\\x1b[2J\\x07\nthree\r\n\u00e9\\rfour\n"
    assert "\x1b" not in tested.out
    assert tested.out.splitlines()[0] == "a\\nb"
    assert not any(line.startswith("y") for line in tested.out.splitlines())
