"""Behind the prompt: the session, its servers, the commands and the turns, joined."""

import logging
from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from prompt_toolkit.completion import Completion
from prompt_toolkit.document import Document

from agent_shell.errors import AgentShellError, MCPError
from agent_shell.logs import start_logging
from agent_shell.mcp.one_server import trust_servers
from agent_shell.mcp.registries import ManagerEvent, ServerChanged
from agent_shell.repl.activities import Activities
from agent_shell.repl.announcer import Announcer
from agent_shell.repl.ask_approval import ApprovalQuestion
from agent_shell.repl.ask_trust import TrustQuestion
from agent_shell.repl.commands import find_command
from agent_shell.repl.commands.command import CommandContext
from agent_shell.repl.completion import complete
from agent_shell.repl.drawing import joined
from agent_shell.repl.mcp_toolbar import mcp_toolbar
from agent_shell.repl.open_panel import OpenPanel
from agent_shell.repl.screen import TypedLine
from agent_shell.repl.shell_command import run_shell_command
from agent_shell.repl.styled_lines import Line, prompt_lines
from agent_shell.repl.theme import PROMPT_SIGN, is_colourless
from agent_shell.repl.turns import Turns
from agent_shell.sdk.create_session import (
    CreateAgentSessionResult,
    SessionOptions,
    create_agent_session,
)
from agent_shell.settings.load import load_settings
from agent_shell.settings.settings import Settings

if TYPE_CHECKING:
    from agent_shell.repl.repl import Repl

CONNECTING_TICK_S = 1.0
"""The toolbar's seconds of a connecting server move once a second."""

_log = logging.getLogger(__name__)


