"""What an HTTP answer says about the request that was posted."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import httpx

from agent_shell.errors import MCPHttpError, MCPProtocolError
from agent_shell.mcp.transports.http_client import media_type
from agent_shell.mcp.transports.redact import Redactor
from agent_shell.mcp_protocol.jsonrpc import (
    METHOD_NOT_FOUND,
    ErrorResponse,
    Incoming,
    Request,
    RequestFailed,
    RequestId,
    Response,
    decode,
    same_id,
)

Answer: TypeAlias = Response | ErrorResponse | RequestFailed

MODERN_ERRORS = range(-32022, -32019)
"""Codes by which a server of a later revision says that it has no sessions (MCP.md 1.4)."""


def means_lost_session(error: MCPHttpError, *, has_session: bool) -> bool:
    """404 says so; some servers say 400, which also has other meanings (MCP.md 1.4 f)."""
    if not has_session:
        return False
    return error.status == 404 or (error.status == 400 and error.body_code not in MODERN_ERRORS)


def session_id(response: httpx.Response) -> str | None:
    """The header's value if it is what the specification allows: visible ASCII."""
    value = response.headers.get("mcp-session-id")
    is_good = bool(value) and all(0x21 <= ord(character) <= 0x7E for character in value)
    return value if is_good else None


def own_error(body: bytearray, request: Request, status: int) -> ErrorResponse | None:
    """The body of an unsuccessful answer if it is an error answer to this very request."""
    for message in decode(body).messages:
        if isinstance(message, ErrorResponse) and message.id is not None:
            is_unknown_session = status == 404 and message.code != METHOD_NOT_FOUND
            if same_id(message.id, request.id) and not is_unknown_session:
                return replace(message, message=f"{message.message} (HTTP {status})")
    return None


def take_body(
    response: httpx.Response,
    body: bytearray,
    request: Request,
    sink: Callable[[Incoming], None],
    redact: Redactor,
) -> None:
    """Hand on the messages of a whole body. Raises MCPProtocolError if no answer is among them."""
    is_answered = False
    for message in decode(body).messages:
        if isinstance(message, Response | ErrorResponse):
            message = with_id(message, request.id)
            is_answered |= message.id == request.id
        sink(message)
    if not is_answered:
        kind = media_type(response) or "no content type"
        said = redact.excerpt(body) or "an empty body"
        raise MCPProtocolError(
            f"HTTP {response.status_code} without an answer to {request.method} ({kind}): {said}"
        )


def with_id(message: Answer, wanted: RequestId) -> Answer:
    """An answer without id, or with it as a string, on a request's own stream is that request's."""
    if message.id is None or same_id(message.id, wanted):
        return replace(message, id=wanted)
    return message
