"""The turns: one runs, the others wait in their order and are shown while they do."""

import time
from collections import deque
from contextlib import aclosing
from typing import TYPE_CHECKING

import anyio

from agent_shell.errors import AgentShellError
from agent_shell.repl.live_region import ORDER_QUEUE, ORDER_TURN
from agent_shell.repl.mentions import with_mentions
from agent_shell.repl.render_events import TurnView
from agent_shell.repl.styled_lines import Line, cut_cells, prompt_lines
from agent_shell.repl.theme import PROMPT_SIGN, SPINNER_FRAMES_PER_S

if TYPE_CHECKING:
    from agent_shell.repl.commands.command import CommandContext

MOST_QUEUED_ROWS = 4


class Turns:
    """The queue of what was submitted, and the turn that runs."""

    def __init__(self, context: "CommandContext") -> None:
        self._context = context
        self._queue: deque[str] = deque()
        self._submitted = anyio.Event()
        self._scope: anyio.CancelScope | None = None
        self._skip_gate = anyio.Event()
        self._is_shown = False

    @property
    def is_running(self) -> bool:
        """Whether a turn runs now."""
        return self._scope is not None

    def submit(self, text: str) -> None:
        """Queue a turn; it runs at once if none does."""
        self._queue.append(text)
        self._submitted.set()
        self._show_queue()

    def stop(self) -> bool:
        """Stop the running turn; what waits stays queued. False when none runs."""
        if self._scope is None:
            return False
        self._scope.cancel()
        return True

    def drop_queue(self) -> bool:
        """Forget what waits. False when nothing does."""
        had_some = bool(self._queue)
        self._queue.clear()
        self._show_queue()
        return had_some

    def skip_gate(self) -> None:
        """Do not wait for servers any longer: this turn goes with the tools there are."""
        self._skip_gate.set()

    def rows(self, width: int) -> list[Line]:
        """What waits."""
        shown = list(self._queue)[:MOST_QUEUED_ROWS]
        rows: list[Line] = [
            [("class:quiet", cut_cells(f"queued: {text}", width))] for text in shown
        ]
        if len(self._queue) > len(shown):
            rows.append([("class:quiet", f"and {len(self._queue) - len(shown)} more")])
        return rows

    async def run(self) -> None:
        """Run turns as they are submitted, until cancelled."""
        while True:
            if not self._queue:
                self._submitted = anyio.Event()
                await self._submitted.wait()
                continue
            text = self._queue.popleft()
            self._show_queue()
            await self._run_turn(text)

    def _show_queue(self) -> None:
        live = self._context.screen.live
        if self._queue and not self._is_shown:
            live.show(self, ORDER_QUEUE)
        elif self._is_shown and not self._queue:
            live.hide(self)
        self._is_shown = bool(self._queue)
        self._context.screen.refresh()

    async def _run_turn(self, text: str) -> None:
        screen = self._context.screen
        screen.print_rows(prompt_lines(text, screen.width, sign=PROMPT_SIGN))
        view = TurnView(screen)
        self._skip_gate = anyio.Event()
        with anyio.CancelScope() as scope:
            self._scope = scope
            try:
                with self._context.ticker.ticking(1 / SPINNER_FRAMES_PER_S):
                    await self._wait_at_gate()
                    screen.live.show(view, ORDER_TURN)
                    full_text = await with_mentions(text, self._context.cwd)
                    async with aclosing(self._context.session.prompt(full_text)) as events:
                        async for event in events:
                            view.show(event)
            except AgentShellError as error:
                self._context.print_error(error)
            finally:
                self._scope = None
                screen.live.hide(view)
        if scope.cancelled_caught:
            view.end_stopped()

    async def _wait_at_gate(self) -> None:
        """Until the start-up gate has opened, or Esc; shows who is waited for."""
        ready = self._context.mcp_ready
        if ready.is_set():
            return
        waiting = _WaitingForServers(self._context)
        self._context.screen.live.show(waiting, ORDER_TURN)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_wait_then_cancel, self._skip_gate, tasks.cancel_scope)
                await ready.wait()
                tasks.cancel_scope.cancel()
        finally:
            self._context.screen.live.hide(waiting)


async def _wait_then_cancel(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel()


class _WaitingForServers:
    def __init__(self, context: "CommandContext") -> None:
        self._context = context

    def rows(self, width: int) -> list[Line]:
        now = time.monotonic()
        names = [
            f"{row.name} {now - row.started_at:.0f}s" if row.started_at is not None else row.name
            for row in self._context.snapshot()
            if row.status == "connecting"
        ]
        who = ", ".join(names) or "discovery"
        return [[("class:warning", cut_cells(f"waiting for MCP: {who} · Esc skips", width))]]
