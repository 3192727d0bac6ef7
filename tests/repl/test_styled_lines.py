"""Rows of the live part never exceed their width, and hide nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth

from agent_shell.repl.styled_lines import cut_cells, prompt_lines, text_lines, wrap_cells


@given(st.text(), st.integers(2, 40))
def test_wrapped_rows_fit(text: str, width: int) -> None:
    assert all(
        sum(get_cwidth(piece) for _, piece in row) <= width for row in text_lines(text, width)
    )


@given(st.text(st.characters(exclude_categories=["C", "Z"])), st.integers(2, 20))
def test_wrapping_words_without_blanks_loses_nothing(text: str, width: int) -> None:
    assert "".join(wrap_cells(text, width)) == text


@pytest.mark.parametrize(
    ("text", "width", "rows"),
    [
        ("", 5, [""]),
        ("one two three", 7, ["one two", "three"]),
        ("one two three", 8, ["one two", "three"]),
        ("abcdefgh", 3, ["abc", "def", "gh"]),
        ("日本語", 4, ["日本", "語"]),
    ],
)
def test_lines_break_at_blanks_where_they_can(text: str, width: int, rows: list[str]) -> None:
    assert wrap_cells(text, width) == rows


@given(st.text(), st.integers(1, 30))
def test_a_cut_line_fits_and_is_one_line(text: str, width: int) -> None:
    cut = cut_cells(text, width)

    assert "\n" not in cut
    assert get_cwidth(cut) <= width


def test_control_characters_are_shown_as_what_they_are() -> None:
    assert text_lines("\x1b[31mred\x07", 80) == [[("", "\\x1b[31mred\\x07")]]


def test_a_prompt_is_shown_behind_its_sign_and_shortened() -> None:
    assert prompt_lines("a\nb", 20, sign="› ") == [[("", "› a")], [("", "  b")]]
    assert prompt_lines("a\nb\nc\nd", 20, sign="› ", most=3) == [
        [("", "› a")],
        [("", "  b")],
        [("", "  … more lines: 2")],
    ]
