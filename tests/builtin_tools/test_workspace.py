"""Paths stay inside the project."""

from pathlib import Path

import pytest

from agent_shell.builtin_tools.workspace import Workspace, WorkspaceError
from agent_shell.builtin_tools.write_file import write_file_tool
from agent_shell.tools.tool import ToolContext


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with links of every kind, beside a folder that is none of its business."""
    outside, root = tmp_path / "outside", tmp_path / "project"
    outside.mkdir()
    root.mkdir()
    (outside / "file").write_text("theirs")
    (root / "file").write_text("ours")
    (root / "to_file").symlink_to(outside / "file")
    (root / "to_missing").symlink_to(outside / "missing")
    (root / "to_folder").symlink_to(outside)
    (root / "inside").symlink_to("file")
    return root


@pytest.mark.parametrize(
    "path", ["to_file", "to_missing", "to_folder/new", "../outside/file", "../project-2/x", "~/x"]
)
async def test_links_and_paths_that_leave_are_refused_before_a_byte_is_written(
    path: str, project: Path
) -> None:
    """(CASES K17)"""
    tool = write_file_tool(Workspace(root=project))
    result = await tool.execute({"path": path, "content": "x"}, ToolContext())
    assert result.text == f"error: {path} is outside the project folder"
    assert sorted(entry.name for entry in (project.parent / "outside").iterdir()) == ["file"]
    assert (project.parent / "outside" / "file").read_text() == "theirs"


async def test_links_that_stay_inside_work(project: Path) -> None:
    """(CASES K17)"""
    tool = write_file_tool(Workspace(root=project))
    await tool.execute({"path": "inside", "content": "new"}, ToolContext())
    assert (project / "file").read_text() == "new"
    assert (project / "inside").is_symlink()


async def test_folders_are_made_and_a_folder_is_not_replaced(project: Path) -> None:
    tool = write_file_tool(Workspace(root=project))
    made = await tool.execute({"path": "a/b/c", "content": "é"}, ToolContext())
    assert made.text == "created a/b/c, 2 bytes"
    folder = await tool.execute({"path": "a/b", "content": "x"}, ToolContext())
    assert folder.text == "error: a/b is not a regular file"


def test_other_folders_may_be_readable_but_are_never_writable(project: Path) -> None:
    outside = project.parent / "outside"
    workspace = Workspace(root=project, readable=(outside,))
    assert workspace.to_read(str(outside / "file")) == outside / "file"
    assert workspace.to_read("to_file") == outside / "file"
    with pytest.raises(WorkspaceError):
        workspace.to_write(str(outside / "file"))


def test_a_nul_in_a_path_is_refused(project: Path) -> None:
    with pytest.raises(WorkspaceError):
        Workspace(root=project).to_read("a\0b")
