"""All files together: who is found, who wins, who may be used."""

import json
import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_shell.discovery.discover import DiscoveryOptions, discover
from agent_shell.discovery.server_config import StdioServerConfig, transport_kind
from agent_shell.discovery.source import SourceMeta
from agent_shell.paths import app_paths
from tests.discovery.conftest import Place, messages, reasons, servers
from tests.requirements import requirement

TRUE = {"command": "true"}
BOM = b"\xef\xbb\xbf"


def test_nothing_is_found_where_nothing_is(place: Place) -> None:
    found = place.find()

    assert (found.servers, found.errors, found.files) == ((), (), ())


@requirement("config:finds-sources", "config:keeps-source")
def test_every_source_is_read_and_kept_with_its_servers(place: Place) -> None:
    extra = place.write(place.home / "more.json", servers(d=TRUE))
    own = place.own_project(servers(a=TRUE))
    user = place.user(servers(b=TRUE))
    shared = place.mcp_json(servers(c=TRUE))

    found = place.find(extra=(extra,))

    assert [server.source for server in found.servers] == [
        SourceMeta(provider="command-line", provider_name="--mcp-config", path=extra, level="user"),
        SourceMeta(provider="agent-shell", provider_name="Agent Shell", path=own, level="project"),
        SourceMeta(provider="agent-shell", provider_name="Agent Shell", path=user, level="user"),
        SourceMeta(provider="mcp-json", provider_name="MCP Config", path=shared, level="project"),
    ]
    assert reasons(found) == [("d", None), ("a", "untrusted"), ("b", None), ("c", "untrusted")]
    assert found.files == (extra, own, user, shared)


def test_the_first_definition_of_a_name_wins_whole(place: Place) -> None:
    one = place.write(place.home / "1.json", servers(x={"command": "one"}))
    two = place.write(place.home / "2.json", servers(x={"command": "two", "args": ["a"]}))
    place.own_project(servers(x={"command": "own"}, y={"command": "own"}))
    place.user(servers(x={"command": "user"}, y={"command": "user"}, z={"command": "user"}))
    place.mcp_json(servers(z={"command": "shared", "env": {"A": "b"}}))

    found = place.find(extra=(one, two))

    assert reasons(found) == [
        ("x", None),
        ("x", f"shadowed by {one}"),
        ("x", f"shadowed by {one}"),
        ("y", "untrusted"),
        ("x", f"shadowed by {one}"),
        ("y", "shadowed by .agent-shell/mcp.json"),
        ("z", None),
        ("z", f"shadowed by {place.paths.user_mcp_config}"),
    ]
    assert found.servers[0].config == StdioServerConfig(name="x", command="one")
    assert [server.name for server in found.winners()] == ["x", "y", "z"]
    assert found.find("z") == found.servers[6]
    assert found.find("nobody") is None


@requirement("config:project-off")
def test_project_files_left_out_shadow_nothing(place: Place) -> None:
    place.own_project(servers(x={"command": "own"}))
    place.user(servers(x={"command": "user"}))
    place.mcp_json("{ broken")

    found = place.find(project_config=False)

    assert reasons(found) == [("x", None)]
    assert messages(found) == []


def test_strict_uses_only_the_named_files_and_the_users_list_of_what_is_off(place: Place) -> None:
    extra = place.write(place.home / "more.json", servers(x=TRUE, y=TRUE))
    place.user({**servers(a=TRUE), "disabledServers": ["y"]})
    place.mcp_json(servers(b=TRUE))

    assert reasons(place.find(extra=(extra,), strict=True)) == [("x", None), ("y", "disabled")]


def test_a_file_named_twice_counts_once_at_its_highest_rank(place: Place) -> None:
    shared = place.mcp_json(servers(x=TRUE))

    found = place.find(extra=(shared, shared))

    assert reasons(found) == [("x", None)]
    assert found.servers[0].source.provider == "command-line"


