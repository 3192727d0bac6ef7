"""One key is written back; everything else of the file stays."""

import tomllib
from pathlib import Path

import pytest

from agent_shell.errors import ConfigError, UsageError
from agent_shell.paths import AppPaths, app_paths
from agent_shell.settings.save import save_setting
from tests.requirements import requirement


@pytest.fixture
def paths(tmp_path: Path) -> AppPaths:
    return app_paths({"AGENT_SHELL_HOME": str(tmp_path)})


@pytest.mark.parametrize(
    ("before", "key", "value", "after"),
    [
        ("", "model", "a/b", 'model = "a/b"\n'),
        ("", "mcp.startup_timeout_ms", 5, "[mcp]\nstartup_timeout_ms = 5\n"),
        ('model = "x" # old\n', "model", 'a"b', 'model = "a\\"b"\n'),
        ("# top\n\n[mcp]\n# c\n", "model", "x", 'model = "x"\n\n# top\n\n[mcp]\n# c\n'),
        (
            'theme = "plain"\n\n[mcp]\nstartup_timeout_ms = 1\n\n[tools]\n',
            "mcp.enable_project_config",
            False,
            'theme = "plain"\n\n[mcp]\nstartup_timeout_ms = 1\nenable_project_config = false\n\n'
            "[tools]\n",
        ),
        (
            "[tools]\r\n",
            "mcp.startup_timeout_ms",
            5,
            "[tools]\r\n\r\n[mcp]\r\nstartup_timeout_ms = 5\r\n",
        ),
        ("mcp.startup_timeout_ms = 1\n", "mcp.startup_timeout_ms", None, ""),
        ('approval = "all"', "model", "x", 'approval = "all"\nmodel = "x"\n'),
        ("\ufeffmodel = 'y'\n", "model", "x", '\ufeffmodel = "x"\n'),
        (
            "unknown = '''\nmodel = 1\n'''\n",
            "model",
            "x",
            "unknown = '''\nmodel = 1\n'''\nmodel = \"x\"\n",
        ),
    ],
)
def test_only_the_one_key_changes(
    paths: AppPaths, before: str, key: str, value: str | int | bool | None, after: str
) -> None:
    paths.config.mkdir(parents=True)
    paths.user_settings.write_bytes(before.encode("utf-8"))

    assert save_setting(paths, key, value) == paths.user_settings

    assert paths.user_settings.read_bytes() == after.encode("utf-8")
    tomllib.loads(after.removeprefix("\ufeff"))


@requirement("A2")
@pytest.mark.parametrize("before", [b"model = \n", b"\xff", b"mcp = { startup_timeout_ms = 1 }\n"])
def test_a_file_that_cannot_be_changed_safely_is_left_alone(paths: AppPaths, before: bytes) -> None:
    paths.config.mkdir(parents=True)
    paths.user_settings.write_bytes(before)

    with pytest.raises(ConfigError):
        save_setting(paths, "mcp.startup_timeout_ms", 5)

    assert paths.user_settings.read_bytes() == before


def test_a_key_or_value_that_does_not_exist_is_refused(paths: AppPaths) -> None:
    with pytest.raises(UsageError, match='unknown key "modle"'):
        save_setting(paths, "modle", "x")
    with pytest.raises(UsageError, match="must be one of"):
        save_setting(paths, "approval", "never")

    assert not paths.user_settings.exists()
