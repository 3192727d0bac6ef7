"""What argv asks for, seen at a glance: before any parser, and without an import."""

SUBCOMMANDS = ("mcp", "models", "help")
"""The first word that is not an option, when it is one of these, is a subcommand."""
RESERVED_WORDS = ("serve", "sessions", "config", "doctor", "completion")
"""What will be subcommands: no first turn as a single word."""

OPTIONS_WITH_VALUE = frozenset(
    {"-C", "--cwd", "-m", "--model", "--approval", "--mcp-config", "--output-format"}
)
ENDING_OPTIONS = frozenset({"-h", "--help", "--version", "-p", "--print"})
"""With one of these the shell does not open."""


def find_subcommand(arguments: list[str]) -> int | None:
    """Where the subcommand stands in `arguments`, if there is one."""
    index = _first_word(arguments)
    return index if index is not None and arguments[index] in SUBCOMMANDS else None


def reserved_word(arguments: list[str]) -> str | None:
    """The first word, if it names a subcommand that does not exist yet and no prompt is announced.

    Whoever types it wants that subcommand, not a model that is told "doctor".
    """
    index = _first_word(arguments)
    if index is None or arguments[index] not in RESERVED_WORDS:
        return None
    return None if {"-p", "--print"}.intersection(arguments) else arguments[index]


def _first_word(arguments: list[str]) -> int | None:
    """Where the first word is that is neither an option nor the value of one."""
    is_value = False
    for index, word in enumerate(arguments):
        if is_value:
            is_value = False
        elif word == "--":
            return None
        elif word in OPTIONS_WITH_VALUE:
            is_value = True
        elif not word.startswith("-") or word == "-":
            return index
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
