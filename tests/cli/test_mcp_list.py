"""agent-shell mcp list, get, logs: from files and cache; nothing is started."""

from pathlib import Path

import pytest

from tests.cli.mcp_program import Program, fake
from tests.requirements import requirement


@pytest.fixture
def program(tmp_path: Path) -> Program:
    (tmp_path / "project").mkdir()
    return Program(tmp_path / "home", tmp_path / "project")


@requirement("Z5", "trust:nothing-before-consent")
def test_list_starts_nothing_and_says_what_may_be_used(program: Program, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    touch = {"command": "touch", "args": [str(marker)]}
    program.user(good=touch, off={**touch, "disabled": True}, bad={"command": 3})
    program.shared(theirs=touch, good=touch)

    run = program("list", "--json")

    user = {
        "provider": "agent-shell",
        "provider_name": "Agent Shell",
        "path": str(program.paths.user_mcp_config),
        "level": "user",
    }
    shared = {
        "provider": "mcp-json",
        "provider_name": "MCP Config",
        "path": ".mcp.json",
        "level": "project",
    }
    rest: dict[str, object] = {
        "status": None,
        "tools": None,
        "error": None,
        "server": None,
        "protocol": None,
        "timings_ms": {},
        "pid": None,
    }
    usual: dict[str, object] = {
        **rest,
        "transport": "stdio",
        "enabled": True,
        "trusted": True,
        "reason": None,
    }
    place = f"{program.paths.user_mcp_config}:17:18"
    assert run.json == {
        "servers": [
            {
                **usual,
                "name": "bad",
                "transport": None,
                "source": user,
                "reason": "failed",
                "error": f'{place}: server "bad": "command" must be a string, not a number',
            },
            {**usual, "name": "good", "source": user},
            {
                **usual,
                "name": "good",
                "source": shared,
                "trusted": False,
                "reason": f"shadowed by {program.paths.user_mcp_config}",
            },
            {**usual, "name": "off", "source": user, "enabled": False, "reason": "disabled"},
            {
                **usual,
                "name": "theirs",
                "source": shared,
                "trusted": False,
                "reason": "untrusted",
            },
        ],
        "errors": [],
    }
    assert (run.status, run.err) == (0, "")
    assert program("list").status == 0
    assert not marker.exists()


@requirement("A1")
def test_the_listing_is_the_same_with_a_byte_order_mark(program: Program) -> None:
    file = program.user(a={"command": "true"})
    without = program("list")
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())

    assert program("list") == without
    assert without.out.startswith("a  ready  stdio")


@requirement("A5", "A6")
def test_a_bare_no_servers_is_never_all_that_is_said(program: Program) -> None:
    (program.project / ".mcp.json").write_text('{"servers": {"a": {}}}', encoding="utf-8")

    run = program("list")

    assert (run.status, run.out) == (0, "no MCP servers\n")
    assert run.err == (
        'error: .mcp.json:1:2: unknown key "servers": expected "mcpServers"\n'
        'hint: servers stand under "mcpServers"\n'
        "hint: agent-shell mcp add NAME -- COMMAND ARGS… adds one\n"
    )
    assert program("list", "--json").json["errors"] == [
        {
            "path": ".mcp.json",
            "error": '.mcp.json:1:2: unknown key "servers": expected "mcpServers"',
        }
    ]


@requirement("A2")
def test_a_broken_settings_file_is_told_and_left_alone(program: Program) -> None:
    program.user(a={"command": "true"})
    file = program.paths.user_settings
    file.write_bytes(b"model = \n")

    run = program("list")

    assert (run.status, run.out[:8]) == (0, "a  ready")
    assert run.err == f"warning: {file}:1:9: invalid value\n"
    assert file.read_bytes() == b"model = \n"


def test_project_files_can_be_left_out(program: Program) -> None:
    program.shared(theirs={"command": "true"})

    assert program("list", before=("--no-project-mcp",)).out == "no MCP servers\n"


def test_with_mcp_off_there_is_nothing_to_list(program: Program) -> None:
    run = program("list", before=("--no-mcp",))

    assert (run.status, run.out) == (2, "")
    assert run.err == "error: MCP is off: --no-mcp\nhint: leave --no-mcp out\n"


