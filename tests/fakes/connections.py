"""What tests of one connection share: options, and entries that start the fake stdio server."""

import os
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

import anyio

from agent_shell.discovery.server_config import StdioServerConfig
from agent_shell.logs import ServerLog
from agent_shell.mcp.client import ClientOptions
from agent_shell.mcp.transports.process_group import ProcessGuardian
from agent_shell.mcp.transports.redact import Redactor
from agent_shell.mcp.transports.wire_log import WireLog

STDIO_SERVER = Path(__file__).parent / "stdio_server.py"


def stdio_config(
    *options: str, name: str = "fake", env: Mapping[str, str] | None = None
) -> StdioServerConfig:
    """An entry that starts the fake server with these options."""
    return StdioServerConfig(
        name=name,
        command=sys.executable,
        args=("-S", "-E", str(STDIO_SERVER), *options),
        env=env or {},
    )


def shell_config(script: str) -> StdioServerConfig:
    """An entry that runs a shell script."""
    return StdioServerConfig(name="fake", command="sh", args=("-c", script))


def nothing() -> None:
    """Nobody wants to know."""


@contextmanager
def client_options(
    folder: Path,
    *,
    roots: tuple[Path, ...] = (),
    on_tools_changed: Callable[[], None] = nothing,
    guardian: ProcessGuardian | None = None,
) -> Generator[ClientOptions]:
    """Options with a log in `folder` and a guardian of their own, closed at the end."""
    server_log = ServerLog(folder / "server.log")
    own_guardian = guardian or ProcessGuardian()
    try:
        yield ClientOptions(
            server_log=server_log,
            roots=roots,
            guardian=own_guardian,
            environ=dict(os.environ),
            on_tools_changed=on_tools_changed,
        )
    finally:
        server_log.close()
        own_guardian.close()


@contextmanager
def wire_log(folder: Path) -> Generator[WireLog]:
    """A log for a transport on its own."""
    server_log = ServerLog(folder / "server.log")
    try:
        yield WireLog(server_log, Redactor(()))
    finally:
        server_log.close()


def log_of(folder: Path) -> str:
    """What has been written into the server's log."""
    path = folder / "server.log"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def is_alive(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


async def until_file(path: Path) -> str:
    """A file's text, as soon as another process has written it. Nothing tells us, so we look."""
    while not path.exists() or not path.read_text(encoding="utf-8"):  # noqa: ASYNC110 (as said)
        await anyio.sleep(0.01)
    return path.read_text(encoding="utf-8")


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that nobody tells us, such as a foreign process's end."""
    while not condition():  # noqa: ASYNC110 (as said)
        await anyio.sleep(0.01)
