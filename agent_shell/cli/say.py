"""Diagnostics: one line on standard error, and one for its hint."""

from agent_shell.cli.standard_streams import write_diagnostic
from agent_shell.errors import AgentShellError, MCPError
from agent_shell.logs import printable_line


def say(line: str, hint: str | None = None) -> None:
    """A line for the person. Foreign words in it stay words, and in the line."""
    text = f"{printable_line(line)}\n"
    if hint:
        text += f"hint: {printable_line(hint)}\n"
    write_diagnostic(text)


def say_error(error: AgentShellError) -> None:
    """An error, its server named; what it ends is for the caller to decide."""
    message = error.described if isinstance(error, MCPError) else error.message
    say(f"error: {message}", error.hint)
