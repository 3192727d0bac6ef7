"""A server's log as its transport writes it."""

from pathlib import Path

from agent_shell.logs import ServerLog
from agent_shell.mcp.transports.redact import Redactor
from agent_shell.mcp.transports.wire_log import FLOOD_ENTRIES, WireLog
from tests.fakes.connections import log_of
from tests.requirements import requirement


@requirement("B1")
def test_a_burst_of_junk_is_two_lines(tmp_path: Path) -> None:
    server_log = ServerLog(tmp_path / "server.log")
    log = WireLog(server_log, Redactor(()))
    for number in range(1000):
        log.skip(f"junk {number}")
    log.end_burst()
    log.skip("again")
    log.end_burst()
    server_log.close()

    lines = [line.split(" ", 2)[2] for line in log_of(tmp_path).splitlines()]
    assert lines == ["wire: skipped: junk 0", "wire: skipped 999 more", "wire: skipped: again"]


def test_a_flood_of_log_messages_is_counted_and_not_written(tmp_path: Path) -> None:
    server_log = ServerLog(tmp_path / "server.log")
    log = WireLog(server_log, Redactor(()))
    described = 0

    def text() -> str:
        nonlocal described
        described += 1
        return "busy"

    for _ in range(10_000):
        log.write_some("log", text)
    log.end_flood()
    log.end_flood()
    server_log.close()

    lines = log_of(tmp_path).splitlines()
    left_out = [int(line.split()[3]) for line in lines if "more log messages left out" in line]
    # A slow machine needs more than one second for them all.
    assert described == len(lines) - len(left_out) <= 10 * FLOOD_ENTRIES
    assert described + sum(left_out) == 10_000


def test_secrets_and_endless_lines_stay_out(tmp_path: Path) -> None:
    server_log = ServerLog(tmp_path / "server.log")
    log = WireLog(server_log, Redactor(("s3cr3t",)))
    log.write("stderr", "my s3cr3t")
    log.write("wire", "x" * 1_000_000)
    server_log.close()

    first, second = log_of(tmp_path).splitlines()
    assert first.endswith("stderr: my [hidden]")
    assert len(second) < 70_000
    assert second.endswith("... (1000000 characters)")
