"""One function for each bar of speed: it measures the thing and its floor, alternating."""

import math
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio

from agent_shell.cli.first_paint import PROMPT
from agent_shell.discovery.discovered import DiscoveryOptions
from agent_shell.mcp.manager import MCPManager
from agent_shell.mcp.reload import reload_servers
from agent_shell.paths import app_paths
from agent_shell.settings.settings import MCPSettings
from tests.bench.scenes import (
    PROJECT,
    SHELL,
    Scene,
    fake_server,
    scene,
    silent_listener,
    switchable_server,
    twenty_servers,
)
from tests.bench.terminal_clock import KEY, TimedProgram, seconds_to_exit
from tests.fakes.model_server import ModelServer
from tests.requirements import requirement

GATE_MS = 250
TEN_LINES = [sys.executable, str(PROJECT / "tests" / "bench" / "ten_lines.py")]
NOTHING = [sys.executable, "-c", "pass"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One bar: what was measured, against which limit. `unit` is ms or MB."""

    name: str
    value: float
    floor: float
    limit: float
    unit: str = "ms"

    @property
    def is_kept(self) -> bool:
        """Whether the bar is held."""
        return self.value <= self.limit


@contextmanager
def _folder() -> Generator[Path]:
    with tempfile.TemporaryDirectory(prefix="agent-shell-bench-") as name:
        yield Path(name)


def _alternate(runs: int, *measures: Callable[[], float]) -> list[float]:
    """The median of each, in milliseconds, after one round that only warms up."""
    seconds: list[list[float]] = [[] for _ in measures]
    for round_number in range(runs + 1):
        for measure, found in zip(measures, seconds, strict=True):
            taken = measure()
            if round_number > 0:
                found.append(taken)
    return [statistics.median(found) * 1000 for found in seconds]


def _seconds_to_key(argv: list[str], where: Scene) -> float:
    """From exec until a key that was there from the start is painted by the line editor."""
    with TimedProgram(argv, environ=where.environ, cwd=where.project, keys=KEY) as program:
        return program.seconds_until(KEY)


@requirement("speed:prompt", "speed:prompt-with-servers", "Y7")
def prompt_takes_a_key(runs: int) -> list[Measured]:
    """Exec to a living line editor, alone and with twenty servers."""
    with _folder() as folder, silent_listener() as url:
        bare = scene(folder / "bare", {})
        full = scene(folder / "full", twenty_servers(url))
        floor, alone, with_servers = _alternate(
            runs,
            lambda: _seconds_to_key(TEN_LINES, bare),
            lambda: _seconds_to_key([SHELL], bare),
            lambda: _seconds_to_key([SHELL], full),
        )
    return [
        Measured(
            name="prompt takes a key / ten-line program",
            value=alone,
            floor=floor,
            limit=1.5 * floor,
        ),
        Measured(
            name="prompt takes a key, 20 servers / none",
            value=with_servers,
            floor=alone,
            limit=1.1 * alone,
        ),
    ]


@requirement("speed:first-paint")
def first_paint(runs: int) -> list[Measured]:
    """Exec to the prompt's sign on the screen."""

    def paint(where: Scene) -> float:
        with TimedProgram([SHELL], environ=where.environ, cwd=where.project) as program:
            return program.seconds_until(PROMPT.rstrip())

    with _folder() as folder:
        bare = scene(folder, {})
        floor, painted = _alternate(
            runs,
            lambda: seconds_to_exit(NOTHING, environ=bare.environ, cwd=bare.project),
            lambda: paint(bare),
        )
    return [
        Measured(name="first paint / python -c pass", value=painted, floor=floor, limit=3 * floor)
    ]


@requirement("speed:version-and-help")
def version_and_help(runs: int) -> list[Measured]:
    """The quickest answers."""
    with _folder() as folder:
        bare = scene(folder, {})

        def run(argv: list[str]) -> Callable[[], float]:
            return lambda: seconds_to_exit(argv, environ=bare.environ, cwd=bare.project)

        floor, version, usage = _alternate(
            runs, run(NOTHING), run([SHELL, "--version"]), run([SHELL, "--help"])
        )
    return [
        Measured(name="--version / python -c pass", value=version, floor=floor, limit=2 * floor),
        Measured(name="--help / python -c pass", value=usage, floor=floor, limit=4 * floor),
    ]


@requirement("speed:memory")
def memory_at_the_prompt(runs: int) -> list[Measured]:
    """Resident memory of the idle shell, the ten-line program as the floor.

    The second line has no limit: it shows what the first key costs, which loads the libraries
    that a turn will need.
    """

    def megabytes(argv: list[str], where: Scene, keys: str) -> float:
        with TimedProgram(argv, environ=where.environ, cwd=where.project) as program:
            program.read_for(2.0)  # what comes after the prompt by itself counts too
            if keys:
                since = program.send(keys)
                program.seconds_until(keys, since=since)
                program.read_for(2.0)
            return resident_bytes(program.process.pid) / 1_000_000

    with _folder() as folder:
        bare = scene(folder, {})
        floor, idle, typed = (
            statistics.median(megabytes(argv, bare, keys) for _ in range(min(runs, 3)))
            for argv, keys in ((TEN_LINES, ""), ([SHELL], ""), ([SHELL], KEY))
        )
    return [
        Measured(
            name="memory at the idle prompt / ten-line program",
            value=idle,
            floor=floor,
            limit=45,
            unit="MB",
        ),
        Measured(
            name="memory once somebody types / ten-line program",
            value=typed,
            floor=floor,
            limit=math.inf,
            unit="MB",
        ),
    ]


def resident_bytes(pid: int) -> int:
    """Resident set of a process, as the kernel counts it."""
    for line in Path(f"/proc/{pid}/status").read_text("ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(f"no VmRSS of {pid}")


@requirement("speed:first-request")
def first_request(runs: int) -> list[Measured]:
    """From Enter to the request at the model, cached tools, every server hanging."""
    with _folder() as folder:
        switch = folder / "behave"
        switch.write_text("good", "ascii")
        with ModelServer([{"text": "fine"}] * (runs + 1)) as model:
            where = scene(
                folder / "scene",
                {f"slow{number}": switchable_server(switch) for number in range(5)},
                OPENAI_BASE_URL=model.base_url,
                OPENAI_API_KEY="key-of-the-bench",
                AGENT_SHELL_MODEL="openai/test-model",
            )
            subprocess.run(  # fills the cache
                [SHELL, "mcp", "status"],
                env=dict(where.environ),
                cwd=where.project,
                check=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
            switch.write_text("silent-init", "ascii")
            (median,) = _alternate(runs, lambda: _seconds_to_request(where, model))
    return [
        Measured(
            name="first request while every server hangs / gate",
            value=median,
            floor=GATE_MS,
            limit=GATE_MS + 50,
        )
    ]


def _seconds_to_request(where: Scene, model: ModelServer) -> float:
    before = len(model.chats)
    with TimedProgram([SHELL], environ=where.environ, cwd=where.project, keys=KEY) as program:
        program.seconds_until(KEY)
        submitted = program.send("\r")
        program.seconds_until("fine", since=submitted)
        # Both clocks are the system's monotonic one.
        request = model.wait_for_chats(before + 1, timeout_s=30)[before]
        assert request.body["tools"], "the cached tools must go out with the first request"
        return request.at - submitted


@requirement("speed:reload")
def reload_of_twenty(runs: int) -> list[Measured]:
    """/mcp reload of twenty live servers against the slowest one's own connect."""
    with _folder() as folder:
        servers = {f"live{number}": fake_server() for number in range(20)}
        where = scene(folder, servers)
        rounds = anyio.run(_reload_rounds, where, runs)
    floor = statistics.median(slowest for _, slowest in rounds)
    # What each round took beyond its own slowest server: both medians may be of different rounds.
    over = statistics.median(total - slowest for total, slowest in rounds)
    return [
        Measured(
            name="/mcp reload of 20 / the slowest one's connect",
            value=floor + over,
            floor=floor,
            limit=floor + 50,
        )
    ]


async def _reload_rounds(where: Scene, runs: int) -> list[tuple[float, float]]:
    """(whole reload, slowest server's own spawn + initialize + list) in ms, for each round."""
    options = DiscoveryOptions(
        cwd=where.project, paths=app_paths(where.environ), environ=where.environ
    )
    rounds: list[tuple[float, float]] = []
    # 0: wait for all of them, or the gate would make the reload look quicker than it is.
    async with MCPManager(options, settings=MCPSettings(startup_timeout_ms=0)) as manager:
        await manager.discover_and_connect()
        for _ in range(runs):
            started = anyio.current_time()
            report = await reload_servers(manager)
            total = (anyio.current_time() - started) * 1000
            assert (report.connected, report.failed) == (20, 0)
            slowest = max(sum(row.timings_ms.values()) for row in manager.snapshot())
            rounds.append((total, slowest))
    return rounds
