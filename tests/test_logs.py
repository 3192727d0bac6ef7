"""Foreign text made harmless, and the logs."""

from pathlib import Path

import pytest

from agent_shell.logs import ServerLog, printable


@pytest.mark.parametrize(
    ("foreign", "shown"),
    [
        ("plain ✓ text\twith\nlines", "plain ✓ text\twith\nlines"),
        ("\x1b[31mred\x1b]0;t\x07", r"\x1b[31mred\x1b]0;t\x07"),
        ("a\u202eb\u2066c", r"a\u202eb\u2066c"),
        ("pass\u200bword\ufeff\u00ad", r"pass\u200bword\ufeff\xad"),
        ("tag\U000e0041", r"tag\U000e0041"),
        ("line\u2028break", r"line\u2028break"),
        ("👩\u200d💻 می\u200cشود", "👩\u200d💻 می\u200cشود"),
        ("a\u200db", r"a\u200db"),
        ("over\rwritten", r"over\rwritten"),
    ],
)
def test_what_could_deceive_is_made_visible(foreign: str, shown: str) -> None:
    """(CASES N5)"""
    assert printable(foreign) == shown


def test_a_server_log_is_bounded_and_harmless(tmp_path: Path) -> None:
    log = ServerLog(tmp_path / "logs" / "a.log", max_bytes=2_000)
    for number in range(200):
        log.write("stderr", f"line {number} \x1b[2J")
    log.close()

    written = sorted(tmp_path.glob("logs/*"))
    assert [path.name for path in written] == ["a.log", "a.log.1"]
    assert all(path.stat().st_size <= 2_000 for path in written)
    assert r"stderr: line 199 \x1b[2J" in written[0].read_text(encoding="utf-8")


def test_a_log_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("", encoding="utf-8")

    ServerLog(blocker / "a.log").write("stderr", "lost")
