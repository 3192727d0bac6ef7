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


def main(argv: list[str] | None = None) -> int:
    """Run the program; returns its exit status (CONTRACT section 1). Raises nothing."""
    arguments = sys.argv[1:] if argv is None else argv
    if None in (sys.stdin, sys.stdout, sys.stderr):
        from agent_shell.cli.standard_streams import (  # noqa: PLC0415 - hardly ever needed
            open_missing_streams,
        )

        open_missing_streams()
    try:
        status = _run(arguments)
        sys.stdout.flush()
    # The outermost place: nobody else is left to tell a person what happened.
    except (Exception, KeyboardInterrupt, BaseExceptionGroup) as error:  # noqa: BLE001
        from agent_shell.cli.last_door import end_status  # noqa: PLC0415 - only after an error

        return end_status(error)
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

        options = parse_arguments(arguments)
        if options is None:
            return 0
        from agent_shell.repl.repl import run_shell  # noqa: PLC0415 - after the paint

        return run_shell(options.shell_options(), painted)
    finally:
        # Before anything is said about an error: it belongs on a terminal as we found it.
        painted.restore()


def _run_without_screen(arguments: list[str]) -> int:
    from agent_shell.cli.read_argv import parse_arguments  # noqa: PLC0415 - not for --version

    options = parse_arguments(arguments)
    return 0 if options is None else _run_face(options)


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
