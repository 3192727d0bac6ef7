"""The shell's outermost part: the prompt first, then everything else, and one orderly way out.

    run_shell      the screen is shown; once the prompt stands, shell.py is imported in a thread
    shell.py       session, servers, commands, turns
    leave          stop what runs, close the servers, take the prompt off the screen

Only what the prompt needs is imported here.
"""

import gc
import logging
import os
import signal
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

import anyio
import anyio.to_thread
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from agent_shell.errors import AgentShellError
from agent_shell.logs import LOGGER_NAME, printable, start_logging
from agent_shell.paths import app_paths
from agent_shell.repl.input_history import InputHistory
from agent_shell.repl.live_region import ORDER_QUESTION
from agent_shell.repl.screen import Screen, TypedLine
from agent_shell.repl.screen_guard import nothing_else_prints
from agent_shell.repl.shell_options import PaintedTerminal, ShellOptions
from agent_shell.repl.styled_lines import Line
from agent_shell.repl.theme import is_colourless
from agent_shell.repl.ticker import Ticker

if TYPE_CHECKING:
    from agent_shell.repl.shell import Shell

CLOSING_SHOWN_AFTER_S = 0.3
"""Closing that is done sooner need not be spoken of."""

CLOSING_DEADLINE_S = 3.0
"""The contract's bound for closing all servers; what lives longer is killed."""

SECOND_PRESS_S = 2.0
"""Two Ctrl-C on an empty line within this leave the shell."""

INTERRUPTED = 128 + signal.SIGINT

_log = logging.getLogger(__name__)


def run_shell(options: ShellOptions, painted: PaintedTerminal) -> int:
    """Show the shell until the person leaves; returns the exit status.

    On every way out no server is left and the terminal is as `painted` found it. Raises
    AgentShellError when the shell can't be opened with these options.
    """
    repl = Repl(options, painted)
    try:
        with nothing_else_prints():
            status = anyio.run(repl.run, backend="asyncio")
    except Exception as error:  # noqa: BLE001 - the last door: terminal, servers, one line
        repl.crashed(error)
        status = repl.status
    finally:
        repl.kill_servers()
        painted.restore()
    repl.report_crash()
    if repl.refusal is not None:
        raise repl.refusal
    return status