@requirement("config:disabled-skipped", "H5")
def test_who_is_off_and_who_is_on(place: Place) -> None:
    place.user(
        {
            **servers(
                a={"command": "x", "enabled": False},
                b={"command": "x", "disabled": True},
                c={"command": "x", "enabled": False},
                d=TRUE,
                e=TRUE,
                f={"disabled": True},
            ),
            "disabledServers": ["d", "e"],
            "enabledServers": ["c", "e"],
        }
    )
    place.mcp_json({**servers(a=TRUE, d=TRUE), "disabledServers": ["c"]})

    found = place.find()

    shown = str(place.paths.user_mcp_config)
    assert reasons(found) == [
        ("a", "disabled"),
        ("b", "disabled"),
        ("c", None),
        ("d", "disabled"),
        ("e", "disabled"),
        ("f", "disabled"),
        ("a", f"shadowed by {shown}"),
        ("d", f"shadowed by {shown}"),
    ]
    configs = [server.config for server in found.servers[:5]]
    assert [config and config.enabled for config in configs] == [False, False, True, False, False]
    assert messages(found) == ['.mcp.json:10:3: "disabledServers" counts only in your own mcp.json']


@requirement("A1")
def test_a_byte_order_mark_changes_nothing(place: Place) -> None:
    text = b'{"mcpServers":{"a":{"command":"true"},"b":{}}}'
    place.mcp_json(text)
    without = place.find()
    place.mcp_json(BOM + text)

    assert place.find() == without
    assert reasons(without) == [("a", "untrusted"), ("b", "failed")]


@requirement("A3")
def test_comments_are_read_in_files(place: Place) -> None:
    place.user(
        '{ // note\n "mcpServers": { /* block\n */ "a": {"url": "http://h//x"},\n'
        '  "b": {"command": "x", "args": ["/*", "//"],}, }, }'
    )

    found = place.find()

    assert reasons(found) == [("a", None), ("b", None)]
    assert found.servers[1].raw == {"command": "x", "args": ["/*", "//"]}
    assert [server.line for server in found.servers] == [3, 4]


@requirement("A5")
@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"servers": {"a": {}}}', '.mcp.json:1:2: unknown key "servers": expected "mcpServers"'),
        ('{\n "mcpservers": {}}', '.mcp.json:2:2: unknown key "mcpservers": expected "mcpServers"'),
        ('{"a": {"command": "x"}}', '.mcp.json:1:2: unknown key "a": expected "mcpServers"'),
        (
            '{"mcpServers": {}, "disabledServer": []}',
            '.mcp.json:1:20: unknown key "disabledServer": expected "disabledServers"',
        ),
        ('{"mcpServers": {}, "other": 1}', '.mcp.json:1:20: unknown key "other"'),
    ],
)
def test_an_unknown_key_is_named_with_the_expected_one(
    place: Place, content: str, problem: str
) -> None:
    place.mcp_json(content)

    assert messages(place.find()) == [problem]


@requirement("A6")
@pytest.mark.parametrize("content", ["", " \n\t\n", "\ufeff", "// nothing yet\n", "{}"])
def test_an_empty_file_means_no_servers_here(place: Place, content: str) -> None:
    place.user(servers(u=TRUE))
    place.mcp_json(content)

    found = place.find()

    assert reasons(found) == [("u", None)]
    assert found.errors == ()


@requirement("A10", "A11", "Y37")
def test_an_unset_variable_costs_only_its_entry(place: Place) -> None:
    place.environ["A"] = "/data"
    place.mcp_json(
        '{"mcpServers": {\n'
        '  "bad": {"command": "x", "env": {"D": "${NOT_SET}/d"}},\n'
        '  "good": {"command": "x", "args": ["${A:-${HOME}/x}:/m", "${B:-${A}/x}:/m"]}\n}}'
    )

    bad, good = place.find(trust_project=True).servers

    assert (bad.config, bad.reason) == (None, "failed")
    assert bad.error == '.mcp.json:2:40: server "bad": "D" in "env": variable NOT_SET is not set'
    assert bad.hint == "set it before the start, or write ${NOT_SET:-default}"
    assert good.config == StdioServerConfig(
        name="good", command="x", args=("/data:/m", "/data/x:/m")
    )


