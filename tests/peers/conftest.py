"""`peer("everything", "sse")` defines a server nobody here wrote, ready to be reached."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeAlias

import pytest

from agent_shell.discovery.server_config import (
    HttpServerConfig,
    ServerConfig,
    SseServerConfig,
    StdioServerConfig,
    WebSocketServerConfig,
)
from agent_shell.logs import ServerLog
from agent_shell.mcp.client import ClientOptions
from agent_shell.mcp.transports.process_group import ProcessGuardian
from tests.peers.environments import FOLDER, PeerUnavailableError, peer_environment

SERVERS = Path(__file__).parent / "servers"
NODE_ENTRY = "node_modules/@modelcontextprotocol/server-{}/dist/index.js"

START_LIMIT_S = 60
"""A cold node or Python on two busy cores."""

ConnectOptions: TypeAlias = Callable[[], ClientOptions]


class PeerFactory(Protocol):
    """How the `peer` fixture is called."""

    def __call__(
        self,
        name: str,
        transport: str = "stdio",
        *arguments: str,
        env: Mapping[str, str] | None = None,
        path: str | None = None,
    ) -> ServerConfig:
        """`arguments` and `env` count for stdio, `path` replaces a URL's own."""
        ...


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder carries the mark `peers`."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.peers)


@pytest.fixture(scope="session")
def peer(real_environ: Mapping[str, str]) -> Generator[PeerFactory]:
    """Hand out definitions; one process serves a peer's URL to all tests of the run."""
    urls: dict[tuple[str, str], str] = {}
    processes: list[subprocess.Popen[bytes]] = []

    def make(
        name: str,
        transport: str = "stdio",
        *arguments: str,
        env: Mapping[str, str] | None = None,
        path: str | None = None,
    ) -> ServerConfig:
        command = _command(name, transport, real_environ)
        if transport == "stdio":
            return StdioServerConfig(name=name, command=command[0], args=(*command[1:], *arguments))
        if (name, transport) not in urls:
            port = _free_port()
            processes.append(_start(name, transport, command, port))
            urls[name, transport] = _url(transport, port)
        url = urls[name, transport]
        if path is not None:
            url = url.rpartition("/")[0] + path
        if transport == "sse":
            return SseServerConfig(name=name, url=url)
        if transport == "ws":
            return WebSocketServerConfig(name=name, url=url)
        return HttpServerConfig(name=name, url=url)

    try:
        yield make
    finally:
        for process in processes:
            os.killpg(process.pid, signal.SIGKILL)
        for process in processes:
            process.wait(timeout=10)


@pytest.fixture
async def connect_options(tmp_path: Path) -> AsyncGenerator[ConnectOptions]:
    """What `connect_to_server` wants besides the definition."""
    guardian = ProcessGuardian()
    log = ServerLog(tmp_path / "server.log")
    yield lambda: ClientOptions(
        server_log=log,
        roots=(tmp_path,),
        guardian=guardian,
        environ=dict(os.environ),
        on_tools_changed=lambda: None,
    )
    log.close()
    guardian.close()


def _command(name: str, transport: str, real_environ: Mapping[str, str]) -> list[str]:
    try:
        folder = peer_environment(name, real_environ)
    except PeerUnavailableError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))
    if name in {"everything", "filesystem", "memory"}:
        node = shutil.which("node")
        assert node is not None  # npm, which made the environment, runs on it
        command = [node, str(folder / NODE_ENTRY.format(name))]
        modes = {"stdio": "stdio", "http": "streamableHttp", "sse": "sse"}
        return [*command, modes[transport]] if name == "everything" else command
    if name in {"time", "git", "fetch"}:
        return [str(folder / "bin" / f"mcp-server-{name}")]
    return [str(folder / "bin" / "python"), str(SERVERS / f"{name}_server.py"), transport]


def _start(name: str, transport: str, command: Sequence[str], port: int) -> subprocess.Popen[bytes]:
    """Start an HTTP peer in a group of its own and wait until it accepts connections."""
    by_variable = name == "everything"
    log = FOLDER / f"{name}-{transport}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command if by_variable else [*command, str(port)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, "PORT": str(port)},
        )
    deadline = time.monotonic() + START_LIMIT_S
    while process.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)  # nothing tells us when a foreign server listens
        else:
            return process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=10)
    raise RuntimeError(f"{name} does not serve {transport}:\n{log.read_text(errors='replace')}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _url(transport: str, port: int) -> str:
    if transport == "ws":
        return f"ws://127.0.0.1:{port}/ws"
    return f"http://127.0.0.1:{port}/{'sse' if transport == 'sse' else 'mcp'}"
