"""A project folder for the real shell: its servers, its home, its settings."""

import contextlib
import json
import os
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.terminal.pty_program import CHECKOUT, PtyProgram

STDIO_SERVER = CHECKOUT / "tests" / "fakes" / "stdio_server.py"
GONE_WITHIN_S = 3.0


def fake_server(*options: str) -> dict[str, Any]:
    """An entry that starts the fake stdio server with these options."""
    return {"command": sys.executable, "args": ["-S", "-E", str(STDIO_SERVER), *options]}


@dataclass(frozen=True)
class Project:
    """One test's project and home."""

    folder: Path
    home: Path

    @property
    def log(self) -> str:
        """What the program logged, empty if nothing."""
        file = self.home / "agent-shell" / "state" / "logs" / "agent-shell.log"
        return file.read_text(encoding="utf-8") if file.exists() else ""

    def write_project_servers(self, servers: Mapping[str, Any]) -> None:
        """The project's own `.mcp.json`."""
        write_servers(self.folder / ".mcp.json", servers)

    def write_user_servers(self, servers: Mapping[str, Any]) -> None:
        """The user's `mcp.json`: its servers need no question."""
        write_servers(self.home / "agent-shell" / "config" / "mcp.json", servers)

    def write_settings(self, text: str) -> None:
        """The user's settings file."""
        file = self.home / "agent-shell" / "config" / "settings.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    @contextmanager
    def shell(self, *arguments: str, **options: Any) -> Generator[PtyProgram]:
        """The shell in this project, its prompt standing and its state line shown."""
        with PtyProgram.agent_shell(
            *arguments, home=self.home, cwd=self.folder, **options
        ) as program:
            program.wait_for(lambda program: program.lines_with("mcp") != [])
            yield program

    def settings_for(self, model_url: str) -> None:
        """Talk to this model service."""
        self.write_settings(
            f'model = "fake/test-model"\n[providers.fake]\nbase_url = "{model_url}"\n'
        )


def write_servers(file: Path, servers: Mapping[str, Any]) -> None:
    """One file of MCP servers."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"mcpServers": servers}, indent=2), encoding="utf-8")


def read_pid(file: Path) -> int:
    """The process id a fake server wrote; waits until it is there."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, ValueError):
            return int(file.read_text(encoding="utf-8"))
        time.sleep(0.02)  # another process writes the file; nothing else tells us
    raise AssertionError(f"no process id in {file}")


def is_alive(pid: int) -> bool:
    """Whether a process of this id runs (a zombie does not)."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except (OSError, IndexError):
        return False
    return state != "Z"


def assert_gone(*pids: int) -> None:
    """None of the processes is left, within a moment."""
    deadline = time.monotonic() + GONE_WITHIN_S
    while any(is_alive(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.02)  # the kernel tells only parents
    assert [pid for pid in pids if is_alive(pid)] == []
