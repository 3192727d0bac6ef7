"""The README's two set-up lines are the ones that CI runs, and the pins hold names only."""

import re
from pathlib import Path

PROJECT = Path(__file__).parents[1]

RUN_LINE = "python3 -m venv .venv && .venv/bin/pip install -q -e . && .venv/bin/agent-shell"
TEST_LINE = "python3 -m venv .venv && .venv/bin/pip install -q -e '.[test]' && .venv/bin/pytest"
FIRST_SCREEN_LINES = 40


def test_the_first_screen_of_the_readme_holds_exactly_the_two_set_up_lines() -> None:
    first_screen = (PROJECT / "README.md").read_text("utf-8").splitlines()[:FIRST_SCREEN_LINES]

    assert [line for line in first_screen if "python3 -m venv" in line] == [RUN_LINE, TEST_LINE]


def test_ci_runs_the_test_line_of_the_readme() -> None:
    script = (PROJECT / ".ci" / "run").read_text("utf-8")
    readme = (PROJECT / "README.md").read_text("utf-8")

    assert "grep -m 1 -F '&& .venv/bin/pytest' README.md" in script
    assert [line for line in readme.splitlines() if "&& .venv/bin/pytest" in line] == [TEST_LINE]


def test_the_pins_are_names_and_versions_only() -> None:
    lines = (PROJECT / "constraints.txt").read_text("utf-8").splitlines()

    assert [
        line for line in lines if not re.fullmatch(r"[A-Za-z0-9_.-]+==[A-Za-z0-9.]+", line)
    ] == []
