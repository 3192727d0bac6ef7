"""Replacing one passage: every byte outside of it stays."""

from pathlib import Path
from typing import Any

import pytest

from agent_shell.builtin_tools.edit_file import edit_file_tool
from agent_shell.builtin_tools.workspace import Workspace
from agent_shell.tools.tool import ToolContext, ToolResult


async def edit(path: Path, old: str, new: str, **more: Any) -> ToolResult:
    tool = edit_file_tool(Workspace(root=path.parent))
    arguments = {"path": path.name, "old_text": old, "new_text": new, **more}
    return await tool.execute(arguments, ToolContext())


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        pytest.param(b"a\r\nb\r\nc\r\n", "a\nb", "a\nB", b"a\r\nB\r\nc\r\n", id="K1"),
        pytest.param(b"a\r\nb\r\n", "b", "x\ny", b"a\r\nx\r\ny\r\n", id="CRLF-of-the-line"),
        pytest.param(
            b"alpha\nbeta\r\ngamma", "beta", "BETA", b"alpha\nBETA\r\ngamma", id="K2-mixed"
        ),
        pytest.param(
            b"alpha\nbeta\r\ngamma", "alpha\nbeta", "x\ny", b"x\ny\r\ngamma", id="K2-mixed-span"
        ),
        pytest.param(
            b"10%\r50%\r100%\ndone\n", "done", "over", b"10%\r50%\r100%\nover\n", id="K2-bare-CR"
        ),
        pytest.param(
            b"x = old\n", "old", "$& $1 \\1 \\g<0> \\n", b"x = $& $1 \\1 \\g<0> \\n\n", id="K3"
        ),
        pytest.param(b"\xef\xbb\xbfa\n", "a", "b", b"\xef\xbb\xbfb\n", id="BOM"),
        pytest.param(b"no newline", "newline", "end", b"no end", id="no-final-newline"),
        pytest.param("é\u2028x\n".encode(), "x", "y", "é\u2028y\n".encode(), id="unicode"),
    ],
)
async def test_only_the_span_changes(
    before: bytes, old: str, new: str, after: bytes, tmp_path: Path
) -> None:
    """(CASES K1, K2, K3)"""
    path = tmp_path / "file"
    path.write_bytes(before)
    result = await edit(path, old, new)
    assert (path.read_bytes(), result.is_error) == (after, False)


async def test_replace_all_is_literal_too(tmp_path: Path) -> None:
    """(CASES K3)"""
    path = tmp_path / "file"
    path.write_bytes(b"a.c abc a.c\n")
    result = await edit(path, "a.c", "\\1$&", replace_all=True)
    assert result.text == "replaced 2 passages: file, line 1"
    assert path.read_bytes() == b"\\1$& abc \\1$&\n"


@pytest.mark.parametrize(
    ("before", "old", "new", "said"),
    [
        (b"caf\xe9\nb\n", "b", "B", "not UTF-8 (byte 3): it was left as it is"),
        (b"a a\n", "a", "b", "old_text is in the file 2 times (lines 1, 1)"),
        (b"a\n", "x", "y", "old_text is not in the file"),
        (b"a\n", "a", "a", "nothing was changed"),
        (b"a\n", "a", "\ud83d", "half a character"),
    ],
)
async def test_what_can_not_be_done_exactly_is_not_done(
    before: bytes, old: str, new: str, said: str, tmp_path: Path
) -> None:
    """(CASES K6)"""
    path = tmp_path / "file"
    path.write_bytes(before)
    result = await edit(path, old, new)
    assert result.is_error
    assert said in result.text
    assert path.read_bytes() == before


async def test_the_files_mode_stays(tmp_path: Path) -> None:
    path = tmp_path / "script"
    path.write_text("a\n")
    path.chmod(0o755)
    await edit(path, "a", "b")
    assert path.stat().st_mode & 0o777 == 0o755


async def test_a_missing_file_is_named(tmp_path: Path) -> None:
    result = await edit(tmp_path / "none", "a", "b")
    assert result.text == "error: none does not exist; write_file creates files"
