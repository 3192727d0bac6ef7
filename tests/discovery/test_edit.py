"""Our own files are changed one member at a time, and nothing else of them."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_shell.discovery.edit import add_server, remove_server, set_server_enabled
from agent_shell.discovery.jsonc import parse_jsonc
from agent_shell.discovery.jsonc_edit import with_array_item, with_member, without_member
from agent_shell.errors import ConfigError
from agent_shell.json_types import JSONValue
from tests.discovery.conftest import Place, reasons, servers
from tests.requirements import requirement

COMMENTED = """\
{
    // servers of mine
    "mcpServers": {
        "a": { "command": "x" }, // the first
        /* the second */
        "b": {
            "command": "y", // why
        },
    },
    "$schema": "s" // end
}
"""


def test_an_added_server_leaves_comments_and_layout(place: Place) -> None:
    file = place.user(COMMENTED)

    add_server(file, "c", {"command": "z", "args": ["1", "2"], "env": {"K": "v"}})

    assert file.read_text(encoding="utf-8") == COMMENTED.replace(
        """        },
    },
""",
        """        },
        "c": {
            "command": "z",
            "args": ["1", "2"],
            "env": {
                "K": "v"
            }
        },
    },
""",
    )


def test_a_removed_server_leaves_comments_and_layout(place: Place) -> None:
    file = place.user(COMMENTED)

    assert remove_server(file, "b") is True
    assert remove_server(file, "b") is False

    assert (
        file.read_text(encoding="utf-8")
        == """\
{
    // servers of mine
    "mcpServers": {
        "a": { "command": "x" }, // the first
        /* the second */
    },
    "$schema": "s" // end
}
"""
    )
    assert remove_server(file, "a") is True
    assert reasons(place.find()) == []


def test_disabling_and_enabling_write_the_users_lists(place: Place) -> None:
    file = place.user(COMMENTED)

    set_server_enabled(place.paths, "a", enabled=False)
    set_server_enabled(place.paths, "b", enabled=False)

    assert file.read_text(encoding="utf-8") == COMMENTED.replace(
        '"s" // end\n', '"s", // end\n    "disabledServers": ["a", "b"]\n'
    )
    assert reasons(place.find()) == [("a", "disabled"), ("b", "disabled")]

    set_server_enabled(place.paths, "a", enabled=True)
    set_server_enabled(place.paths, "b", enabled=True, overrides_entry=False)

    assert file.read_text(encoding="utf-8") == COMMENTED.replace(
        '"s" // end\n', '"s", // end\n    "disabledServers": [],\n    "enabledServers": ["a"]\n'
    )
    assert reasons(place.find()) == [("a", None), ("b", None)]


def test_a_server_that_its_entry_turns_off_can_be_enabled(place: Place) -> None:
    place.mcp_json(servers(a={"command": "x", "enabled": False}))

    set_server_enabled(place.paths, "a", enabled=True)
    set_server_enabled(place.paths, "a", enabled=True)

    assert reasons(place.find(trust_project=True)) == [("a", None)]
    assert (
        place.paths.user_mcp_config.read_text(encoding="utf-8")
        == '{\n  "enabledServers": ["a"]\n}\n'
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "mcpServers": {\n    "x": {\n      "command": "t"\n    }\n  }\n}\n'),
        (
            "// mine\n",
            '// mine\n{\n  "mcpServers": {\n    "x": {\n      "command": "t"\n    }\n  }\n}\n',
        ),
        (
            '{"mcpServers":{"a":{"command":"c"}}}',
            '{"mcpServers":{"a":{"command":"c"}, "x": {"command": "t"}}}',
        ),
        (
            '{"mcpServers":{}}',
            '{"mcpServers":{\n  "x": {\n    "command": "t"\n  }\n}}',
        ),
        (
            '\ufeff{\r\n\t"mcpServers": {\r\n\t}\r\n}',
            '\ufeff{\r\n\t"mcpServers": {\r\n\t\t"x": {\r\n\t\t\t"command": "t"\r\n\t\t}\r\n'
            "\t}\r\n}",
        ),
    ],
)
def test_a_first_server_in_files_of_every_kind(place: Place, before: str, after: str) -> None:
    file = place.user(before.encode("utf-8"))

    add_server(file, "x", {"command": "t"})

    assert file.read_bytes() == after.encode("utf-8")


def test_a_new_file_is_private(place: Place) -> None:
    add_server(place.paths.user_mcp_config, "x", {"command": "t"})

    assert place.paths.user_mcp_config.stat().st_mode & 0o777 == 0o600
    assert list(place.paths.config.iterdir()) == [place.paths.user_mcp_config]


def test_a_name_that_is_there_is_not_overwritten_unless_asked(place: Place) -> None:
    file = place.user(servers(a={"command": "x"}))
    before = file.read_bytes()

    with pytest.raises(ConfigError, match='server "a" is there already'):
        add_server(file, "a", {"command": "y"})
    assert file.read_bytes() == before

    add_server(file, "a", {"command": "y"}, replace=True)
    assert place.find().servers[0].raw == {"command": "y"}


def disable(place: Place) -> None:
    set_server_enabled(place.paths, "a", enabled=False)


def add(place: Place) -> None:
    add_server(place.paths.user_mcp_config, "a", {"command": "x"})


def remove(place: Place) -> None:
    remove_server(place.paths.user_mcp_config, "a")


@requirement("A2")
@pytest.mark.parametrize(
    ("edit", "content"),
    [
        *((edit, b'{"mcpServers": {"a": {}}') for edit in (disable, add, remove)),
        *((edit, b"[]") for edit in (disable, add, remove)),
        *((edit, b'\xff\xfe{"') for edit in (disable, add, remove)),
        *((edit, b'{"mcpServers": []}') for edit in (add, remove)),
        (disable, b'{"disabledServers": "a"}'),
    ],
)
def test_a_file_that_cannot_be_used_is_never_written(
    place: Place, edit: Callable[[Place], None], content: bytes
) -> None:
    file = place.user(content)

    with pytest.raises(ConfigError):
        edit(place)

    assert file.read_bytes() == content


def test_a_project_file_that_links_outside_is_not_written(place: Place) -> None:
    outside = place.write(place.home / "outside.json", "{}")
    link = place.project / ".mcp.json"
    link.symlink_to(outside)

    with pytest.raises(ConfigError, match="leaves the project"):
        add_server(link, "x", {"command": "t"}, inside=place.project)

    assert outside.read_text(encoding="utf-8") == "{}"


def test_many_writers_at_once_lose_nothing(place: Place) -> None:
    file = place.paths.user_mcp_config
    threads = [
        threading.Thread(target=add_server, args=(file, f"s{number}", {"command": "x"}))
        for number in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(name for name, _ in reasons(place.find())) == sorted(f"s{n}" for n in range(12))


def test_text_that_is_no_utf_8_is_refused(place: Place) -> None:
    with pytest.raises(ConfigError, match="not valid text"):
        add_server(place.paths.user_mcp_config, "\udcff", {"command": "x"})

    assert not place.paths.user_mcp_config.exists()


BLANK = st.sampled_from(["", " ", "\n", "\n  ", " // a, }\n", "/* b, */", "\r\n\t", " // \u00a0\n"])
ATOMS = st.sampled_from(["1", '"a,b"', "null", '"//"', "{}", "[]"])


@st.composite
def texts(draw: st.DrawFn, depth: int = 2) -> str:
    """Valid JSON with comments in any place."""
    kind = draw(st.sampled_from(["atom", "{", "["])) if depth else "atom"
    if kind == "atom":
        return draw(BLANK) + draw(ATOMS) + draw(BLANK)
    items: list[str] = []
    for number in range(draw(st.integers(0, 3))):
        item = draw(texts(depth=depth - 1))
        items.append(f'{draw(BLANK)}"k{number}"{draw(BLANK)}:{item}' if kind == "{" else item)
    comma = f",{draw(BLANK)}" if items and draw(st.booleans()) else ""
    close = "}" if kind == "{" else "]"
    return f"{draw(BLANK)}{kind}{','.join(items)}{comma or draw(BLANK)}{close}{draw(BLANK)}"


@given(texts(depth=3), st.sampled_from(["k0", "k1", "k2", "new"]))
def test_any_edit_says_what_it_should_and_keeps_every_comment(text: str, key: str) -> None:
    document = parse_jsonc(text)
    value = document.value
    if isinstance(value, dict):
        new: JSONValue = {"c": [1], "d": {}}
        changed = with_member(document, (), key, new)
        assert parse_jsonc(changed).value == {**value, key: new}
        if key not in value:
            assert all(part in changed for part in ("// a, }", "/* b, */") if part in text)
        else:
            cut = without_member(document, (), key)
            assert parse_jsonc(cut).value == {k: v for k, v in value.items() if k != key}
    elif isinstance(value, list):
        changed = with_array_item(document, (), "new")
        assert parse_jsonc(changed).value == [*value, "new"]
        for index in range(len(value)):
            cut = without_member(document, (), index)
            assert parse_jsonc(cut).value == value[:index] + value[index + 1 :]


def test_a_file_in_an_unwritable_place_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")

    with pytest.raises(ConfigError, match="cannot be written"):
        add_server(tmp_path / "file" / "mcp.json", "x", {"command": "t"})
