"""The words of `mcp add`: a name, and the command or address of a new server."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agent_shell.discovery.entry import EntryReading, read_entry
from agent_shell.errors import UsageError
from agent_shell.json_types import JSONObject, JSONValue


@dataclass(slots=True)
class Addition:
    """What is to be added, and to whose file."""

    name: str = ""
    scope: str = "user"
    url: str | None = None
    transport: str | None = None
    command: list[str] = field(default_factory=list[str])
    env: dict[str, JSONValue] = field(default_factory=dict[str, JSONValue])
    headers: dict[str, JSONValue] = field(default_factory=dict[str, JSONValue])

    def entry(self) -> JSONObject:
        """The entry as the file will hold it."""
        if self.url is not None:
            entry: dict[str, JSONValue] = {"url": self.url}
            if self.transport is not None:
                entry = {"type": self.transport, **entry}
            return {**entry, "headers": self.headers} if self.headers else entry
        entry = {"command": self.command[0]}
        if len(self.command) > 1:
            entry["args"] = self.command[1:]
        return {**entry, "env": self.env} if self.env else entry


def parse_addition(words: Sequence[str], *, hint: str) -> Addition:
    """The words behind `add`. Raises UsageError for what can't be meant; `hint` tells more."""
    addition = Addition()
    rest = list(words)
    while rest:
        word = rest.pop(0)
        option, equals, attached = word.partition("=")
        if equals and option.startswith("--") and option in _OPTIONS:
            word = option
            rest.insert(0, attached)
        match word:
            case "--":
                addition.command, rest = rest, []
            case "--scope":
                addition.scope = _choice(word, rest, ("user", "project"), hint)
            case "--transport" | "-t":
                addition.transport = _choice(word, rest, ("http", "sse", "ws", "stdio"), hint)
            case "--url":
                addition.url = _value(word, rest, hint)
            case "-e" | "--env":
                key, value = _pair(word, rest, "=", hint)
                addition.env[key] = value
            case "-H" | "--header":
                key, value = _pair(word, rest, ":", hint)
                addition.headers[key] = value.strip()
            case _ if word.startswith("-") or addition.name:
                raise UsageError(_unknown(word, addition), hint=hint)
            case _:
                addition.name = word
    _check(addition, hint)
    return addition


def check_new_entry(name: str, entry: JSONObject, environ: Mapping[str, str]) -> EntryReading:
    """Refuse what could never be used before it is written.

    Raises UsageError for an entry that makes no sense. An unset variable is let pass: it may be
    set tomorrow; the reading's `error` tells of it.
    """
    if not name:
        raise UsageError("a server needs a name")
    reading = read_entry(name, entry, environ)
    if reading.error is not None and reading.error.variable is None:
        raise UsageError(f'server "{name}": {reading.error.message}', hint=reading.error.hint)
    return reading


_OPTIONS = ("--scope", "--transport", "--url", "--env", "--header")


def _check(addition: Addition, hint: str) -> None:
    if not addition.name:
        raise UsageError("the new server needs a name", hint=hint)
    if addition.command and addition.url is not None:
        raise UsageError("a server has a command or a URL, not both", hint=hint)
    if not addition.command and addition.url is None:
        raise UsageError("the command of the server is missing, or its --url", hint=hint)
    if addition.url is not None and addition.env:
        raise UsageError("-e is for a server with a command", hint=hint)
    is_remote = addition.transport not in (None, "stdio")
    if addition.command and (addition.headers or is_remote):
        raise UsageError("-H and --transport are for a server with a --url", hint=hint)
    if addition.url is not None and addition.transport == "stdio":
        raise UsageError("a server with a --url is not of the transport stdio", hint=hint)


def _unknown(word: str, addition: Addition) -> str:
    if word.startswith("-"):
        return f'unknown option "{word}"'
    return f'what is "{word}"? The command of "{addition.name}" comes after --'


def _value(option: str, words: list[str], hint: str) -> str:
    if not words or words[0] == "--":
        raise UsageError(f"{option} needs a value", hint=hint)
    return words.pop(0)


def _choice(option: str, words: list[str], choices: tuple[str, ...], hint: str) -> str:
    value = _value(option, words, hint)
    if value not in choices:
        raise UsageError(f'{option} is one of {", ".join(choices)}, not "{value}"')
    return value


def _pair(option: str, words: list[str], sign: str, hint: str) -> tuple[str, str]:
    key, found, value = _value(option, words, hint).partition(sign)
    if not found or not key.strip():
        form = "KEY=VALUE" if sign == "=" else "'KEY: VALUE'"
        raise UsageError(f"{option} takes {form}", hint=hint)
    return key.strip() if sign == ":" else key, value
