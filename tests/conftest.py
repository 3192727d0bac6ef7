"""What every test stands on: folders of its own, no keys, no proxies, and nothing left running."""

import os
import time
from collections.abc import Generator, Mapping
from pathlib import Path

import pytest

TESTS = Path(__file__).parent

# What would let a developer's own setup, or the machine's, decide a test.
FOREIGN_PREFIXES = (
    "AGENT_SHELL_",
    "ANTHROPIC_",
    "GEMINI_",
    "GOOGLE_",
    "MCP_",
    "OLLAMA_",
    "OPENAI_",
)
FOREIGN_SUFFIXES = ("_API_KEY", "_PROXY", "_proxy", "_BASE_URL", "_API_BASE")
FOREIGN_NAMES = {"CLICOLOR_FORCE", "COLUMNS", "FORCE_COLOR", "LINES", "LLM_MODEL", "NO_COLOR"}

LEFT_BEHIND_GRACE_S = 5.0
"""Two seconds are what a server's group may live on after a sudden death; the rest is a slow CI."""


def _is_foreign(name: str) -> bool:
    return (
        name in FOREIGN_NAMES
        or name.startswith(FOREIGN_PREFIXES)
        or name.endswith(FOREIGN_SUFFIXES)
        or name.startswith("XDG_")
    )


def _processes_with_home_in(folder: Path) -> list[str]:
    """The command lines of all live processes whose home is in this folder.

    Servers get a short environment, but HOME is always in it, so this finds grandchildren
    that have lost their parents, too. Empty where there is no /proc.
    """
    wanted = f"HOME={folder}/".encode()
    found: list[str] = []
    for entry in Path("/proc").glob("[0-9]*"):
        if int(entry.name) == os.getpid():
            continue
        try:
            environment = (entry / "environ").read_bytes().split(b"\0")
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # it has ended, or is not ours to look at
        if any(variable.startswith(wanted) for variable in environment):
            found.append(f"{entry.name}: {command.strip()}")
    return found


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in tests/terminal carries the mark `terminal`."""
    for item in items:
        if item.path.is_relative_to(TESTS / "terminal"):
            item.add_marker(pytest.mark.terminal)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """What the program runs on; a room that has to run on trio too says so in its own conftest."""
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def real_environ(tmp_path_factory: pytest.TempPathFactory) -> Generator[Mapping[str, str]]:
    """The environment the run was started with; for its length, ours is a clean one.

    At the end it is an error of the run if any process it started still lives.
    """
    before = dict(os.environ)
    home = tmp_path_factory.mktemp("home")
    for name in before:
        if _is_foreign(name):
            del os.environ[name]
    os.environ["HOME"] = str(home)
    try:
        yield before
    finally:
        deadline = time.monotonic() + LEFT_BEHIND_GRACE_S
        while (
            left := _processes_with_home_in(tmp_path_factory.getbasetemp())
        ) and time.monotonic() < deadline:
            time.sleep(0.1)
        os.environ.clear()
        os.environ.update(before)
    assert left == []


@pytest.fixture(autouse=True)
def agent_shell_home(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Each test's own AGENT_SHELL_HOME: nobody's configuration is read or written."""
    home = tmp_path_factory.mktemp("agent-shell-home")
    monkeypatch.setenv("AGENT_SHELL_HOME", str(home))
    return home
