"""What may be shown of a server: its entry's secrets stay out of every message and log."""

import json
import re
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from agent_shell.discovery.server_config import ServerConfig, StdioServerConfig
from agent_shell.logs import printable
from agent_shell.mcp_protocol.one_line import one_line

HIDDEN = "[hidden]"
MIN_LENGTH = 5
"""Shorter values occur by chance everywhere, and hiding them would make messages unreadable."""

TAIL_IN_ERROR_CHARS = 400
EXCERPT_CHARS = 200
MAX_SEARCHED_CHARS = 65_536
"""So much of a long text is searched for secrets before its first few characters are shown."""

_HARMLESS = {"debug", "error", "false", "production", "development", "localhost", "utf-8"}
_PLAIN_PATH = re.compile(r"[./~][^\s:@?]*")


def secrets_of(config: ServerConfig) -> tuple[str, ...]:
    """The values that may not be shown: of `env`, of headers and their parts, and of the URL."""
    found: set[str] = set()
    if isinstance(config, StdioServerConfig):
        found.update(config.env.values())
    else:
        found.update(_header_secrets(config.headers))
        found.update(_url_secrets(config.url))
    # A key of several lines shows up line by line.
    found |= {line for value in found for line in value.splitlines()}
    hidden = (
        value
        for value in found
        if len(value) >= MIN_LENGTH
        and value.lower() not in _HARMLESS
        and not _PLAIN_PATH.fullmatch(value)
    )
    return tuple(sorted(hidden, key=len, reverse=True))


def shown_url(url: str) -> str:
    """The URL without user, password, query and fragment, for messages."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return HIDDEN
    return printable(f"{parts.scheme}://{host}{parts.path}")


def last_words(stderr_tail: str) -> str:
    """` (stderr: …)` with the end of standard error in one line, or nothing."""
    lines = [line.strip() for line in stderr_tail.splitlines() if line.strip()]
    words = ""
    for line in reversed(lines[-5:]):
        if len(words) + len(line) > TAIL_IN_ERROR_CHARS and words:
            break
        words = f"{line}; {words}" if words else line
    return f" (stderr: {words[-TAIL_IN_ERROR_CHARS:]})" if words else ""


class Redactor:
    """Replaces each secret in a text by `[hidden]`."""

    def __init__(self, secrets: Iterable[str]) -> None:
        written = {form for secret in secrets for form in _written_forms(secret)}
        self._secrets = tuple(sorted(written, key=len, reverse=True))

    def __call__(self, text: str) -> str:
        """The text without secrets."""
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return text

    def split(self, text: str) -> tuple[str, str]:
        """For a text that goes on: what may be shown of it now, and its end that may not yet.

        The end is where a secret may have begun; it belongs in front of what follows.
        """
        text = self(text)
        begun = max((_begun(text, secret) for secret in self._secrets), default=0)
        return text[: len(text) - begun], text[len(text) - begun :]

    def excerpt(self, text: str | bytes | bytearray, limit: int = EXCERPT_CHARS) -> str:
        """The beginning of a foreign text in one line: secrets hidden first, cut afterwards."""
        searched = text[:MAX_SEARCHED_CHARS]
        if not isinstance(searched, str):
            searched = searched.decode("utf-8", "replace")
        is_cut = len(text) > MAX_SEARCHED_CHARS
        return one_line(self.split(searched)[0] if is_cut else self(searched), limit)


def _written_forms(secret: str) -> set[str]:
    """The secret itself, and as it stands in JSON with and without non-ASCII characters."""
    escaped = json.dumps(secret)[1:-1]
    upper = re.sub(r"\\u[0-9a-f]{4}", lambda match: "\\u" + match.group()[2:].upper(), escaped)
    return {secret, json.dumps(secret, ensure_ascii=False)[1:-1], escaped, upper}


def _begun(text: str, secret: str) -> int:
    """How many characters at the text's end are the beginning of the secret."""
    longest = min(len(secret) - 1, len(text))
    return next((size for size in range(longest, 0, -1) if text.endswith(secret[:size])), 0)


def _header_secrets(headers: Mapping[str, str]) -> set[str]:
    """Whole values, and the words of an `Authorization: Bearer …`."""
    values = {value.strip() for value in headers.values()}
    return values | {word for value in values for word in value.split()[1:]}


def _url_secrets(url: str) -> set[str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return {url}
    found = {pair.partition("=")[2] for pair in parts.query.split("&")}
    if parts.password:
        found.add(parts.password)
    return found
