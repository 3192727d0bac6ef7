"""What could follow in the draft: commands, their words, server and tool names, @paths."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit.completion import Completion
from prompt_toolkit.document import Document

from agent_shell.logs import printable
from agent_shell.repl.commands import COMMANDS

if TYPE_CHECKING:
    from agent_shell.repl.commands.command import CommandContext

MOST_PATHS = 200
_MENTION = re.compile(r"(?<!\S)@(\S*)$")


def complete(document: Document, context: "CommandContext") -> Iterable[Completion]:
    """Completions for the word before the cursor."""
    text = document.text_before_cursor
    mention = _MENTION.search(text)
    if mention is not None:
        return _paths(mention.group(1), context.cwd)
    if text.startswith("/") and "\n" not in text:
        return _command_words(text, context)
    return ()


def _command_words(text: str, context: "CommandContext") -> Iterable[Completion]:
    name, blank, rest = text[1:].partition(" ")
    if not blank:
        for command in COMMANDS.values():
            if command.name.startswith(name) and not command.is_alias:
                yield Completion(
                    f"/{command.name}", start_position=-len(text), display_meta=command.summary
                )
        return
    command = COMMANDS.get(name)
    if command is None or command.complete is None:
        return
    *before, word = rest.split(" ")
    words = [part for part in before if part]
    for choice, meta in command.complete(context, words):
        if choice.startswith(word):
            yield Completion(
                choice,
                start_position=-len(word),
                display=printable(choice),
                display_meta=printable(meta),
            )


def _paths(typed: str, cwd: Path) -> Iterable[Completion]:
    folder_part, slash, start = typed.rpartition("/")
    folder = cwd / Path(folder_part + slash).expanduser() if slash else cwd
    try:
        entries = sorted(folder.iterdir(), key=lambda path: (not path.is_dir(), path.name))
    except (OSError, ValueError, RuntimeError):
        return
    shown = 0
    for entry in entries:
        if not entry.name.startswith(start) or (entry.name.startswith(".") and not start):
            continue
        name = entry.name + ("/" if entry.is_dir() else "")
        # A name with a blank or an odd character could not be read back from the line.
        if " " in name or printable(name) != name:
            continue
        yield Completion(name, start_position=-len(start))
        shown += 1
        if shown >= MOST_PATHS:
            return
