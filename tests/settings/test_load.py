"""Settings from everywhere, in their order; a mistake costs only its own value."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent_shell.errors import UsageError
from agent_shell.paths import AppPaths, app_paths
from agent_shell.settings.default_config import default_config_folder
from agent_shell.settings.load import LoadedSettings, load_settings
from agent_shell.settings.settings import (
    MCPSettings,
    ProviderSettings,
    Settings,
    ToolSettings,
)
from tests.requirements import requirement


@dataclass(frozen=True, slots=True)
class Place:
    """A project, our folders, an environment."""

    home: Path
    project: Path
    environ: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def paths(self) -> AppPaths:
        return app_paths({"AGENT_SHELL_HOME": str(self.home)})

    def user(self, content: str | bytes) -> Path:
        return _write(self.paths.user_settings, content)

    def own(self, content: str | bytes) -> Path:
        return _write(self.project / ".agent-shell" / "settings.toml", content)

    def load(self, **overrides: object) -> LoadedSettings:
        return load_settings(
            paths=self.paths,
            cwd=self.project,
            environ=self.environ,
            overrides={key.replace("__", "."): value for key, value in overrides.items()},
        )

    def problems(self) -> list[str]:
        return [problem.message for problem in self.load().problems]


def _write(file: Path, content: str | bytes) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return file


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "project").mkdir()
    return Place(tmp_path / "home", tmp_path / "project")


def test_without_any_file_the_defaults_hold(place: Place) -> None:
    assert place.load() == LoadedSettings(settings=Settings(), problems=())


def test_the_documented_defaults_are_the_defaults(place: Place) -> None:
    place.user((default_config_folder() / "default.toml").read_bytes())

    assert place.load() == LoadedSettings(settings=Settings(), problems=())


def test_every_commented_default_is_a_valid_setting(place: Place) -> None:
    text = (default_config_folder() / "default.toml").read_text(encoding="utf-8")
    starts = ("# model", "# timeout_", "# [providers", "# base_url", "# api_key", "# headers")
    lines = [
        line.removeprefix("# ") if line.startswith(starts) else line for line in text.splitlines()
    ]
    place.user("\n".join(lines))

    loaded = place.load()

    assert loaded.problems == ()
    assert loaded.settings.model == "ollama/qwen3"
    assert list(loaded.settings.providers) == ["work"]


def test_the_example_is_valid(place: Place) -> None:
    place.user((default_config_folder() / "settings.example.toml").read_bytes())

    assert place.load() == LoadedSettings(
        settings=Settings(
            model="work/large",
            approval="edits",
            mcp=MCPSettings(startup_timeout_ms=500, timeout_override_ms=60000),
            tools=ToolSettings(max_result_bytes=50000),
            providers={
                "work": ProviderSettings(
                    base_url="https://models.example.com/v1",
                    api_key_env="WORK_API_KEY",
                    headers={"X-Team": "tools"},
                )
            },
        )
    )


def test_flags_beat_the_environment_that_beats_the_project_that_beats_the_user(
    place: Place,
) -> None:
    place.user('model = "user"\n[mcp]\nstartup_timeout_ms = 1\ntimeout_override_ms = 10\n')
    assert place.load().settings.model == "user"
    place.own('model = "project"\n[mcp]\nstartup_timeout_ms = 2\n')
    assert place.load().settings.model == "project"
    place.environ.update(AGENT_SHELL_MODEL="env", AGENT_SHELL_MCP_TIMEOUT_MS="0")
    assert place.load().settings.model == "env"

    loaded = place.load(model="flag", mcp__enable_project_config=False, approval=None)

    assert loaded == LoadedSettings(
        settings=Settings(
            model="flag",
            mcp=MCPSettings(
                enable_project_config=False, startup_timeout_ms=2, timeout_override_ms=0
            ),
        )
    )


def test_an_unusable_flag_is_wrong_usage(place: Place) -> None:
    with pytest.raises(UsageError, match='"approval" must be one of'):
        place.load(approval="maybe")


@requirement("A1")
def test_a_byte_order_mark_changes_nothing(place: Place) -> None:
    place.user(b'\xef\xbb\xbfapproval = "all"\n')

    assert place.load() == LoadedSettings(settings=Settings(approval="all"))


@requirement("A2")
@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"a = \n", ":1:5: invalid value"),
        (b'approval = "all"\nb = = 3', ":2:5: invalid value"),
        (b"[mcp\n", ":1:5: expected ']' at the end of a table declaration"),
        (b"a = 'x\xff'", ":1:7: is not UTF-8 text"),
        (b'a = """', ":1:1: unterminated string"),
        (b"a = 1\na = 2\n", ":2:6: cannot overwrite a value"),
    ],
)
def test_a_broken_file_is_told_with_its_place_and_left_alone(
    place: Place, content: bytes, problem: str
) -> None:
    file = place.user(content)

    loaded = place.load()

    assert loaded.settings == Settings()
    assert [each.message for each in loaded.problems] == [f"{file}{problem}"]
    assert file.read_bytes() == content


