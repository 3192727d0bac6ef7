"""Rich drawings as text with escape sequences; foreign text is never markup."""

import io
from typing import TYPE_CHECKING, Any

from agent_shell.logs import printable
from agent_shell.repl.theme import RICH_STYLES, Role

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

# rich is imported inside the functions: the prompt stands before the first drawing is needed.


def foreign(text: str, role: Role | None = None, *, no_wrap: bool = False) -> "Text":
    """Text of unknown origin: no markup, no escape sequence, control characters visible."""
    from rich.text import Text  # noqa: PLC0415 - see above

    return Text(
        printable(text).expandtabs(4),
        style=RICH_STYLES[role] if role is not None else "",
        overflow="ellipsis" if no_wrap else "fold",
        no_wrap=no_wrap,
    )


def joined(*parts: "str | tuple[str, Role | None] | Text") -> "Text":
    """One line of text from several; strings are foreign text."""
    from rich.text import Text  # noqa: PLC0415 - see above

    line = Text(overflow="fold")
    for part in parts:
        match part:
            case str():
                line.append_text(foreign(part))
            case (text, role):
                line.append_text(foreign(text, role))
            case _:
                line.append_text(part)
    return line


def indented(text: "Text", cells: int = 4) -> "RenderableType":
    """The text with every row of it that many cells in, the wrapped ones too."""
    from rich.padding import Padding  # noqa: PLC0415 - see above

    return Padding(text, (0, 0, 0, cells))


def _hanging(drawing: "RenderableType", width: int) -> "RenderableType":
    """Text whose rows, where they wrap, go on as far in as they began."""
    from rich.console import Group  # noqa: PLC0415 - see above
    from rich.text import Text  # noqa: PLC0415 - see above

    if not isinstance(drawing, Text) or drawing.no_wrap:
        return drawing
    rows: list[RenderableType] = []
    for row in drawing.split("\n", allow_blank=True):
        blanks = len(row.plain) - len(row.plain.lstrip(" "))
        fits = row.cell_len <= width or blanks > width // 2
        rows.append(row if fits or not blanks else indented(row[blanks:], blanks))
    return Group(*rows)


class Drawing:
    """Draws for one terminal: with its colours, or with none at all."""

    def __init__(self, *, is_colourless: bool) -> None:
        self.is_colourless = is_colourless

    def draw(self, drawing: "RenderableType", width: int) -> str:
        """The drawing within `width` cells; each line ends with a line feed, none in blanks."""
        console = self._console(width)
        drawing = _hanging(drawing, width)
        rows: list[str] = []
        for segments in console.render_lines(drawing, pad=False):
            row = [segment for segment in segments if not segment.control]
            while row and not row[-1].text.rstrip(" ") and not _has_background(row[-1].style):
                row.pop()
            if row and not _has_background(row[-1].style):
                last = row[-1]
                row[-1] = last._replace(text=last.text.rstrip(" "))
            rows.append("".join(self._segment(console, text, style) for text, style, _ in row))
        return "".join(f"{row}\n" for row in rows)

    def _segment(self, console: "Console", text: str, style: Any) -> str:
        if style is None or self.is_colourless:
            return text
        return str(style.render(text, color_system=_color_system(console)))

    def _console(self, width: int) -> "Console":
        from rich.console import Console  # noqa: PLC0415 - see above

        return Console(
            file=io.StringIO(),
            width=max(width, 10),
            force_terminal=True,
            no_color=self.is_colourless,
            markup=False,
            emoji=False,
            highlight=False,
            legacy_windows=False,
        )


def _has_background(style: Any) -> bool:
    return style is not None and (style.bgcolor is not None or bool(style.reverse))


def _color_system(console: "Console") -> Any:
    from rich.color import ColorSystem  # noqa: PLC0415 - see above

    match console.color_system:
        case "truecolor":
            return ColorSystem.TRUECOLOR
        case "256":
            return ColorSystem.EIGHT_BIT
        case None:
            return None
        case _:
            return ColorSystem.STANDARD
