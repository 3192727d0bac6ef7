"""Why a server's program could not be started, and what to do about it."""

import errno
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from agent_shell.discovery.server_config import StdioServerConfig
from agent_shell.errors import MCPConnectError
from agent_shell.logs import printable

INSTALL_HINTS = {
    "npx": "install Node.js, which brings npx",
    "npm": "install Node.js, which brings npm",
    "node": "install Node.js",
    "bunx": "install Bun",
    "uvx": "install uv, which brings uvx",
    "uv": "install uv",
    "docker": "install Docker",
}


def spawn_error(
    config: StdioServerConfig, error: Exception, cwd: str | None, env: Mapping[str, str]
) -> MCPConnectError:
    """The one line that says what to do about it."""
    command = printable(config.command)
    if cwd is not None and not Path(cwd).is_dir():
        return MCPConnectError(
            f"its working folder does not exist: {printable(cwd)}", hint='check "cwd" in its entry'
        )
    if isinstance(error, FileNotFoundError):
        if shutil.which(config.command, path=env.get("PATH", os.defpath)):
            return MCPConnectError(
                f"cannot run {command}: the interpreter its first line names does not exist"
            )
        hint = INSTALL_HINTS.get(config.command, 'check "command" in its entry, and PATH')
        return MCPConnectError(f"command not found: {command}", hint=hint)
    if isinstance(error, PermissionError):
        return MCPConnectError(f"not executable: {command}", hint=f"try: chmod +x {command}")
    if isinstance(error, OSError) and error.errno == errno.ENOEXEC:
        return MCPConnectError(
            f"not a program: {command}", hint="a script needs a first line such as #!/bin/sh"
        )
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return MCPConnectError(f"cannot run {command}: {reason}")
