"""What the user agreed to, and how the question is worded."""

import json
import threading

import pytest

from agent_shell.discovery.trust import TrustStore, describe_entry, entry_trust_key
from agent_shell.errors import ConfigError
from agent_shell.json_types import JSONValue
from tests.discovery.conftest import Place, messages, reasons, servers
from tests.requirements import requirement

ENTRY: dict[str, JSONValue] = {
    "command": "npx",
    "args": ["-y", "pkg"],
    "env": {"A": "1"},
    "cwd": "w",
}


def trust_all(place: Place) -> None:
    store = TrustStore(place.paths.trust_file)
    for server in place.find().servers:
        store.trust_entry(place.project, server.name, server.trust_key)


@requirement("trust:nothing-before-consent")
def test_a_project_entry_waits_until_the_user_agreed(place: Place) -> None:
    place.mcp_json(servers(a=ENTRY, b=ENTRY))
    assert reasons(place.find()) == [("a", "untrusted"), ("b", "untrusted")]

    first = place.find().servers[0]
    TrustStore(place.paths.trust_file).trust_entry(place.project, "a", first.trust_key)

    assert reasons(place.find()) == [("a", None), ("b", "untrusted")]
    assert place.paths.trust_file.stat().st_mode & 0o777 == 0o600


def test_trust_for_this_run_writes_nothing(place: Place) -> None:
    place.mcp_json(servers(a=ENTRY))

    assert reasons(place.find(trust_project=True)) == [("a", None)]
    assert not place.paths.trust_file.exists()
    assert reasons(place.find()) == [("a", "untrusted")]


@requirement("trust:changed-entry-asks")
@pytest.mark.parametrize(
    "change",
    [
        {"command": "npm"},
        {"args": ["-y", "pkg", "--evil"]},
        {"args": ["-y pkg"]},
        {"env": {"A": "2"}},
        {"env": {"A": "1", "LD_PRELOAD": "x.so"}},
        {"cwd": "other"},
        {"inheritEnv": True},
        {"command": None, "args": None, "env": None, "cwd": None, "url": "http://h"},
        {"command": None, "url": "http://h", "headers": {"A": "b"}},
    ],
)
def test_whatever_changes_of_what_would_run_asks_again(
    place: Place, change: dict[str, JSONValue]
) -> None:
    place.mcp_json(servers(a=ENTRY))
    trust_all(place)
    assert reasons(place.find()) == [("a", None)]

    place.mcp_json(servers(a={**ENTRY, **change}))

    assert reasons(place.find()) == [("a", "untrusted")]


def test_what_runs_nothing_may_change(place: Place) -> None:
    place.mcp_json(servers(a=ENTRY))
    trust_all(place)

    place.mcp_json(servers(a={**ENTRY, "timeout": 5, "instructions": "x", "excludeTools": ["y"]}))

    assert reasons(place.find()) == [("a", None)]


def test_trust_holds_for_this_name_file_and_project_only(place: Place) -> None:
    place.mcp_json(servers(a=ENTRY))
    trust_all(place)

    place.mcp_json(servers(b=ENTRY))
    assert reasons(place.find()) == [("b", "untrusted")]
    place.mcp_json("")
    place.own_project(servers(a=ENTRY))
    assert reasons(place.find()) == [("a", "untrusted")]
    other = Place(place.home, place.project.parent / "other")
    other.mcp_json(servers(a=ENTRY))
    assert reasons(other.find()) == [("a", "untrusted")]


def test_a_trusted_folder_asks_no_more_until_it_is_forgotten(place: Place) -> None:
    place.mcp_json(servers(a=ENTRY))
    link = place.project.parent / "link"
    link.symlink_to(place.project)
    store = TrustStore(place.paths.trust_file)

    store.trust_folder(link)
    place.own_project(servers(b=ENTRY))
    assert reasons(place.find()) == [("b", None), ("a", None)]

    store.forget_project(place.project)
    assert reasons(place.find()) == [("b", "untrusted"), ("a", "untrusted")]


