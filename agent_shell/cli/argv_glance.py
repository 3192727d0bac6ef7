"""What argv asks for, seen at a glance: before any parser, and without an import."""

SUBCOMMANDS = ("mcp", "models", "help")
"""The first word that is not an option, when it is one of these, is a subcommand."""

OPTIONS_WITH_VALUE = frozenset(
    {"-C", "--cwd", "-m", "--model", "--approval", "--mcp-config", "--output-format"}
)
ENDING_OPTIONS = frozenset({"-h", "--help", "--version", "-p", "--print"})
"""With one of these the shell does not open."""


def find_subcommand(arguments: list[str]) -> int | None:
    """Where the subcommand stands in `arguments`, if there is one."""
    is_value = False
    for index, word in enumerate(arguments):
        if is_value:
            is_value = False
        elif word == "--":
            return None
        elif word in OPTIONS_WITH_VALUE:
            is_value = True
        elif not word.startswith("-") or word == "-":
            return index if word in SUBCOMMANDS else None
    return None


def opens_the_shell(arguments: list[str]) -> bool:
    """Whether these arguments, if they are valid, open the interactive shell."""
    if find_subcommand(arguments) is not None:
        return False
    is_value = False
    for word in arguments:
        if is_value:
            is_value = False
        elif word == "--":
            return True
        elif word in OPTIONS_WITH_VALUE:
            is_value = True
        elif word in ENDING_OPTIONS:
            return False
    return True
