"""A place to discover in: a project, our own folders, an environment."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent_shell.discovery.discover import Discovery, DiscoveryOptions, discover
from agent_shell.json_types import JSONValue
from agent_shell.paths import AppPaths, app_paths


@dataclass(frozen=True, slots=True)
class Place:
    """Files are written as given; `find` runs discovery over them."""

    home: Path
    project: Path
    environ: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def paths(self) -> AppPaths:
        return app_paths({"AGENT_SHELL_HOME": str(self.home)})

    def write(self, file: Path, content: str | bytes | Mapping[str, JSONValue]) -> Path:
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            file.write_bytes(content)
        else:
            text = content if isinstance(content, str) else json.dumps(content, indent=2)
            file.write_text(text, encoding="utf-8")
        return file

    def user(self, content: str | bytes | Mapping[str, JSONValue]) -> Path:
        return self.write(self.paths.user_mcp_config, content)

    def mcp_json(self, content: str | bytes | Mapping[str, JSONValue]) -> Path:
        return self.write(self.project / ".mcp.json", content)

    def own_project(self, content: str | bytes | Mapping[str, JSONValue]) -> Path:
        return self.write(self.project / ".agent-shell" / "mcp.json", content)

    def find(
        self,
        *,
        extra: tuple[Path, ...] = (),
        strict: bool = False,
        trust_project: bool = False,
        project_config: bool = True,
        filter_exa: bool = True,
    ) -> Discovery:
        return discover(
            DiscoveryOptions(
                cwd=self.project,
                paths=self.paths,
                environ=self.environ,
                extra_files=extra,
                strict=strict,
                trust_project=trust_project,
                enable_project_config=project_config,
                filter_exa=filter_exa,
            )
        )


def servers(**entries: JSONValue) -> dict[str, JSONValue]:
    """The usual shape of a file."""
    return {"mcpServers": entries}


def reasons(found: Discovery) -> list[tuple[str, str | None]]:
    """Each definition's name and why it is not used."""
    return [(server.name, server.reason) for server in found.servers]


def messages(found: Discovery) -> list[str]:
    """All problems of whole files, and all warnings."""
    return [error.message for error in found.errors]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """An empty one."""
    project = tmp_path / "project"
    project.mkdir()
    return Place(tmp_path / "home", project)
