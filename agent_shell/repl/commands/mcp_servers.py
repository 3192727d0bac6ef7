"""/mcp reload, connect, disconnect, enable, disable, trust: what changes servers' lives."""

from agent_shell.errors import UsageError
from agent_shell.mcp.one_server import connect_server, set_enabled, trust_servers
from agent_shell.mcp.reload import Difference, ReloadReport, reload_servers
from agent_shell.repl.commands.command import CommandContext, at_most_one_name, one_name
from agent_shell.repl.commands.mcp_subcommand import Subcommand
from agent_shell.repl.drawing import joined


async def reload(context: CommandContext, rest: str) -> None:
    """Drop every server, read the files again, rebind the tools; then say what changed."""
    manager = context.require_manager()
    context.trust.ask_again()
    with context.activities.run("reloading servers") as activity:
        report = await reload_servers(manager)
        context.session.refresh_mcp_tools(manager.get_tools())
        context.print_text(report_text(report))
        for error in manager.config_errors:
            context.print_error(error)
    if activity.was_stopped:
        context.session.refresh_mcp_tools(manager.get_tools())
        context.screen.print(joined(("reload stopped; /mcp shows what is connected", "warning")))


def report_text(report: ReloadReport) -> str:
    """Counts in one line, then one line for servers and one for tools that changed."""
    lines = [
        f"{report.connected} connected · {report.connecting} connecting · {report.failed} failed"
    ]
    for kind, difference in (("servers", report.servers), ("tools", report.tools)):
        if difference:
            lines.append(f"{kind}: {_difference_text(difference)}")
    return "\n".join(lines)


def _difference_text(difference: Difference) -> str:
    parts = (
        ("added", difference.added),
        ("removed", difference.removed),
        ("altered", difference.altered),
    )
    return " · ".join(f"{word} {', '.join(names)}" for word, names in parts if names)


async def disconnect(context: CommandContext, rest: str) -> None:
    """Close one server or all; they stay off until reload, connect or restart."""
    manager = context.require_manager()
    name = at_most_one_name(rest, "/mcp disconnect [NAME]")
    if name is not None:
        context.require_server(name)
    what = f"closing {name}" if name is not None else "closing all servers"
    with context.activities.run(what):
        if name is None:
            await manager.disconnect_all()
        else:
            await manager.disconnect_server(name)
        context.session.refresh_mcp_tools(manager.get_tools())
        context.print_text(f"{name} is disconnected" if name else "all servers are disconnected")


async def connect(context: CommandContext, rest: str) -> None:
    """Close if open, read the files again, connect this server only."""
    manager = context.require_manager()
    name = one_name(rest, "/mcp connect NAME")
    with context.activities.run(f"connecting {name}") as activity:
        await connect_server(manager, name)
        context.session.refresh_mcp_tools(manager.get_tools())
        _say_connected(context, name)
    if activity.was_stopped:
        await manager.disconnect_server(name)
        context.screen.print(joined((f"{name}: stopped", "warning")))


async def enable(context: CommandContext, rest: str) -> None:
    """Turn a server on in the user's lists, and connect it."""
    manager = context.require_manager()
    name = one_name(rest, "/mcp enable NAME")
    with context.activities.run(f"enabling {name}"):
        await set_enabled(manager, name, enabled=True)
        context.session.refresh_mcp_tools(manager.get_tools())
        if manager.get_connection_status(name) != "connected":
            context.print_text(f"{name} is enabled")
        _say_connected(context, name)


async def disable(context: CommandContext, rest: str) -> None:
    """Turn a server off in the user's lists, and close it."""
    manager = context.require_manager()
    name = one_name(rest, "/mcp disable NAME")
    with context.activities.run(f"disabling {name}"):
        await set_enabled(manager, name, enabled=False)
        context.session.refresh_mcp_tools(manager.get_tools())
        context.print_text(f"{name} is disabled")


async def trust(context: CommandContext, rest: str) -> None:
    """Agree to one of the project's servers, to those that wait, or to the whole folder."""
    manager = context.require_manager()
    name = at_most_one_name(rest, "/mcp trust [NAME|all]")
    waiting = manager.untrusted()
    names = [server.name for server in waiting]
    if name is None or (name == "all" and "all" not in names):
        if not waiting and name is None:
            context.print_text("no server waits for your word", "quiet")
            return
        if name is None:
            context.trust.ask_again()
            context.trust.update(waiting)
            return
        context.trust.close()
        await trust_servers(manager, names, whole_folder=True)
        context.print_text("every server of this folder is trusted")
        return
    if name not in names:
        if context.require_server(name).trusted:
            context.print_text(f"{name} is trusted already", "quiet")
            return
        raise UsageError(f'server "{name}" does not wait for your word')
    await trust_servers(manager, [name], whole_folder=False)
    context.print_text(f"{name} is trusted as it stands; a changed entry asks again")


def _say_connected(context: CommandContext, name: str) -> None:
    """A failure is said where servers' failures are said; here only what went well."""
    row = context.require_server(name)
    if row.status == "connected":
        context.print_text(f"{name} is connected, {row.tools} tools")


SUBCOMMANDS = (
    Subcommand(name="reload", summary="read all files again and connect afresh", run=reload),
    Subcommand(
        name="connect",
        usage="NAME",
        summary="connect one server, closing it first if it is open",
        run=connect,
        takes_server=True,
    ),
    Subcommand(name="reconnect", usage="NAME", summary="the same", run=connect, takes_server=True),
    Subcommand(
        name="disconnect",
        usage="[NAME]",
        summary="close one server or all, until reload, connect or restart",
        run=disconnect,
        takes_server=True,
    ),
    Subcommand(
        name="enable",
        usage="NAME",
        summary="turn a server on for good",
        run=enable,
        takes_server=True,
    ),
    Subcommand(
        name="disable",
        usage="NAME",
        summary="turn a server off for good",
        run=disable,
        takes_server=True,
    ),
    Subcommand(
        name="trust",
        usage="[NAME|all]",
        summary="let the project's servers start: one, those asked about, or this folder's",
        run=trust,
        takes_server=True,
    ),
)