def test_one_entry_can_be_forgotten(place: Place) -> None:
    place.mcp_json(servers(a=ENTRY, b=ENTRY))
    trust_all(place)

    TrustStore(place.paths.trust_file).forget_entry(place.project, "a")

    assert reasons(place.find()) == [("a", "untrusted"), ("b", None)]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "is not valid JSON; no project server is trusted"),
        ("[" * 100_000, "is not valid JSON; no project server is trusted"),
        ("[]", "is not a trust file of this version; no project server is trusted"),
        ('{"version": 99, "projects": {}}', "is not a trust file of this version;"),
        ('{"version": 1, "projects": 3}', "is not a trust file of this version;"),
    ],
)
def test_a_broken_trust_file_trusts_nothing_and_is_never_written(
    place: Place, content: str, problem: str
) -> None:
    place.mcp_json(servers(a=ENTRY))
    file = place.write(place.paths.trust_file, content)

    found = place.find()

    assert reasons(found) == [("a", "untrusted")]
    assert len(messages(found)) == 1
    assert messages(found)[0].startswith(f"{file}: {problem}")
    with pytest.raises(ConfigError, match="no project server is trusted"):
        TrustStore(file).trust_folder(place.project)
    assert file.read_text(encoding="utf-8") == content


def test_a_record_of_another_shape_trusts_nothing(place: Place) -> None:
    place.mcp_json(servers(a=ENTRY))
    projects: list[JSONValue] = [3, {"folder": "yes"}, {"entries": ["a"]}, {"folder": 1}]
    for record in projects:
        content = {"version": 1, "projects": {str(place.project): record}}
        place.write(place.paths.trust_file, content)
        assert reasons(place.find()) == [("a", "untrusted")]


def test_two_writers_lose_nothing(place: Place) -> None:
    def trust(number: int) -> None:
        TrustStore(place.paths.trust_file).trust_entry(place.project, f"s{number}", f"k{number}")

    threads = [threading.Thread(target=trust, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    stored = json.loads(place.paths.trust_file.read_text(encoding="utf-8"))
    [record] = stored["projects"].values()
    assert record["entries"] == {f"s{number}": f"k{number}" for number in range(12)}


def test_a_store_sees_what_another_process_wrote(place: Place) -> None:
    place.mcp_json(servers(a=ENTRY))
    server = place.find().servers[0]
    store = TrustStore(place.paths.trust_file)
    assert not store.is_trusted(server.source, place.project, server.trust_key)

    TrustStore(place.paths.trust_file).trust_folder(place.project)

    assert store.is_trusted(server.source, place.project, server.trust_key)


def test_the_key_does_not_depend_on_the_order_of_fields() -> None:
    turned = dict(reversed(ENTRY.items()))

    assert entry_trust_key("a", ENTRY, "f") == entry_trust_key("a", turned, "f")
    assert entry_trust_key("a", {}, "f") != entry_trust_key("f", {}, "a")


@requirement("trust:question-shows-command")
def test_the_question_shows_exactly_what_would_run(place: Place) -> None:
    place.mcp_json(
        servers(
            a={
                "command": "npx",
                "args": ["-y", "a b", "$(x)", "\x1b[2Ke\u202evil\u200b\n"],
                "env": {"TOKEN": "secret", "NODE_OPTIONS": "--require ./x.js", "C": "!cat key"},
                "cwd": "~/w",
                "inheritEnv": ["HOST"],
            },
            b={"url": "https://h/${P}", "headers": {"Authorization": "Bearer secret"}},
            c={"command": "x" * 5000},
        )
    )

    first, second, third = place.find().servers

    assert describe_entry(first) == (
        "command: npx -y 'a b' '$(x)' '\\x1b[2Ke\\u202evil\\u200b\\n'",
        "cwd: ~/w",
        "env: TOKEN, NODE_OPTIONS='--require ./x.js', C='!cat key'",
        "inherits: HOST",
        "file: .mcp.json:3",
    )
    # A variable that is not set makes the entry invalid; the question would show it as written.
    assert describe_entry(second) == (
        "url: https://h/${P}",
        "headers: Authorization",
        second.shown_path and f"file: .mcp.json:{second.line}",
    )
    both = "x" * 2000
    assert describe_entry(third)[0] == f"command: {both} … 1000 more characters … {both}"
