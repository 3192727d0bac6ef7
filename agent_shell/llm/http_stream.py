"""One model service over HTTP: POST a request, read its events; foreign errors become LLMError.

httpx is imported by the functions that need it: the shell's prompt stands before any network
library is loaded. `preload` does that work ahead of need, in a worker thread.
"""

import functools
import ipaddress
import json
import logging
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agent_shell.errors import LLMError
from agent_shell.json_types import JSONObject, JSONValue, as_array, as_object, as_string
from agent_shell.llm.retry import retry_after_s, should_retry_status

if TYPE_CHECKING:
    import ssl

    import httpx

CONNECT_TIMEOUT_S = 10.0
"""A service that takes longer to accept a connection is as good as absent."""
IDLE_TIMEOUT_S = 300.0
"""Between two bytes; comments count as life (MODELS.md 2.7)."""
LOCAL_IDLE_TIMEOUT_S = 600.0
"""A local model may read a long prompt for minutes before its first byte."""
KEEP_ALIVE_S = 4.0
"""llama.cpp's server closes idle connections after 5 s without a word; we are quicker."""
MAX_ERROR_BYTES = 64_000
MAX_ERROR_CHARACTERS = 600

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAddress:
    """Where a model service is and how to speak to it. `secret` never appears in an error text."""

    name: str
    base_url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    secret: str | None = None
    key_hint: str | None = None

    @property
    def host(self) -> str:
        """The host name of the base URL, in lower case."""
        return (urlsplit(self.base_url).hostname or "").lower()

    @property
    def is_loopback(self) -> bool:
        """It runs on this machine."""
        if self.host == "localhost" or self.host.endswith(".localhost"):
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEvent:
    """One server-sent event; `event` is `message` where the service gave it no name."""

    event: str
    data: str


@functools.cache
def _tls_context() -> "ssl.SSLContext":
    """Reading the certificates takes tens of milliseconds: once a process."""
    import httpx  # noqa: PLC0415 - see the module's docstring

    return httpx.create_ssl_context()


def preload() -> None:
    """Import and prepare what a first request needs (about 0.2 s). Call it in a worker thread."""
    import httpcore  # noqa: PLC0415 - see the module's docstring
    import httpx  # noqa: PLC0415
    import httpx_sse  # noqa: PLC0415

    # A client that is made and dropped: the first one loads the transports.
    httpx.AsyncClient(verify=_tls_context(), trust_env=False)
    loaded = (httpcore, httpx, httpx_sse)
    _log.debug("loaded %s", ", ".join(module.__name__ for module in loaded))


