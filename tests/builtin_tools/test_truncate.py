"""Cutting the middle out of long output."""

import pytest

from agent_shell.builtin_tools.truncate import HeadAndTail, cut_middle


def test_short_text_stays_as_it_is() -> None:
    assert cut_middle("abc\n", 4) == "abc\n"


def test_long_text_is_cut_at_lines_and_says_how_much() -> None:
    text = "".join(f"line {number}\n" for number in range(100))
    assert cut_middle(text, 40, where="; see FILE") == (
        "line 0\nline 1\nline 2\n[… 761 bytes left out; see FILE …]\nline 99\n"
    )


def test_one_endless_line_of_wide_characters_is_cut_between_them() -> None:
    cut = cut_middle("漢" * 1_000, 50)
    assert "\ufffd" not in cut
    assert cut.startswith("漢" * 10 + "\n[… 2952 bytes left out …]\n漢")


@pytest.mark.parametrize("size", [1, 7, 64])
def test_output_in_pieces_keeps_its_first_and_last_bytes(size: int) -> None:
    output = bytes(range(256)) * 8
    kept = HeadAndTail(100)
    for at in range(0, len(output), size):
        kept.add(output[at : at + size])
    assert kept.parts() == (output[:60], output[-40:])
    assert (kept.total_bytes, kept.omitted_bytes) == (2_048, 1_948)


def test_output_that_fits_is_whole() -> None:
    kept = HeadAndTail(100)
    kept.add(b"a" * 70)
    kept.add(b"b" * 30)
    assert b"".join(kept.parts()) == b"a" * 70 + b"b" * 30
    assert kept.omitted_bytes == 0