class Repl:
    """The keys' first address, and the keeper of the way out."""

    def __init__(self, options: ShellOptions, painted: PaintedTerminal) -> None:
        self.options = options
        self.status = 0
        self.refusal: AgentShellError | None = None
        self.paths = app_paths(options.environ)
        self._painted = painted
        self._crash: BaseException | None = None
        self._shell: Shell | None = None
        self._early_lines: list[TypedLine] = []
        self._was_key_pressed = False
        self._interrupted_at = -SECOND_PRESS_S
        self._notice = ""
        self.closing_servers = 0
        self.screen = Screen(
            self,
            is_colourless=is_colourless(options.environ, "auto"),
            completer=_LateCompleter(self),
            history=InputHistory(self.paths.input_history),
            toolbar=self._toolbar,
        )
        self.ticker = Ticker(self.screen.refresh)

    async def run(self) -> int:
        """The screen, and behind it the shell."""
        self._prompt_stands = anyio.Event()
        self.leaving = anyio.Event()
        self._shell_ended = anyio.Event()
        signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        with anyio.open_signal_receiver(*signals) as received:
            self._painted.hand_over()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._obey_signals, received)
                tasks.start_soon(self._guarded, self.ticker.run)
                tasks.start_soon(self._guarded, self._close_in_time)
                tasks.start_soon(self._run_shell)
                # Its end is asked for, never forced: the terminal's modes come back with it.
                with anyio.CancelScope(shield=True):
                    await self._show_screen()
                    await self._shell_ended.wait()
                tasks.cancel_scope.cancel()
        return self.status

    # --- the way out

    def leave(self, status: int) -> None:
        """Begin to leave; the first status counts."""
        if not self.leaving.is_set():
            self.status = status
            self.closing_servers = self._shell.open_servers if self._shell is not None else 0
            self.leaving.set()
            self._prompt_stands.set()

    def leave_now(self, status: int) -> None:
        """End this instant: servers killed, terminal restored, nothing waited for."""
        self.kill_servers()
        try:
            self.screen.application.renderer.erase()
            self._painted.restore()
            self.report_crash()
        finally:
            os._exit(status)

    def kill_servers(self) -> None:
        """End every process group of a server that may still be there."""
        if self._shell is not None:
            self._shell.kill_servers()

    def crashed(self, error: BaseException) -> None:
        """Something that must not happen has happened: leave in order, say so at the end."""
        if not logging.getLogger(LOGGER_NAME).handlers:
            start_logging(self.paths.log_file, debug=self.options.debug)
        error = _leaf(error)
        _log.error("the shell ends after an error", exc_info=error)
        self._crash = self._crash or error
        self.status = 1
        if hasattr(self, "leaving"):
            self.leave(1)
            self.status = 1

    def report_crash(self) -> None:
        """After the screen is gone: the one line about a crash."""
        if self._crash is None:
            return
        kind = type(self._crash).__name__
        text = printable(f"{kind}: {self._crash}".replace("\n", " "))
        os.write(2, f"error: {text}; see {self.paths.log_file}\n".encode("utf-8", "replace"))

    async def _obey_signals(self, received: Any) -> None:
        async for number in received:
            if number == signal.SIGHUP and not os.isatty(1):
                # It hung up. (A person's `kill -HUP` leaves a terminal that wants to be restored.)
                self.screen.give_up()
            if self.leaving.is_set() and number == signal.SIGINT:
                self.leave_now(INTERRUPTED)
            self.leave(128 + number)

    async def _close_in_time(self) -> None:
        await self.leaving.wait()
        with anyio.move_on_after(CLOSING_SHOWN_AFTER_S):
            await self._shell_ended.wait()
        if self._shell_ended.is_set():
            return
        self.screen.live.show(_Closing(self), ORDER_QUESTION)
        with anyio.move_on_after(CLOSING_DEADLINE_S):
            await self._shell_ended.wait()
        if not self._shell_ended.is_set():
            self.leave_now(self.status)

    # --- the parts

    async def _show_screen(self) -> None:
        try:
            await self.screen.run(self._before_first_render, self._on_first_render)
        except EOFError:
            # The terminal has ended without a signal.
            self.screen.give_up()
            self.leave(128 + signal.SIGHUP)
        except Exception as error:  # noqa: BLE001 - whatever it is, servers are to be closed first
            self.crashed(error)

    def _on_first_render(self) -> None:
        self._prompt_stands.set()

    def _before_first_render(self) -> None:
        loop = self.screen.application.loop
        if loop is not None:
            loop.set_exception_handler(self._on_loop_error)

    def _on_loop_error(self, loop: Any, report: Mapping[str, Any]) -> None:
        """An exception that no task of ours has caught, from a key or a drawing most likely."""
        error = report.get("exception")
        message = str(report.get("message"))
        if error is None or "never retrieved" in message:
            _log.warning("event loop: %s", message, exc_info=error)
        else:
            self.crashed(error)

    async def _run_shell(self) -> None:
        try:
            await self._prompt_stands.wait()
            if self.leaving.is_set():
                return
            # What the user waits for counts from here, our own imports included.
            stood_at = anyio.current_time()
            module = await anyio.to_thread.run_sync(_import_shell)
            if self.leaving.is_set():
                return
            shell: Shell = module.Shell(self)
            self._shell = shell
            await shell.run(self._take_early_lines, stood_at)
        except AgentShellError as error:
            self.refusal = error
        except Exception as error:  # noqa: BLE001 - see crashed
            self.crashed(error)
        finally:
            self._shell_ended.set()
            self.leave(self.status)
            self.screen.leave()

    async def _guarded(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except Exception as error:  # noqa: BLE001 - see crashed
            self.crashed(error)

    def _take_early_lines(self) -> list[TypedLine]:
        lines, self._early_lines = self._early_lines, []
        return lines

    # --- what the keys mean

    def line_entered(self, line: TypedLine) -> None:
        """A line for the shell; it is kept until the shell is there."""
        self._set_notice("")
        if self._shell is not None and self._shell.is_ready:
            self._shell.line_entered(line)
        else:
            self._early_lines.append(line)

    def interrupt_pressed(self) -> None:
        """Ctrl-C: stop what runs, else clear the line, else (twice) leave."""
        if self.leaving.is_set():
            self.leave_now(INTERRUPTED)
        if self._shell is not None and self._shell.stop_newest():
            return
        if self.screen.draft.text:
            self.screen.draft.reset()
            self._set_notice("")
            return
        now = anyio.current_time()
        if now - self._interrupted_at < SECOND_PRESS_S:
            self.leave(0)
        else:
            self._interrupted_at = now
            self._set_notice("Ctrl-C again leaves")

    def end_pressed(self) -> None:
        """Ctrl-D on an empty draft."""
        self.leave(0)

    def escape_pressed(self) -> None:
        """Esc, when no question and no panel wanted it."""
        if self._shell is not None:
            self._shell.skip_gate()

    def first_key_pressed(self) -> None:
        """Somebody types: fetch what a first turn will need."""
        self._was_key_pressed = True
        self._set_notice("")
        if self._shell is not None:
            self._shell.warm_up()

    @property
    def was_key_pressed(self) -> bool:
        """Whether anything was typed yet."""
        return self._was_key_pressed

    def terminal_gone(self) -> None:
        """A write failed: nobody sees us any more."""
        if hasattr(self, "leaving"):
            self.leave(128 + signal.SIGHUP)

    # --- drawing

    def _set_notice(self, notice: str) -> None:
        if notice != self._notice:
            self._notice = notice
            self.screen.refresh()

    def _toolbar(self, width: int) -> Line:
        if self._notice:
            return [("class:warning", self._notice)]
        return self._shell.toolbar(width) if self._shell is not None else []

    def completions(self, document: Document) -> Iterable[Completion]:
        """What could follow; nothing before the shell is there."""
        return self._shell.completions(document) if self._shell is not None else ()


class _LateCompleter(Completer):
    """Asks the shell, as soon as there is one."""

    def __init__(self, repl: Repl) -> None:
        self._repl = repl

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        return self._repl.completions(document)


class _Closing:
    def __init__(self, repl: Repl) -> None:
        self._repl = repl

    def rows(self, width: int) -> list[Line]:
        count = self._repl.closing_servers
        what = f"closing {count} server{'' if count == 1 else 's'}" if count else "closing"
        return [[("class:warning", f"{what} · Ctrl-C ends now"[:width])]]


def _leaf(error: BaseException) -> BaseException:
    """The exception that says what happened, out of the groups that tasks put around it."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return _leaf(group.exceptions[0])
    return error


def _import_shell() -> Any:
    """In a thread, so that keys are taken meanwhile. The modules of the program never go away."""
    from agent_shell.repl import shell  # noqa: PLC0415 - the prompt stands before it is needed

    gc.enable()
    gc.collect()
    gc.freeze()
    return shell
