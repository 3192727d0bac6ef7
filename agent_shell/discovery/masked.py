"""An entry as it may be shown: what is or may be secret is hidden, references stay (CASES N7)."""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit, urlunsplit

from agent_shell.json_types import JSONObject, JSONValue, as_array, as_object

HIDDEN = "[hidden]"

_REFERENCE = re.compile(r"(?:(?:Bearer|Basic|Token) )?\$\{[A-Za-z_][A-Za-z0-9_]*\}", re.IGNORECASE)
_SECRET_WORD = re.compile(
    r"(?:^|[-_.])(?:api[-_]?key|key|token|secret|password|passwd|pwd|auth|authorization|bearer"
    r"|credentials?|cookie|pat|headers?)$",
    re.IGNORECASE,
)


def masked_entry(raw: JSONObject) -> JSONObject:
    """The entry with the values of `env`, `headers`, `auth`, `oauth` and parts of URLs hidden.

    A value that only names a variable (`${TOKEN}`) is no secret and stays.
    """
    shown: dict[str, JSONValue] = {}
    for key, value in raw.items():
        match key:
            case "env" | "headers" | "auth" | "oauth":
                shown[key] = _hidden_deeply(value)
            case "args":
                words = as_array(value)
                shown[key] = value if words is None else masked_words(words)
            case "url" | "command" | "cwd" if isinstance(value, str):
                shown[key] = _masked_url(value)
            case _:
                shown[key] = value
    return shown


def masked_words(words: Sequence[JSONValue]) -> list[JSONValue]:
    """Command line arguments with what follows a word like `--token` hidden."""
    shown: list[JSONValue] = []
    is_secret = False
    for word in words:
        if not isinstance(word, str):
            shown.append(word)
            continue
        shown.append(_hidden(word) if is_secret else _masked_word(word))
        is_secret = word.startswith("-") and "=" not in word and _names_secret(word)
    return shown


def _masked_word(word: str) -> str:
    if "://" in word:
        name, equals, url = word.partition("=")
        is_option = bool(equals) and "://" not in name
        return f"{name}={_masked_url(url)}" if is_option else _masked_url(word)
    for sign in ("=", ":"):
        name, found, value = word.partition(sign)
        if found and value and _names_secret(name):
            return f"{name}{sign}{_hidden(value)}"
    return word


def _names_secret(word: str) -> bool:
    return _SECRET_WORD.search(word.strip()) is not None


def _masked_url(url: str) -> str:
    if "://" not in url:
        return url
    try:
        parts = urlsplit(url)
    except ValueError:
        return HIDDEN
    user, at, host = parts.netloc.rpartition("@")
    query = "&".join(
        f"{name}={_hidden(value)}" if equals else name and HIDDEN
        for name, equals, value in (pair.partition("=") for pair in parts.query.split("&"))
    )
    netloc = f"{_hidden(user)}{at}{host}"
    fragment = HIDDEN if parts.fragment else ""
    return urlunsplit((parts.scheme, netloc, parts.path, query, fragment))


def _hidden(value: str) -> str:
    if not value or _REFERENCE.fullmatch(value.strip()):
        return value
    return HIDDEN


def _hidden_deeply(value: JSONValue) -> JSONValue:
    if isinstance(value, str):
        return _hidden(value)
    members = as_object(value)
    if members is not None:
        return {key: _hidden_deeply(each) for key, each in members.items()}
    items = as_array(value)
    return value if items is None else [_hidden_deeply(each) for each in items]
