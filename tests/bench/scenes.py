"""What the measured program finds when it starts: its folders, its servers, its model."""

import json
import os
import socket
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from agent_shell.json_types import JSONObject

PROJECT = Path(__file__).parents[2]
FAKE_SERVER = PROJECT / "tests" / "fakes" / "stdio_server.py"
SHELL = str(Path(sys.executable).parent / "agent-shell")
"""The program as a user starts it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A home, a project folder, and the environment that leads to them."""

    home: Path
    project: Path
    environ: Mapping[str, str]


def scene(folder: Path, servers: JSONObject, **environ: str) -> Scene:
    """A fresh home whose user file defines these servers."""
    home, project = folder / "home", folder / "project"
    (home / "config").mkdir(parents=True)
    project.mkdir()
    (home / "config" / "mcp.json").write_text(json.dumps({"mcpServers": servers}), "utf-8")
    return Scene(
        home=home,
        project=project,
        environ={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "AGENT_SHELL_HOME": str(home),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            **environ,
        },
    )


def fake_server(*options: str) -> JSONObject:
    """An entry for the quickest server there is: Python without site packages."""
    return {"command": sys.executable, "args": ["-S", "-E", str(FAKE_SERVER), *options]}


def switchable_server(switch: Path) -> JSONObject:
    """An entry that behaves as the file `switch` says at its start; the entry stays the same."""
    line = f'exec "$0" -S -E "$1" --behave "$(cat "{switch}")"'
    return {"command": "sh", "args": ["-c", line, sys.executable, str(FAKE_SERVER)]}


def twenty_servers(silent_url: str) -> JSONObject:
    """Ten good ones, five dead ones and five that accept and never answer."""
    servers: dict[str, JSONObject] = {}
    for number in range(10):
        servers[f"good{number}"] = fake_server("--name", f"good{number}")
    for number in range(5):
        servers[f"dead{number}"] = {"command": f"/nonexistent/server{number}"}
    for number in range(3):
        servers[f"hanging{number}"] = {"type": "http", "url": f"{silent_url}/{number}"}
    for number in range(3, 5):
        servers[f"hanging{number}"] = fake_server("--behave", "silent")
    return servers


@contextmanager
def silent_listener() -> Generator[str]:
    """A URL whose server accepts every connection, reads it and never answers."""
    kept: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    kept.append(listener.accept()[0])

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            thread.join(timeout=5)
            for connection in kept:
                connection.close()
