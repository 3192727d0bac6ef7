"""JSON-RPC 2.0 messages: parse and encode; no I/O and no MCP."""

from dataclasses import dataclass
from typing import TypeAlias

from agent_shell.errors import MCPError
from agent_shell.json_types import JSONObject, JSONValue

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

RequestId: TypeAlias = int | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A call that wants an answer with the same id."""

    id: RequestId
    method: str
    params: JSONObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """A message that gets no answer."""

    method: str
    params: JSONObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A request's successful answer."""

    id: RequestId
    result: JSONValue


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorResponse:
    """A request's error answer. `id` is None where the other side could not read the request."""

    id: RequestId | None
    code: int
    message: str
    data: JSONValue = None


Message: TypeAlias = Request | Notification | Response | ErrorResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFailed:
    """Not on the wire: a transport's word that one request's answer will never come.

    HTTP needs it: there one exchange can fail while the connection lives on.
    """

    id: RequestId
    error: MCPError


Incoming: TypeAlias = Message | RequestFailed
