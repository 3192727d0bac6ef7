"""Entries, from JSON to a config or an error."""

from typing import Any

import pytest

from agent_shell.discovery.entry import read_entry
from agent_shell.discovery.server_config import (
    HttpServerConfig,
    ServerConfig,
    SseServerConfig,
    StdioServerConfig,
    WebSocketServerConfig,
)
from agent_shell.json_types import JSONValue
from tests.requirements import requirement

ENVIRON = {"HOME": "/h", "T": "abc", "BANG": "!rm", "NUMBER": "7"}


@requirement("A8")
@pytest.mark.parametrize(
    ("entry", "config"),
    [
        (
            {"command": "${HOME}/bin/x", "args": ["~/a", "-t=${T}"], "cwd": "~/w"},
            StdioServerConfig(name="s", command="/h/bin/x", args=("/h/a", "-t=abc"), cwd="/h/w"),
        ),
        (
            {"type": "local", "command": "x", "env": {"K": "${T}", "C": "!get ${T}"}},
            StdioServerConfig(name="s", command="x", env={"K": "abc", "C": "!get ${T}"}),
        ),
        (
            {"command": "x", "env": {"K": "${BANG}"}, "inheritEnv": ["A", "${T}"]},
            StdioServerConfig(
                name="s",
                command="x",
                env={"K": "!rm"},
                inherit_env=("A", "abc"),
                literal_values=frozenset({"K"}),
            ),
        ),
        (
            {"url": "http://h:${NUMBER}/m", "headers": {"Authorization": "Bearer ${T}"}},
            HttpServerConfig(name="s", url="http://h:7/m", headers={"Authorization": "Bearer abc"}),
        ),
        ({"url": "wss://h/m"}, WebSocketServerConfig(name="s", url="wss://h/m")),
        ({"type": "websocket", "url": "ws://h"}, WebSocketServerConfig(name="s", url="ws://h")),
        ({"transport": "sse", "url": "http://h"}, SseServerConfig(name="s", url="http://h")),
        (
            {"type": "streamable-http", "transport": "http", "url": "https://h", "command": None},
            HttpServerConfig(name="s", url="https://h"),
        ),
        ({"type": "streamableHttp", "url": "http://h"}, HttpServerConfig(name="s", url="http://h")),
        (
            {
                "command": "x",
                "disabled": True,
                "timeout": 0,
                "instructions": "say ${T}",
                "includeTools": ["a*"],
                "excludeTools": ["b"],
                "auth": {"type": "bearer", "token": "${T}", "n": [1, "${T}"]},
                "oauth": False,
            },
            StdioServerConfig(
                name="s",
                command="x",
                enabled=False,
                timeout_ms=0,
                instructions="say abc",
                include_tools=("a*",),
                exclude_tools=("b",),
                auth={"type": "bearer", "token": "abc", "n": [1, "abc"]},
            ),
        ),
    ],
)
def test_an_entry_becomes_a_config(entry: JSONValue, config: ServerConfig) -> None:
    reading = read_entry("s", entry, ENVIRON)

    assert reading.error is None
    assert reading.config == config
    assert reading.warnings == ()


