"""The model's Markdown, drawn: its text is data, so HTML and link targets are shown, not obeyed."""

from typing import ClassVar

from rich.console import JustifyMethod
from rich.markdown import (
    Heading,
    Markdown,
    MarkdownElement,
    MarkdownIt,  # pyright: ignore[reportPrivateImportUsage] - the parser that rich brings along
)

from agent_shell.logs import printable

# Imported only when the first answer is drawn: Markdown brings a parser and a highlighter.

_PARSER = (
    MarkdownIt("commonmark", {"html": False})
    .enable("strikethrough")
    .enable("table")
    .disable(["html_block", "html_inline", "image"])
)
"""Tags are text, and a picture is its link: rich would leave tags and a picture's address out."""


class _LeftHeading(Heading):
    """A heading where the text is, not in the middle of a wide terminal."""

    LEVEL_ALIGN: ClassVar[dict[str, JustifyMethod]] = {f"h{level}": "left" for level in range(1, 7)}


class _Markdown(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _LeftHeading,
    }


def render_markdown(text: str) -> Markdown:
    """One block of an answer."""
    # The terminal's own colours, and no clickable text whose target nobody sees.
    drawing = _Markdown("", code_theme="ansi_dark", hyperlinks=False)
    drawing.markup = printable(text)
    drawing.parsed = _PARSER.parse(drawing.markup)
    return drawing
