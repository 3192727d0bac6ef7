"""MCP's own words, read leniently: a bad item is dropped, an unknown one kept as it is."""

from dataclasses import dataclass, field
from typing import TypeAlias

from agent_shell.json_types import JSONObject, JSONValue


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInfo:
    """Who the server says it is. For display only."""

    name: str
    version: str = ""
    title: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InitializeResult:
    """The server's half of the handshake."""

    protocol_version: str
    capabilities: JSONObject
    server_info: ServerInfo
    instructions: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """One entry of `tools/list`. Schemas are kept verbatim."""

    name: str
    description: str = ""
    title: str | None = None
    input_schema: JSONObject = field(default_factory=dict[str, JSONValue])
    output_schema: JSONObject | None = None
    annotations: JSONObject | None = None


ContentBlock: TypeAlias = JSONObject
"""A content block as it came: `type` says which kind; unknown kinds stay as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallToolResult:
    """What `tools/call` answered. `raw` is the whole result, as it came."""

    content: tuple[ContentBlock, ...]
    is_error: bool = False
    structured_content: JSONValue = None
    raw: JSONObject = field(default_factory=dict[str, JSONValue])
