""".mcp.json at the project's root: the file that several programs share."""

from collections.abc import Sequence

from agent_shell.discovery.providers.base import (
    ConfigFile,
    FileContents,
    Place,
    read_mcp_servers,
)

FILE_NAME = ".mcp.json"


class McpJsonFile:
    """One file a project, checked in with it more often than not."""

    id = "mcp-json"
    name = "MCP Config"

    def files(self, place: Place) -> Sequence[ConfigFile]:
        """The one file."""
        return (
            ConfigFile(
                path=place.project / FILE_NAME,
                provider=self.id,
                provider_name=self.name,
                level="project",
            ),
        )

    def read(self, file: ConfigFile, place: Place) -> FileContents | None:
        """The servers of the file; None if it is not there. Raises ConfigError."""
        return read_mcp_servers(file, place)
