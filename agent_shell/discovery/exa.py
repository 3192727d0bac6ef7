"""Which servers are Exa's web search, and the keys they carry.

The first seed: Exa servers are left out by default, and their keys go to the native search tool.
A key is never printed.
"""

import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

from agent_shell.discovery.server_config import ServerConfig, StdioServerConfig
from agent_shell.json_types import JSONObject, as_array

KEY_VARIABLE = "EXA_API_KEY"
_KEY_HEADERS = frozenset({"x-api-key", "exa-api-key", "x-exa-api-key", "exaapikey"})
_PACKAGE = re.compile(r"(?:^|[/\\])exa-mcp-server(?:@[^/\\]*)?(?:$|[/\\])")


def is_exa_server(name: str, raw: JSONObject) -> bool:
    """By its name, its host, or the package it starts."""
    if name.strip().lower() == "exa":
        return True
    words = [raw.get("command"), raw.get("url"), *(as_array(raw.get("args")) or ())]
    return any(isinstance(word, str) and _is_exa_word(word) for word in words)


def exa_keys(config: ServerConfig) -> Iterator[str]:
    """The keys the entry holds. A `!command` is not run for it."""
    if isinstance(config, StdioServerConfig):
        values = [config.env.get(KEY_VARIABLE)]
        addresses = [word for word in config.args if "exaapikey" in word.lower()]
    else:
        values = [_header_key(name, value) for name, value in config.headers.items()]
        addresses = [config.url]
    for address in addresses:
        values.extend(_url_keys(address))
    yield from (value for value in values if value and not value.startswith("!"))


def _is_exa_word(word: str) -> bool:
    if _PACKAGE.search(word):
        return True
    try:
        host = urlsplit(word).hostname or ""
    except ValueError:
        return False
    return host == "exa.ai" or host.endswith(".exa.ai")


def _header_key(name: str, value: str) -> str | None:
    if name.lower() in _KEY_HEADERS:
        return value
    scheme, _, token = value.partition(" ")
    is_bearer = name.lower() == "authorization" and scheme.lower() == "bearer"
    return token.strip() if is_bearer else None


def _url_keys(address: str) -> list[str]:
    try:
        query = parse_qs(urlsplit(address).query)
    except ValueError:
        return []
    return [
        value for name, found in query.items() if name.lower() == "exaapikey" for value in found
    ]
