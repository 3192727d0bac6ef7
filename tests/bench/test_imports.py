"""What is imported before the prompt stands, read off the interpreter's own list."""

import sys
from pathlib import Path

from tests.bench.scenes import scene
from tests.bench.terminal_clock import KEY, TimedProgram
from tests.requirements import requirement

HEAVY = {
    "agent_shell.llm.create",
    "agent_shell.llm.http_stream",
    "agent_shell.llm.openai_chat",
    "httpcore",
    "httpx",
    "httpx_sse",
    "jsonschema_rs",
    "watchfiles",
    "websockets",
}


@requirement("speed:imports", "Y41")
def test_nothing_heavy_is_imported_before_the_prompt_takes_a_key(tmp_path: Path) -> None:
    report = tmp_path / "importtime.txt"
    where = scene(tmp_path / "scene", {})
    argv = [sys.executable, "-X", "importtime", "-m", "agent_shell"]

    with TimedProgram(
        argv, environ=where.environ, cwd=where.project, keys=KEY, stderr=report
    ) as program:
        program.seconds_until(KEY)
        lines = report.read_text("utf-8").splitlines()

    imported = {line.rpartition("|")[2].strip() for line in lines}
    assert "prompt_toolkit" in imported
    assert sorted(imported & HEAVY) == []
