"""/call: a session tool, called by hand."""

import time
from collections.abc import Iterable

import anyio

from agent_shell.errors import UsageError
from agent_shell.json_types import as_object
from agent_shell.repl.commands.command import Choice, CommandContext, SlashCommand
from agent_shell.repl.commands.suggest import nearest
from agent_shell.repl.drawing import joined
from agent_shell.repl.render_events import progress_text
from agent_shell.repl.render_tool import render_result
from agent_shell.repl.theme import TOOL_SIGN
from agent_shell.tools.call_arguments import parse_call_arguments
from agent_shell.tools.tool import ToolProgress

LISTING_WAIT_S = 2.0
"""A listing takes milliseconds; whoever mistyped a name does not wait for a slow one."""

USAGE = "/call TOOL [JSON|key=value…]"


async def call(context: CommandContext, rest: str) -> None:
    """Call it and show the whole result. Ctrl-C cancels the call, on the wire too."""
    words = rest.split(maxsplit=1)
    if not words:
        raise UsageError(f"usage: {USAGE}", hint="/tools lists the tools")
    name = words[0]
    await _wait_for_listing(context, name)
    tool = context.session.registry.get(name)
    if tool is None:
        names = [each.name for each in context.session.registry.active()]
        close = nearest(name, names)
        hint = f"did you mean {close}?" if close else "/tools lists the tools"
        raise UsageError(f'no tool "{name}"', hint=hint)
    arguments = parse_call_arguments(words[1] if len(words) > 1 else "", tool.input_schema)
    began_at = time.monotonic()
    with context.activities.run(f"{name}") as activity:

        def report(progress: ToolProgress) -> None:
            activity.detail = progress_text(progress).removesuffix(" · ")
            context.screen.refresh()

        result = await context.session.call_tool(name, arguments, on_progress=report)
        seconds = time.monotonic() - began_at
        context.screen.print(
            joined((f"{TOOL_SIGN} ", "accent"), name),
            render_result(result, seconds, most_lines=None),
        )
    if activity.was_stopped:
        context.screen.print(joined((f"{name}: cancelled", "warning")))


async def _wait_for_listing(context: CommandContext, name: str) -> None:
    """A server that has just connected still lists its tools: give it a moment."""
    manager = context.manager
    changed = anyio.Event()

    def note(_: object) -> None:
        changed.set()

    if manager is None:
        return
    unsubscribe = manager.subscribe(note)
    try:
        with anyio.move_on_after(LISTING_WAIT_S):
            while context.session.registry.get(name) is None and _is_listing(context):
                changed = anyio.Event()
                await changed.wait()
    finally:
        unsubscribe()


def _is_listing(context: CommandContext) -> bool:
    return any(
        row.status == "connected" and "list_tools" not in row.timings_ms
        for row in context.snapshot()
    )


def _choices(context: CommandContext, words: list[str]) -> Iterable[Choice]:
    if not words:
        for tool in context.session.registry.active():
            yield tool.name, tool.origin
        return
    tool = context.session.registry.get(words[0])
    properties = as_object(tool.input_schema.get("properties")) if tool is not None else None
    for key in properties or {}:
        if not any(word.startswith(f"{key}=") for word in words):
            yield f"{key}=", ""


CALL = SlashCommand(
    name="call",
    usage="TOOL [JSON|key=value…]",
    summary="call a session tool by hand",
    details="Example: /call mcp_time_get_current_time timezone=UTC",
    run=call,
    complete=_choices,
)
