"""The screen: finished output above in the scrollback, the live part and the draft below.

One prompt_toolkit application runs from the first prompt to the end, on the normal screen. What is
finished is written above it once and belongs to the terminal from then on. Nothing is drawn unless
something changed.
"""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import History
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    Dimension,
    FormattedTextControl,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style
from prompt_toolkit.widgets import SearchToolbar

from agent_shell.repl.drawing import Drawing
from agent_shell.repl.line_editor import line_editor_keys
from agent_shell.repl.live_region import KeyTaker, LivePart, LiveRegion
from agent_shell.repl.styled_lines import Line, cut_cells, drawn_lines
from agent_shell.repl.terminal_output import TerminalOutput
from agent_shell.repl.theme import CONTINUATION, PROMPT_SIGN, SCREEN_STYLES
from agent_shell.repl.typed_input import TypedInput

if TYPE_CHECKING:
    from rich.console import RenderableType

REDRAW_INTERVAL_S = 1 / 60
"""A fast stream is drawn at most this often; a screen shows no more."""

ESCAPE_WAIT_S = 0.05
"""How long a lone ESC may be the beginning of a key's sequence."""

MENU_ROWS = 8
SMALLEST_LIVE_ROWS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedLine:
    """What the person entered. `by_hand` is false as soon as any of it was pasted.

    `began_at` is when its first character came (time.monotonic).
    """

    text: str
    by_hand: bool
    began_at: float


class ScreenUser(Protocol):
    """Who acts on the keys that mean something."""

    def line_entered(self, line: TypedLine) -> None: ...

    def interrupt_pressed(self) -> None:
        """Ctrl-C."""
        ...

    def end_pressed(self) -> None:
        """Ctrl-D on an empty draft."""
        ...

    def escape_pressed(self) -> None: ...

    def first_key_pressed(self) -> None:
        """Somebody is there: what the first line will need can be fetched now."""
        ...

    def terminal_gone(self) -> None: ...


