"""config/mcp.schema.json: valid itself, true to the examples, and strict where discovery is."""

import json
from typing import Any

import jsonschema_rs
import pytest

from agent_shell.discovery.entry import read_entry
from agent_shell.discovery.jsonc import parse_jsonc
from agent_shell.json_types import JSONValue
from agent_shell.settings.default_config import default_config_folder


@pytest.fixture(scope="module")
def validator() -> Any:
    schema = json.loads((default_config_folder() / "mcp.schema.json").read_bytes())
    jsonschema_rs.meta.validate(schema)
    return jsonschema_rs.validator_for(schema)


def test_the_example_is_valid_and_every_entry_of_it_usable(validator: Any) -> None:
    text = (default_config_folder() / "mcp.example.json").read_text(encoding="utf-8")
    value: Any = parse_jsonc(text).value

    assert [error.message for error in validator.iter_errors(value)] == []
    readings = [read_entry(name, raw, {}) for name, raw in value["mcpServers"].items()]
    assert [reading.error for reading in readings] == [None] * 4
    assert [reading.warnings for reading in readings] == [()] * 4


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "x"},
        {"type": "local", "command": "x", "args": ["a"], "env": {"A": "b"}, "cwd": "~"},
        {"command": "x", "url": None, "inheritEnv": ["A"], "timeout": 0, "oauth": False},
        {"command": "x", "inheritEnv": True, "alwaysAllow": ["y"]},
        {"url": "wss://h", "headers": {"A": "!b"}},
        {"transport": "streamable-http", "url": "http://h", "enabled": False, "disabled": True},
        {"type": "sse", "url": "https://h", "auth": {"a": 1}, "includeTools": ["a*"]},
    ],
)
def test_what_discovery_takes_is_valid(validator: Any, entry: JSONValue) -> None:
    assert read_entry("s", entry, {}).error is None
    assert validator.is_valid({"mcpServers": {"s": entry}})


@pytest.mark.parametrize(
    "entry",
    [
        3,
        {},
        {"command": ""},
        {"command": " "},
        {"command": ["x"]},
        {"command": "x", "url": "http://h"},
        {"type": "http", "command": "x"},
        {"type": "stdio", "url": "http://h"},
        {"type": "tcp", "command": "x"},
        {"url": "h"},
        {"url": "ftp://h"},
        {"command": "x", "args": "y"},
        {"command": "x", "args": [1]},
        {"command": "x", "env": {"A": 1}},
        {"command": "x", "env": []},
        {"command": "x", "timeout": -1},
        {"command": "x", "timeout": 1.5},
        {"command": "x", "enabled": "yes"},
        {"command": "x", "inheritEnv": 1},
        {"command": "x", "oauth": True},
        {"url": "http://h", "headers": {"A": None}},
        {"command": "x", "includeTools": "a"},
    ],
)
def test_what_discovery_refuses_is_invalid(validator: Any, entry: JSONValue) -> None:
    assert read_entry("s", entry, {}).error is not None
    assert not validator.is_valid({"mcpServers": {"s": entry}})


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"mcpServers": []},
        {"disabledServers": "a"},
        {"enabledServers": [1]},
        {"mcpServers": {"": {"command": "x"}}},
    ],
)
def test_files_of_another_shape_are_invalid(validator: Any, document: JSONValue) -> None:
    assert not validator.is_valid(document)
