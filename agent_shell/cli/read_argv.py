"""argv to CLIOptions, or what is wrong with it.

argparse is imported only when there is something to parse: the plain `agent-shell` has nothing.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agent_shell.cli.arguments import CLIOptions, OutputFormat
from agent_shell.cli.argv_glance import find_subcommand
from agent_shell.errors import UsageError

if TYPE_CHECKING:
    from argparse import Namespace


def parse_arguments(arguments: list[str]) -> CLIOptions | None:
    """argv without the program's name, as options; None when the answer was printed already.

    Makes `--cwd` the current folder, so that everything relative means the project. Raises
    UsageError for what can't be understood.
    """
    if not arguments:
        return CLIOptions(cwd=_current_folder())
    if find_subcommand(arguments) is None:
        from agent_shell.cli.parser import shell_parser  # noqa: PLC0415 - see the top

        parser = shell_parser()
    else:
        from agent_shell.cli.subcommands import subcommand_parser  # noqa: PLC0415 - see the top

        parser = subcommand_parser()
    try:
        namespace = parser.parse_args(arguments)
    except SystemExit:
        return None  # --help and --version print and want to leave
    return _options(namespace)


def _options(namespace: "Namespace") -> CLIOptions:
    # Files named on the command line are where the person stands, not where --cwd leads.
    files = tuple(Path(name).expanduser().absolute() for name in namespace.mcp_config)
    for file in files:
        if not file.is_file():
            raise UsageError(f"--mcp-config: no such file: {file}")
    if namespace.strict_mcp_config and not files:
        raise UsageError("--strict-mcp-config needs --mcp-config FILE")
    if namespace.cwd is not None:
        try:
            os.chdir(Path(namespace.cwd).expanduser())
        except OSError as error:
            raise UsageError(f"--cwd {namespace.cwd}: {error.strerror}") from error
    command = namespace if getattr(namespace, "command", None) is not None else None
    return CLIOptions(
        cwd=_current_folder(),
        model=namespace.model,
        approval=namespace.approval,
        no_mcp=namespace.no_mcp,
        no_project_mcp=namespace.no_project_mcp,
        mcp_config=files,
        strict_mcp_config=namespace.strict_mcp_config,
        trust_project=namespace.trust_project,
        print_mode=getattr(namespace, "print_mode", False),
        output_format=cast("OutputFormat", getattr(namespace, "output_format", "text")),
        prompt=getattr(namespace, "prompt", None),
        debug=namespace.debug,
        command=command,
    )


def _current_folder() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        raise UsageError(
            f"the current folder can't be used: {error.strerror}", hint="cd to one that exists"
        ) from error
