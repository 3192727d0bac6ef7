"""An entry as it may be shown."""

import pytest

from agent_shell.discovery.masked import masked_entry
from agent_shell.json_types import JSONValue


@pytest.mark.parametrize(
    ("entry", "shown"),
    [
        ({"command": "x", "timeout": 5}, {"command": "x", "timeout": 5}),
        (
            {"env": {"A": "s", "B": "${B}", "C": "", "D": "${D:-s}", "E": 3}},
            {"env": {"A": "[hidden]", "B": "${B}", "C": "", "D": "[hidden]", "E": 3}},
        ),
        (
            {"headers": {"Authorization": "Bearer ${T}", "X": "Bearer s", "Y": "${A}s"}},
            {"headers": {"Authorization": "Bearer ${T}", "X": "[hidden]", "Y": "[hidden]"}},
        ),
        (
            {"url": "https://u:p@h:1/a?b=s&c=${C}&d#s"},
            {"url": "https://[hidden]@h:1/a?b=[hidden]&c=${C}&[hidden]#[hidden]"},
        ),
        ({"url": "https://h/a"}, {"url": "https://h/a"}),
        ({"url": "http://[s"}, {"url": "[hidden]"}),
        (
            {"args": ["--token", "s", "--api_key=s", "API-KEY=s", "-H", "Authorization: s", "-y"]},
            {
                "args": [
                    "--token",
                    "[hidden]",
                    "--api_key=[hidden]",
                    "API-KEY=[hidden]",
                    "-H",
                    "Authorization:[hidden]",
                    "-y",
                ]
            },
        ),
        (
            {"args": ["--url=http://h/?k=s", "http://h/?k=s", "--keyboard", "qwerty", 3]},
            {
                "args": [
                    "--url=http://h/?k=[hidden]",
                    "http://h/?k=[hidden]",
                    "--keyboard",
                    "qwerty",
                    3,
                ]
            },
        ),
        ({"oauth": {"a": ["s", {"b": "s"}]}}, {"oauth": {"a": ["[hidden]", {"b": "[hidden]"}]}}),
        ({"args": "s", "env": "s"}, {"args": "s", "env": "[hidden]"}),
    ],
)
def test_secrets_are_hidden_and_references_stay(
    entry: dict[str, JSONValue], shown: dict[str, JSONValue]
) -> None:
    assert masked_entry(entry) == shown
