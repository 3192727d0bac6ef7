"""/mcp: the status panel, and the table of its subcommands."""

from collections.abc import Iterable, Mapping

from agent_shell.errors import UsageError
from agent_shell.repl.commands import mcp_edit, mcp_lists, mcp_servers, mcp_timeline
from agent_shell.repl.commands.command import Choice, CommandContext, SlashCommand
from agent_shell.repl.commands.mcp_subcommand import Subcommand
from agent_shell.repl.commands.suggest import nearest
from agent_shell.repl.status_panel import status_panel

SUBCOMMANDS: Mapping[str, Subcommand] = {
    subcommand.name: subcommand
    for subcommand in (
        *mcp_servers.SUBCOMMANDS,
        *mcp_edit.SUBCOMMANDS,
        *mcp_lists.SUBCOMMANDS,
        *mcp_timeline.SUBCOMMANDS,
    )
}


async def mcp(context: CommandContext, rest: str) -> None:
    """Without a word the panel, else the subcommand."""
    words = rest.split(maxsplit=1)
    manager = context.require_manager()
    if not words:
        context.panel.open(
            lambda width, now_s: status_panel(
                manager.snapshot(),
                manager.config_errors,
                now_s=now_s,
                width=width,
            )
        )
        return
    subcommand = SUBCOMMANDS.get(words[0])
    if subcommand is None:
        close = nearest(words[0], SUBCOMMANDS)
        hint = f"did you mean /mcp {close}?" if close else "/help mcp lists the subcommands"
        raise UsageError(f"no command /mcp {words[0]}", hint=hint)
    await subcommand.run(context, words[1] if len(words) > 1 else "")


def _choices(context: CommandContext, words: list[str]) -> Iterable[Choice]:
    if not words:
        for subcommand in SUBCOMMANDS.values():
            yield subcommand.name, subcommand.summary
    elif len(words) == 1 and words[0] in SUBCOMMANDS and SUBCOMMANDS[words[0]].takes_server:
        for row in context.snapshot():
            if not (row.reason or "").startswith("shadowed"):
                yield row.name, row.status


MCP = SlashCommand(
    name="mcp",
    usage="[COMMAND]",
    summary="the servers: their state, and commands for them",
    details="\n".join(
        f"/mcp {subcommand.name} {subcommand.usage}".rstrip() + f"\n    {subcommand.summary}"
        for subcommand in SUBCOMMANDS.values()
    ),
    run=mcp,
    complete=_choices,
)