@requirement("Y13")
def test_a_bad_entry_hides_none_of_its_siblings(place: Place) -> None:
    place.mcp_json(
        '{"mcpServers": {\n  "a": {"command": "x", "args": "y"},\n  "b": 3,\n'
        '  "": {"command": "x"},\n  "c": {"comand": "x"},\n  "d": {"command": "x", "arg": []}\n}}'
    )

    found = place.find(trust_project=True)

    assert [(server.name, server.error) for server in found.servers] == [
        ("a", '.mcp.json:2:33: server "a": "args" must be an array of strings, not a string'),
        ("b", '.mcp.json:3:8: server "b": must be an object, not a number'.replace(":8:", ":3:")),
        ("c", '.mcp.json:5:3: server "c": has neither "command" nor "url"'),
        ("d", None),
    ]
    assert messages(found) == [
        ".mcp.json:4:3: a server needs a name",
        '.mcp.json:6:25: server "d": unknown field "arg": did you mean "args"?',
    ]


def test_a_name_that_is_defined_twice_is_told_and_the_first_counts(place: Place) -> None:
    place.mcp_json(
        '{"mcpServers": {"a": {"command": "one", "command": "x"},\n "a": {"command": "two"}},\n'
        ' "mcpServers": {}}'
    )

    found = place.find(trust_project=True)

    assert [server.config for server in found.servers] == [
        StdioServerConfig(name="a", command="one")
    ]
    assert messages(found) == [
        '.mcp.json:3:2: key "mcpServers" is repeated; the first one counts',
        '.mcp.json:2:2: server "a" is defined twice; the first one counts',
        '.mcp.json:1:41: server "a": field "command" is repeated; the first one counts',
    ]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"{", ".mcp.json:1:2: expected a key in double quotes"),
        (b'{"mcpServers": {"a": {"command": "x"}}', '.mcp.json:1:39: expected ","'),
        (b"[]", ".mcp.json:1:1: must hold an object, not an array"),
        (b'{"mcpServers": []}', '.mcp.json:1:16: "mcpServers" must be an object, not an array'),
        (b'{\n"a": "\xff"}', ".mcp.json:2:7: is not UTF-8 text"),
        ("{}".encode("utf-16"), ".mcp.json:1:1: is not UTF-8 text"),
    ],
)
def test_a_broken_file_costs_only_itself(place: Place, content: bytes, problem: str) -> None:
    place.user(servers(u=TRUE))
    file = place.mcp_json(content)

    found = place.find()

    assert reasons(found) == [("u", None)]
    assert messages(found) == [problem]
    assert [error.path for error in found.errors] == [".mcp.json"]
    assert file.read_bytes() == content


def test_what_is_no_regular_file_is_one_error_and_no_hang(place: Place) -> None:
    place.user(servers(u=TRUE))
    os.mkfifo(place.project / ".mcp.json")
    (place.project / ".agent-shell" / "mcp.json").mkdir(parents=True)

    found = place.find()

    assert reasons(found) == [("u", None)]
    assert messages(found) == [
        ".agent-shell/mcp.json: is a folder, not a file",
        ".mcp.json: is not a regular file",
    ]


def test_a_file_that_cannot_be_opened_is_one_error(place: Place) -> None:
    place.mcp_json(servers(x=TRUE))
    place.paths.config.mkdir(parents=True)
    place.paths.user_mcp_config.symlink_to("mcp.json")

    found = place.find()

    reason = "cannot be read: Too many levels of symbolic links"
    assert messages(found) == [f"{place.paths.user_mcp_config}: {reason}"]
    assert reasons(found) == [("x", "untrusted")]


def test_a_link_that_leaves_the_project_is_not_read(place: Place) -> None:
    outside = place.write(place.home / "outside.json", servers(x=TRUE))
    (place.project / ".mcp.json").symlink_to(outside)
    (place.project / ".agent-shell").symlink_to(place.home)

    found = place.find()

    assert reasons(found) == []
    assert messages(found) == [
        ".agent-shell/mcp.json: is a link that leaves the project, and is not read",
        ".mcp.json: is a link that leaves the project, and is not read",
    ]


