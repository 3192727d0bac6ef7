"""One server's HTTP client: its headers, its time limits, and redirects within its own origin."""

import re
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from ipaddress import ip_address

import anyio.to_thread
import httpx

from agent_shell import __version__
from agent_shell.errors import MCPConnectError, MCPProtocolError
from agent_shell.logs import printable
from agent_shell.mcp.transports.http_errors import http_errors_as_ours
from agent_shell.mcp.transports.line_framer import MAX_MESSAGE_BYTES
from agent_shell.mcp.transports.redact import shown_url

CONNECT_TIMEOUT_S = 10.0
"""An unreachable host is one within seconds; a slow answer is another matter."""
WRITE_TIMEOUT_S = 60.0
MAX_REDIRECTS = 5

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FIELD_VALUE = re.compile(r"[\t\x20-\x7e]*")


class HttpClient:
    """Requests to one server. Streams have no read time-out: an idle one is a healthy one."""

    def __init__(self, url: str, client: httpx.AsyncClient) -> None:
        self.url = httpx.URL(url)
        self._client = client

    @asynccontextmanager
    async def stream(
        self,
        method: str,
        headers: Mapping[str, str],
        *,
        content: bytes | None = None,
        url: httpx.URL | None = None,
    ) -> AsyncGenerator[httpx.Response]:
        """Send a request; the body of the answer is still to be read.

        307 and 308 (for GET also 301, 302 and 303) are followed within the same origin, with
        method, body and headers; others are returned as they are. Raises MCPError.
        """
        target = url or self.url
        with http_errors_as_ours(str(target)):
            for _ in range(MAX_REDIRECTS + 1):
                request = self._client.build_request(
                    method, target, headers=dict(headers), content=content
                )
                response = await self._client.send(request, stream=True)
                try:
                    following = self._following(response, method)
                    if following is None:
                        yield response
                        return
                    target = following
                    if response.status_code == 308 and url is None:
                        self.url = target
                finally:
                    await response.aclose()
        raise MCPConnectError(f"{shown_url(str(target))} redirects in a circle")

    def is_same_origin(self, other: httpx.URL) -> bool:
        """Whether credentials for this server may go there."""
        return origin(self.url) == origin(other)

    def _following(self, response: httpx.Response, method: str) -> httpx.URL | None:
        codes = (301, 302, 303, 307, 308) if method == "GET" else (307, 308)
        location = response.headers.get("location")
        if response.status_code not in codes or not location:
            return None
        target = response.url.join(location)
        if not self.is_same_origin(target) or target.userinfo not in (b"", self.url.userinfo):
            return None  # credentials in it would take the place of the configured ones
        return target


@asynccontextmanager
async def open_http_client(url: str, headers: Mapping[str, str]) -> AsyncGenerator[HttpClient]:
    """A client for one server, with its configured headers on every request.

    Proxies are taken from the environment, as everywhere. Raises MCPConnectError for headers and
    proxies that can't be used, naming them and not their values.
    """
    check_headers(headers)
    try:
        client = await anyio.to_thread.run_sync(_build_client, url, headers)
    except (ImportError, ValueError, OSError, httpx.InvalidURL) as error:
        raise MCPConnectError(f"cannot set up HTTP: {printable(str(error))}") from error
    async with client:
        with http_errors_as_ours(url):
            http = HttpClient(url, client)
        yield http


def check_headers(headers: Mapping[str, str]) -> None:
    """Raises MCPConnectError for a header that can't be sent; its value is not shown."""
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name):
            raise MCPConnectError(f"not a header name: {name!r}", hint='check "headers"')
        if not _FIELD_VALUE.fullmatch(value):
            raise MCPConnectError(
                f"the header {name} holds characters that HTTP does not allow",
                hint="a line feed at its end is a common slip",
            )


def media_type(response: httpx.Response) -> str:
    """The answer's media type without parameters, in lower case (RFC 9110, section 8.3.1)."""
    return response.headers.get("content-type", "").partition(";")[0].strip().lower()


async def read_body(response: httpx.Response) -> bytearray:
    """The whole body. Raises MCPProtocolError beyond MAX_MESSAGE_BYTES."""
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > MAX_MESSAGE_BYTES:
            raise MCPProtocolError(f"an answer of more than {MAX_MESSAGE_BYTES} bytes")
    return body


def _build_client(url: str, headers: Mapping[str, str]) -> httpx.AsyncClient:
    """In a thread: reading the certificates takes tens of milliseconds."""
    return httpx.AsyncClient(
        headers={"User-Agent": f"agent-shell/{__version__}", **headers},
        timeout=httpx.Timeout(
            connect=CONNECT_TIMEOUT_S, write=WRITE_TIMEOUT_S, read=None, pool=None
        ),
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=8),
        # Redirects stay in the origin, so http on loopback never gets to need a certificate.
        verify=False if _is_plain_loopback(url) else _certificates(),
        follow_redirects=False,
    )


@cache
def _certificates() -> ssl.SSLContext:
    return httpx.create_ssl_context()


def _is_plain_loopback(url: str) -> bool:
    parsed = httpx.URL(url)
    if parsed.scheme != "http":
        return False
    if parsed.host == "localhost":
        return True
    try:
        return ip_address(parsed.host).is_loopback
    except ValueError:
        return False


def origin(url: httpx.URL) -> tuple[str, str, int]:
    """Scheme, host and port: who gets to see credentials (RFC 6454)."""
    default = 443 if url.scheme in ("https", "wss") else 80
    return (url.scheme, url.host, url.port or default)
