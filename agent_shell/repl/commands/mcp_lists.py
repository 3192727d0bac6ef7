"""/mcp tools, resources, prompts, test, logs: what servers have, and how they do."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import anyio
import anyio.to_thread

from agent_shell.errors import MCPError, UsageError
from agent_shell.json_types import JSONObject, as_string
from agent_shell.logs import printable_line
from agent_shell.mcp.check_server import check_server
from agent_shell.mcp.client import MCPServerConnection
from agent_shell.repl.commands.command import CommandContext, at_most_one_name, one_name
from agent_shell.repl.commands.mcp_subcommand import Subcommand
from agent_shell.repl.commands.tools import first_line
from agent_shell.repl.drawing import joined
from agent_shell.repl.render_tool import duration
from agent_shell.repl.theme import FAILED_SIGN, OK_SIGN

MOST_LOG_LINES = 60
LOG_TAIL_BYTES = 64_000


async def tools(context: CommandContext, rest: str) -> None:
    """The MCP tools of one server or of all."""
    manager = context.require_manager()
    name = at_most_one_name(rest, "/mcp tools [NAME]")
    if name is not None:
        context.require_server(name)
    shown = [tool for tool in manager.get_tools() if name is None or tool.server == name]
    for tool in shown:
        context.screen.print(
            joined((tool.name, "strong"), (f"\n    {first_line(tool.description)}", None))
        )
    context.print_text(f"{len(shown)} MCP tools", "quiet")


async def resources(context: CommandContext, rest: str) -> None:
    """What connected servers offer to be read."""
    await _list(
        context,
        at_most_one_name(rest, "/mcp resources [NAME]"),
        "resources",
        lambda connection: connection.list_resources(),
        "uri",
    )


async def prompts(context: CommandContext, rest: str) -> None:
    """The prompts of connected servers."""
    await _list(
        context,
        at_most_one_name(rest, "/mcp prompts [NAME]"),
        "prompts",
        lambda connection: connection.list_prompts(),
        "name",
    )


async def _list(
    context: CommandContext,
    name: str | None,
    kind: str,
    fetch: Callable[[MCPServerConnection], Awaitable[Sequence[JSONObject]]],
    key: str,
) -> None:
    manager = context.require_manager()
    names = [name] if name is not None else context.server_names()
    if name is not None and context.require_server(name).status != "connected":
        raise UsageError(f'server "{name}" is not connected', hint=f"/mcp connect {name}")
    counts: list[int] = []
    waiting: set[str] = set()
    with context.activities.run(f"listing {kind}") as activity:

        async def list_one(server: str, connection: MCPServerConnection) -> None:
            waiting.add(server)
            try:
                items = await fetch(connection)
            except MCPError as error:
                context.screen.print(
                    joined(("error: ", "error"), f"{printable_line(server)}: {error.message}")
                )
                return
            finally:
                waiting.discard(server)
                activity.detail = f"waiting for {', '.join(sorted(waiting))}" if waiting else ""
            for item in items:
                what = as_string(item.get(key)) or "?"
                about = as_string(item.get("description")) or as_string(item.get("name")) or ""
                context.screen.print(
                    joined(f"{server}: ", (what, "strong"), (f"  {first_line(about)}", "quiet"))
                )
            counts.append(len(items))

        async with anyio.create_task_group() as tasks:
            for server in names:
                connection = manager.connection(server)
                # One that does not offer them would only answer that it does not know the method.
                if connection is not None and _offers(connection, kind):
                    tasks.start_soon(list_one, server, connection)
        context.print_text(f"{sum(counts)} {kind}", "quiet")


def _offers(connection: MCPServerConnection, kind: str) -> bool:
    return kind in connection.initialize_result.capabilities


async def test(context: CommandContext, rest: str) -> None:
    """Connect afresh beside the live connection, step by step with timings."""
    manager = context.require_manager()
    name = one_name(rest, "/mcp test NAME")
    context.require_server(name)
    with context.activities.run(f"testing {name}") as activity:
        async for step in check_server(manager, name):
            sign, role = (OK_SIGN, "ok") if step.ok else (FAILED_SIGN, "error")
            took = f" {duration(step.duration_ms / 1000)}" if step.duration_ms is not None else ""
            context.screen.print(
                joined((f"{sign} ", role), f"{step.name}{took}", (f"  {step.detail}", None))
            )
            if step.hint:
                context.screen.print(joined(("  hint: ", "quiet"), step.hint))
            activity.detail = step.name
    if activity.was_stopped:
        context.screen.print(joined((f"{name}: test stopped", "warning")))


async def logs(context: CommandContext, rest: str) -> None:
    """The end of a server's log: its standard error and what went wrong on the wire."""
    manager = context.require_manager()
    name = one_name(rest, "/mcp logs NAME")
    context.require_server(name)
    path = manager.server_log(name).path
    lines = await anyio.to_thread.run_sync(_log_tail, path)
    if lines:
        context.print_text("\n".join(lines))
    context.print_text(f"{path}" if lines else f"nothing is logged yet ({path})", "quiet")


def _log_tail(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - LOG_TAIL_BYTES))
            content = file.read()
    except OSError:
        return []
    return content.decode("utf-8", "replace").splitlines()[-MOST_LOG_LINES:]


SUBCOMMANDS = (
    Subcommand(
        name="tools",
        usage="[NAME]",
        summary="the tools of one server or all",
        run=tools,
        takes_server=True,
    ),
    Subcommand(
        name="resources",
        usage="[NAME]",
        summary="what connected servers offer to be read",
        run=resources,
        takes_server=True,
    ),
    Subcommand(
        name="prompts",
        usage="[NAME]",
        summary="the prompts of connected servers",
        run=prompts,
        takes_server=True,
    ),
    Subcommand(
        name="test",
        usage="NAME",
        summary="connect afresh, step by step, and explain a failure",
        run=test,
        takes_server=True,
    ),
    Subcommand(
        name="logs", usage="NAME", summary="the end of its log", run=logs, takes_server=True
    ),
)
