"""Where a server's definition was found."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

SourceLevel = Literal["user", "project"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceMeta:
    """The file a definition came from, for labels, precedence and trust.

    `provider` is the program's short id (`mcp-json`), `provider_name` its label (`MCP Config`),
    `path` the real file. A file named by --mcp-config counts as the user's.
    """

    provider: str
    provider_name: str
    path: Path
    level: SourceLevel
