"""The subcommands: their parsers, and who runs them."""

import os
import sys
from argparse import Namespace
from typing import TYPE_CHECKING, Any, cast

from agent_shell.cli.arguments import CLIOptions
from agent_shell.cli.argv_glance import SUBCOMMANDS
from agent_shell.cli.mcp import add_mcp_parser, run_mcp_command
from agent_shell.cli.parser import USAGE, Parser, add_common_options, print_help
from agent_shell.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, _SubParsersAction  # pyright: ignore[reportPrivateUsage]


def subcommand_parser() -> "ArgumentParser":
    """The parser for a command line that names a subcommand."""
    parser = Parser(prog="agent-shell", usage=USAGE)
    add_common_options(parser)
    subparsers: _SubParsersAction[ArgumentParser] = cast(
        "Any", parser.add_subparsers(dest="command", required=True, prog="agent-shell")
    )
    add_mcp_parser(subparsers)
    models = subparsers.add_parser("models", help="list the models that can be used now")
    models.add_argument("--json", action="store_true", help="as JSON")
    topics = subparsers.add_parser("help", help="help on the program or on a subcommand")
    topics.add_argument("topic", nargs="?", metavar="TOPIC")
    return parser


def run_subcommand(options: CLIOptions) -> int:
    """Run the subcommand that was parsed; returns the exit status."""
    namespace = options.command or Namespace(command="help", topic=None)
    match namespace.command:
        case "mcp":
            return run_mcp_command(namespace, options)
        case "models":
            return _run_models(namespace, options)
        case _:
            _help(namespace.topic)
            return 0


def _help(topic: str | None) -> None:
    if topic is None:
        print_help()
        return
    if topic not in SUBCOMMANDS:
        raise UsageError(f'no help on "{topic}"', hint="agent-shell help lists the subcommands")
    try:
        subcommand_parser().parse_args([topic, "--help"])
    except SystemExit:
        return  # argparse has printed it and wants to leave


def _run_models(namespace: Namespace, options: CLIOptions) -> int:
    # Settings, the event loop and the model services are needed by this answer only.
    import anyio  # noqa: PLC0415

    from agent_shell.cli.json_text import json_text  # noqa: PLC0415
    from agent_shell.cli.standard_streams import write_diagnostic  # noqa: PLC0415
    from agent_shell.errors import LLMError  # noqa: PLC0415
    from agent_shell.llm.create import HOW_TO_GET_A_MODEL, list_models  # noqa: PLC0415
    from agent_shell.logs import printable_line  # noqa: PLC0415
    from agent_shell.paths import app_paths  # noqa: PLC0415
    from agent_shell.settings.load import load_settings  # noqa: PLC0415

    loaded = load_settings(
        paths=app_paths(os.environ),
        cwd=options.cwd,
        environ=os.environ,
        overrides={"model": options.model},
    )
    for problem in loaded.problems:
        write_diagnostic(f"error: {printable_line(problem.message)}\n")
    found = anyio.run(list_models, loaded.settings, dict(os.environ))
    if namespace.json:
        rows = [
            {
                "service": service.service,
                "base_url": service.base_url,
                "models": [f"{service.service}/{model.id}" for model in service.models],
                "error": service.error,
            }
            for service in found
        ]
        sys.stdout.write(json_text({"services": rows}, indent=2) + "\n")
        return 0
    for service in found:
        if service.error is not None:
            write_diagnostic(f"error: {service.service}: {printable_line(service.error)}\n")
            if service.hint:
                write_diagnostic(f"hint: {printable_line(service.hint)}\n")
        for model in service.models:
            sys.stdout.write(printable_line(f"{service.service}/{model.id}") + "\n")
    if not any(service.models for service in found):
        raise LLMError("there is no model to talk to", hint=HOW_TO_GET_A_MODEL)
    return 0
