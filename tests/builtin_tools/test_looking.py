"""Reading, listing and searching real files."""

import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from agent_shell.builtin_tools.create import create_builtin_tools
from agent_shell.builtin_tools.glob_pattern import glob_regex
from agent_shell.builtin_tools.workspace import Workspace
from agent_shell.settings.settings import ToolSettings
from agent_shell.tools.tool import ToolContext, ToolResult


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project in a repository that ignores `build`."""
    root = tmp_path / "project"
    for name, text in {
        "a.py": "import os\nneedle = 1\n",
        "src/b.py": "# Needle\r\n",
        "build/c.py": "needle\n",
        ".gitignore": "build/\n",
        "notes.txt": "nothing\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode())
    (root / "data.bin").write_bytes(b"needle\0needle")
    return root


@pytest.fixture
def repository(project: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    return project


async def use(root: Path, name: str, **arguments: Any) -> ToolResult:
    environ: Mapping[str, str] = os.environ
    tools = create_builtin_tools(
        Workspace(root=root), settings=ToolSettings(max_result_bytes=2_000), environ=environ
    )
    tool = next(tool for tool in tools if tool.name == name)
    with anyio.fail_after(30):
        return await tool.execute(arguments, ToolContext())


async def test_lines_come_numbered(project: Path) -> None:
    assert (await use(project, "read_file", path="a.py")).text == "1\timport os\n2\tneedle = 1"
    assert (await use(project, "read_file", path="src/b.py")).text == "1\t# Needle"


async def test_a_long_file_is_read_in_parts(project: Path) -> None:
    (project / "long").write_text("".join(f"line {number}\n" for number in range(1, 1_000)))
    first = (await use(project, "read_file", path="long")).text
    assert len(first.encode()) <= 2_000
    where = int(first.rpartition("offset=")[2].rstrip("]"))
    second = (await use(project, "read_file", path="long", offset=where, limit=2)).text
    assert second.split("\n")[:2] == [f"{where}\tline {where}", f"{where + 1}\tline {where + 1}"]
    assert (await use(project, "read_file", path="long", offset=5_000)).text == (
        "[the file has 999 lines]"
    )


async def test_what_is_no_text_is_a_note(project: Path) -> None:
    os.mkfifo(project / "pipe")
    (project / "latin").write_bytes(b"caf\xe9\n")
    (project / "wide").write_bytes(b"x" * 5_000)
    (project / "empty").touch()
    assert (await use(project, "read_file", path="data.bin")).text == (
        "[binary file, 13 bytes, not shown]"
    )
    assert (await use(project, "read_file", path="pipe")).text == (
        "error: pipe is not a regular file"
    )
    assert (await use(project, "read_file", path="latin")).text == "1\tcaf\ufffd"
    assert (await use(project, "read_file", path="empty")).text == "[the file is empty]"
    assert (await use(project, "read_file", path="src")).text.startswith("error: src is a folder")
    assert (await use(project, "read_file", path="none")).text.endswith("No such file or directory")
    wide = (await use(project, "read_file", path="wide")).text
    assert wide == "[there is more: read on with offset=1]" or "3000 characters left out" in wide


async def test_git_says_what_belongs_to_the_project(repository: Path) -> None:
    assert (await use(repository, "list_files", pattern="*.py")).text == "a.py\nsrc/b.py"
    assert (await use(repository, "list_files", path="src")).text == "b.py"
    assert (await use(repository, "list_files", pattern="*.rs")).text == "[no file matches]"


async def test_a_repository_can_not_make_git_start_a_program(repository: Path) -> None:
    marker = repository / "marker"
    hook = repository / "hook.sh"
    hook.write_text(f"#!/bin/sh\ntouch {marker}\n")
    hook.chmod(0o755)
    config = ["git", "-C", str(repository), "config", "core.fsmonitor", str(hook)]
    subprocess.run(config, check=True)
    await use(repository, "list_files")
    assert not marker.exists()


async def test_without_git_a_walk_finds_the_files(project: Path) -> None:
    (project / ".git").mkdir()
    (project / ".git" / "x.py").touch()
    found = (await use(project, "list_files", pattern="**/*.py")).text
    assert found == "a.py\nbuild/c.py\nsrc/b.py"


async def test_search_finds_lines_by_pattern(repository: Path) -> None:
    assert (await use(repository, "search_text", pattern=r"needle\b")).text == (
        "a.py:2: needle = 1"
    )
    found = await use(repository, "search_text", pattern="needle", ignore_case=True, path="src")
    assert found.text == "src/b.py:1: # Needle"
    only = await use(repository, "search_text", pattern="e", glob="*.txt")
    assert only.text == "[no match]"
    one = await use(repository, "search_text", pattern="os", path="a.py")
    assert one.text == "a.py:1: import os"


async def test_matches_are_bounded(project: Path) -> None:
    (project / "many").write_text("needle\n" * 5_000)
    found = (await use(project, "search_text", pattern="needle", glob="many")).text
    assert found.endswith("[only the first 200 matches: narrow the search]")


async def test_a_bad_pattern_is_an_error(project: Path) -> None:
    result = await use(project, "search_text", pattern="(")
    assert result.is_error
    assert result.text.startswith("error: the pattern is no regular expression")


async def test_a_pattern_that_never_ends_can_be_cancelled(project: Path) -> None:
    (project / "evil").write_text("a" * 200 + "!\n")
    began = time.monotonic()
    with anyio.move_on_after(1):
        await use(project, "search_text", pattern="(a+)+$", path="evil")
    assert time.monotonic() - began < 5


async def test_a_link_out_of_the_project_is_not_searched(project: Path) -> None:
    (project.parent / "secret").write_text("needle\n")
    (project / "link").symlink_to(project.parent / "secret")
    assert (await use(project, "search_text", pattern="needle", glob="link")).text == "[no match]"


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.py", "a/b.py", True),
        ("src/*.py", "src/a/b.py", False),
        ("src/**/*.py", "src/a/b.py", True),
        ("src/**/*.py", "src/b.py", True),
        ("**", "a/b", True),
        ("*.{py,rs}", "x.rs", True),
        ("[!a]*", "abc", False),
        ("a[", "a[", True),
        ("./x", "x", True),
    ],
)
def test_glob_patterns(pattern: str, path: str, expected: bool) -> None:
    assert (glob_regex(pattern).match(path) is not None) == expected
