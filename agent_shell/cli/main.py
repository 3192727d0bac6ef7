"""argv to a face.

Nothing is imported here that the quickest answers do not need: `--version` answers with this file
alone, and the interactive shell paints its prompt line before it imports anything heavy.
"""

import os
import sys

from agent_shell.cli.argv_glance import opens_the_shell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_shell.cli.arguments import CLIOptions

USAGE_EXIT = 2


def main(argv: list[str] | None = None) -> int:
    """Run the program; returns its exit status (CONTRACT section 1)."""
    arguments = sys.argv[1:] if argv is None else argv
    try:
        status = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our output has what it wanted. Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status


def _run(arguments: list[str]) -> int:
    if arguments == ["--version"]:
        from agent_shell import __version__  # noqa: PLC0415 - only this answer needs it

        sys.stdout.write(f"agent-shell {__version__}\n")
        return 0
    if arguments in (["--help"], ["-h"]):
        from agent_shell.cli.parser import print_help  # noqa: PLC0415 - only this answer needs it

        print_help()
        return 0
    if opens_the_shell(arguments) and os.isatty(0) and os.isatty(1):
        return _open_shell(arguments)
    return _run_without_screen(arguments)


def _open_shell(arguments: list[str]) -> int:
    # Collecting garbage while modules load costs time and finds none; the shell turns it on again.
    import gc  # noqa: PLC0415 - see the top of this file

    gc.disable()
    from agent_shell.cli.first_paint import FirstPaint  # noqa: PLC0415 - see the top of this file

    painted = FirstPaint()
    try:
        painted.paint()
        from agent_shell.cli.read_argv import parse_arguments  # noqa: PLC0415 - after the paint
        from agent_shell.errors import AgentShellError  # noqa: PLC0415 - after the paint

        try:
            options = parse_arguments(arguments)
            if options is None:
                return 0
            from agent_shell.repl.repl import run_shell  # noqa: PLC0415 - after the paint

            return run_shell(options.shell_options(), painted)
        except AgentShellError as error:
            painted.restore()
            return _report(error)
    finally:
        painted.restore()


def _run_without_screen(arguments: list[str]) -> int:
    from agent_shell.cli.read_argv import parse_arguments  # noqa: PLC0415 - not for --version
    from agent_shell.errors import AgentShellError  # noqa: PLC0415 - not for --version

    try:
        options = parse_arguments(arguments)
        return 0 if options is None else _run_face(options)
    except AgentShellError as error:
        return _report(error)
    except KeyboardInterrupt:
        return 130


def _run_face(options: "CLIOptions") -> int:
    """The faces that need no screen: subcommands and print mode."""
    from agent_shell.errors import UsageError  # noqa: PLC0415 - not for --version

    if options.command is not None:
        from agent_shell.cli.subcommands import run_subcommand  # noqa: PLC0415 - only this face

        return run_subcommand(options)
    if options.print_mode:
        import anyio  # noqa: PLC0415 - only this face

        from agent_shell.cli.print_mode import run_print_mode  # noqa: PLC0415 - only this face

        return anyio.run(run_print_mode, options)
    raise UsageError(
        "the shell needs a terminal on standard input and output",
        hint='agent-shell -p "PROMPT" runs one prompt without a terminal',
    )


def _report(error: Exception) -> int:
    """One `error:` line, a `hint:` where there is one, and the exit status that fits."""
    from agent_shell.errors import ConfigError, UsageError  # noqa: PLC0415 - only after an error
    from agent_shell.logs import printable  # noqa: PLC0415 - only after an error

    hint = getattr(error, "hint", None)
    sys.stderr.write(f"error: {printable(str(error))}\n")
    if hint:
        sys.stderr.write(f"hint: {printable(str(hint))}\n")
    return USAGE_EXIT if isinstance(error, UsageError | ConfigError) else 1
