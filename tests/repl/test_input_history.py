"""What was typed is kept, whatever it was and whatever the file holds."""

import json
from pathlib import Path

import pytest

from agent_shell.repl.input_history import LONGEST_ENTRY, MOST_BYTES, MOST_ENTRIES, InputHistory


def kept(path: Path) -> list[str]:
    return list(InputHistory(path).load_history_strings())


def test_entries_come_back_newest_first(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "history"
    history = InputHistory(path)
    for text in ("one", "two\nlines", "half \ud83d", "日本"):
        history.store_string(text)

    assert kept(path) == ["日本", "half \ud83d", "two\nlines", "one"]
    path.read_text(encoding="ascii")
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_damaged_line_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_bytes(b'"one"\n\xff\xfe{\n42\n\n"two"\n')

    assert kept(path) == ["two", "one"]


def test_a_huge_entry_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "history"
    InputHistory(path).store_string("x" * (LONGEST_ENTRY + 1))

    assert kept(path) == []


def test_a_file_that_grew_too_long_is_cut_to_its_newest_entries(tmp_path: Path) -> None:
    path = tmp_path / "history"
    count = 2 * MOST_ENTRIES
    padding = "x" * (MOST_BYTES // count)
    path.write_text("".join(json.dumps(f"{n} {padding}") + "\n" for n in range(count)), "ascii")

    assert len(kept(path)) == MOST_ENTRIES
    assert len(path.read_bytes().splitlines()) == MOST_ENTRIES
    assert kept(path)[0] == f"{count - 1} {padding}"


def test_without_a_usable_file_nothing_fails(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="ascii")
    history = InputHistory(tmp_path / "file" / "history")
    history.store_string("one")

    assert list(history.load_history_strings()) == []


@pytest.mark.parametrize("content", [b"", b"\n", b"[]\n"])
def test_an_empty_or_foreign_file_is_no_history(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "history"
    path.write_bytes(content)

    assert kept(path) == []
