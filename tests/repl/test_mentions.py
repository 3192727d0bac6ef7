"""@path: the file's text goes along, and nothing else happens."""

import os
from pathlib import Path

import pytest

from agent_shell.repl.mentions import MOST_FILE_BYTES, with_mentions


async def test_a_file_is_attached_in_a_fence_behind_the_words(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("content\n", encoding="utf-8")

    assert await with_mentions("see @a.txt, please", tmp_path) == (
        "see @a.txt, please\n\na.txt:\n```\ncontent\n```"
    )


async def test_a_fence_in_the_file_gets_a_longer_one_around_it(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("```\nx\n```", encoding="utf-8")

    assert (await with_mentions("@a.md", tmp_path)).endswith("````\n```\nx\n```\n````")


@pytest.mark.parametrize("text", ["mail me@a.txt", "@missing", "@", "@.", "no mention", "@a\0b"])
async def test_what_names_no_file_stays_as_it_is(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.txt").write_text("content", encoding="utf-8")

    assert await with_mentions(text, tmp_path) == text


async def test_binary_files_pipes_and_unreadable_ones_are_left_to_the_model(
    tmp_path: Path,
) -> None:
    (tmp_path / "binary").write_bytes(b"a\0b")
    os.mkfifo(tmp_path / "pipe")

    assert await with_mentions("@binary @pipe", tmp_path) == "@binary @pipe"


async def test_a_long_file_is_cut_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"\xff" * (MOST_FILE_BYTES + 5))

    text = await with_mentions("@big", tmp_path)

    assert f"big (the first {MOST_FILE_BYTES} bytes):" in text
    assert text.count("\ufffd") == MOST_FILE_BYTES


async def test_a_quoted_name_may_have_blanks(tmp_path: Path) -> None:
    (tmp_path / "a b.txt").write_text("content", encoding="utf-8")

    assert "content" in await with_mentions('@"a b.txt"', tmp_path)
