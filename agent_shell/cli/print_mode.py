"""One prompt, its answer on standard output, an exit status: for scripts (CONTRACT section 1)."""

import os
import sys
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field

import anyio

from agent_shell.agent.events import (
    AgentEvent,
    AssistantTextDone,
    RetryNotice,
    ToolCallFinished,
    ToolCallStarted,
    TurnFinished,
)
from agent_shell.cli.arguments import CLIOptions, OutputFormat
from agent_shell.cli.event_json import call_json, event_json, result_json, usage_json
from agent_shell.cli.json_text import json_text
from agent_shell.cli.print_servers import PrintServers
from agent_shell.cli.read_stdin import read_stdin
from agent_shell.cli.say import say
from agent_shell.cli.standard_streams import discard_output
from agent_shell.cli.stop_signals import StopSignals
from agent_shell.errors import AgentShellError, ConfigError, UsageError
from agent_shell.llm.create import resolve_provider
from agent_shell.llm.provider import TextPiece
from agent_shell.llm.valid_text import valid_text, valid_value
from agent_shell.logs import printable, start_logging
from agent_shell.mcp.manager import MCPManager
from agent_shell.paths import app_paths
from agent_shell.sdk.create_session import (
    SessionOptions,
    create_agent_session,
)
from agent_shell.settings.load import load_settings

REQUIRE_READY_VARIABLE = "AGENT_SHELL_MCP_REQUIRE_READY"
FAILED_EXIT = 1
USAGE_EXIT = 2
NEEDS_APPROVAL_EXIT = 3


@dataclass(slots=True)
class _Run:
    """What one headless run has come to, and what it prints."""

    output_format: OutputFormat
    text: str = ""
    pieces: list[str] = field(default_factory=list[str])
    started: set[str] = field(default_factory=set[str])
    tool_calls: list[Mapping[str, object]] = field(default_factory=list[Mapping[str, object]])
    model: str | None = None
    session_id: str | None = None
    finished: TurnFinished | None = None
    stopped: StopSignals = field(default_factory=StopSignals)
    is_pipe_closed: bool = False
    manager: MCPManager | None = None

    def exit_status(self) -> int:
        """CONTRACT section 1."""
        if (status := self.stopped.exit_status) is not None:
            return status
        if self.finished is None or self.finished.outcome != "done":
            return 0 if self.is_pipe_closed else FAILED_EXIT
        return NEEDS_APPROVAL_EXIT if self.finished.needs_approval else 0

    def kill_now(self) -> None:
        """End every server this instant."""
        if self.manager is not None:
            self.manager.kill_all_now()

    def show(self, event: AgentEvent) -> None:
        """Note an event, and print it where the format is a stream."""
        if isinstance(event, TextPiece):
            self.pieces.append(event.text)
        elif isinstance(event, AssistantTextDone):
            self.pieces.clear()
            self.text = event.text or self.text
        elif isinstance(event, ToolCallStarted):
            self.started.add(event.call.id)
        elif isinstance(event, ToolCallFinished):
            if event.call.id not in self.started and self.output_format == "stream-json":
                # It was refused, or aborted before its turn: a result belongs to a call all the
                # same. No tool has run, so there is no origin.
                self.print_json({"type": "tool_call", **call_json(event.call), "origin": None})
            self.started.discard(event.call.id)
            self.tool_calls.append({**call_json(event.call), **result_json(event.result)})
        elif isinstance(event, RetryNotice):
            self.pieces.clear()
            say(f"note: {event.reason}; trying again in {event.delay_s:.1f} s")
        elif isinstance(event, TurnFinished):
            self.finished = event
        if self.output_format == "stream-json" and (line := event_json(event)) is not None:
            self.print_json(line)

    def print_end(self) -> None:
        """The answer as text, or the one result object; of one that broke off, what there is."""
        said = "".join(self.pieces) or self.text
        if self.output_format == "text":
            if said:
                text = valid_text(said)
                self._print(printable(text) if sys.stdout.isatty() else text)
            return
        end = self.finished or TurnFinished(outcome="aborted")
        self.print_json(
            {
                "type": "result",
                "outcome": end.outcome,
                "text": said,
                "error": end.error,
                "hint": end.hint,
                "needs_approval": end.needs_approval,
                "model": self.model,
                "session_id": self.session_id,
                "usage": usage_json(end.usage),
                **({"tool_calls": self.tool_calls} if self.output_format == "json" else {}),
            }
        )

    def print_json(self, value: Mapping[str, object]) -> None:
        """One object on one line."""
        self._print(json_text(valid_value(value)))

    def _print(self, line: str) -> None:
        """Write and flush; a reader that has gone ends the run quietly."""
        if self.is_pipe_closed:
            return
        try:
            sys.stdout.buffer.write(line.encode() + b"\n")
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            self.is_pipe_closed = True
            discard_output()


