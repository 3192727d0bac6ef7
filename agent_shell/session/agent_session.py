"""One conversation: prompt(), abort(), refresh_mcp_tools()."""

import logging
import math
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path

import anyio
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectSendStream

from agent_shell.agent.events import AgentEvent, TurnFinished
from agent_shell.agent.loop import Turn, added_usage, run_turn
from agent_shell.agent.tool_calls import ToolRunner, execute_safely
from agent_shell.errors import AgentShellError, LLMError, UsageError
from agent_shell.json_types import JSONObject
from agent_shell.llm.messages import ChatMessage, UserMessage
from agent_shell.llm.provider import LLMProvider, Usage
from agent_shell.session.approvals import Approvals, Approve
from agent_shell.session.history import History
from agent_shell.session.result_size import result_fitter
from agent_shell.session.system_prompt import build_system_prompt
from agent_shell.session.tool_registry import ToolRegistry
from agent_shell.session.transcript import Transcript
from agent_shell.settings.settings import Settings
from agent_shell.tools.arguments import check_arguments
from agent_shell.tools.content import TextContent
from agent_shell.tools.tool import Tool, ToolContext, ToolProgress, ToolResult

_log = logging.getLogger(__name__)


def _no_instructions() -> Mapping[str, str]:
    """No server says anything."""
    return {}


