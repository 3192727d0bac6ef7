"""Make an environment for each peer in an ignored folder, once, and keep it for the next run."""

import fcntl
import json
import shutil
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.peers.versions import PEERS, PeerPackages

PROJECT = Path(__file__).parents[2]
FOLDER = PROJECT / ".cache" / "peers"

INSTALL_LIMIT_S = 300
"""One environment on a slow line; a registry that hangs must not hang the run."""

_UNREACHABLE = (
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ECONNRESET",
    "ENETUNREACH",
    "ENOTFOUND",
    "ETIMEDOUT",
    "Failed to establish a new connection",
    "Max retries exceeded",
    "Name or service not known",
    "NewConnectionError",
    "Network is unreachable",
    "Read timed out",
    "network timeout",
)
"""What pip and npm say when their registry can't be reached, and only then."""


class PeerUnavailableError(Exception):
    """The environment can't be made here: no registry, or no program to ask it with."""


def peer_environment(name: str, environ: Mapping[str, str]) -> Path:
    """The folder of this peer's environment, made if it is missing or of other versions.

    Blocks. `environ` is what pip and npm run with. Raises PeerUnavailableError.
    """
    peer = PEERS[name]
    folder = FOLDER / name
    marker = folder / "made.json"
    wanted = json.dumps(
        {"packages": peer.packages, "python": sys.version if peer.registry == "pypi" else None}
    )
    with _locked(FOLDER / f"{name}.lock"):
        if not marker.exists() or marker.read_text("utf-8") != wanted:
            shutil.rmtree(folder, ignore_errors=True)
            _make(peer, folder, environ)
            marker.write_text(wanted, "utf-8")
    return folder


@contextmanager
def _locked(file: Path) -> Generator[None]:
    """One maker at a time; a lock dies with its process."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _make(peer: PeerPackages, folder: Path, environ: Mapping[str, str]) -> None:
    # The project's own pins are none of the peers' business.
    clean = {name: value for name, value in environ.items() if name != "PIP_CONSTRAINT"}
    if peer.registry == "pypi":
        _run([sys.executable, "-m", "venv", str(folder)], clean)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--retries", "1"]
        _run([*pip, *peer.packages], clean)
    else:
        npm = shutil.which("npm", path=clean.get("PATH"))
        if npm is None:
            raise PeerUnavailableError("npm is not installed")
        folder.mkdir(parents=True)
        options = ["--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"]
        retry = ["--fetch-retries", "1"]
        prefix = ["--prefix", str(folder)]
        _run([npm, "install", *prefix, *options, *retry, *peer.packages], clean)


def _run(command: list[str], environ: Mapping[str, str]) -> None:
    try:
        done = subprocess.run(
            command,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=INSTALL_LIMIT_S,
            check=False,
            encoding="utf-8",
            errors="replace",
        )
    except subprocess.TimeoutExpired as error:
        raise PeerUnavailableError(f"no end after {INSTALL_LIMIT_S} s: {command}") from error
    if done.returncode == 0:
        return
    if any(words in done.stdout for words in _UNREACHABLE):
        last = done.stdout.strip().splitlines()[-1]
        raise PeerUnavailableError(f"the registry can't be reached: {last}")
    raise RuntimeError(f"{command} failed:\n{done.stdout[-4000:]}")
