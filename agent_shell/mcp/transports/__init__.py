"""Bytes in, bytes out: the four transports, and one in memory. Read stdio.py first."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path

import anyio.to_thread

from agent_shell.discovery.server_config import (
    HttpServerConfig,
    ServerConfig,
    SseServerConfig,
    StdioServerConfig,
    WebSocketServerConfig,
)
from agent_shell.mcp.transports.process_group import ProcessGuardian
from agent_shell.mcp.transports.wire_log import WireLog
from agent_shell.mcp_protocol.transport import Transport


@asynccontextmanager
async def open_transport(
    config: ServerConfig,
    *,
    environ: Mapping[str, str],
    default_cwd: Path | None,
    guardian: ProcessGuardian,
    log: WireLog,
    timeout_s: float | None,
) -> AsyncGenerator[Transport]:
    """Start or reach the server; leaving closes, within 3 s.

    `timeout_s` bounds what has to be waited for before the first message (seconds; None: no
    limit). Raises MCPConnectError and MCPTimeoutError.
    """
    match config:
        case StdioServerConfig():
            from agent_shell.mcp.transports.stdio import open_stdio  # noqa: PLC0415 (as below)

            opening = open_stdio(
                config, environ=environ, default_cwd=default_cwd, guardian=guardian, log=log
            )
        case HttpServerConfig():
            await _load("streamable_http")
            from agent_shell.mcp.transports.streamable_http import (  # noqa: PLC0415 (slow)
                open_streamable_http,
            )

            opening = open_streamable_http(config, log=log)
        case SseServerConfig():
            await _load("sse")
            from agent_shell.mcp.transports.sse import open_sse  # noqa: PLC0415 (slow)

            opening = open_sse(config, log=log, timeout_s=timeout_s)
        case WebSocketServerConfig():
            await _load("websocket")
            from agent_shell.mcp.transports.websocket import open_websocket  # noqa: PLC0415 (slow)

            opening = open_websocket(config, log=log, timeout_s=timeout_s)
    async with opening as transport:
        yield transport


async def _load(module: str) -> None:
    """Import a transport in a thread: httpx's two hundred milliseconds must not hold the prompt."""
    await anyio.to_thread.run_sync(import_module, f"{__name__}.{module}")
