"""Every terminal test gets a project folder and a home of its own."""

from pathlib import Path

import pytest

from tests.terminal.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty project beside an empty home."""
    folder = tmp_path / "project"
    folder.mkdir()
    home = tmp_path / "home"
    home.mkdir()
    return Project(folder=folder, home=home)
