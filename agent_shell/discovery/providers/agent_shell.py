"""Our own files: the project's .agent-shell/mcp.json, then the user's mcp.json."""

from collections.abc import Sequence

from agent_shell.discovery.providers.base import (
    ConfigFile,
    FileContents,
    Place,
    read_mcp_servers,
)

PROJECT_FILE = ".agent-shell/mcp.json"


class AgentShellFiles:
    """The nearer file first: a project may override what the user has everywhere."""

    id = "agent-shell"
    name = "Agent Shell"

    def files(self, place: Place) -> Sequence[ConfigFile]:
        """Both files; only the user's own may hold the lists of names."""
        return (
            ConfigFile(
                path=place.project / PROJECT_FILE,
                provider=self.id,
                provider_name=self.name,
                level="project",
            ),
            ConfigFile(
                path=place.paths.user_mcp_config,
                provider=self.id,
                provider_name=self.name,
                level="user",
                has_name_lists=True,
            ),
        )

    def read(self, file: ConfigFile, place: Place) -> FileContents | None:
        """The servers of one file; None if it is not there. Raises ConfigError."""
        return read_mcp_servers(file, place)