@pytest.mark.parametrize("command", [("list",), ("status",), ("tools",), ("test",)])
def test_an_unusable_named_file_is_wrong_usage(
    program: Program, tmp_path: Path, command: tuple[str, ...]
) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{", encoding="utf-8")
    program.user(a={"command": "true"})

    run = program(*command, before=("--mcp-config", str(broken)))

    assert run.status == 2
    assert f"error: {broken}:1:2: expected a key in double quotes\n" in run.err


def test_get_shows_an_entry_without_its_secrets(program: Program) -> None:
    program.user(
        s={
            "command": "run",
            "args": ["--api-key", "hush1", "--token=hush2", "https://u:hush3@h/?k=hush4", "x"],
            "env": {"A": "hush5", "B": "${B}", "C": "!cat hush6"},
        },
        h={
            "url": "https://h/mcp?key=hush7",
            "headers": {"Authorization": "Bearer hush8", "X-Api-Key": "Bearer ${T:-hush9}"},
            "oauth": {"clientSecret": "hush10"},
        },
    )
    program.environ["B"] = "hush11"

    runs = [program("get", name, *json) for name in ("s", "h") for json in ((), ("--json",))]

    assert [run.status for run in runs] == [0] * 4
    assert [word for run in runs for word in (run.out + run.err).split() if "hush" in word] == []
    assert runs[1].json["entry"] == {
        "command": "run",
        "args": [
            "--api-key",
            "[hidden]",
            "--token=[hidden]",
            "https://[hidden]@h/?k=[hidden]",
            "x",
        ],
        "env": {"A": "[hidden]", "B": "${B}", "C": "[hidden]"},
    }
    assert "timeout     30000 ms (the default)\n" in runs[0].out


def test_an_unknown_name_is_told_with_the_known_ones(program: Program) -> None:
    program.user(b={"command": "x"}, a={"command": "x"})

    for command in (
        ("get", "c"),
        ("test", "c"),
        ("logs", "c"),
        ("call", "c", "t"),
        ("enable", "c"),
    ):
        run = program(*command)
        assert (run.status, run.out) == (2, "")
        assert run.err == 'error: no server "c"; known: a, b\nhint: agent-shell mcp list\n'


def test_the_cache_gives_the_number_of_tools_and_the_log_its_lines(program: Program) -> None:
    program.user(a=fake(), b={**fake(), "includeTools": ["e*"]})
    assert program("call", "a", "stderr", "text=something went by").status == 0
    assert program("tools", "b").status == 0

    listed = program("list", "--json").json["servers"]
    assert [row["tools"] for row in listed] == [12, 2]
    run = program("logs", "a")
    assert "stderr: something went by" in run.out
    assert any("something went by" in line for line in program("logs", "a", "--json").json["lines"])
    assert program("logs", "b").status == 0


def test_names_from_files_can_not_write_to_the_terminal(program: Program) -> None:
    program.user(**{"\x1b[2Jx\u202e": {"command": "x"}})

    run = program("list")

    assert run.out.startswith("\\x1b[2Jx\\u202e  ready")


def test_names_and_words_from_files_can_not_begin_a_line(program: Program) -> None:
    program.user(**{"x\nerror: forged": {"command": "x"}})
    program.shared(**{"y\nnote: forged\x07": {"command": "x"}})

    listing, got, nothing = program("list"), program("get", "x\nerror: forged"), program("get", "z")

    for text in (listing.out, listing.err, got.out, nothing.err):
        assert text
        assert not any(line.startswith(("error: f", "note: f")) for line in text.splitlines())
        assert "\x07" not in text
    assert "known: x\\nerror: forged, y\\nnote: forged\\x07" in nothing.err


def test_json_output_holds_no_sign_a_terminal_acts_on(program: Program) -> None:
    name = "a\x1b\x9b\u202e\u2028é"
    program.user(**{name: {"command": "x"}})

    run = program("list", "--json")

    assert run.json["servers"][0]["name"] == name
    assert run.out.replace("\n", "").isprintable()
    assert "é" in run.out


@pytest.mark.parametrize("command", ["get", "remove", "enable", "disable"])
def test_a_broken_file_is_named_before_the_name_is_blamed(program: Program, command: str) -> None:
    file = program.user()
    file.write_text('{"mcpServers": {"a": {"command": "x"}')

    run = program(command, "a")

    assert run.status == 2
    assert run.err.splitlines()[0].startswith(f"error: {file}:1:38: ")
    assert run.err.splitlines()[1].startswith('error: no server "a"; ')


def test_nan_in_an_entry_costs_only_the_entry(program: Program) -> None:
    file = program.user(good=fake())
    file.write_text('{"mcpServers": {"good": {"command": "x"},\n "bad": {"url": NaN}}}')

    servers = program("list", "--json").json["servers"]

    assert [(row["name"], row["error"]) for row in servers] == [
        ("bad", f'{file}:2:17: server "bad": NaN is not JSON'),
        ("good", None),
    ]
    assert program("get", "bad", "--json").json["entry"] == {"url": "NaN"}