@pytest.mark.parametrize(
    ("entry", "message", "path"),
    [
        ([], "must be an object, not an array", ()),
        ({}, 'has neither "command" nor "url"', ()),
        ({"command": "x", "url": "http://h"}, 'has both "command" and "url"', ()),
        (
            {"type": "http", "command": "x"},
            'a server of type http needs "url", but has "command"',
            (),
        ),
        (
            {"type": "stdio", "url": "http://h"},
            'a server of type stdio needs "command", but has "url"',
            (),
        ),
        (
            {"type": "tcp", "url": "http://h"},
            '"type" is "tcp"; it can be stdio, http, sse or ws',
            ("type",),
        ),
        (
            {"type": "sse", "transport": "http", "url": "http://h"},
            '"type" and "transport" do not agree',
            ("transport",),
        ),
        ({"command": ["npx", "x"]}, '"command" must be a string, not an array', ("command",)),
        ({"command": " "}, '"command" is empty', ("command",)),
        ({"command": "x\0"}, "holds a NUL character", ("command",)),
        (
            {"command": "x", "args": "y"},
            '"args" must be an array of strings, not a string',
            ("args",),
        ),
        (
            {"command": "x", "args": ["y", 3]},
            'item 2 of "args" must be a string, not a number',
            ("args", 1),
        ),
        (
            {"command": "x", "env": ["A=1"]},
            '"env" must be an object of strings, not an array',
            ("env",),
        ),
        (
            {"command": "x", "env": {"A": 1}},
            '"A" in "env" must be a string, not a number',
            ("env", "A"),
        ),
        (
            {"command": "x", "env": {"A=B": "1"}},
            '"A=B" in "env" is no name of a variable',
            ("env", "A=B"),
        ),
        (
            {"command": "x", "env": {"D": "${NOT_SET}/d"}},
            '"D" in "env": variable NOT_SET is not set',
            ("env", "D"),
        ),
        (
            {"command": "x", "timeout": -1},
            '"timeout" must be a whole number of milliseconds, not -1',
            ("timeout",),
        ),
        (
            {"command": "x", "timeout": 1.5},
            '"timeout" must be a whole number of milliseconds, not 1.5',
            ("timeout",),
        ),
        (
            {"command": "x", "timeout": "5"},
            '"timeout" must be a whole number of milliseconds, not a string',
            ("timeout",),
        ),
        (
            {"command": "x", "timeout": True},
            '"timeout" must be a whole number of milliseconds, not true',
            ("timeout",),
        ),
        (
            {"command": "x", "enabled": "no"},
            '"enabled" must be true or false, not a string',
            ("enabled",),
        ),
        (
            {"command": "x", "inheritEnv": 3},
            '"inheritEnv" must be true, false or an array of names, not a number',
            ("inheritEnv",),
        ),
        ({"command": "x", "oauth": True}, '"oauth" must be an object, not true', ("oauth",)),
        (
            {"url": "h/m"},
            '"url" of a server of type http must begin with http:// or https:// and a host',
            ("url",),
        ),
        (
            {"url": "http://"},
            '"url" of a server of type http must begin with http:// or https:// and a host',
            ("url",),
        ),
        ({"url": "http://h:99999"}, '"url" is not a URL', ("url",)),
        ({"url": "http://[h"}, '"url" is not a URL', ("url",)),
        (
            {"type": "ws", "url": "http://h"},
            '"url" of a server of type ws must begin with ws:// or wss:// and a host',
            ("url",),
        ),
        ({"command": "\ud83d"}, "holds half of a surrogate pair", ("command",)),
    ],
)
def test_a_wrong_entry_says_what_is_wrong_and_where(
    entry: JSONValue, message: str, path: tuple[str | int, ...]
) -> None:
    reading = read_entry("s", entry, ENVIRON)

    assert reading.config is None
    assert reading.error is not None
    assert (reading.error.message, reading.error.path) == (message, path)


@pytest.mark.parametrize(
    ("entry", "hint"),
    [
        ({"command": ["npx"]}, 'put the first word into "command" and the others into "args"'),
        ({"serverUrl": "http://h"}, 'write "url" instead of "serverUrl"'),
        ({"cmd": "x"}, 'write "command" instead of "cmd"'),
        ({"comand": "x"}, 'did you mean "command" instead of "comand"?'),
        (
            {"command": "${NOT_SET}"},
            "set it before the start, or write ${NOT_SET:-default}",
        ),
    ],
)
def test_a_hint_says_what_to_write(entry: JSONValue, hint: str) -> None:
    reading = read_entry("s", entry, ENVIRON)

    assert reading.error is not None
    assert reading.error.hint == hint


@pytest.mark.parametrize(
    ("entry", "warnings"),
    [
        ({"command": "x", "arg": ["y"]}, ['unknown field "arg": did you mean "args"?']),
        ({"command": "x", "alwaysAllow": ["y"], "anything": 1}, []),
        (
            {"url": "http://h", "env": {"A": "b"}, "args": []},
            ['"env" means nothing for a server with a URL'],
        ),
        (
            {"command": "x", "headers": {"A": "b"}},
            ['"headers" means nothing for a server with a command'],
        ),
    ],
)
def test_what_does_no_harm_is_a_warning(entry: dict[str, Any], warnings: list[str]) -> None:
    reading = read_entry("s", entry, ENVIRON)

    assert reading.config is not None
    assert [warning.message for warning in reading.warnings] == warnings


def test_a_broken_entry_still_says_whether_it_is_on() -> None:
    assert read_entry("s", {"disabled": True}, {}).is_enabled is False
    assert read_entry("s", {"enabled": False, "command": 3}, {}).is_enabled is False
    assert (
        read_entry("s", {"enabled": True, "disabled": True, "command": "x"}, {}).is_enabled is False
    )
