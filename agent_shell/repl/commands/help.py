"""/help: what can be typed; one command in full with its name."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from agent_shell.errors import UsageError
from agent_shell.repl.commands.command import (
    Choice,
    CommandContext,
    SlashCommand,
    at_most_one_name,
)
from agent_shell.repl.commands.suggest import nearest
from agent_shell.repl.drawing import foreign

if TYPE_CHECKING:
    from rich.console import RenderableType

WORDS: tuple[tuple[str, str], ...] = (
    ("text", "a turn for the model"),
    ("!command", "a shell command"),
    ("@path", "the file goes along with the turn"),
)
KEYS: tuple[tuple[str, str], ...] = (
    ("Enter", "send the line"),
    ("Alt-Enter, \\ Enter", "a new line in the draft"),
    ("Up, Down, Ctrl-R", "earlier lines"),
    ("Tab", "complete"),
    ("Ctrl-C", "stop what runs; clear the line; twice: leave"),
    ("Ctrl-D", "leave"),
)


def help_command(commands: Callable[[], Mapping[str, SlashCommand]]) -> SlashCommand:
    """/help over this table; a callable, since the table holds /help itself."""

    async def show_help(context: CommandContext, rest: str) -> None:
        topic = at_most_one_name(rest, "/help [TOPIC]")
        if topic is not None:
            context.screen.print(_one_command(commands(), topic.removeprefix("/")))
            return
        shown = [command for command in commands().values() if not command.is_alias]
        rows = [(f"/{each.name} {each.usage}".strip(), each.summary) for each in shown]
        context.screen.print(
            _rows(rows),
            foreign(""),
            _rows(WORDS),
            foreign(""),
            _rows(KEYS),
            foreign(""),
            foreign("/help mcp says more about one command", "quiet"),
        )

    def choices(context: CommandContext, words: list[str]) -> Iterable[Choice]:
        if not words:
            for command in commands().values():
                yield command.name, command.summary

    return SlashCommand(
        name="help",
        usage="[TOPIC]",
        summary="this text, or one command in full",
        run=show_help,
        complete=choices,
    )


def _one_command(commands: Mapping[str, SlashCommand], name: str) -> "RenderableType":
    command = commands.get(name)
    if command is None:
        close = nearest(name, commands)
        hint = f"did you mean /help {close}?" if close else "/help lists all commands"
        raise UsageError(f'no help on "{name}"', hint=hint)
    text = f"/{command.name} {command.usage}".strip() + f"\n{command.summary}"
    return foreign(f"{text}\n{command.details}".rstrip())


def _rows(rows: Iterable[tuple[str, str]]) -> "RenderableType":
    from rich.table import Table  # noqa: PLC0415 - the prompt stands before it is needed

    table = Table.grid(padding=(0, 2))
    table.add_column(overflow="fold", ratio=2)
    table.add_column(overflow="fold", ratio=3)
    for what, meaning in rows:
        table.add_row(foreign(what, "strong"), foreign(meaning))
    return table
