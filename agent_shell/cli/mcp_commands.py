"""What every `agent-shell mcp …` needs: files, settings, signals; and the table of commands."""

import os
from argparse import Namespace
from collections.abc import Awaitable, Callable, Mapping

import anyio

from agent_shell.cli.arguments import CLIOptions
from agent_shell.cli.mcp_edit import add, add_json, disable, enable, remove
from agent_shell.cli.mcp_list import get, list_servers, logs
from agent_shell.cli.mcp_place import CommandPlace
from agent_shell.cli.mcp_status import status, test
from agent_shell.cli.mcp_use import call, prompts, read, resources, tools
from agent_shell.cli.say import say
from agent_shell.cli.stop_signals import StopSignals
from agent_shell.discovery.discovered import DiscoveryOptions
from agent_shell.errors import AgentShellError, UsageError
from agent_shell.logs import start_logging
from agent_shell.mcp.transports.process_group import ProcessGuardian
from agent_shell.paths import app_paths
from agent_shell.settings.load import load_settings

COMMANDS: Mapping[str, Callable[[CommandPlace, Namespace], Awaitable[int]]] = {
    "list": list_servers,
    "status": status,
    "get": get,
    "tools": tools,
    "call": call,
    "resources": resources,
    "read": read,
    "prompts": prompts,
    "test": test,
    "logs": logs,
    "add": add,
    "add-json": add_json,
    "remove": remove,
    "enable": enable,
    "disable": disable,
}


async def run_command(namespace: Namespace, options: CLIOptions) -> int:
    """Run one subcommand to its end; returns the exit status. Raises AgentShellError.

    SIGINT, SIGTERM and SIGHUP close every server first; a second signal ends it now.
    """
    place = _place(options)
    stopped = StopSignals()
    exit_status = 0
    failure: AgentShellError | None = None
    async with anyio.create_task_group() as group:
        with anyio.CancelScope() as scope:
            await group.start(stopped.watch, scope, place.guardian.kill_all_now)
            try:
                exit_status = await COMMANDS[namespace.mcp_command](place, namespace)
            except AgentShellError as error:
                # Raised again outside the group, which would wrap it.
                failure = error
        group.cancel_scope.cancel()
    if stopped.exit_status is not None:
        return stopped.exit_status
    if failure is not None:
        raise failure
    return exit_status


def _place(options: CLIOptions) -> CommandPlace:
    if options.no_mcp:
        raise UsageError("MCP is off: --no-mcp", hint="leave --no-mcp out")
    environ = dict(os.environ)
    paths = app_paths(environ)
    start_logging(paths.log_file, debug=options.debug)
    loaded = load_settings(
        paths=paths,
        cwd=options.cwd,
        environ=environ,
        overrides=options.shell_options().setting_overrides(),
    )
    for problem in loaded.problems:
        say(f"warning: {problem.message}", problem.hint)
    return CommandPlace(
        discovery_options=DiscoveryOptions(
            cwd=options.cwd,
            paths=paths,
            environ=environ,
            enable_project_config=loaded.settings.mcp.enable_project_config,
            extra_files=options.mcp_config,
            strict=options.strict_mcp_config,
            trust_project=options.trust_project,
        ),
        settings=loaded.settings,
        guardian=ProcessGuardian(),
    )
