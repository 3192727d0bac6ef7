"""agent-shell mcp …: the parser of its subcommands, and the way to who runs them.

Only argparse is needed to import this file; the rest comes with the subcommand that is run.
"""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import (
        ArgumentParser,
        Namespace,
        _SubParsersAction,  # pyright: ignore[reportPrivateUsage]
    )

    from agent_shell.cli.arguments import CLIOptions

ADD_HELP = """\
usage: agent-shell mcp add NAME [--scope user|project] [-e K=V]… -- COMMAND ARGS…
       agent-shell mcp add NAME [--scope user|project] --url URL [--transport http|sse|ws]
                           [-H 'K: V']…

Write a server into your mcp.json, or with --scope project into the project's .mcp.json.

  -e, --env K=V        a variable the program gets; ${VAR} is put in when it starts
  -H, --header 'K: V'  a header of every request
  --url URL            an address instead of a command
  --transport KIND     http (the default), sse or ws
  --scope WHOSE        user (the default) or project
"""


CALL_HELP = """\
usage: agent-shell mcp call NAME TOOL [JSON | KEY=VALUE…] [--json] [--trust-project]

Call a tool and print its result. Values are read as the tool's schema says; KEY:=JSON says any
value; a key with an array may be repeated.

  --json           the whole result, as the server sent it
  --trust-project  start the project's server without having been asked
"""

HELP = {"add": ADD_HELP, "call": CALL_HELP}
"""Of the commands whose words argparse does not read."""


def add_mcp_parser(subparsers: "_SubParsersAction[ArgumentParser]") -> None:
    """Give the program's parser `mcp` and its subcommands."""
    prog = "agent-shell mcp"
    mcp = subparsers.add_parser(
        "mcp", prog=prog, help="MCP servers: list, check, call, add, remove"
    )
    commands = mcp.add_subparsers(
        dest="mcp_command", required=True, metavar="COMMAND", prog=prog, title="commands"
    )

    def command(
        name: str, summary: str, *, json: bool = True, server: str | None = None
    ) -> "ArgumentParser":
        parser = commands.add_parser(name, help=summary, description=f"{summary}.")
        if server is not None:
            parser.add_argument("name", metavar="NAME", nargs=server or None)
        if json:
            parser.add_argument("--json", action="store_true", help="as JSON")
        _add_source_options(parser)
        return parser

    def words(name: str, summary: str) -> None:
        # All words go to the command, unread: for argparse everything with a dash would be an
        # option of ours, and options between the words would end them.
        parser = commands.add_parser(name, help=summary, prefix_chars="\0", add_help=False)
        parser.add_argument("words", nargs="...")

    command("list", "every server the files define; nothing is started")
    command("status", "connect to every usable server and say how it went")
    command("get", "what is known of one server, secrets hidden", server="")
    command("tools", "the tools of one server or of all", server="?")
    words("call", "call a tool and print its result")
    command("resources", "what servers offer to be read", server="?")
    command("read", "print a resource", server="").add_argument("uri", metavar="URI")
    command("prompts", "the prompts servers offer", server="?")
    command("test", "check servers step by step, each on a connection of its own", server="?")
    command("logs", "a server's log: its standard error and errors of the wire", server="")
    words("add", "add a server to your file, or the project's")
    add_json = command("add-json", "add a server, its entry given as JSON", json=False, server="")
    add_json.add_argument("entry", metavar="JSON")
    _add_scope(add_json, "whose file to write (default: user)", "user")
    remove = command("remove", "take a server out of its file", json=False, server="")
    _add_scope(remove, "from whose file (default: the one that counts)", None)
    command("enable", "turn a server on for you", json=False, server="")
    command("disable", "turn a server off for you", json=False, server="")


def run_mcp_command(namespace: "Namespace", options: "CLIOptions") -> int:
    """Run the subcommand that was parsed; returns the exit status. Raises AgentShellError."""
    if namespace.mcp_command in HELP and _asks_for_help(namespace.words):
        sys.stdout.write(HELP[namespace.mcp_command])
        return 0
    if namespace.mcp_command == "call":
        options = _read_call(namespace, options)
    import anyio  # noqa: PLC0415 - see the top of this file

    from agent_shell.cli.mcp_commands import run_command  # noqa: PLC0415 - see above

    return anyio.run(run_command, namespace, options)


def _asks_for_help(words: list[str]) -> bool:
    own = words[: words.index("--")] if "--" in words else words
    return "-h" in own or "--help" in own


def _read_call(namespace: "Namespace", options: "CLIOptions") -> "CLIOptions":
    """Name, tool and arguments out of the words. Raises UsageError."""
    from dataclasses import replace  # noqa: PLC0415 - see the top of this file

    from agent_shell.errors import UsageError  # noqa: PLC0415 - see the top of this file

    words: list[str] = namespace.words
    end = words.index("--") if "--" in words else len(words)
    own, literal = words[:end], words[end + 1 :]
    namespace.json = "--json" in own
    rest = [word for word in own if word not in ("--json", "--trust-project")]
    unknown = next((word for word in rest if word.startswith("-")), None)
    rest += literal
    if unknown is not None or len(rest) < 2:
        what = f'unknown option "{unknown}"' if unknown else "a server and a tool are needed"
        raise UsageError(what, hint="agent-shell mcp call --help")
    namespace.name, namespace.tool, *namespace.arguments = rest
    return replace(options, trust_project=options.trust_project or "--trust-project" in own)


def _add_source_options(parser: "ArgumentParser") -> None:
    """The options of where servers come from may stand behind the subcommand too."""
    from argparse import SUPPRESS  # noqa: PLC0415 - see the top of this file

    # Left out they must not undo what was said in front of the subcommand: hence no defaults.
    add = parser.add_argument
    add("-C", "--cwd", metavar="DIR", default=SUPPRESS, help="the project folder")
    add(
        "--mcp-config",
        metavar="FILE",
        action="append",
        default=SUPPRESS,
        help="one more file of servers, before all others; repeatable",
    )
    for name, text in (
        ("--strict-mcp-config", "use only the --mcp-config files"),
        ("--no-project-mcp", "leave the project's own servers out"),
        ("--trust-project", "start the project's servers unasked"),
    ):
        add(name, action="store_true", default=SUPPRESS, help=text)


def _add_scope(parser: "ArgumentParser", text: str, default: str | None) -> None:
    parser.add_argument("--scope", choices=("user", "project"), default=default, help=text)
