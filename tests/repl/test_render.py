"""Calls, results and Markdown: foreign text is shown, never obeyed."""

import pytest

from agent_shell.llm.messages import ToolCall
from agent_shell.repl.drawing import Drawing, foreign, joined
from agent_shell.repl.render_markdown import render_markdown
from agent_shell.repl.render_tool import call_summary, duration, render_call, render_result
from agent_shell.tools.content import ImageContent, TextContent
from agent_shell.tools.tool import ToolResult, text_result
from tests.requirements import requirement

PLAIN = Drawing(is_colourless=True)


def markdown(text: str, width: int = 60) -> str:
    return PLAIN.draw(render_markdown(text), width)


@requirement("I6")
@pytest.mark.parametrize(
    "text",
    ["a[/b] [bold [/INST]", "<b>bold</b> & <!-- hidden -->", ":smile: [red]x[/red]", "a < b > c"],
)
def test_markup_in_markdown_is_text(text: str) -> None:
    assert markdown(text) == f"{text}\n"


def test_html_blocks_are_shown() -> None:
    assert markdown("<script>\nalert(1)\n</script>") == "<script> alert(1) </script>\n"


def test_escape_sequences_in_markdown_are_made_visible() -> None:
    assert markdown("\x1b]0;title\x07 `\x1b[31m`") == "\\x1b]0;title\\x07 \\x1b[31m\n"


def test_a_links_target_is_seen() -> None:
    assert "http://evil.example" in markdown("[click](http://evil.example)")


def test_code_keeps_its_lines() -> None:
    lines = markdown("```py\nif x:\n    [y]\n```").splitlines()

    assert [line.strip() for line in lines if line.strip()] == ["if x:", "[y]"]


def test_a_coloured_drawing_has_colours_and_a_plain_one_has_none() -> None:
    drawing = joined(("red", "error"), " [plain]")

    assert PLAIN.draw(drawing, 40) == "red [plain]\n"
    assert "\x1b[" in Drawing(is_colourless=False).draw(drawing, 40)


def test_rows_do_not_end_in_blanks() -> None:
    assert PLAIN.draw(foreign("a   \nb"), 40) == "a\nb\n"


def test_a_call_is_one_line_with_its_arguments() -> None:
    call = ToolCall(id="1", name="read_file", arguments={"path": "a [b]"})

    assert PLAIN.draw(render_call(call), 80) == '⏺ read_file {"path": "a [b]"}\n'
    assert call_summary(ToolCall(id="1", name="list", arguments={})) == "list"
    assert call_summary(ToolCall(id="1", name="x", arguments=None, arguments_text="{")) == "x {"


def test_a_result_shows_its_beginning_and_counts_the_rest() -> None:
    text = "\n".join(f"line {number}" for number in range(10))

    assert PLAIN.draw(render_result(text_result(text), 0.0121, most_lines=2), 80) == (
        "  ✓ 12 ms\n    line 0\n    line 1\n    … more lines: 8\n"
    )
    assert PLAIN.draw(render_result(text_result("", is_error=True), 2.0), 80) == (
        "  ✗ 2.0 s\n    (empty)\n"
    )


def test_pictures_in_a_result_are_counted() -> None:
    picture = ImageContent(data="AAAA", mime_type="image/png")
    result = ToolResult(content=(TextContent(text="see"), picture))

    assert PLAIN.draw(render_result(result, 0.001), 80) == "  ✓ 1 ms\n    see\n    [1 image]\n"


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.0004, "0 ms"), (0.5, "500 ms"), (1.44, "1.4 s"), (125, "2 min 5 s")]
)
def test_durations_are_short(seconds: float, words: str) -> None:
    assert duration(seconds) == words
