"""One line of 50 MB on a server's standard output: it works, and costs three times its size."""

import json
import subprocess
import sys

from tests.journeys.conftest import Place, fake
from tests.requirements import requirement

SIZE = 50_000_000

PROGRAM = """
import json, os, resource, sys
from pathlib import Path

import anyio

from agent_shell.discovery.discovered import DiscoveryOptions
from agent_shell.mcp.manager import MCPManager
from agent_shell.paths import app_paths
from agent_shell.settings.settings import MCPSettings


def peak_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


async def main():
    options = DiscoveryOptions(cwd=Path.cwd(), paths=app_paths(os.environ), environ=os.environ)
    async with MCPManager(options, settings=MCPSettings(startup_timeout_ms=0)) as manager:
        await manager.discover_and_connect()
        connection = manager.connection("big")
        before = peak_bytes()
        result = await connection.call_tool("big", {"size": int(sys.argv[1])})
        after = peak_bytes()
        length = len(result.content[0]["text"])
        del result
        answer = await connection.call_tool("echo", {"text": "still here"})
        json.dump([length, after - before, answer.content[0]["text"]], sys.stdout)


anyio.run(main)
"""


@requirement("stdio:50-mb-line", "B9")
def test_a_line_of_50_mb_arrives_whole_in_at_most_three_times_its_memory(place: Place) -> None:
    place.define(big=fake())

    # In a process of its own: a peak can't be taken back.
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(SIZE)],
        cwd=place.project,
        env=dict(place.environ),
        check=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )

    length, memory, answer = json.loads(done.stdout)
    assert (length, answer) == (SIZE, "still here")
    assert memory <= 3 * SIZE
