"""A project folder with real little servers, for tests of everything around the manager."""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agent_shell.discovery.discovered import DiscoveryOptions
from agent_shell.json_types import JSONValue
from agent_shell.mcp.manager import MCPManager
from agent_shell.paths import AppPaths, app_paths
from agent_shell.settings.settings import MCPSettings

STDIO_SERVER = Path(__file__).parent.parent / "fakes" / "stdio_server.py"


def fake_server(*options: str) -> dict[str, JSONValue]:
    """An entry that starts the fake stdio server with these options."""
    return {"command": sys.executable, "args": ["-S", "-E", str(STDIO_SERVER), *options]}


@dataclass
class ServerProject:
    """Writes the user's mcp.json (no trust needed) and makes managers over it."""

    root: Path
    environ: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        self.project = self.root / "project"
        self.project.mkdir(exist_ok=True)
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": os.environ["HOME"],
            "AGENT_SHELL_HOME": str(self.root / "home"),
            **self.environ,
        }

    @property
    def paths(self) -> AppPaths:
        return app_paths(self.environ)

    def write_user_servers(
        self, servers: Mapping[str, JSONValue], **lists: list[JSONValue]
    ) -> None:
        """The user's own file: these servers and, as keywords, the two lists."""
        self._write(self.paths.user_mcp_config, {"mcpServers": servers, **lists})

    def write_project_servers(self, servers: Mapping[str, JSONValue]) -> None:
        """The project's `.mcp.json`."""
        self._write(self.project / ".mcp.json", {"mcpServers": servers})

    def manager(
        self, *, settings: MCPSettings | None = None, trust_project: bool = False
    ) -> MCPManager:
        """A manager as the shell makes it; enter it."""
        options = DiscoveryOptions(
            cwd=self.project, paths=self.paths, environ=self.environ, trust_project=trust_project
        )
        return MCPManager(options, settings=settings or MCPSettings())

    def _write(self, path: Path, content: Mapping[str, JSONValue]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")
