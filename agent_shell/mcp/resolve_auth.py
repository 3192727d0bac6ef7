"""`!command` values of env and headers, run just before connecting (CONTRACT section 3)."""

import os
import signal
from collections.abc import Mapping
from dataclasses import replace
from subprocess import DEVNULL, PIPE

import anyio

from agent_shell.discovery.server_config import ServerConfig, StdioServerConfig
from agent_shell.errors import MCPConnectError

COMMAND_TIMEOUT_S = 10
"""The contract's bound for a command whose output is a value."""


class SecretCommands:
    """Runs the commands and remembers their output for the life of the manager."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = dict(environ)
        self._outputs: dict[str, str] = {}

    async def resolve_auth_config(self, config: ServerConfig) -> ServerConfig:
        """The configuration with every `!command` value replaced by that command's output.

        Raises MCPConnectError, which names the field and never shows the value, when a command
        fails or takes more than 10 seconds.
        """
        if isinstance(config, StdioServerConfig):
            return replace(config, env=await self._resolve(config, config.env, "env"))
        return replace(config, headers=await self._resolve(config, config.headers, "headers"))

    def forget(self) -> None:
        """Run the commands afresh next time: a reload may follow a new login."""
        self._outputs.clear()

    async def _resolve(
        self, config: ServerConfig, values: Mapping[str, str], where: str
    ) -> Mapping[str, str]:
        resolved = dict(values)
        for key, value in values.items():
            if value.startswith("!") and key not in config.literal_values:
                command = value[1:].strip()
                resolved[key] = await self._output(command, config.name, f"{where}.{key}")
        return resolved

    async def _output(self, command: str, server: str, field: str) -> str:
        if command not in self._outputs:
            self._outputs[command] = await self._run(command, server, field)
        return self._outputs[command]

    async def _run(self, command: str, server: str, field: str) -> str:
        output = b""
        status: int | None = None
        async with await anyio.open_process(
            ["/bin/sh", "-c", command],
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=DEVNULL,
            env=self._environ,
            start_new_session=True,
        ) as process:
            assert process.stdout is not None
            try:
                with anyio.move_on_after(COMMAND_TIMEOUT_S):
                    async for piece in process.stdout:
                        output += piece
                    status = await process.wait()
            finally:
                if status is None:
                    # The shell may have children of its own: end the whole group.
                    os.killpg(process.pid, signal.SIGKILL)
        if status is None:
            raise MCPConnectError(
                f"the command in {field} took longer than {COMMAND_TIMEOUT_S} s",
                server=server,
                stage="config",
            )
        if status != 0:
            raise MCPConnectError(
                f"the command in {field} failed with exit status {status}",
                server=server,
                stage="config",
            )
        return output.decode("utf-8", "replace").strip()
