"""The keys of the draft: what Enter, Ctrl-C, a paste and a single key mean here."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from agent_shell.repl.typed_input import BURST_GAP_S

if TYPE_CHECKING:
    from agent_shell.repl.live_region import KeyTaker
    from agent_shell.repl.screen import Screen, ScreenUser


def line_editor_keys(screen: "Screen", user: "ScreenUser") -> KeyBindings:
    """Our keys, on top of prompt_toolkit's own (Emacs style)."""
    keys = KeyBindings()
    has_taker = Condition(lambda: screen.key_taker is not None)
    is_empty = Condition(lambda: not screen.draft.text)
    is_searching = Condition(lambda: screen.application.layout.is_searching)
    has_menu = Condition(lambda: screen.draft.complete_state is not None)

    @keys.add("enter", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        _enter(screen, event)

    @keys.add("c-j", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        # Programs that type for a person send a line feed for Enter; inside a longer burst it
        # is a paste's line end, from a terminal that does not mark pastes.
        if event.key_processor.input_queue:
            screen.note_paste()
            screen.draft.insert_text("\n")
        else:
            _enter(screen, event)

    @keys.add("escape", "enter", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.newline(copy_margin=False)

    @keys.add(Keys.BracketedPaste)
    def _(event: KeyPressEvent) -> None:
        screen.note_paste()
        text = event.data.replace("\r\n", "\n").replace("\r", "\n")
        event.current_buffer.insert_text(text)
        screen.note_paste()

    @keys.add(Keys.Any, filter=has_taker & ~is_searching)
    def _(event: KeyPressEvent) -> None:
        taker = screen.key_taker
        if taker is None or event.data not in taker.keys or not screen.is_single_key:
            event.current_buffer.insert_text(event.data)
            return

        def put_back() -> None:
            screen.draft.text = event.data + screen.draft.text
            screen.draft.cursor_position += len(event.data)

        _take_if_alone(screen, event, taker, event.data, put_back)

    @keys.add("escape", filter=~is_searching & ~has_menu)
    def _(event: KeyPressEvent) -> None:
        taker = screen.live.key_taker
        if taker is not None and "escape" in taker.keys:
            taker.take_key("escape")
        else:
            user.escape_pressed()

    @keys.add("escape", filter=has_menu & ~is_searching)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.cancel_completion()

    @keys.add("c-c", filter=~is_searching)
    @keys.add("<sigint>")
    def _(event: KeyPressEvent) -> None:
        user.interrupt_pressed()

    @keys.add("tab", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        _complete(screen)

    @keys.add("c-d", filter=is_empty & ~is_searching)
    def _(event: KeyPressEvent) -> None:
        user.end_pressed()

    @keys.add("c-l")
    def _(event: KeyPressEvent) -> None:
        event.app.renderer.clear()

    @keys.add("c-z")
    def _(event: KeyPressEvent) -> None:
        event.app.suspend_to_background()

    return keys


def _enter(screen: "Screen", event: KeyPressEvent) -> None:
    taker = screen.key_taker
    state = screen.draft.complete_state
    if state is not None and state.current_completion is not None:
        # Enter takes the chosen completion; the next one sends the line.
        screen.draft.complete_state = None
        return
    if taker is not None and "enter" in taker.keys:
        taker.take_key("enter")
        return
    if screen.live.holds_bursts and screen.keys_in_read > 1:
        # A question is open: nothing of a paste may answer it or send anything.
        screen.note_paste()
        screen.draft.insert_text("\n")
        return
    before = screen.draft.document.text_before_cursor
    if before.endswith("\\") and not before.endswith("\\\\"):
        screen.draft.delete_before_cursor()
        screen.draft.insert_text("\n")
        return
    screen.enter()


def _complete(screen: "Screen") -> None:
    """Tab: the next of the shown completions; a single possible one is taken at once."""
    draft = screen.draft
    if draft.complete_state is not None:
        draft.complete_next()
        return
    found = list(draft.completer.get_completions(draft.document, CompleteEvent()))
    if len(found) == 1:
        draft.apply_completion(found[0])
    else:
        draft.start_completion(insert_common_part=True)


def _take_if_alone(
    screen: "Screen",
    event: KeyPressEvent,
    taker: "KeyTaker",
    key: str,
    put_back: Callable[[], None],
) -> None:
    """Give the key to its taker once it is clear that no others follow at a paste's pace."""
    read = screen.reads

    async def decide() -> None:
        await anyio.sleep(BURST_GAP_S)
        if screen.reads == read and screen.live.key_taker is taker and not screen.draft.text:
            taker.take_key(key)
        else:
            put_back()

    event.app.create_background_task(decide())