class HttpService:
    """Requests to one service over kept-alive connections. Close with `aclose`."""

    def __init__(self, address: ServiceAddress, *, idle_timeout_s: float | None = None) -> None:
        self.address = address
        usual_s = LOCAL_IDLE_TIMEOUT_S if address.is_loopback else IDLE_TIMEOUT_S
        self._idle_timeout_s = usual_s if idle_timeout_s is None else idle_timeout_s
        self._client: httpx.AsyncClient | None = None
        self._has_answered = False

    async def aclose(self) -> None:
        """Close the connections; a later request opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def get_json(self, path: str, *, timeout_s: float) -> JSONValue:
        """GET a JSON document. Raises LLMError."""
        with http_errors_as_ours(self.address):
            response = await self._ready_client().get(self._url(path), timeout=timeout_s)
            if not response.is_success:
                raise self._refusal(response, response.content)
            try:
                return response.json()
            except ValueError as error:
                raise LLMError(
                    f"{self.address.name} did not answer with JSON at {self._url(path)}"
                ) from error

    async def post_events(self, path: str, body: bytes) -> AsyncGenerator[ServerEvent]:
        """POST a JSON body and yield the events of the answer.

        A plain JSON answer counts as one event. Raises LLMError. A kept-alive connection that
        turns out dead before the first byte is replaced once, at once (MODELS.md fact 2).
        """
        with http_errors_as_ours(self.address):
            response = await self._send(path, body)
            try:
                if not response.is_success:
                    raise self._refusal(response, await _bounded_body(response))
                if _media_type(response) == "text/html":
                    raise LLMError(
                        f"{self.address.name} answered with a web page",
                        hint=f"is {self.address.base_url} the right base URL?",
                    )
                self._has_answered = True
                async with aclosing(_events(response)) as events:
                    async for event in events:
                        yield event
            finally:
                await response.aclose()

    async def _send(self, path: str, body: bytes) -> "httpx.Response":
        import httpx  # noqa: PLC0415 - see the module's docstring

        client = self._ready_client()
        headers = {"content-type": "application/json", "accept": "text/event-stream"}
        request = client.build_request("POST", self._url(path), content=body, headers=headers)
        try:
            return await client.send(request, stream=True)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError) as error:
            if not self._has_answered:
                raise
            _log.debug("a kept connection was dead, trying a new one: %s", error)
        return await client.send(request, stream=True)

    def _url(self, path: str) -> str:
        return self.address.base_url.rstrip("/") + path

    def _ready_client(self) -> "httpx.AsyncClient":
        if self._client is None:
            try:
                self._client = self._new_client()
            except (ImportError, ValueError, OSError) as error:
                # A proxy of an unknown kind, or a certificate file that is not there.
                raise LLMError(
                    f"HTTP can't be used as the environment wants it: {error}",
                    hint="look at HTTPS_PROXY, ALL_PROXY, NO_PROXY and SSL_CERT_FILE",
                ) from error
        return self._client

    def _new_client(self) -> "httpx.AsyncClient":
        import httpx  # noqa: PLC0415 - see the module's docstring

        is_local = self.address.is_loopback
        # Plain HTTP needs no certificates, and this machine is never behind a proxy.
        uses_tls = not is_local or self.address.base_url.lower().startswith("https:")
        return httpx.AsyncClient(
            headers=self.address.headers,
            timeout=httpx.Timeout(
                connect=CONNECT_TIMEOUT_S,
                read=self._idle_timeout_s,
                write=60.0,
                pool=CONNECT_TIMEOUT_S,
            ),
            limits=httpx.Limits(max_connections=16, keepalive_expiry=KEEP_ALIVE_S),
            verify=_tls_context() if uses_tls else False,
            trust_env=not is_local,
        )

    def _refusal(self, response: "httpx.Response", body: bytes) -> LLMError:
        """What an answer that is no success means."""
        status = response.status_code
        said = error_text(body) or response.reason_phrase
        hint = None
        if response.is_redirect:
            said = f"it redirects to {response.headers.get('location', 'nowhere')}"
            hint = "use that address as the base URL"
        elif status in {401, 403}:
            hint = self.address.key_hint
        elif status == 404:
            hint = f"is {self.address.base_url} the right base URL, and does the model exist there?"
        return LLMError(
            hide_secret(f"{self.address.name} answered {status}: {said}", self.address.secret),
            hint=hint,
            status=status,
            can_retry=should_retry_status(status, said, response.headers),
            retry_after_s=retry_after_s(response.headers),
        )


@contextmanager
def http_errors_as_ours(address: ServiceAddress) -> Generator[None]:
    """Outside this block nobody needs to know that httpx is underneath."""
    import httpx  # noqa: PLC0415 - see the module's docstring

    name, secret = address.name, address.secret
    try:
        yield
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        reason = str(error) or "no answer"
        raise LLMError(
            hide_secret(f"cannot reach {name} at {address.base_url}: {reason}", secret),
            hint="is it running?" if address.is_loopback else "check the network and the address",
            can_retry=not address.is_loopback,
        ) from error
    except httpx.ReadTimeout as error:
        raise LLMError(f"{name} sent nothing for too long", can_retry=True) from error
    except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
        raise LLMError(f"the address of {name} is no HTTP URL: {address.base_url}") from error
    except (httpx.HTTPError, httpx.StreamError) as error:
        reason = str(error) or type(error).__name__
        raise LLMError(
            hide_secret(f"the connection to {name} broke: {reason}", secret), can_retry=True
        ) from error
    except UnicodeEncodeError as error:
        # A key that was pasted with a typographic dash, say: headers are ASCII.
        raise LLMError(
            f"a header for {name} holds a character that HTTP does not allow", hint=address.key_hint
        ) from error


async def _events(response: "httpx.Response") -> AsyncGenerator[ServerEvent]:
    from httpx_sse import EventSource  # noqa: PLC0415 - see the module's docstring

    if _media_type(response) == "application/json":
        # The service ignored `stream: true`: the whole answer in one document.
        yield ServerEvent(event="message", data=(await response.aread()).decode(errors="replace"))
        return
    # Some local servers name their stream text/plain; SSE is always UTF-8, whatever they name.
    response.headers["content-type"] = "text/event-stream; charset=utf-8"
    async with aclosing(EventSource(response).aiter_sse()) as events:
        async for event in events:
            if event.data:
                yield ServerEvent(event=event.event or "message", data=event.data)


def _media_type(response: "httpx.Response") -> str:
    """Without its parameters, in lower case."""
    return response.headers.get("content-type", "").partition(";")[0].strip().lower()


async def _bounded_body(response: "httpx.Response") -> bytes:
    """The beginning of an error's body: nobody needs megabytes of it."""
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) >= MAX_ERROR_BYTES:
            break
    return bytes(body[:MAX_ERROR_BYTES])


def error_text(body: bytes) -> str:
    """The words of an error body: JSON in one of the services' shapes, or plain text.

    `{"error": {"message"}}`, `{"error": "…"}`, `{"message"}`, `{"detail"}`, and Gemini's list.
    """
    text = body.decode(errors="replace").strip()
    try:
        value: object = json.loads(text)
    except ValueError:
        is_page = text[:1] == "<"
        return "" if is_page else _one_line(text)
    if not value:
        return ""  # null, and what says no more
    listed = as_array(value)
    first = listed[0] if listed else value
    said = as_object(first)
    if said is None:
        return _one_line(as_string(first) or text)
    return _one_line(error_object_text(said))


def error_object_text(value: JSONObject) -> str:
    """The words of an error object, or the object itself as JSON."""
    inner = value.get("error", value)
    if (words := as_string(inner)) is not None:
        return words
    detail = as_object(inner) or value
    for key in ("message", "detail", "error", "type", "code"):
        if words := as_string(detail.get(key)):
            return _with_upstream(words, detail)
    return json.dumps(value, ensure_ascii=False)


def _with_upstream(words: str, detail: JSONObject) -> str:
    """OpenRouter keeps what the model's own service said in `metadata.raw`."""
    raw = as_string((as_object(detail.get("metadata")) or {}).get("raw"))
    return f"{words}: {raw}" if raw else words


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_ERROR_CHARACTERS else line[:MAX_ERROR_CHARACTERS] + "…"


def hide_secret(text: str, secret: str | None) -> str:
    """The text without the key, should a service echo it."""
    return text.replace(secret, "[hidden]") if secret else text
