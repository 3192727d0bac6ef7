"""Exa's servers are left out, and their keys kept."""

import pytest

from agent_shell.json_types import JSONValue
from tests.discovery.conftest import Place, reasons, servers
from tests.requirements import requirement


@requirement("config:exa-filtered", "config:exa-keys")
@pytest.mark.parametrize(
    ("name", "entry", "keys"),
    [
        ("exa", {"command": "x", "env": {"EXA_API_KEY": "k1"}}, ("k1",)),
        ("Exa", {"command": "x", "env": {"EXA_API_KEY": "${KEY}"}}, ("from env",)),
        ("s", {"url": "https://mcp.exa.ai/mcp?exaApiKey=k2&tools=a"}, ("k2",)),
        ("s", {"url": "https://mcp.exa.ai/mcp", "headers": {"x-api-key": "k3"}}, ("k3",)),
        ("s", {"url": "https://exa.ai", "headers": {"Authorization": "Bearer k4"}}, ("k4",)),
        ("s", {"command": "npx", "args": ["-y", "exa-mcp-server"]}, ()),
        ("s", {"command": "npx", "args": ["exa-mcp-server@1.2", "--tools=x"]}, ()),
        (
            "s",
            {"command": "npx", "args": ["mcp-remote", "https://mcp.exa.ai/mcp?exaApiKey=k5"]},
            ("k5",),
        ),
        ("exa", {"command": "x", "env": {"EXA_API_KEY": "!secret"}}, ()),
        ("exa", {"command": "x", "env": {"EXA_API_KEY": "${NOT_SET}"}}, ()),
    ],
)
def test_an_exa_server_is_filtered_and_its_key_extracted(
    place: Place, name: str, entry: JSONValue, keys: tuple[str, ...]
) -> None:
    place.environ["KEY"] = "from env"
    place.user(servers(**{name: entry}))

    found = place.find()

    assert reasons(found) == [(name, "filtered:exa")]
    assert found.exa_api_keys == keys


@pytest.mark.parametrize(
    "entry",
    [
        {"url": "https://exa.ai.example.com/mcp"},
        {"url": "https://notexa.ai/mcp"},
        {"command": "my-exa-mcp-server-like"},
        {"command": "npx", "args": ["hexa-mcp-server"]},
    ],
)
def test_others_are_not_taken_for_it(place: Place, entry: JSONValue) -> None:
    place.user(servers(example=entry))

    assert reasons(place.find()) == [("example", None)]


def test_without_the_filter_it_is_a_server_like_others(place: Place) -> None:
    place.user(servers(exa={"command": "x", "env": {"EXA_API_KEY": "k"}}))

    found = place.find(filter_exa=False)

    assert reasons(found) == [("exa", None)]
    assert found.exa_api_keys == ("k",)


def test_a_key_of_an_untrusted_or_disabled_entry_is_not_taken(place: Place) -> None:
    place.user(servers(exa={"command": "x", "env": {"EXA_API_KEY": "off"}, "enabled": False}))
    place.mcp_json(servers(other={"url": "https://mcp.exa.ai/mcp?exaApiKey=theirs"}))

    assert place.find().exa_api_keys == ()
    assert place.find(trust_project=True).exa_api_keys == ("theirs",)
