"""One server, step by step on a connection of its own, and why a step failed."""

import shutil
from collections.abc import AsyncGenerator
from dataclasses import dataclass

import anyio

from agent_shell.discovery.discovered import DiscoveredServer
from agent_shell.discovery.server_config import ServerConfig, StdioServerConfig
from agent_shell.errors import MCPError
from agent_shell.mcp.client import connect_to_server
from agent_shell.mcp.config import load_all_mcp_configs, validate_server_config
from agent_shell.mcp.manager import MCPManager
from agent_shell.mcp.server_task import wanted_tools


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckStep:
    """One step's outcome; `duration_ms` is None for steps that take no time of the server."""

    name: str
    ok: bool
    detail: str
    duration_ms: float | None = None
    hint: str | None = None


async def check_server(manager: MCPManager, name: str) -> AsyncGenerator[CheckStep]:
    """Find, trust, look up, connect, list: yields each step as it ends, and stops at a failure.

    The live connection, if any, is not touched (CONTRACT section 6, `/mcp test`).
    """
    found = (await load_all_mcp_configs(manager.options)).discovery.find(name)
    if found is None:
        yield CheckStep(name="found", ok=False, detail=f'no server "{name}"')
        return
    if found.config is None:
        yield CheckStep(name="found", ok=False, detail=found.error or "unusable", hint=found.hint)
        return
    yield CheckStep(name="found", ok=True, detail=f"{found.shown_path}:{found.line or 1}")
    blocked = _blocked_by(found)
    if blocked is not None:
        yield blocked
        return
    yield CheckStep(name="trusted", ok=True, detail=f"{found.source.level} file")
    problem = validate_server_config(found.config)
    if problem is not None:
        yield CheckStep(name="configuration", ok=False, detail=problem)
        return
    if isinstance(found.config, StdioServerConfig):
        step = _look_up_command(manager, found.config)
        yield step
        if not step.ok:
            return
    for step in await _connect_and_list(manager, found.config):
        yield step


def _blocked_by(found: DiscoveredServer) -> CheckStep | None:
    match found.reason:
        case None:
            return None
        case "untrusted":
            hint = f"/mcp trust {found.name}, or --trust-project for one run"
            return CheckStep(name="trusted", ok=False, detail="not agreed to yet", hint=hint)
        case "disabled":
            hint = f"/mcp enable {found.name}"
            return CheckStep(name="enabled", ok=False, detail="disabled", hint=hint)
        case reason:
            return CheckStep(name="usable", ok=False, detail=found.error or reason)


def _look_up_command(manager: MCPManager, config: StdioServerConfig) -> CheckStep:
    path = config.env.get("PATH") or manager.options.environ.get("PATH")
    where = shutil.which(config.command, path=path)
    if where is None and "/" not in config.command:
        return CheckStep(
            name="command",
            ok=False,
            detail=f"command not found: {config.command}",
            hint="install it, or give its whole path",
        )
    return CheckStep(name="command", ok=True, detail=where or config.command)


async def _connect_and_list(manager: MCPManager, config: ServerConfig) -> list[CheckStep]:
    steps: list[CheckStep] = []
    began = anyio.current_time()
    try:
        resolved = await manager.resolve_auth_config(config)
        options = manager.client_options(config.name)
        async with connect_to_server(
            resolved, options, timeout_s=manager.timeout_s(config)
        ) as connection:
            handshake = connection.initialize_result
            steps += [
                CheckStep(name=step, ok=True, detail="", duration_ms=connection.timings_ms[step])
                for step in ("spawn", "connect")
                if step in connection.timings_ms
            ]
            server = f"{handshake.server_info.name} {handshake.server_info.version}".strip()
            steps.append(
                CheckStep(
                    name="initialize",
                    ok=True,
                    detail=f"{server}, protocol {handshake.protocol_version}",
                    duration_ms=connection.timings_ms.get("initialize"),
                )
            )
            tools = wanted_tools(config, await connection.list_tools())
            steps.append(
                CheckStep(
                    name="list tools",
                    ok=True,
                    detail=f"{len(tools)} tools",
                    duration_ms=connection.timings_ms.get("list_tools"),
                )
            )
    except MCPError as error:
        steps.append(
            CheckStep(
                name=error.stage or "connect",
                ok=False,
                detail=error.message,
                duration_ms=(anyio.current_time() - began) * 1000,
                hint=error.hint,
            )
        )
    return steps
