"""However a run ends: an exit status, at most one error, never a traceback (CONTRACT section 1)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent_shell.cli.last_door import end_status
from agent_shell.errors import ConfigError, MCPConnectError
from tests.cli.mcp_program import CHECKOUT
from tests.fakes.model_server import ModelServer

NO_SPACE = "error: cannot write the output: No space left on device\n"
QUICK = ["--version", "--help", "mcp list", "mcp list --json", "mcp status", "mcp tools --json"]


def in_shell(words: str, redirection: str, *, cwd: Path, **environ: str) -> tuple[int, str]:
    """The status of `agent-shell WORDS` in a shell's hands, and what went to standard error."""
    program = f'"{sys.executable}" -m agent_shell'
    done = subprocess.run(
        ["/bin/bash", "-c", f"set -o pipefail; {program} {words} {redirection}"],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), **environ},
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stderr.decode()


@pytest.mark.parametrize("words", QUICK)
def test_a_reader_that_has_gone_is_no_failure(words: str, tmp_path: Path) -> None:
    assert in_shell(words, "2> err | true; status=$?; cat err >&2; exit $status", cwd=tmp_path) in (
        (0, ""),
        (0, "hint: agent-shell mcp add NAME -- COMMAND ARGS… adds one\n"),
    )


@pytest.mark.parametrize("words", QUICK)
def test_a_full_disk_is_one_error(words: str, tmp_path: Path) -> None:
    assert in_shell(words, "> /dev/full", cwd=tmp_path) == (1, NO_SPACE)


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-", "2>/dev/full"])
@pytest.mark.parametrize("words", ["--version", "--help", "mcp list", "-p hi"])
def test_a_stream_closed_beforehand_changes_no_status(
    words: str, closed: str, tmp_path: Path
) -> None:
    with ModelServer([{"text": "hello"}]) as server:
        status, err = in_shell(words, closed, cwd=tmp_path, OPENAI_BASE_URL=server.base_url)

    assert status == 0
    assert err in ("", "hint: agent-shell mcp add NAME -- COMMAND ARGS… adds one\n")


def test_what_a_task_group_wrapped_is_reported_as_itself(
    capfd: pytest.CaptureFixture[str],
) -> None:
    wrapped = ExceptionGroup("g", [ExceptionGroup("g", [ConfigError("a: b\nc", hint="do")])])
    server = MCPConnectError("it is gone", server="files")

    assert (end_status(wrapped), end_status(server)) == (2, 1)
    assert capfd.readouterr().err == (
        'error: a: b\\nc\nhint: do\nerror: server "files": it is gone\n'
    )
    assert end_status(BaseExceptionGroup("g", [KeyboardInterrupt()])) == 130


def test_what_nobody_foresaw_is_one_line_and_the_log_has_the_rest(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_SHELL_HOME", str(tmp_path))
    with pytest.raises(ExceptionGroup) as caught:
        raise ExceptionGroup("g", [ZeroDivisionError("by zero\n")])

    assert end_status(caught.value) == 1
    log = tmp_path / "state" / "logs" / "agent-shell.log"
    said = f"error: something unforeseen happened: ZeroDivisionError: by zero\\n; {log} says more\n"
    assert capfd.readouterr().err == said
    assert "Traceback" in log.read_text()
