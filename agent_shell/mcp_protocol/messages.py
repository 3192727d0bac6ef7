"""MCP's own words, read leniently: a bad item is dropped, an unknown one kept as it is."""

from dataclasses import dataclass, field
from typing import TypeAlias

from agent_shell.errors import MCPProtocolError
from agent_shell.json_types import JSONObject, JSONValue, as_array, as_object, as_string
from agent_shell.mcp_protocol.one_line import one_line

MAX_INFO_CHARS = 200
"""Of a server's name, title and version; they stand inside lines of ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInfo:
    """Who the server says it is, each in one line. For display only."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of a list. `next_cursor` is None on the last one; "" is a cursor like any other."""

    items: tuple[JSONObject, ...]
    next_cursor: str | None = None
    problems: tuple[str, ...] = ()


def read_initialize_result(value: JSONValue) -> InitializeResult:
    """The handshake's answer. Raises MCPProtocolError if it names no protocol version."""
    fields = as_object(value) or {}
    version = as_string(fields.get("protocolVersion"))
    if version is None:
        raise MCPProtocolError("the answer to initialize names no protocol version")
    info = as_object(fields.get("serverInfo")) or {}
    title = as_string(info.get("title"))
    return InitializeResult(
        protocol_version=version,
        capabilities=as_object(fields.get("capabilities")) or {},
        server_info=ServerInfo(
            name=one_line(as_string(info.get("name")) or "", MAX_INFO_CHARS),
            version=one_line(as_string(info.get("version")) or "", MAX_INFO_CHARS),
            title=None if title is None else one_line(title, MAX_INFO_CHARS),
        ),
        instructions=as_string(fields.get("instructions")) or None,
    )


def read_page(value: JSONValue, key: str) -> Page:
    """One page of `tools`, `resources`, `resourceTemplates` or `prompts` (the `key`).

    Items that are no objects are left out and told. Raises MCPProtocolError where there is no
    list at all.
    """
    fields = as_object(value)
    entries = as_array(fields.get(key)) if fields is not None else None
    if fields is None or entries is None:
        raise MCPProtocolError(f"the answer holds no list of {key}")
    items = tuple(item for entry in entries if (item := as_object(entry)) is not None)
    left_out = len(entries) - len(items)
    return Page(
        items=items,
        next_cursor=as_string(fields.get("nextCursor")),
        problems=(f"{left_out} of {key} left out: not an object",) if left_out else (),
    )


def read_tool(fields: JSONObject) -> ToolDefinition | str:
    """One tool, or what is wrong with it. A missing input schema means: any object."""
    name = as_string(fields.get("name"))
    if not name:
        return "a tool left out: it has no name"
    schema = fields.get("inputSchema")
    input_schema: JSONObject | None = {} if schema is None else as_object(schema)
    if input_schema is None:
        return f"tool {name!r} left out: its inputSchema is not an object"
    return ToolDefinition(
        name=name,
        description=as_string(fields.get("description")) or "",
        title=as_string(fields.get("title")),
        input_schema=input_schema,
        output_schema=as_object(fields.get("outputSchema")),
        annotations=as_object(fields.get("annotations")),
    )


def _block_of(entry: JSONValue) -> ContentBlock:
    block = as_object(entry)
    return {"type": "text", "text": entry} if block is None else block


def read_call_tool_result(value: JSONValue) -> CallToolResult:
    """A tool's answer; content may be missing. Raises MCPProtocolError if it is no object.

    Content and blocks that are a bare text, number or object are kept as if written correctly;
    an `isError` that is neither true nor false means an error unless it says "false" or nothing.
    """
    fields = as_object(value)
    if fields is None:
        raise MCPProtocolError("the answer to tools/call is not an object")
    content = fields.get("content")
    entries = as_array(content)
    if entries is None:
        entries = () if content is None else (content,)
    return CallToolResult(
        content=tuple(_block_of(entry) for entry in entries if entry is not None),
        is_error=fields.get("isError") not in (None, False, 0, "", "false", "False"),
        structured_content=fields.get("structuredContent"),
        raw=fields,
    )
