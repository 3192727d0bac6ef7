"""AgentEvents of one turn: finished things go above, unfinished ones live below."""

import time
from typing import assert_never

from agent_shell.agent.events import (
    AgentEvent,
    AssistantTextDone,
    ToolCallFinished,
    ToolCallProgressed,
    ToolCallStarted,
    TurnFinished,
)
from agent_shell.llm.provider import ReasoningPiece, RetryNotice, TextPiece, ToolCallPiece
from agent_shell.repl.activities import spinner
from agent_shell.repl.drawing import joined
from agent_shell.repl.markdown_stream import MarkdownStream
from agent_shell.repl.render_tool import call_summary, duration, render_call, render_result
from agent_shell.repl.screen import Screen
from agent_shell.repl.styled_lines import Line, cut_cells, text_lines
from agent_shell.tools.tool import ToolProgress

MOST_TAIL_ROWS = 12


WORKING = "working"
"""Said where no event tells whether the model, or the person, is being waited for."""


class _RunningCall:
    def __init__(self, event: ToolCallStarted) -> None:
        self.call = event.call
        self.began_at = time.monotonic()
        self.progress: ToolProgress | None = None

    def row(self, width: int) -> Line:
        elapsed_s = time.monotonic() - self.began_at
        text = f"{spinner(elapsed_s)} {elapsed_s:.0f}s {progress_text(self.progress)}"
        return [("class:accent", cut_cells(f"{text}{call_summary(self.call)}", width))]


class TurnView:
    """One turn on the screen: a live part, and what it prints as it goes."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._began_at = time.monotonic()
        self._answer = MarkdownStream()
        self._status = WORKING
        self._reasoning = ""
        self._calls: dict[str, _RunningCall] = {}
        self._is_writing = False
        self._has_printed = False

    def show(self, event: AgentEvent) -> None:
        """Take one event in."""
        match event:
            case TextPiece(text=text):
                self._is_writing = True
                self._reasoning = ""
                for block in self._answer.feed(text):
                    self._print_markdown(block)
            case ReasoningPiece(text=text):
                self._status = "thinking"
                self._reasoning = (self._reasoning + text)[-500:]
            case ToolCallPiece(name=name, argument_characters=count):
                self._status = f"writing a call of {name} ({count} characters)"
            case RetryNotice(attempt=attempt, delay_s=delay_s, reason=reason):
                self._status = f"try {attempt + 1} in {delay_s:.0f}s: {reason}"
            case AssistantTextDone():
                self._status = WORKING
                self._end_answer()
            case ToolCallStarted(call=call):
                self._calls[call.id] = _RunningCall(event)
            case ToolCallProgressed(call_id=call_id, progress=progress):
                if call_id in self._calls:
                    self._calls[call_id].progress = progress
            case ToolCallFinished(call=call, result=result, duration_s=duration_s):
                self._calls.pop(call.id, None)
                self._status = WORKING
                self._screen.print(render_call(call), render_result(result, duration_s))
                self._has_printed = True
            case TurnFinished():
                self._end_answer()
                self._print_end(event)
            case _:
                assert_never(event)
        self._screen.refresh()

    def end_stopped(self) -> None:
        """The person stopped the turn: what was said so far is kept."""
        self._end_answer()
        self._calls.clear()
        self._screen.print(joined(("stopped", "warning")))

    def rows(self, width: int) -> list[Line]:
        """The unfinished answer, the running calls, or what the model is doing."""
        rows: list[Line] = []
        tail = self._answer.tail(MOST_TAIL_ROWS, MOST_TAIL_ROWS * width)
        if tail:
            rows.extend(text_lines(tail, width)[-MOST_TAIL_ROWS:])
        rows.extend(call.row(width) for call in self._calls.values())
        if not self._calls:
            elapsed_s = time.monotonic() - self._began_at
            said = "writing" if self._is_writing else self._status
            text = f"{spinner(elapsed_s)} {said} {duration_s(elapsed_s)} · Ctrl-C stops"
            rows.append([("class:quiet", cut_cells(text, width))])
            if self._reasoning:
                last = self._reasoning.rsplit("\n", 1)[-1]
                rows.append([("class:quiet", cut_cells(f"  {last[-width:]}", width))])
        return rows

    def _end_answer(self) -> None:
        self._is_writing = False
        self._reasoning = ""
        for block in self._answer.finish():
            self._print_markdown(block)

    def _print_markdown(self, block: str) -> None:
        # Imported with the first answer: the parser and the highlighter cost time and memory.
        from agent_shell.repl.render_markdown import render_markdown  # noqa: PLC0415

        self._screen.print_block(render_markdown(block), after_gap=self._has_printed)
        self._has_printed = True

    def _print_end(self, event: TurnFinished) -> None:
        if event.outcome == "failed":
            self._screen.print(joined(("error: ", "error"), event.error or "the turn failed"))
            if event.hint:
                self._screen.print(joined(("hint: ", "quiet"), event.hint))
        elif event.outcome == "aborted":
            self._screen.print(joined(("stopped", "warning")))


def progress_text(progress: ToolProgress | None) -> str:
    """A call's own report, ending in a blank; empty where there is none."""
    if progress is None:
        return ""
    share = f"{progress.progress:g}"
    if progress.total:
        share = f"{100 * progress.progress / progress.total:.0f}%"
    return f"{share} {progress.message}".strip() + " · "


def duration_s(seconds: float) -> str:
    """Whole seconds while something runs, so that the row changes once a second."""
    return f"{seconds:.0f}s" if seconds < 60 else duration(seconds)
