"""Foreign words inside a sentence of ours: one line, harmless, and not endless."""

from agent_shell.logs import printable

MAX_ERROR_TEXT_CHARS = 500
"""So much of a server's own words is shown in an error."""


def one_line(text: str, limit: int = MAX_ERROR_TEXT_CHARS) -> str:
    """The beginning of the text with blanks for line feeds; `…` says that there was more."""
    # Escapes make it longer and blanks shorter: look at somewhat more than will be shown.
    lines = text[: limit * 8].replace("\t", " ").splitlines()
    line = printable(" ".join(stripped for each in lines if (stripped := each.strip())))
    return line if len(line) <= limit and len(text) <= limit * 8 else f"{line[:limit]}…"
