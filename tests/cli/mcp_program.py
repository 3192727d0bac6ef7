"""The real program, run once for each `agent-shell mcp …` of a test."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_shell.json_types import JSONValue
from agent_shell.paths import AppPaths, app_paths

CHECKOUT = Path(__file__).resolve().parents[2]
FAKE_SERVER = CHECKOUT / "tests" / "fakes" / "stdio_server.py"
LONGEST_RUN_S = 60


def fake(*options: str) -> dict[str, JSONValue]:
    """An entry for the fake server, with its options."""
    command, *args = fake_words(*options)
    return {"command": command, "args": args}


def fake_words(*options: str) -> list[str]:
    """The same as words of a command line."""
    return [sys.executable, "-S", "-E", str(FAKE_SERVER), *options]


@dataclass(frozen=True, slots=True)
class Run:
    """How a run ended and what it wrote."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Program:
    """A home and a project; calling it runs `agent-shell mcp WORDS…` there."""

    home: Path
    project: Path
    environ: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def paths(self) -> AppPaths:
        return app_paths({"AGENT_SHELL_HOME": str(self.home)})

    @property
    def full_environ(self) -> dict[str, str]:
        return {
            **os.environ,
            "HOME": str(self.home),
            "AGENT_SHELL_HOME": str(self.home),
            "PYTHONPATH": str(CHECKOUT),
            **self.environ,
        }

    def __call__(self, *words: str, before: tuple[str, ...] = ()) -> Run:
        done = subprocess.run(
            [sys.executable, "-m", "agent_shell", *before, "mcp", *words],
            cwd=self.project,
            env=self.full_environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LONGEST_RUN_S,
            check=False,
        )
        out, err = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
        assert "Traceback" not in err, err
        return Run(done.returncode, out, err)

    def user(self, **servers: Mapping[str, JSONValue]) -> Path:
        return self.write(self.paths.user_mcp_config, servers)

    def shared(self, **servers: Mapping[str, JSONValue]) -> Path:
        return self.write(self.project / ".mcp.json", servers)

    def write(self, file: Path, servers: Mapping[str, Mapping[str, JSONValue]]) -> Path:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"mcpServers": servers}, indent=2), encoding="utf-8")
        return file
