"""Real child processes, well-behaved and hostile."""

import json
import os
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from agent_shell.discovery.server_config import StdioServerConfig
from agent_shell.errors import MCPClosedError, MCPConnectError
from agent_shell.mcp.transports.process_group import ProcessGuardian
from agent_shell.mcp.transports.stdio import StdioTransport, open_stdio
from agent_shell.mcp_protocol.jsonrpc import Notification, Request, Response, encode
from tests.fakes.connections import (
    is_alive,
    log_of,
    shell_config,
    stdio_config,
    until,
    until_file,
    wire_log,
)
from tests.requirements import requirement

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])


@asynccontextmanager
async def opened(
    config: StdioServerConfig, folder: Path, *, cwd: Path | None = None
) -> AsyncGenerator[StdioTransport]:
    """An open transport, bounded, with a guardian of its own."""
    guardian = ProcessGuardian()
    try:
        with wire_log(folder) as log, anyio.fail_after(30):
            async with open_stdio(
                config, environ=dict(os.environ), default_cwd=cwd, guardian=guardian, log=log
            ) as transport:
                yield transport
    finally:
        guardian.close()


async def ask(transport: StdioTransport, method: str = "ping", **params: str) -> object:
    """One request, and the next message's result."""
    await transport.send(Request(id=1, method=method, params=params))
    answer = await transport.receive()
    assert isinstance(answer, Response), answer
    return answer.result


@requirement("B1")
async def test_junk_lines_are_skipped_and_logged(tmp_path: Path) -> None:
    async with opened(stdio_config("--behave", "garbage"), tmp_path) as transport:
        assert await ask(transport) == {}
        assert await ask(transport) == {}

    assert "skipped: not JSON" in log_of(tmp_path)
    assert "starting up..." in log_of(tmp_path)


@requirement("B11")
async def test_invalid_utf8_costs_one_line(tmp_path: Path) -> None:
    async with opened(stdio_config("--behave", "badbytes"), tmp_path) as transport:
        assert await ask(transport) == {}

    assert "skipped: not UTF-8" in log_of(tmp_path)


@requirement("B4")
async def test_an_early_exit_is_told_with_status_and_last_words(tmp_path: Path) -> None:
    started = time.monotonic()
    async with opened(shell_config("echo no key >&2; exit 3"), tmp_path) as transport:
        with pytest.raises(MCPClosedError) as caught:
            await transport.receive()

        assert caught.value.message == "the server exited with status 3 (stderr: no key)"
        assert transport.stderr_tail == "no key"
    assert time.monotonic() - started < 2


@requirement("B5")
async def test_a_death_by_signal_names_the_signal(tmp_path: Path) -> None:
    async with opened(shell_config("kill -KILL $$"), tmp_path) as transport:
        with pytest.raises(MCPClosedError, match="the server was ended by SIGKILL"):
            await transport.receive()
        with pytest.raises(MCPClosedError, match="SIGKILL"):
            await transport.send(Notification(method="m"))


async def test_the_last_answer_before_an_exit_still_arrives(tmp_path: Path) -> None:
    script = """echo '{"jsonrpc":"2.0","id":1,"result":"bye"}'; exit 0"""
    async with opened(shell_config(script), tmp_path) as transport:
        assert await transport.receive() == Response(id=1, result="bye")
        with pytest.raises(MCPClosedError, match="exited with status 0"):
            await transport.receive()


async def test_an_answer_without_final_line_feed_still_arrives(tmp_path: Path) -> None:
    script = """printf '{"jsonrpc":"2.0","id":1,"result":"bye"}'"""
    async with opened(shell_config(script), tmp_path) as transport:
        assert await transport.receive() == Response(id=1, result="bye")


async def test_an_exit_is_noticed_though_a_grandchild_holds_the_pipes(tmp_path: Path) -> None:
    started = time.monotonic()
    async with opened(shell_config("sleep 60 & exit 4"), tmp_path) as transport:
        with pytest.raises(MCPClosedError, match="exited with status 4"):
            await transport.receive()
    assert time.monotonic() - started < 2


async def test_a_closed_output_is_the_end_even_of_a_live_process(tmp_path: Path) -> None:
    async with opened(shell_config("exec >&-; exec sleep 60"), tmp_path) as transport:
        with pytest.raises(MCPClosedError, match="closed its standard output"):
            await transport.receive()
        pid = transport.pid
        assert pid is not None
        # The transport itself ends what can't be talked to any more.
        await until(lambda: not is_alive(pid))