class Shell:
    """Everything a line can reach. `run` lasts until the repl is leaving."""

    def __init__(self, repl: "Repl") -> None:
        self._repl = repl
        self._screen = repl.screen
        self._context: CommandContext | None = None
        self._turns: Turns | None = None
        self._session: CreateAgentSessionResult | None = None
        self._is_warm = False
        self._is_ticking = False
        self.is_ready = False

    async def run(self, take_early_lines: Callable[[], list[TypedLine]], stood_at: float) -> None:
        """Open the session, obey lines, close the session.

        `stood_at` is when the prompt stood (anyio.current_time): the start-up gate counts from it.
        """
        options = self._repl.options
        settings = await self._load_settings()
        async with (
            create_agent_session(self._session_options(settings)) as session,
            anyio.create_task_group() as tasks,
        ):
            self._tasks = tasks
            turns = self._join(session, settings)
            tasks.start_soon(self._guarded, self._start_mcp, session, stood_at)
            tasks.start_soon(self._guarded, turns.run)
            if options.prompt is not None:
                turns.submit(_valid_text(options.prompt))
            self.is_ready = True
            for line in take_early_lines():
                self.line_entered(line)
            if self._repl.was_key_pressed:
                self.warm_up()
            await self._repl.leaving.wait()
            self._announcer.is_silent = True
            tasks.cancel_scope.cancel()

    # --- what the repl asks of it

    def line_entered(self, line: TypedLine) -> None:
        """A line: an answer, a command, a shell command, or a turn."""
        text = _valid_text(line.text)
        answer = self._trust.answer_in(line)
        if answer is not None:
            self._echo(text)
            self._tasks.start_soon(self._guarded, self._answer_trust, answer)
        elif text.startswith("/"):
            self._echo(text)
            self._tasks.start_soon(self._guarded, self._run_command, text)
        elif text.startswith("!"):
            self._echo(text)
            self._tasks.start_soon(self._guarded, self._run_shell_command, text[1:].strip())
        elif self._turns is not None:
            self._turns.submit(text)

    def stop_newest(self) -> bool:
        """Ctrl-C's first meaning: what runs, or an open panel. False when there is nothing."""
        if self._context is None or self._turns is None:
            return False
        activity = self._context.activities.newest
        if activity is not None:
            activity.stop()
            return True
        if self._turns.stop():
            return True
        return self._context.panel.close() or self._turns.drop_queue()

    def skip_gate(self) -> None:
        """Esc while a turn waits for servers."""
        if self._turns is not None:
            self._turns.skip_gate()

    def warm_up(self) -> None:
        """Load what a turn needs, in a thread, while the person still types."""
        if not self._is_warm and self.is_ready:
            self._is_warm = True
            self._tasks.start_soon(self._guarded, partial(anyio.to_thread.run_sync, _preload))

    def kill_servers(self) -> None:
        """No server process outlives this call."""
        if self._session is not None:
            self._session.guardian.kill_all_now()

    @property
    def open_servers(self) -> int:
        """Servers that are connected or connecting."""
        rows = self._context.snapshot() if self._context is not None else ()
        return sum(1 for row in rows if row.status != "disconnected")

    def toolbar(self, width: int) -> Line:
        """The model and the MCP state."""
        context = self._context
        if context is None:
            return []
        if context.manager is None:
            state: Line = [("class:quiet", "mcp off (--no-mcp)")]
        elif not context.mcp_ready.is_set() and not context.snapshot():
            state = [("class:quiet", "mcp: looking for servers")]
        else:
            state = mcp_toolbar(context.snapshot(), context.now_s())
        model = context.session.model
        return [*state, ("class:quiet", f" · {model}")] if model else state

    def completions(self, document: Document) -> Iterable[Completion]:
        """What could follow in the draft."""
        return complete(document, self._context) if self._context is not None else ()

    # --- joining the parts

    async def _load_settings(self) -> Settings:
        options = self._repl.options
        start_logging(self._repl.paths.log_file, debug=options.debug)
        loaded = await anyio.to_thread.run_sync(
            partial(
                load_settings,
                paths=self._repl.paths,
                cwd=options.cwd,
                environ=options.environ,
                overrides=options.setting_overrides(),
            )
        )
        self._screen.set_colourless(is_colourless(options.environ, loaded.settings.theme))
        for problem in loaded.problems:
            self._print_error(problem)
        return loaded.settings

    def _session_options(self, settings: Settings) -> SessionOptions:
        options = self._repl.options
        return SessionOptions(
            cwd=options.cwd,
            paths=self._repl.paths,
            environ=options.environ,
            settings=settings,
            enable_mcp=not options.no_mcp,
            extra_mcp_files=options.mcp_config,
            strict_mcp_config=options.strict_mcp_config,
            trust_project=options.trust_project,
            wait_for_mcp=False,
        )

    def _join(self, session: CreateAgentSessionResult, settings: Settings) -> Turns:
        screen = self._screen
        self._session = session
        self._trust = TrustQuestion(screen)
        approval = ApprovalQuestion(screen)
        session.session.approve = approval.ask
        self._context = CommandContext(
            screen=screen,
            cwd=self._repl.options.cwd,
            environ=self._repl.options.environ,
            paths=self._repl.paths,
            settings=settings,
            session=session.session,
            manager=session.mcp_manager,
            mcp_ready=session.mcp_ready,
            activities=Activities(screen.live, self._repl.ticker),
            ticker=self._repl.ticker,
            panel=OpenPanel(screen),
            trust=self._trust,
            leave=self._repl.leave,
        )
        self._turns = Turns(self._context)
        self._context.turns = self._turns
        self._announcer = Announcer(self._context)
        if session.mcp_manager is not None:
            session.mcp_manager.subscribe(self._on_manager_event)
        return self._turns

    async def _start_mcp(self, session: CreateAgentSessionResult, stood_at: float) -> None:
        loaded = await session.start_mcp(since=stood_at)
        if loaded is None or self._context is None or self._context.manager is None:
            return
        for error in loaded.errors:
            if not error.path.startswith("mcp:"):
                self._screen.print(joined(("error: ", "error"), f"{error.path}: {error.error}"))
        self._announcer.announce_files()
        self._screen.refresh()

    def _on_manager_event(self, event: ManagerEvent) -> None:
        context = self._context
        if context is None or context.manager is None:
            return
        self._trust.update(context.manager.untrusted())
        if isinstance(event, ServerChanged):
            self._announcer.server_changed(event.name)
        is_connecting = any(row.status == "connecting" for row in context.snapshot())
        if is_connecting and not self._is_ticking:
            self._repl.ticker.start(CONNECTING_TICK_S)
        elif self._is_ticking and not is_connecting:
            self._repl.ticker.stop(CONNECTING_TICK_S)
        self._is_ticking = is_connecting
        self._screen.refresh()

    # --- obeying

    async def _run_command(self, text: str) -> None:
        context = self._context
        if context is None:
            return
        words = text[1:].split(maxsplit=1)
        rest = words[1] if len(words) > 1 else ""
        try:
            command = find_command(words[0] if words else "")
            await command.run(context, rest)
        except AgentShellError as error:
            self._print_error(error)

    async def _run_shell_command(self, command: str) -> None:
        context, session = self._context, self._session
        if context is None or session is None or not command:
            return
        status = 0
        with context.activities.run(f"!{command}") as activity:
            try:
                status = await run_shell_command(
                    command,
                    cwd=context.cwd,
                    environ=context.environ,
                    guard=session.guardian,
                    show=context.print_text,
                )
            except OSError as error:
                context.print_error(AgentShellError(f"cannot run a shell: {error.strerror}"))
        if activity.was_stopped:
            self._screen.print(joined(("stopped", "warning")))
        elif status:
            self._screen.print(joined((f"exit status {status}", "error")))

    async def _answer_trust(self, answer: str) -> None:
        context = self._context
        if context is None or context.manager is None:
            return
        names = self._trust.names
        self._trust.close()
        if answer == "n":
            context.print_text("not started; /mcp trust asks for them again")
            return
        try:
            await trust_servers(context.manager, names, whole_folder=answer == "a")
        except AgentShellError as error:
            self._print_error(error)

    def _echo(self, text: str) -> None:
        self._screen.print_rows(prompt_lines(text, self._screen.width, sign=PROMPT_SIGN))

    def _print_error(self, error: AgentShellError) -> None:
        words = error.described if isinstance(error, MCPError) else error.message
        self._screen.print(joined(("error: ", "error"), words))
        if error.hint:
            self._screen.print(joined(("hint: ", "quiet"), error.hint))

    async def _guarded(self, work: Callable[..., Any], *arguments: object) -> None:
        """One line's failure costs that line, not the shell; the log has the whole story."""
        try:
            await work(*arguments)
        except AgentShellError as error:
            self._print_error(error)
        except Exception as error:  # noqa: BLE001 - see above
            _log.exception("a command failed in a way that was not foreseen")
            log = self._repl.paths.log_file
            self._screen.print(
                joined(("error: ", "error"), f"{type(error).__name__}: {error}; see {log}")
            )


def _valid_text(text: str) -> str:
    """The text without half characters: bytes that were no UTF-8 become replacement signs."""
    return (
        text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        if (any("\udc80" <= character <= "\udcff" for character in text))
        else text.encode("utf-8", "replace").decode("utf-8")
    )


def _preload() -> None:
    # Once somebody types, and not before: the network, the schema checker, the Markdown parser.
    from agent_shell.llm import http_stream  # noqa: PLC0415
    from agent_shell.tools import arguments  # noqa: PLC0415

    http_stream.preload()
    arguments.preload()
    import_module("agent_shell.repl.render_markdown")
