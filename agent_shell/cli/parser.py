"""The words of the command line: options, their help, and how a mistake is said.

Imports little, since `--help` is to answer quickly.
"""

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter

from agent_shell.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

USAGE = "agent-shell [OPTIONS] [PROMPT]\n       agent-shell [OPTIONS] mcp|models|help …"
EPILOG = """\
subcommands:
  mcp COMMAND           MCP servers: agent-shell mcp --help
  models                the models that can be used now
  help [TOPIC]          this text, or the help of a subcommand

In the shell, /help lists the commands.
"""


class Parser(ArgumentParser):
    """argparse, with our way of saying what is wrong."""

    def __init__(self, **options: object) -> None:
        options.setdefault("formatter_class", RawDescriptionHelpFormatter)
        options["allow_abbrev"] = False
        super().__init__(**options)  # pyright: ignore[reportArgumentType]

    def error(self, message: str) -> "NoReturn":
        """Raise UsageError instead of printing and leaving."""
        raise UsageError(message, hint=f"{self.prog} --help lists what can be said")


def print_help() -> None:
    """Write the main help to standard output."""
    sys.stdout.write(shell_parser().format_help())


def shell_parser() -> ArgumentParser:
    """The parser of everything that is no subcommand."""
    parser = Parser(
        prog="agent-shell",
        usage=USAGE,
        description="A coding agent for the terminal whose MCP servers just work.",
        epilog=EPILOG,
    )
    parser.add_argument("prompt", nargs="?", metavar="PROMPT", help="the first turn")
    add_common_options(parser)
    parser.add_argument(
        "-p",
        "--print",
        dest="print_mode",
        action="store_true",
        help="run PROMPT (or standard input) to its end, print the answer, exit",
    )
    parser.add_argument(
        "--output-format",
        choices=("text", "json", "stream-json"),
        default="text",
        help="with -p: what is printed",
    )
    return parser


def add_common_options(parser: ArgumentParser) -> None:
    """The options that the shell and the subcommands share."""
    from agent_shell import __version__  # noqa: PLC0415 - keeps this module's import cheap

    add = parser.add_argument
    add("-C", "--cwd", metavar="DIR", help="the project folder (default: the current one)")
    add("-m", "--model", metavar="PROVIDER/MODEL", help="the model; see: agent-shell models")
    add(
        "--approval",
        choices=("ask", "edits", "all"),
        help="calls that run without a question: read-only ones, edits too, everything",
    )
    add("--no-mcp", action="store_true", help="no MCP servers: nothing read, nothing started")
    add("--no-project-mcp", action="store_true", help="leave the project's own servers out")
    add(
        "--mcp-config",
        metavar="FILE",
        action="append",
        default=[],
        help="one more file of servers, before all others; repeatable",
    )
    add("--strict-mcp-config", action="store_true", help="use only the --mcp-config files")
    add("--trust-project", action="store_true", help="start the project's servers unasked")
    add("--debug", action="store_true", help="write a debug log to the log file")
    add("--version", action="version", version=f"agent-shell {__version__}")
