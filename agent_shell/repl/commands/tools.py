"""/tools: every tool of the session and where it comes from."""

from agent_shell.repl.commands.command import CommandContext, SlashCommand
from agent_shell.repl.drawing import joined

MOST_DESCRIPTION_CHARACTERS = 100


async def tools(context: CommandContext, rest: str) -> None:
    """One line a tool; with a word, only the tools whose name or origin has it."""
    wanted = rest.strip()
    active = [
        tool
        for tool in context.session.registry.active()
        if wanted in tool.name or wanted in tool.origin
    ]
    if not active:
        context.print_text(f'no tool has "{wanted}" in its name or origin', "quiet")
        return
    for tool in active:
        context.screen.print(
            joined(
                (tool.name, "strong"),
                (f"  {tool.origin}", "quiet"),
                (f"\n    {first_line(tool.description)}" if tool.description else "", None),
            )
        )
    context.print_text(f"{len(active)} tools", "quiet")


def first_line(description: str) -> str:
    """The beginning of a description, in one line."""
    line = " ".join(description.split())
    if len(line) <= MOST_DESCRIPTION_CHARACTERS:
        return line
    return line[: MOST_DESCRIPTION_CHARACTERS - 1] + "…"


TOOLS = SlashCommand(
    name="tools",
    usage="[WORD]",
    summary="every tool of the session and where it comes from",
    run=tools,
)