@requirement("B6")
async def test_a_stubborn_server_is_gone_and_reaped_within_three_seconds(tmp_path: Path) -> None:
    async with opened(stdio_config("--behave", "stubborn"), tmp_path) as transport:
        assert await ask(transport) == {}
        pid = transport.pid
        assert pid is not None
        started = time.monotonic()

    assert time.monotonic() - started < 3
    assert not Path(f"/proc/{pid}").exists()


@requirement("B6", "Z37")
async def test_cancellation_closes_as_thoroughly(tmp_path: Path) -> None:
    pids: list[int] = []
    with anyio.CancelScope() as scope:
        async with opened(stdio_config("--behave", "stubborn"), tmp_path) as transport:
            await ask(transport)
            pids.append(transport.pid or 0)
            scope.cancel()
            await anyio.sleep_forever()

    assert scope.cancelled_caught
    assert not Path(f"/proc/{pids[0]}").exists()


@requirement("B7")
async def test_closing_ends_the_whole_group(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    server = " ".join([sys.executable, *stdio_config("--child", "--pid-file", str(pid_file)).args])
    async with opened(shell_config(f"{server}; true"), tmp_path) as transport:
        assert await ask(transport) == {}
        pids = [
            transport.pid or 0,
            int(await until_file(pid_file)),
            int(await until_file(tmp_path / "pid.child")),
        ]
        assert [is_alive(pid) for pid in pids] == [True, True, True]
        started = time.monotonic()

    assert time.monotonic() - started < 3
    await until(lambda: not any(is_alive(pid) for pid in pids))


async def test_a_dead_leaders_group_is_ended_at_once(tmp_path: Path) -> None:
    script = "sleep 60 & echo $! > child; exec >&- 2>&-; exit 1"
    async with opened(shell_config(script), tmp_path, cwd=tmp_path) as transport:
        with pytest.raises(MCPClosedError):
            await transport.receive()
        child = int(await until_file(tmp_path / "child"))
        # Still inside: nobody has to leave first.
        with anyio.fail_after(2):
            await until(lambda: not is_alive(child))


@requirement("B9")
async def test_large_lines_arrive_complete_and_the_next_call_works(tmp_path: Path) -> None:
    async with opened(stdio_config(), tmp_path) as transport:
        for size in (65_000, 65_536, 1 << 20, 5 << 20):
            await transport.send(
                Request(
                    id=1,
                    method="tools/call",
                    params={"name": "big", "arguments": {"size": size}},
                )
            )
            answer = await transport.receive()
            assert answer == Response(
                id=1, result={"content": [{"type": "text", "text": "x" * size}]}
            )
        assert await ask(transport) == {}


async def test_a_server_that_writes_before_it_reads_is_no_deadlock(tmp_path: Path) -> None:
    # 1 MiB out before it reads on; 1 MiB in before we read on.
    script = (
        "import sys\n"
        "for number in range(1024):\n"
        '    sys.stdout.write(\'{"jsonrpc":"2.0","method":"\' + \'x\' * 1000 + \'"}\\n\')\n'
        "    sys.stdout.flush()\n"
        "line = sys.stdin.readline()\n"
        'print(\'{"jsonrpc":"2.0","id":1,"result":%d}\' % len(line), flush=True)\n'
        "sys.stdin.read()\n"
    )
    config = StdioServerConfig(name="fake", command=sys.executable, args=("-S", "-c", script))
    async with opened(config, tmp_path) as transport, anyio.create_task_group() as tasks:
        message = Notification(method="y" * (1 << 20))
        tasks.start_soon(transport.send, message)
        await anyio.wait_all_tasks_blocked()
        received = [await transport.receive() for _ in range(1025)]

        assert received[-1] == Response(id=1, result=len(encode(message)) + 1)


async def test_a_cancelled_send_to_a_deaf_server_does_not_cut_the_stream(tmp_path: Path) -> None:
    script = "sleep 0.5; exec cat"
    async with opened(shell_config(script), tmp_path) as transport:
        with anyio.move_on_after(0.1) as scope:
            await transport.send(Notification(method="begun", params={"text": "x" * 200_000}))
        assert scope.cancelled_caught
        with anyio.move_on_after(0.1) as scope:
            await transport.send(Notification(method="withdrawn"))
        assert scope.cancelled_caught
        await transport.send(Notification(method="last"))

        first, second = await transport.receive(), await transport.receive()
    assert isinstance(first, Notification)
    assert (first.method, second) == ("begun", Notification(method="last"))


@requirement("B3")
async def test_standard_error_is_drained_logged_and_never_in_the_way(tmp_path: Path) -> None:
    async with opened(stdio_config("--behave", "noisy"), tmp_path) as transport:
        for _ in range(50):
            assert await ask(transport) == {}
        assert "noise noise" in transport.stderr_tail

    assert "stderr: noise noise" in log_of(tmp_path)


async def test_terminal_escapes_on_standard_error_are_made_visible(tmp_path: Path) -> None:
    async with opened(shell_config(r"printf '\033[31mred\033[0m\n' >&2"), tmp_path) as transport:
        with pytest.raises(MCPClosedError) as caught:
            await transport.receive()

    assert caught.value.message.endswith(r"(stderr: \x1b[31mred\x1b[0m)")
    assert "\x1b" not in log_of(tmp_path)


@requirement("B13")
async def test_a_server_gets_its_environment_and_the_projects_folder(tmp_path: Path) -> None:
    config = stdio_config(env={"X": "", "TOKEN": "t"})
    async with opened(config, tmp_path, cwd=tmp_path) as transport:
        environment = json.loads(await call_text(transport, "env"))
        folder = await call_text(transport, "cwd")

    assert environment["X"] == ""
    assert environment["TOKEN"] == "t"
    assert set(environment) - {"X", "TOKEN"} <= {
        *("PATH", "HOME", "USER", "LANG", "TMPDIR", "SHELL", "TERM"),
        *(name for name in environment if name.startswith("LC_")),
    }
    assert Path(folder).resolve() == tmp_path.resolve()


async def call_text(transport: StdioTransport, tool: str) -> str:
    """The text of a tool's answer."""
    await transport.send(Request(id=1, method="tools/call", params={"name": tool}))
    answer = await transport.receive()
    assert isinstance(answer, Response)
    text = json.loads(json.dumps(answer.result))["content"][0]["text"]
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize(
    ("config", "message", "hint"),
    [
        (
            StdioServerConfig(name="s", command="no-such-command-here"),
            "command not found: no-such-command-here",
            'check "command" in its entry, and PATH',
        ),
        (
            StdioServerConfig(name="s", command="uvx", env={"PATH": "/nowhere"}),
            "command not found: uvx",
            "install uv, which brings uvx",
        ),
        (
            StdioServerConfig(name="s", command="/etc/passwd"),
            "not executable: /etc/passwd",
            "try: chmod +x /etc/passwd",
        ),
        (
            StdioServerConfig(name="s", command="sh", cwd="/no/such/folder"),
            "its working folder does not exist: /no/such/folder",
            'check "cwd" in its entry',
        ),
        (
            StdioServerConfig(name="s", command="sh", args=("a\0b",)),
            "cannot run sh: embedded null byte",
            None,
        ),
    ],
)
async def test_what_cannot_be_started_says_why_and_what_to_do(
    config: StdioServerConfig, message: str, hint: str | None, tmp_path: Path
) -> None:
    with pytest.raises(MCPConnectError) as caught:
        async with opened(config, tmp_path):
            pass

    assert (caught.value.message, caught.value.hint) == (message, hint)


async def test_scripts_that_cannot_run_are_told_apart(tmp_path: Path) -> None:
    for name, text, message in (
        ("bare", "echo hi\n", "not a program"),
        ("lost", "#!/no/such/interpreter\n", "the interpreter its first line names"),
    ):
        script = tmp_path / name
        script.write_text(text, encoding="utf-8")
        script.chmod(0o755)
        with pytest.raises(MCPConnectError, match=message):
            async with opened(StdioServerConfig(name="s", command=str(script)), tmp_path):
                pass


async def test_opening_and_closing_leaves_no_open_file(tmp_path: Path) -> None:
    async with opened(stdio_config(), tmp_path) as transport:
        await ask(transport)
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 (a count of names)
    for _ in range(3):
        async with opened(stdio_config(), tmp_path) as transport:
            await ask(transport)

    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
