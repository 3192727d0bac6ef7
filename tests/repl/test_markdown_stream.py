"""Growing Markdown is cut where nothing later can change what stands before."""

import time

import pytest

from agent_shell.repl.markdown_stream import MOST_BLOCK_LINES, MarkdownStream


def blocks_of(text: str, size: int) -> list[str]:
    stream = MarkdownStream()
    blocks: list[str] = []
    for start in range(0, len(text), size):
        blocks += stream.feed(text[start : start + size])
    return blocks + stream.finish()


CASES: dict[str, tuple[str, list[str]]] = {
    "paragraphs": ("one\nstill one\n\ntwo\n", ["one\nstill one", "two"]),
    "heading": ("# Title\ntext\n", ["# Title", "text"]),
    "heading ends a paragraph": ("text\n## Title\nmore", ["text", "## Title", "more"]),
    "loose list": ("- a\n\n- b\n\n  more b\n\ntext", ["- a\n\n- b\n\n  more b", "text"]),
    "numbered list": ("1. a\n\n2. b\n\nend\n", ["1. a\n\n2. b", "end"]),
    "fence": ("```py\na\n\nb\n```\ntext", ["```py\na\n\nb\n```", "text"]),
    "fence behind text": ("text\n```\nx\n```\n", ["text", "```\nx\n```"]),
    "longer fence": ("````\n```\n````\nend", ["````\n```\n````", "end"]),
    "fence in a list": ("- a\n  ```\n  x\n\n  y\n  ```\n", ["- a\n  ```\n  x\n\n  y\n  ```"]),
    "open fence": ("```\nnot closed", ["```\nnot closed"]),
    "table": ("|a|b|\n|-|-|\n|1|2|\n\nend", ["|a|b|\n|-|-|\n|1|2|", "end"]),
    "blank only": ("\n\n\n", []),
}


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize("name", CASES)
def test_blocks_are_the_same_however_the_text_arrives(name: str, size: int) -> None:
    text, expected = CASES[name]

    assert blocks_of(text, size) == expected


def test_a_paragraph_is_finished_when_the_next_begins() -> None:
    stream = MarkdownStream()

    assert stream.feed("one\n\n") == []
    assert stream.feed("two\n") == ["one"]
    assert stream.tail(10, 100) == "two"


def test_the_tail_is_bounded() -> None:
    stream = MarkdownStream()
    stream.feed("\n".join(f"line {number}" for number in range(100)))

    assert stream.tail(2, 100) == "line 97\nline 98\nline 99"
    assert stream.tail(50, 5) == "ne 99"


def test_a_long_code_block_is_printed_in_pieces_that_lose_nothing() -> None:
    lines = [f"line {number}" for number in range(3 * MOST_BLOCK_LINES)]
    text = "```py\n" + "\n".join(lines) + "\n```\n"

    blocks = blocks_of(text, 50)

    assert len(blocks) > 2
    assert all(block.startswith("```py\n") and block.endswith("\n```") for block in blocks)
    assert [line for block in blocks for line in block.split("\n")[1:-1]] == lines


def test_the_cost_is_linear() -> None:
    def seconds(characters: int) -> float:
        stream = MarkdownStream()
        began_at = time.perf_counter()
        for _ in range(characters):
            stream.feed("x")
            stream.tail(10, 500)
        return time.perf_counter() - began_at

    small = min(seconds(4_000) for _ in range(3))

    assert seconds(40_000) < 40 * small
