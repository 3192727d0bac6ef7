"""MCPToolCache: the last known tool list of each server configuration."""

import hashlib
import json
import logging
from pathlib import Path

import msgspec

from agent_shell.atomic_file import write_atomically
from agent_shell.discovery.server_config import (
    HttpServerConfig,
    ServerConfig,
    SseServerConfig,
    StdioServerConfig,
    WebSocketServerConfig,
)
from agent_shell.json_types import JSONObject, as_array, as_object, as_string
from agent_shell.mcp_protocol.messages import ToolDefinition
from agent_shell.paths import file_stem

logger = logging.getLogger(__name__)

FORMAT = 1
"""Raised when the files' shape changes: older files then count as absent."""


class MCPToolCache:
    """One small file a server configuration. Best effort: trouble is logged, never raised.

    Reading and writing block for a moment: call `set` in a thread where the prompt is live.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, config: ServerConfig) -> tuple[ToolDefinition, ...] | None:
        """The tools this configuration had last time, or None."""
        try:
            stored = msgspec.json.decode(self._file(config).read_bytes(), type=dict[str, object])
        except FileNotFoundError:
            return None
        except (OSError, msgspec.MsgspecError) as error:
            logger.warning("tool cache of %r is unreadable: %s", config.name, error)
            return None
        rows = as_array(stored.get("tools"))
        if stored.get("format") != FORMAT or rows is None:
            return None
        return tuple(tool for row in rows if (tool := _tool_of(as_object(row) or {})) is not None)

    def set(self, config: ServerConfig, tools: tuple[ToolDefinition, ...]) -> None:
        """Remember the tools; an unchanged list is not written again."""
        try:
            content = msgspec.json.encode({"format": FORMAT, "tools": tools})
            file = self._file(config)
            if not file.exists() or file.read_bytes() != content:
                write_atomically(file, content)
        except (OSError, msgspec.MsgspecError, TypeError) as error:
            logger.warning("cannot write the tool cache of %r: %s", config.name, error)

    def _file(self, config: ServerConfig) -> Path:
        return self._folder / f"{file_stem(config.name)}.{_fingerprint(config)}.json"


def _tool_of(row: JSONObject) -> ToolDefinition | None:
    """One stored tool; None if somebody edited it into something else."""
    name = as_string(row.get("name"))
    if name is None:
        return None
    return ToolDefinition(
        name=name,
        description=as_string(row.get("description")) or "",
        title=as_string(row.get("title")),
        input_schema=as_object(row.get("input_schema")) or {},
        output_schema=as_object(row.get("output_schema")),
        annotations=as_object(row.get("annotations")),
    )


def _fingerprint(config: ServerConfig) -> str:
    """Another command or address is another server. Secret values stay out of it."""
    match config:
        case StdioServerConfig():
            identity = [config.command, *config.args, config.cwd or "", *sorted(config.env)]
        case HttpServerConfig() | SseServerConfig() | WebSocketServerConfig():
            identity = [type(config).__name__, config.url, *sorted(config.headers)]
    text = json.dumps(identity)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]