async def run_print_mode(options: CLIOptions) -> int:
    """Run the prompt to its end; returns the exit status. Raises UsageError for wrong usage.

    SIGINT, SIGTERM and SIGHUP end the turn and close every server; a second signal ends it now.
    """
    run = _Run(output_format=options.output_format)
    usage_error: AgentShellError | None = None
    async with anyio.create_task_group() as group:
        with anyio.CancelScope() as scope:
            await group.start(run.stopped.watch, scope, run.kill_now)
            try:
                await _run_session(options, run)
            except (UsageError, ConfigError) as error:
                usage_error = error
            except AgentShellError as error:
                run.finished = TurnFinished(outcome="failed", error=error.message, hint=error.hint)
        group.cancel_scope.cancel()
    if usage_error is not None:
        raise usage_error
    run.print_end()
    if run.finished is not None and run.finished.error is not None:
        say(f"error: {run.finished.error}", run.finished.hint)
    elif run.finished is not None and run.finished.needs_approval:
        say(
            "error: a tool call needed approval, and nobody could be asked",
            "--approval edits allows changes of files, --approval all everything",
        )
    return run.exit_status()


async def _run_session(options: CLIOptions, run: _Run) -> None:
    environ = dict(os.environ)
    paths = app_paths(environ)
    start_logging(paths.log_file, debug=options.debug)
    loaded = load_settings(
        paths=paths,
        cwd=options.cwd,
        environ=environ,
        overrides=options.shell_options().setting_overrides(),
    )
    for problem in loaded.problems:
        say(f"warning: {problem.message}", problem.hint)
    prompt = await _whole_prompt(options.prompt)
    # Before any server is started: without a model the run fails at once.
    provider = await resolve_provider(loaded.settings, environ)
    run.model = provider.model
    session_options = SessionOptions(
        cwd=options.cwd,
        paths=paths,
        environ=environ,
        settings=loaded.settings,
        provider=provider,
        enable_mcp=not options.no_mcp,
        extra_mcp_files=options.mcp_config,
        strict_mcp_config=options.strict_mcp_config,
        trust_project=options.trust_project,
        wait_for_mcp=False,
    )
    async with create_agent_session(session_options) as created:
        run.manager = created.mcp_manager
        run.session_id = created.session.id
        servers: PrintServers | None = None
        if created.mcp_manager is not None:
            servers = PrintServers(created, created.mcp_manager)
            await servers.start()
            if environ.get(REQUIRE_READY_VARIABLE) == "1" and (
                missing := await servers.not_ready()
            ):
                # Returned, not raised: the session's task group would wrap it.
                run.finished = TurnFinished(
                    outcome="failed", error=f"not every MCP server is ready: {', '.join(missing)}"
                )
                return
        async with aclosing(created.session.prompt(prompt)) as events:
            async for event in events:
                run.show(event)
                if run.is_pipe_closed:
                    break
        if servers is not None:
            servers.report_absent()


async def _whole_prompt(argument: str | None) -> str:
    """The prompt of the command line, then what came on standard input. Raises UsageError."""
    piped, is_given_up = await read_stdin(is_needed=argument is None)
    if is_given_up:
        say("note: standard input is open but silent; going on without it")
    parts = [part for part in (argument, piped) if part is not None and part.strip()]
    if not parts:
        raise UsageError("there is no prompt", hint='agent-shell -p "PROMPT", or pipe one in')
    return "\n\n".join(parts)
