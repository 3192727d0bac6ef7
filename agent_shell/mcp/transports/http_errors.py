"""HTTP's failures in our words: httpx's exceptions, and statuses that are no success."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from http import HTTPStatus
from typing import cast

import httpx

from agent_shell.errors import MCPConnectError, MCPError, MCPHttpError, MCPTimeoutError
from agent_shell.logs import printable
from agent_shell.mcp.transports.redact import Redactor, shown_url
from agent_shell.mcp_protocol.jsonrpc import ErrorResponse, decode
from agent_shell.mcp_protocol.one_line import MAX_ERROR_TEXT_CHARS


@contextmanager
def http_errors_as_ours(url: str) -> Generator[None]:
    """Outside this block nobody needs to know that httpx is underneath."""
    shown = shown_url(url)
    try:
        yield
    except httpx.ConnectTimeout as error:
        raise _at_connect(
            MCPTimeoutError(f"cannot reach {shown}: no connection in time")
        ) from error
    except httpx.ConnectError as error:
        raise _at_connect(MCPConnectError(f"cannot reach {shown}: {_why(error)}")) from error
    except httpx.ProxyError as error:
        raise _at_connect(MCPConnectError(f"the proxy refused {shown}: {_why(error)}")) from error
    except (httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
        raise _at_connect(
            MCPConnectError(f"not an HTTP URL: {shown}", hint='check "url" in its entry')
        ) from error
    except httpx.TimeoutException as error:
        raise MCPTimeoutError(f"{shown} takes no more of the request") from error
    except (httpx.HTTPError, httpx.StreamError) as error:
        raise MCPConnectError(f"lost {shown}: {_why(error)}") from error


def status_error(
    response: httpx.Response, body: bytes | bytearray, redact: Redactor
) -> MCPHttpError:
    """The error for a status that is no success: what it means, and what the body says."""
    status = response.status_code
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = response.reason_phrase
    message = f"HTTP {status} {printable(phrase)}".rstrip()
    code: int | None = None
    answer = next((m for m in decode(body).messages if isinstance(m, ErrorResponse)), None)
    if answer is not None:
        code = answer.code
        message += f": {redact.excerpt(answer.message, MAX_ERROR_TEXT_CHARS)} (code {code})"
    elif text := redact.excerpt(body):
        message += f": {text}"
    hint: str | None = None
    if status in (401, 403):
        hint = 'it wants credentials: "headers": {"Authorization": "Bearer ${TOKEN}"} in its entry'
    elif response.is_redirect:
        target = shown_url(str(response.url.join(response.headers.get("location", ""))))
        message = f"HTTP {status}: it has moved to {target}"
        hint = 'if that is right, put it into "url" of its entry'
    return MCPHttpError(
        message,
        status=status,
        retry_after_s=_retry_after_s(response.headers.get("retry-after", "")),
        body_code=code,
        hint=hint,
    )


def _at_connect(error: MCPError) -> MCPError:
    error.stage = "connect"
    return error


def os_error_words(error: OSError) -> str:
    """What the system says: "Connection refused", "Name or service not known"."""
    if isinstance(error, ConnectionError) and error.errno:
        return os.strerror(error.errno)  # its text would hold asyncio's words and the address
    return printable(error.strerror or str(error) or type(error).__name__)


def _why(error: Exception) -> str:
    """The innermost cause's words: httpx's "All connection attempts failed" helps nobody."""
    cause: BaseException | None = error
    words = str(error)
    while cause is not None:
        if isinstance(cause, OSError):
            words = os_error_words(cause)
        if isinstance(cause, BaseExceptionGroup):
            group = cast("BaseExceptionGroup[BaseException]", cause)
            cause = group.exceptions[0]
        else:
            cause = cause.__cause__ or cause.__context__
    return printable(words) or type(error).__name__


def _retry_after_s(value: str) -> float | None:
    return float(value) if value.isascii() and value.isdigit() and len(value) < 9 else None
