"""What may be shown of a server: its entry's secrets stay out of every message and log."""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from agent_shell.discovery.server_config import ServerConfig, StdioServerConfig
from agent_shell.logs import printable

HIDDEN = "[hidden]"
MIN_LENGTH = 5
"""Shorter values occur by chance everywhere, and hiding them would make messages unreadable."""

TAIL_IN_ERROR_CHARS = 400

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
        self._secrets = tuple(secrets)

    def __call__(self, text: str) -> str:
        """The text without secrets."""
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return text


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
