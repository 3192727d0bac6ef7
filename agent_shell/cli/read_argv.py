"""argv to CLIOptions, or what is wrong with it.

argparse is imported only when there is something to parse: the plain `agent-shell` has nothing.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agent_shell.cli.arguments import CLIOptions, OutputFormat
from agent_shell.cli.argv_glance import find_subcommand, reserved_word
from agent_shell.errors import ConfigError, UsageError
from agent_shell.paths import app_paths

if TYPE_CHECKING:
    from argparse import Namespace


def parse_arguments(arguments: list[str]) -> CLIOptions | None:
    """argv without the program's name, as options; None when the answer was printed already.

    Makes `--cwd` the current folder, so that everything relative means the project. Raises
    UsageError for what can't be understood, and for a file of --mcp-config that can't be used.
    """
    if not arguments:
        return CLIOptions(cwd=_current_folder())
    word = reserved_word(arguments)
    if word is not None:
        hint = f"agent-shell -- {word} says it to the model; agent-shell --help lists the commands"
        raise UsageError(f'unknown command "{word}"', hint=hint)
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
    if namespace.strict_mcp_config and not files:
        raise UsageError("--strict-mcp-config needs --mcp-config FILE")
    if namespace.cwd is not None:
        try:
            os.chdir(Path(namespace.cwd).expanduser())
        except OSError as error:
            raise UsageError(f"--cwd {namespace.cwd}: {error.strerror}") from error
    if files and not namespace.no_mcp:
        _check_named_files(files)
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


def _check_named_files(files: tuple[Path, ...]) -> None:
    """Whatever the face is: a run that can't use what it was told to use does not begin."""
    # Reading files of servers is needed for this option only.
    from agent_shell.discovery.discover import check_named_file  # noqa: PLC0415

    for file in files:
        if not file.exists():
            raise UsageError(f"--mcp-config: no such file: {file}")
        try:
            check_named_file(file, _current_folder(), app_paths(os.environ))
        except ConfigError as error:
            raise UsageError(error.message, hint=error.hint) from error


def _current_folder() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        raise UsageError(
            f"the current folder can't be used: {error.strerror}", hint="cd to one that exists"
        ) from error
