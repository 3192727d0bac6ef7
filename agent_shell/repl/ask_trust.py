"""May the project's servers start? Asked beside the prompt, never in its way; silence is no."""

import re
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent_shell.discovery.trust import describe_entry
from agent_shell.logs import printable_line
from agent_shell.repl.drawing import foreign, joined
from agent_shell.repl.live_region import ORDER_QUESTION
from agent_shell.repl.screen import Screen, TypedLine
from agent_shell.repl.styled_lines import Line, cut_cells, text_lines

if TYPE_CHECKING:
    from rich.console import RenderableType

    from agent_shell.discovery.discover import DiscoveredServer

QUESTION = "start these servers? y yes · a always for this folder · n no (default)"

ANSWERS = {"y": "y", "yes": "y", "a": "a", "always": "a", "n": "n", "no": "n"}


def entry_table(lines: Sequence[str]) -> "RenderableType":
    """`what: value` in two columns, so that no value can pass for a line of ours.

    Runs of blanks are shown as signs: they would vanish where a row wraps.
    """
    from rich.table import Table  # noqa: PLC0415 - drawn long after the prompt stands

    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for line in lines:
        what, _, value = line.partition(": ")
        shown = re.sub(r" {2,}", lambda blanks: "␣" * len(blanks.group()), value)
        table.add_row(foreign(f"  {what}:"), foreign(shown))
    return table


class TrustQuestion:
    """The open question, if there is one. Each entry is asked about once, as it stands."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._open: tuple[DiscoveredServer, ...] = ()
        self._asked_keys: set[str] = set()
        self._shown_at = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        """The servers that are asked about."""
        return tuple(server.name for server in self._open)

    def update(self, untrusted: "tuple[DiscoveredServer, ...]") -> None:
        """Take over who waits for the user's word; asks about those that are new."""
        new = [server for server in untrusted if server.trust_key not in self._asked_keys]
        still_open = {server.trust_key for server in self._open} | {s.trust_key for s in new}
        was_open = bool(self._open)
        self._open = tuple(server for server in untrusted if server.trust_key in still_open)
        for server in new:
            self._asked_keys.add(server.trust_key)
            self._screen.print(
                joined(
                    ("the project wants to start ", "warning"), f'"{printable_line(server.name)}"'
                ),
                entry_table(describe_entry(server)),
            )
        if new:
            self._shown_at = time.monotonic()
        if self._open and not was_open:
            self._screen.live.show(self, ORDER_QUESTION)
        elif was_open and not self._open:
            self.close()

    def ask_again(self) -> None:
        """A reload asks anew about what was answered with no."""
        self._asked_keys.clear()

    def close(self) -> None:
        """The question is settled."""
        self._open = ()
        self._screen.live.hide(self)

    def answer_in(self, line: TypedLine) -> str | None:
        """`y`, `a` or `n` if the line answers the question.

        Only a line typed by hand after the question was shown, and nothing but the answer.
        """
        answer = ANSWERS.get(line.text.strip().lower())
        is_answer = bool(self._open) and line.by_hand and line.began_at >= self._shown_at
        return answer if is_answer else None

    def rows(self, width: int) -> list[Line]:
        """Who is asked about, and how to answer."""
        names = cut_cells(f"from this project, not started: {', '.join(self.names)}", width)
        question = text_lines(QUESTION, width, style="class:warning")
        return [[("class:warning", names)], *question]