class Screen:
    """The terminal of one shell. `run` shows it until `leave`."""

    def __init__(
        self,
        user: ScreenUser,
        *,
        is_colourless: bool,
        completer: Completer,
        history: History,
        toolbar: Callable[[int], Line],
    ) -> None:
        self.live = LiveRegion(on_change=self.refresh)
        self.drawing = Drawing(is_colourless=is_colourless)
        self._user = user
        self._toolbar = toolbar
        self._pending: list[str] = []
        self._input = TypedInput(sys.stdin)
        self._output = TerminalOutput(on_gone=user.terminal_gone)
        self._draft_began_at = 0.0
        self._is_draft_by_hand = True
        self._has_seen_key = False
        self.draft = Buffer(
            multiline=True,
            completer=completer,
            complete_while_typing=Condition(self._wants_completion),
            history=history,
            accept_handler=None,
            on_text_changed=self._draft_changed,
        )
        search = SearchToolbar()
        self._control = BufferControl(
            self.draft, search_buffer_control=search.control, preview_search=True
        )
        self.application: Application[None] = Application(
            layout=self._layout(search),
            key_bindings=line_editor_keys(self, user),
            style=Style.from_dict(dict(SCREEN_STYLES)),
            color_depth=self._color_depth,
            min_redraw_interval=REDRAW_INTERVAL_S,
            terminal_size_polling_interval=None,
            erase_when_done=True,
            input=self._input,
            output=self._output,
            before_render=lambda _: self._write_pending(),
            include_default_pygments_style=False,
        )
        self.application.ttimeoutlen = ESCAPE_WAIT_S
        self.application.timeoutlen = ESCAPE_WAIT_S

    # --- what others do with it

    async def run(
        self, before_first_render: Callable[[], None], on_first_render: Callable[[], None]
    ) -> None:
        """Show the prompt and take keys until `leave`. Raises EOFError when the terminal ends."""

        def rendered(_: object) -> None:
            self.application.after_render -= rendered
            on_first_render()

        self.application.after_render += rendered
        await self.application.run_async(
            pre_run=before_first_render, set_exception_handler=False, handle_sigint=False
        )

    def leave(self) -> None:
        """Take the prompt off the screen and let `run` return."""
        if self.application.is_running and not self.application.is_done:
            self.application.exit()

    def draw_rows(self, drawing: "RenderableType", width: int) -> list[Line]:
        """A drawing as rows of the live part."""
        return drawn_lines(self.drawing.draw(drawing, width))

    @property
    def width(self) -> int:
        """Columns that can be drawn in."""
        return self._output.get_size().columns

    @property
    def height(self) -> int:
        """Rows of the terminal."""
        return self._output.get_size().rows

    def print(self, *drawings: "RenderableType") -> None:
        """Write finished output above, below all that was printed before."""
        for drawing in drawings:
            self._pending.append(self.drawing.draw(drawing, self.width))
        self.refresh()

    def print_block(self, drawing: "RenderableType", *, after_gap: bool) -> None:
        """Write a drawing above without blank rows of its own, behind one blank row or none."""
        text = self.drawing.draw(drawing, self.width).strip("\n")
        self._pending.append(f"\n{text}\n" if after_gap else f"{text}\n")
        self.refresh()

    def print_rows(self, rows: Sequence[Line]) -> None:
        """Write plain rows above; needs no drawing library."""
        for row in rows:
            self._pending.append("".join(text for _, text in row) + "\n")
        self.refresh()

    def clear(self) -> None:
        """Empty the visible screen; the scrollback stays."""
        self.application.renderer.clear()
        self.refresh()

    def refresh(self) -> None:
        """Something that is shown has changed."""
        self.application.invalidate()

    def flush(self) -> None:
        """After `run`: write what is still to be written."""
        self._write_pending()

    def give_up(self) -> None:
        """The terminal is gone: never write to it again."""
        self._output.give_up()

    def set_colourless(self, is_colourless: bool) -> None:
        """Take a theme over that was known only after the first paint."""
        self.drawing.is_colourless = is_colourless
        self.refresh()

    # --- the draft, for the keys

    @property
    def key_taker(self) -> KeyTaker | None:
        """Who wants single keys now: only while the draft is empty."""
        return self.live.key_taker if not self.draft.text else None

    @property
    def is_single_key(self) -> bool:
        """Whether the last key was pressed on its own."""
        return self._input.is_single_key

    @property
    def reads(self) -> int:
        """How many bursts of keys have come so far."""
        return self._input.reads

    @property
    def keys_in_read(self) -> int:
        """How many keys the last burst had."""
        return self._input.keys_in_read

    def note_paste(self) -> None:
        """Part of the draft was pasted."""
        self._is_draft_by_hand = False

    def enter(self) -> None:
        """Hand the draft over and begin a new one."""
        text = self.draft.text
        if not text.strip():
            self.draft.reset()
            return
        line = TypedLine(
            text=text,
            # "y" and Enter may come in one read; anything longer that comes at once is no typing.
            by_hand=self._is_draft_by_hand and self._input.keys_in_read <= 2,
            began_at=self._draft_began_at,
        )
        self.draft.append_to_history()
        self.draft.reset()
        # A reset is no change of text, so nothing else notices that a new draft begins here.
        self._draft_began_at = 0.0
        self._is_draft_by_hand = True
        self._user.line_entered(line)

    # --- inside

    def _layout(self, search: SearchToolbar) -> Layout:
        draft = Window(
            self._control,
            wrap_lines=True,
            dont_extend_height=True,
            height=Dimension(min=1),
            get_line_prefix=_line_prefix,
        )
        live = Window(
            FormattedTextControl(self._live_text),
            dont_extend_height=True,
            always_hide_cursor=True,
        )
        toolbar = Window(
            FormattedTextControl(self._toolbar_text),
            height=1,
            always_hide_cursor=True,
        )
        rows = HSplit(
            [
                ConditionalContainer(live, Condition(lambda: self.live.has_parts)),
                draft,
                CompletionsMenu(max_height=MENU_ROWS, scroll_offset=1),
                search,
                toolbar,
            ]
        )
        return Layout(rows, focused_element=draft)

    def _live_text(self) -> StyleAndTextTuples:
        size = self._output.get_size()
        used = self.draft.document.line_count + 2
        if self.draft.complete_state is not None:
            used += MENU_ROWS
        most = max(SMALLEST_LIVE_ROWS, size.rows - used)
        fragments: StyleAndTextTuples = []
        for number, row in enumerate(self.live.rows(size.columns, most)):
            if number:
                fragments.append(("", "\n"))
            for style, text in row:
                fragments.append((style, text))
        return fragments

    def _toolbar_text(self) -> StyleAndTextTuples:
        # One cell less than there is: a full row would wrap when the window gets narrower.
        width = self.width - 1
        fragments: StyleAndTextTuples = []
        for style, text in self._toolbar(width):
            text = cut_cells(text, width)
            width -= len(text)
            fragments.append((style, text))
            if width <= 0:
                break
        return fragments

    def _color_depth(self) -> ColorDepth | None:
        return ColorDepth.DEPTH_1_BIT if self.drawing.is_colourless else None

    def _write_pending(self) -> None:
        """Put finished output where the prompt was; the prompt follows in the same write."""
        if not self._pending:
            return
        pieces, self._pending = self._pending, []
        with self._output.held():
            if self.application.is_running:
                self.application.renderer.erase()
            for piece in pieces:
                self._output.write_raw(piece)
        if not self.application.is_running:
            self._output.flush()

    def _wants_completion(self) -> bool:
        text = self.draft.document.current_line_before_cursor
        return self.draft.text.startswith("/") or "@" in text

    def _draft_changed(self, buffer: Buffer) -> None:
        if not buffer.text:
            self._draft_began_at = 0.0
            self._is_draft_by_hand = True
        else:
            self._draft_began_at = self._draft_began_at or time.monotonic()
            self._is_draft_by_hand = self._is_draft_by_hand and self._input.keys_in_read <= 2
        if not self._has_seen_key and self._input.reads:
            self._has_seen_key = True
            self._user.first_key_pressed()


def _line_prefix(line_number: int, wrap_count: int) -> StyleAndTextTuples:
    if line_number == 0 and wrap_count == 0:
        return [("class:prompt", PROMPT_SIGN)]
    return [("", CONTINUATION)]


__all__ = ["LivePart", "Screen", "ScreenUser", "TypedLine"]
