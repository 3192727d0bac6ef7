"""Lines of (style, text) pairs for the part of the screen that is redrawn: wrap, cut, clean."""

from typing import TypeAlias

from prompt_toolkit.formatted_text import ANSI, split_lines, to_formatted_text
from prompt_toolkit.utils import get_cwidth

from agent_shell.logs import printable
from agent_shell.repl.theme import CONTINUATION

Line: TypeAlias = "list[tuple[str, str]]"
"""One row of the screen, already within its width."""


def text_lines(text: str, width: int, *, style: str = "", indent: str = "") -> list[Line]:
    """Foreign text as rows of at most `width` cells, control characters made visible."""
    rows: list[Line] = []
    room = max(1, width - get_cwidth(indent))
    for row in printable(text).expandtabs(4).split("\n"):
        rows.extend([(style, indent + piece)] for piece in wrap_cells(row, room))
    return rows


def wrap_cells(text: str, width: int) -> list[str]:
    """Break one line at spaces where that is possible, else inside a word; never empty."""
    if get_cwidth(text) <= width:
        return [text]
    pieces: list[str] = []
    start = 0
    while start < len(text):
        end, used, space = start, 0, -1
        while end < len(text):
            cells = get_cwidth(text[end])
            if used + cells > width:
                break
            if text[end] == " ":
                space = end
            used += cells
            end += 1
        if end < len(text) and text[end] != " " and space > start:
            end = space
        end = max(end, start + 1)
        pieces.append(text[start:end])
        start = end + 1 if end < len(text) and text[end] == " " else end
    return pieces


def cut_cells(text: str, width: int) -> str:
    """One line of at most `width` cells; what does not fit becomes an ellipsis."""
    text = printable(text).replace("\n", " ").replace("\t", " ")
    if get_cwidth(text) <= width:
        return text
    kept: list[str] = []
    used = 0
    for character in text:
        used += get_cwidth(character)
        if used > width - 1:
            break
        kept.append(character)
    return "".join(kept) + "…"


def drawn_lines(text: str) -> list[Line]:
    """Our own drawing, with its colour sequences, as rows."""
    rows: list[Line] = []
    for fragments in split_lines(to_formatted_text(ANSI(text.removesuffix("\n")))):
        row: Line = []
        for style, character, *_ in fragments:
            if row and row[-1][0] == style:
                row[-1] = (style, row[-1][1] + character)
            else:
                row.append((style, character))
        rows.append(row)
    return rows


def prompt_lines(text: str, width: int, *, sign: str, style: str = "", most: int = 6) -> list[Line]:
    """What a person typed, behind a sign, shortened to `most` rows."""
    rows = text_lines(text, width, style=style, indent=CONTINUATION)
    rows[0] = [(style, sign + rows[0][0][1][len(CONTINUATION) :])]
    if len(rows) > most:
        rows[most - 1 :] = [[(style, f"{CONTINUATION}… more lines: {len(rows) - most + 1}")]]
    return rows
