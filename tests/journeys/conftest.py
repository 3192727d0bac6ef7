"""A place for a journey: a home, a project, a user file of servers; and what /proc knows."""

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from agent_shell.discovery.discovered import DiscoveryOptions
from agent_shell.json_types import JSONObject, JSONValue
from agent_shell.mcp.manager import MCPManager
from agent_shell.mcp.registries import ManagerEvent
from agent_shell.paths import AppPaths, app_paths
from agent_shell.settings.settings import MCPSettings

FAKE_SERVER = Path(__file__).parents[1] / "fakes" / "stdio_server.py"


def fake(*options: str) -> dict[str, JSONValue]:
    """An entry of mcp.json for the fake server, with its options."""
    return {"command": sys.executable, "args": ["-S", "-E", str(FAKE_SERVER), *options]}


def fake_behind_shell(*options: str) -> dict[str, JSONValue]:
    """The same as a grandchild: the shell in between stays alive and has no handler of its own."""
    return {
        "command": "sh",
        "args": ["-c", '"$0" -S -E "$@"; true', sys.executable, str(FAKE_SERVER), *options],
    }


def fake_with_options_in(file: Path) -> dict[str, JSONValue]:
    """The fake server, which reads its options from the file; the entry stays the same."""
    line = f'exec "$0" -S -E "$1" $(cat "{file}")'
    return {"command": "sh", "args": ["-c", line, sys.executable, str(FAKE_SERVER)]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Folders and environment of one journey."""

    folder: Path
    project: Path
    environ: Mapping[str, str]

    @property
    def paths(self) -> AppPaths:
        """Where the program keeps its things in this journey."""
        return app_paths(self.environ)

    def define(self, **servers: JSONObject) -> None:
        """Write the user's file anew."""
        file = self.paths.user_mcp_config
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"mcpServers": servers}), "utf-8")

    def manager(
        self, *, startup_timeout_ms: int = 250, timeout_override_ms: int | None = None
    ) -> MCPManager:
        """A manager for this place, not yet entered."""
        options = DiscoveryOptions(cwd=self.project, paths=self.paths, environ=self.environ)
        settings = MCPSettings(
            startup_timeout_ms=startup_timeout_ms, timeout_override_ms=timeout_override_ms
        )
        return MCPManager(options, settings=settings)


async def until(manager: MCPManager, holds: Callable[[], bool]) -> None:
    """Wait until `holds`, asked again at every event of the manager; the caller bounds the wait."""
    changed = anyio.Event()

    def on_event(event: ManagerEvent) -> None:
        changed.set()

    stop = manager.subscribe(on_event)
    try:
        while not holds():
            await changed.wait()
            changed = anyio.Event()
    finally:
        stop()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A fresh one."""
    project = tmp_path / "project"
    project.mkdir()
    return Place(
        folder=tmp_path,
        project=project,
        environ={
            "PATH": os.environ["PATH"],
            "HOME": os.environ["HOME"],
            "LANG": "C.UTF-8",
            "AGENT_SHELL_HOME": str(tmp_path / "home"),
        },
    )