def test_links_within_the_project_and_of_the_users_own_file_are_followed(place: Place) -> None:
    place.write(place.project / "conf" / "servers.json", servers(x=TRUE))
    (place.project / ".mcp.json").symlink_to("conf/servers.json")
    dotfile = place.write(place.home / "dotfiles.json", servers(u=TRUE))
    place.paths.config.mkdir(parents=True)
    place.paths.user_mcp_config.symlink_to(dotfile)

    assert reasons(place.find()) == [("u", None), ("x", "untrusted")]


def test_a_link_to_nowhere_is_told(place: Place) -> None:
    (place.project / ".mcp.json").symlink_to("gone.json")

    assert messages(place.find()) == [".mcp.json: is a link to a file that is not there"]


def test_a_named_file_that_is_missing_or_broken_is_unusable(place: Place) -> None:
    missing = place.home / "missing.json"
    broken = place.write(place.home / "broken.json", "{")

    found = place.find(extra=(missing, broken))

    assert found.unusable_files == (missing, broken)
    assert messages(found) == [
        f"{missing}: there is no such file",
        f"{broken}:1:2: expected a key in double quotes",
    ]


def test_a_broken_users_list_costs_only_the_list(place: Place) -> None:
    place.user({**servers(u=TRUE), "disabledServers": "u", "enabledServers": ["a", 3]})

    found = place.find()

    shown = place.paths.user_mcp_config
    assert reasons(found) == [("u", None)]
    assert messages(found) == [
        f'{shown}:7:22: "disabledServers" must be an array of names, not a string',
        f'{shown}:10:5: a name in "enabledServers" must be a string',
    ]


def test_ten_thousand_entries_stay_fast(place: Place) -> None:
    entry = {"command": "x", "args": ["a" * 20] * 20, "env": {"K": "v" * 500}}
    place.user(servers(**{f"s{number}": entry for number in range(10_000)}))
    assert place.paths.user_mcp_config.stat().st_size > 9_000_000

    began = time.process_time()
    found = place.find()

    assert len(found.servers) == 10_000
    assert time.process_time() - began < 10


ENTRIES = st.sampled_from(
    [
        {"command": "x"},
        {"command": "x", "enabled": False},
        {"url": "http://h"},
        {"url": "http://h", "command": "x"},
        {"command": "${UNSET}"},
        {"command": 3},
        7,
    ]
)
FILES = st.one_of(
    st.just("{ broken"),
    st.just(""),
    st.dictionaries(st.sampled_from("abcd"), ENTRIES, max_size=4).map(
        lambda entries: json.dumps({"mcpServers": entries})
    ),
)


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(own=FILES, user=FILES, shared=FILES)
def test_any_mixture_of_files_has_one_result(
    tmp_path_factory: pytest.TempPathFactory, own: str, user: str, shared: str
) -> None:
    """Each name has one winner, the same every time; a broken file changes nothing else."""
    folder = tmp_path_factory.mktemp("mixture")
    paths = app_paths({"AGENT_SHELL_HOME": str(folder / "home")})
    options = DiscoveryOptions(cwd=folder, paths=paths, environ={})
    files = {
        folder / ".agent-shell" / "mcp.json": own,
        paths.user_mcp_config: user,
        folder / ".mcp.json": shared,
    }
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    found = discover(options)

    again = discover(options)
    assert again.servers == found.servers
    assert messages(again) == messages(found)
    names = [server.name for server in found.winners()]
    assert sorted(names) == sorted(set(names))
    for server in found.servers:
        assert (server.error is not None) <= (server.reason in ("failed", "disabled"))
        assert server.reason is not None or transport_kind(server.config or _fail()) is not None
    for file, text in files.items():
        if text == "{ broken":
            file.unlink()
    assert discover(options).servers == found.servers


def _fail() -> StdioServerConfig:
    raise AssertionError("a usable server has a config")


def test_a_project_folder_given_relative_is_found(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.mcp_json(servers(x=TRUE))
    monkeypatch.chdir(place.project)

    found = discover(DiscoveryOptions(cwd=Path(), paths=place.paths, environ={}))

    assert [server.shown_path for server in found.servers] == [".mcp.json"]
