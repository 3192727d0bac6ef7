"""Leave for one tool call: yes, always, no. Only a key pressed on its own answers."""

from collections import deque
from typing import TYPE_CHECKING

import anyio

from agent_shell.repl.drawing import joined
from agent_shell.repl.live_region import ORDER_QUESTION
from agent_shell.repl.screen import Screen
from agent_shell.repl.styled_lines import Line, cut_cells, text_lines
from agent_shell.session.approvals import COMMAND_TOOL

if TYPE_CHECKING:
    from agent_shell.session.approvals import ApprovalAnswer, ApprovalRequest

ANSWERS: "dict[str, ApprovalAnswer]" = {"y": "once", "a": "always", "n": "no", "escape": "no"}
MOST_SUMMARY_ROWS = 12


def _scope_of(request: "ApprovalRequest") -> str:
    """What an "always" will cover."""
    if request.origin == "builtin" and request.effect == "edit":
        return "all edits"
    return "this command" if request.tool_name == COMMAND_TOOL else "this tool"


class ApprovalQuestion:
    """Asks about one call at a time; calls that need leave meanwhile wait for their turn."""

    keys = frozenset(ANSWERS)

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._waiting: deque[ApprovalRequest] = deque()
        self._lock = anyio.Lock()
        self._request: ApprovalRequest | None = None
        self._answer: ApprovalAnswer = "no"
        self._answered = anyio.Event()

    async def ask(self, request: "ApprovalRequest") -> "ApprovalAnswer":
        """Show the question until it is answered; a cancelled turn takes it away."""
        async with self._lock:
            self._request = request
            self._answered = anyio.Event()
            self._print_whole_summary(request)
            self._screen.live.show(self, ORDER_QUESTION, taker=self)
            try:
                await self._answered.wait()
            finally:
                self._screen.live.hide(self)
                self._request = None
            return self._answer

    def take_key(self, key: str) -> None:
        """A key that answers."""
        if key == "a" and (self._request is None or not self._request.can_remember):
            return
        self._answer = ANSWERS[key]
        self._answered.set()

    def rows(self, width: int) -> list[Line]:
        """The true arguments, then what can be pressed."""
        request = self._request
        if request is None:
            return []
        rows: list[Line] = [
            [("class:warning", cut_cells(f"allow {request.tool_name} ({request.origin})?", width))]
        ]
        summary = text_lines(request.summary, width, indent="  ")
        if len(summary) > MOST_SUMMARY_ROWS:
            left_out = len(summary) - MOST_SUMMARY_ROWS
            summary = summary[:MOST_SUMMARY_ROWS]
            summary.append([("", cut_cells(f"  … {left_out} more rows, all above", width))])
        if request.warning:
            rows.extend(text_lines(request.warning, width, style="class:error", indent="  "))
        keys = f"[y]es once · [a]lways ({_scope_of(request)}) · [n]o"
        if not request.can_remember:
            keys = "[y]es once · [n]o"
        if self._screen.draft.text:
            keys += " (when the line below is empty)"
        return [*rows, *summary, *text_lines(keys, width, style="class:strong")]

    def _print_whole_summary(self, request: "ApprovalRequest") -> None:
        """What is too long for the question is printed above it: nothing is agreed to unseen."""
        if len(text_lines(request.summary, self._screen.width, indent="  ")) > MOST_SUMMARY_ROWS:
            self._screen.print(joined((f"{request.tool_name}\n", "warning"), request.summary))