@pytest.mark.parametrize(
    ("content", "problem", "hint"),
    [
        (
            'approval = "edit"',
            '1:1: "approval" must be one of "ask", "edits", "all", not "edit"',
            'did you mean "edits"?',
        ),
        ("theme = 3", '1:1: "theme" must be one of "auto", "plain", not 3', None),
        ('model = ""', '1:1: "model" must be a string, not ""', None),
        ('modle = "x"', '1:1: unknown key "modle"', 'did you mean "model"?'),
        (
            "\n[mcp]\n# c\nstartup_timout_ms = 3",
            '4:1: unknown key "mcp.startup_timout_ms"',
            'did you mean "mcp.startup_timeout_ms"?',
        ),
        (
            "startup_timeout_ms = 3",
            '1:1: unknown key "startup_timeout_ms"',
            'did you mean "mcp.startup_timeout_ms"?',
        ),
        (
            "mcp.startup_timeout_ms = -1",
            '1:1: "mcp.startup_timeout_ms" must be a whole number from 0 to 1000000000, not -1',
            None,
        ),
        (
            "[mcp]\n  startup_timeout_ms = 1.5",
            '2:3: "mcp.startup_timeout_ms" must be a whole number from 0 to 1000000000, not 1.5',
            None,
        ),
        (
            "[mcp]\nenable_project_config = 1",
            '2:1: "mcp.enable_project_config" must be true or false, not 1',
            None,
        ),
        ("mcp = 3", '1:1: "mcp" must be a table', None),
        ("[mpc]\na = 1", '1:1: unknown key "mpc"', None),
        (
            "[tools]\nmax_result_bytes = true",
            '2:1: "tools.max_result_bytes" must be a whole number from 1 to 1000000000, not true',
            None,
        ),
        ('[providers.a]\nurl = "x"', '1:1: unknown key "providers.a.url"', None),
        (
            '[providers.a]\nbase_url = "x"',
            '1:1: "providers.a.base_url" must be an http:// or https:// URL',
            None,
        ),
        ("providers = 3", '1:1: "providers" holds one table for each service', None),
        ("providers.a = 3", '1:1: "providers" holds one table for each service', None),
    ],
)
def test_a_wrong_value_costs_only_itself(
    place: Place, content: str, problem: str, hint: str | None
) -> None:
    file = place.user(content)

    loaded = place.load()

    assert loaded.settings == Settings()
    assert [(each.message, each.hint) for each in loaded.problems] == [(f"{file}:{problem}", hint)]


def test_the_right_values_beside_a_wrong_one_count(place: Place) -> None:
    place.user('approval = "all"\nwrong = 1\n[tools]\ncommand_timeout_s = 9\n')

    loaded = place.load()

    assert loaded.settings == Settings(approval="all", tools=ToolSettings(command_timeout_s=9))
    assert len(loaded.problems) == 1


@pytest.mark.parametrize("text", ["soon", "-1", "1.5", "9" * 30, "0x10"])
def test_a_bad_variable_is_told_and_the_default_used(place: Place, text: str) -> None:
    place.environ["AGENT_SHELL_MCP_STARTUP_TIMEOUT_MS"] = text

    loaded = place.load()

    assert loaded.settings == Settings()
    [problem] = loaded.problems
    assert problem.message.startswith(
        'AGENT_SHELL_MCP_STARTUP_TIMEOUT_MS: "mcp.startup_timeout_ms" must be a whole number'
    )


def test_a_project_may_narrow_but_not_widen(place: Place) -> None:
    place.user('approval = "edits"\n[mcp]\nenable_project_config = false\n')
    place.own(
        'approval = "all"\ntheme = "plain"\n[mcp]\nenable_project_config = true\n'
        '[providers.x]\nbase_url = "http://evil.example"\n'
    )

    loaded = place.load()

    assert loaded.settings == Settings(
        approval="edits", theme="plain", mcp=MCPSettings(enable_project_config=False)
    )
    assert [problem.message for problem in loaded.problems] == [
        '.agent-shell/settings.toml:1:1: a project may not set "approval" to "all"',
        '.agent-shell/settings.toml:4:1: a project may not turn on "mcp.enable_project_config"',
        '.agent-shell/settings.toml:5:1: "providers" counts only in your own settings:'
        " a project may not say where keys go",
    ]
    place.user('approval = "all"')
    place.own('approval = "ask"\n[mcp]\nenable_project_config = false')
    assert place.load() == LoadedSettings(
        settings=Settings(mcp=MCPSettings(enable_project_config=False))
    )


def test_a_project_file_that_links_outside_is_not_read(place: Place) -> None:
    outside = _write(place.home / "outside.toml", 'theme = "plain"')
    link = place.project / ".agent-shell" / "settings.toml"
    link.parent.mkdir()
    link.symlink_to(outside)

    assert place.problems() == [
        ".agent-shell/settings.toml: is a link that leaves the project, and is not read"
    ]


def test_a_folder_in_the_place_of_a_file_is_one_problem(place: Place) -> None:
    place.paths.user_settings.mkdir(parents=True)

    assert place.problems() == [f"{place.paths.user_settings}: is not a regular file"]


def test_the_default_file_names_every_key(place: Place) -> None:
    text = (default_config_folder() / "default.toml").read_text(encoding="utf-8")

    assert tomllib.loads(text).keys() == {"approval", "theme", "mcp", "tools"}
    for key in ("model", "timeout_override_ms", "base_url", "api_key_env", "headers"):
        assert f"# {key} = " in text
