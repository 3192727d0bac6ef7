"""The program as scripts use it: what goes to which stream, exit codes, and nothing left over."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.fakes.model_server import ModelServer
from tests.journeys.conftest import Place, fake
from tests.journeys.processes import is_alive, pid_in
from tests.requirements import requirement


def agent_shell(
    place: Place,
    *arguments: str,
    environ: Mapping[str, str] | None = None,
    stdin: int | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run the program to its end without a terminal; standard input is empty unless given."""
    return subprocess.run(
        [sys.executable, "-m", "agent_shell", *arguments],
        cwd=place.project,
        env={**place.environ, **(environ or {})},
        stdin=subprocess.DEVNULL if stdin is None else stdin,
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=30,
    )


def model_environ(model: ModelServer) -> dict[str, str]:
    """What leads to the scripted model."""
    return {
        "OPENAI_BASE_URL": model.base_url,
        "OPENAI_API_KEY": "key-of-a-test",
        "AGENT_SHELL_MODEL": "openai/test-model",
    }


def define_in_project(place: Place, marker: Path) -> None:
    """A project's server that leaves a mark when it runs."""
    entry = fake("--pid-file", str(marker))
    file = place.project / ".mcp.json"
    file.write_text(json.dumps({"mcpServers": {"theirs": entry}}), "utf-8")


@requirement("Z5")
def test_mcp_list_answers_from_the_files_and_starts_nothing(place: Place) -> None:
    marker = place.folder / "pid"
    place.define(mine=fake("--pid-file", str(marker)), dead={"command": "/nonexistent/x"})

    done = agent_shell(place, "mcp", "list", "--json")

    assert (done.returncode, done.stderr) == (0, "")
    listed = json.loads(done.stdout)
    assert [(row["name"], row["status"]) for row in listed["servers"]] == [
        ("dead", None),
        ("mine", None),
    ]
    assert not marker.exists()


@requirement("Z5", "Z37", "Z36")
def test_mcp_status_connects_all_says_which_failed_and_leaves_no_process(place: Place) -> None:
    marker = place.folder / "pid"
    place.define(
        mine=fake("--pid-file", str(marker)),
        silent={**fake("--behave", "silent"), "timeout": 1000},
    )

    done = agent_shell(place, "mcp", "status", "--json")

    assert done.returncode == 1
    rows = {row["name"]: row for row in json.loads(done.stdout)["servers"]}
    assert (rows["mine"]["status"], rows["silent"]["status"]) == ("connected", "disconnected")
    assert rows["silent"]["reason"] == "failed"
    assert not is_alive(pid_in(marker))


@requirement("trust:headless", "trust:nothing-before-consent")
@pytest.mark.parametrize("arguments", [("mcp", "status"), ("-p", "hi"), ("mcp", "list")])
def test_headless_a_projects_server_is_not_started_unless_told_so(
    place: Place, arguments: tuple[str, ...]
) -> None:
    marker = place.folder / "pid"
    define_in_project(place, marker)

    with ModelServer([{"text": "hello"}] * 2) as model:
        agent_shell(place, *arguments, environ=model_environ(model))
        assert not marker.exists()
        if arguments != ("mcp", "list"):
            agent_shell(place, "--trust-project", *arguments, environ=model_environ(model))
            assert not is_alive(pid_in(marker))


@requirement("L1")
def test_an_open_standard_input_does_not_hold_a_prompt_up(place: Place) -> None:
    reader, writer = os.pipe()
    try:
        with ModelServer([{"text": "hello there"}]) as model:
            started = time.monotonic()
            done = agent_shell(
                place, "-p", "hi", "--no-mcp", environ=model_environ(model), stdin=reader
            )
            took = time.monotonic() - started
    finally:
        os.close(reader)
        os.close(writer)

    assert (done.returncode, done.stdout) == (0, "hello there\n")
    assert took < 15


@requirement("L1")
def test_without_a_model_a_headless_run_fails_fast_and_says_how_to_get_one(place: Place) -> None:
    done = agent_shell(place, "-p", "hi", "--no-mcp")

    assert done.returncode != 0
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert "hint: " in done.stderr


@requirement("L4", "Y39", "B3")
@pytest.mark.parametrize("output_format", ["json", "stream-json"])
def test_json_output_is_json_whatever_servers_and_logs_say(
    place: Place, output_format: str
) -> None:
    place.define(noisy=fake("--behave", "noisy"))
    script = [
        {"tool_calls": [{"name": "mcp_noisy_echo", "arguments": {"text": "x"}, "id": "c"}]},
        {"text": "done"},
    ]

    with ModelServer(script) as model:
        done = agent_shell(
            place,
            "--debug",
            "--approval",
            "all",
            "-p",
            "hi",
            "--output-format",
            output_format,
            environ=model_environ(model),
        )

    assert done.returncode == 0
    documents = [done.stdout] if output_format == "json" else done.stdout.splitlines()
    assert documents
    for document in documents:
        json.loads(document)
    assert "noise" not in done.stderr