class AgentSession(anyio.AsyncContextManagerMixin):
    """One conversation with one model; an async context manager that owns the running turn.

    `provider=None`: `resolve` finds one when the first turn needs it; all else works without.
    A face sets `approve` to ask the person. `server_instructions` is asked at each request for
    what MCP servers say about the use of their tools. Without `sessions_folder` nothing is kept.
    """

    def __init__(
        self,
        *,
        cwd: Path,
        registry: ToolRegistry,
        settings: Settings,
        approvals: Approvals,
        sessions_folder: Path | None = None,
        provider: LLMProvider | None = None,
        resolve: Callable[[str | None], Awaitable[LLMProvider]] | None = None,
        server_instructions: Callable[[], Mapping[str, str]] = _no_instructions,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.cwd = cwd
        self.registry = registry
        self.settings = settings
        self.approvals = approvals
        self.provider = provider
        self.usage: Usage | None = None
        self._resolve = resolve
        self._server_instructions = server_instructions
        self._environ = os.environ if environ is None else environ
        self._sessions = sessions_folder
        self._transcript = self._new_transcript()
        self._history = History(self._remember)
        self._group: TaskGroup | None = None
        self._turn_scope: anyio.CancelScope | None = None
        self._wanted_model: str | None = None

    @asynccontextmanager
    async def __asynccontextmanager__(self) -> AsyncGenerator["AgentSession"]:
        async with anyio.create_task_group() as group:
            self._group = group
            try:
                yield self
            finally:
                self._group = None
                group.cancel_scope.cancel()
        if self.provider is not None:
            with anyio.CancelScope(shield=True):
                await self.provider.aclose()

    @property
    def id(self) -> str | None:
        """The conversation's name on disk."""
        return self._transcript.id if self._transcript is not None else None

    @property
    def history(self) -> Sequence[ChatMessage]:
        """The messages so far."""
        return self._history.messages

    @property
    def is_running(self) -> bool:
        """A turn is under way."""
        return self._turn_scope is not None

    @property
    def model(self) -> str | None:
        """`PROVIDER/MODEL` of the next turn, as far as it is known."""
        if self.provider is not None:
            return self.provider.model
        return self._wanted_model or self.settings.model

    @property
    def transcript_path(self) -> Path | None:
        """Where the conversation is written from its first turn on."""
        return self._transcript.path if self._transcript is not None else None

    @property
    def approve(self) -> Approve | None:
        """Asks the person for leave; a face sets it. None: what would be asked is refused."""
        return self.approvals.approve

    @approve.setter
    def approve(self, ask: Approve | None) -> None:
        self.approvals.approve = ask

    async def prompt(self, text: str) -> AsyncGenerator[AgentEvent]:
        """One turn: its events, of which the last is always TurnFinished.

        Closing the generator, or cancelling the task that reads it, aborts the turn and waits until
        the history is valid again. Raises UsageError if a turn is running already.
        """
        if self._group is None:
            raise RuntimeError("a session is entered first: async with session")
        if self._turn_scope is not None:
            raise UsageError("a turn is running already")
        send, receive = anyio.create_memory_object_stream[AgentEvent](math.inf)
        scope = anyio.CancelScope()
        ended = anyio.Event()
        self._turn_scope = scope
        # The turn has a task of its own: no scope is left open in the reader's task between two
        # events, and a reader that goes away cannot leave the turn half done.
        self._group.start_soon(self._run, text, scope, send, ended)
        try:
            async for event in receive:
                yield event
        finally:
            scope.cancel()
            with anyio.CancelScope(shield=True):
                await ended.wait()
            receive.close()

    def abort(self) -> None:
        """End the running turn, if any; its reader still gets TurnFinished."""
        if self._turn_scope is not None:
            self._turn_scope.cancel()

    def set_model(self, name: str) -> None:
        """Talk to another model from the next turn on: `PROVIDER/MODEL`, `PROVIDER` or `MODEL`.

        Raises LLMError for a provider nobody knows; whether it has the model shows in that turn.
        """
        from agent_shell.llm.create import check_model_name  # noqa: PLC0415 - not before a turn

        if self.is_running:
            raise UsageError("a turn is running")
        check_model_name(name, self.settings, self._environ)
        old, self.provider = self.provider, None
        self._wanted_model = name
        if old is not None and self._group is not None:
            self._group.start_soon(old.aclose)

    def refresh_mcp_tools(self, tools: Sequence[Tool]) -> None:
        """Replace every tool of an MCP server by these, in one step, also while a turn runs.

        The next request to the model offers them.
        """
        self.registry.replace_mcp_tools(tools)

    async def call_tool(
        self,
        name: str,
        arguments: JSONObject,
        *,
        on_progress: Callable[[ToolProgress], None] | None = None,
    ) -> ToolResult:
        """Call a tool by hand: nobody is asked, since a person typed it.

        A result beyond the setting's bound is cut, and says where the whole of it is.

        Raises UsageError for an unknown tool and ToolArgumentsError for unfit arguments.
        """
        tool = self.registry.get(name)
        if tool is None:
            raise UsageError(f"there is no tool {name}", hint="/tools lists them")
        check_arguments(tool.input_schema, arguments)
        context = ToolContext() if on_progress is None else ToolContext(report_progress=on_progress)
        result = await execute_safely(tool, arguments, context)
        fit = result_fitter(self._results_folder, self.settings.tools.max_result_bytes)
        return await fit(result, name)

    def clear(self) -> None:
        """Forget the conversation and begin a new transcript. Raises UsageError during a turn."""
        if self.is_running:
            raise UsageError("a turn is running")
        self._history.clear()
        self.usage = None
        self._transcript = self._new_transcript()

    async def ready_provider(self) -> LLMProvider:
        """The provider; found now if there is none yet. Raises LLMError with a hint."""
        if self.provider is None:
            if self._resolve is None:
                raise LLMError("there is no model to talk to")
            self.provider = await self._resolve(self._wanted_model)
        return self.provider

    async def _run(
        self,
        text: str,
        scope: anyio.CancelScope,
        send: MemoryObjectSendStream[AgentEvent],
        ended: anyio.Event,
    ) -> None:
        last = TurnFinished(outcome="aborted")
        try:
            with scope:
                last = await self._turn(text, send.send_nowait)
        finally:
            # In one step: whoever sees the last event sees a session that is ready again.
            self._turn_scope = None
            send.send_nowait(last)
            send.close()
            ended.set()

    async def _turn(self, text: str, emit: Callable[[AgentEvent], None]) -> TurnFinished:
        self._history.add(UserMessage(content=(TextContent(text=text),)))
        turn: Turn | None = None
        try:
            provider = await self.ready_provider()
            turn = Turn(
                provider=provider,
                system=self._system_prompt,
                history=self._history,
                runner=ToolRunner(
                    tools=self.registry,
                    permit=self.approvals.permit,
                    fit=result_fitter(self._results_folder, self.settings.tools.max_result_bytes),
                    emit=emit,
                ),
            )
            return await run_turn(turn)
        except AgentShellError as error:
            return TurnFinished(outcome="failed", error=error.message, hint=error.hint)
        except Exception as error:  # noqa: BLE001 - a bug ends the turn, not the shell
            _log.exception("a turn failed")
            words = f"internal error: {type(error).__name__}: {error}"
            return TurnFinished(outcome="failed", error=words, hint="the log file says more")
        finally:
            if turn is not None:
                self.usage = added_usage(self.usage, turn.usage)

    def _system_prompt(self) -> str:
        today = date.today()
        return build_system_prompt(
            self.cwd, today=today, server_instructions=self._server_instructions()
        )

    def _new_transcript(self) -> Transcript | None:
        return Transcript(self._sessions, self.cwd) if self._sessions is not None else None

    def _remember(self, message: ChatMessage) -> None:
        if self._transcript is not None:
            self._transcript.append(message)

    def _results_folder(self) -> Path | None:
        return self._transcript.results_folder if self._transcript is not None else None
