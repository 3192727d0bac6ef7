"""The words of a server entry: which fields there are, what a transport may be called, mistakes."""

from collections.abc import Mapping
from functools import lru_cache

from agent_shell.discovery.jsonc import KeyPath, NotANumber
from agent_shell.discovery.server_config import TransportKind
from agent_shell.json_types import JSONObject, JSONValue, as_array, as_object

TRANSPORT_NAMES: Mapping[str, TransportKind] = {
    "stdio": "stdio",
    "local": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamableHttp": "http",
    "streamable_http": "http",
    "sse": "sse",
    "ws": "ws",
    "websocket": "ws",
}
"""How a transport is written, by us and by other programs (CONFIG-FORMATS)."""

KNOWN_FIELDS = (
    "type",
    "transport",
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "headers",
    "enabled",
    "disabled",
    "timeout",
    "auth",
    "oauth",
    "instructions",
    "includeTools",
    "excludeTools",
    "inheritEnv",
)

FOREIGN_FIELDS = frozenset(
    {
        "alwaysAllow",
        "autoApprove",
        "trust",
        "tools",
        "description",
        "name",
        "disabledTools",
        "disabled_tools",
        "enabled_tools",
        "envFile",
        "headersHelper",
        "alwaysLoad",
        "watchPaths",
        "dev",
        "sandbox",
        "sandboxEnabled",
        "bundled",
        "required",
        "authProviderType",
        "scopes",
        "gallery",
        "version",
        "title",
        "icon",
    }
)
"""What other programs write into the same files: no business of ours, and no misspelling."""

_ONLY_FOR_COMMANDS = ("args", "env", "cwd", "inheritEnv")


class EntryError(Exception):
    """The entry can't be used; `path` leads from the entry to the value that is wrong.

    `variable` is the one that is not set, where that is all that is wrong.
    """

    def __init__(
        self,
        message: str,
        path: KeyPath = (),
        *,
        hint: str | None = None,
        variable: str | None = None,
    ) -> None:
        super().__init__(message)
        self.variable = variable
        self.message = message
        self.path = path
        self.hint = hint


def kind_of(value: JSONValue) -> str:
    """The value's JSON type, with its article."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, NotANumber):
        return value if len(value) <= 10 else "a number that is too large"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, int | float):
        return "a number"
    return "an array" if as_array(value) is not None else "an object"


@lru_cache(maxsize=1000)
def closest(word: str, known: tuple[str, ...]) -> str | None:
    """The known word that was probably meant, or None."""
    import difflib  # noqa: PLC0415 - only when a word is unknown

    lower = {each.lower(): each for each in known}
    found = difflib.get_close_matches(word.lower()[:100], lower, n=1, cutoff=0.75)
    return lower[found[0]] if found else None


def check_text(text: str, path: KeyPath) -> None:
    """Refuse what no process, header or file name can hold."""
    if "\0" in text:
        raise EntryError("holds a NUL character", path)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise EntryError("holds half of a surrogate pair", path) from None


def not_a_number(value: JSONValue, path: KeyPath = ()) -> EntryError | None:
    """The first NaN, Infinity or too large number within the value."""
    if isinstance(value, NotANumber):
        if value.lstrip("-") in {"NaN", "Infinity"}:
            return EntryError(f"{value} is not JSON", path)
        return EntryError("this number is too large", path)
    members = as_object(value)
    pairs = enumerate(as_array(value) or ()) if members is None else members.items()
    for key, each in pairs:
        if isinstance(each, NotANumber | dict | list):
            found = not_a_number(each, (*path, key))
            if found is not None:
                return found
    return None


def misspellings(fields: JSONObject) -> list[EntryError]:
    found: list[EntryError] = []
    for key in fields:
        if key in KNOWN_FIELDS or key in FOREIGN_FIELDS:
            continue
        meant = closest(key, KNOWN_FIELDS)
        if meant is not None and meant not in fields:
            found.append(
                EntryError(f'unknown field {quoted(key)}: did you mean "{meant}"?', (key,))
            )
    return found


def misplaced(kind: TransportKind, fields: JSONObject) -> list[EntryError]:
    """Fields that mean nothing for this transport."""
    is_stdio = kind == "stdio"
    wrong = ("headers",) if is_stdio else _ONLY_FOR_COMMANDS
    server = "a command" if is_stdio else "a URL"
    return [
        EntryError(f'"{key}" means nothing for a server with {server}', (key,))
        for key in wrong
        if fields.get(key)
    ]


def quoted(text: str) -> str:
    return f'"{text if len(text) <= 60 else text[:59] + "…"}"'
