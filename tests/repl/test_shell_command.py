"""`!cmd`: real commands, their output line by line."""

import os
from pathlib import Path

import anyio

from agent_shell.mcp.transports.process_group import ProcessGuardian
from agent_shell.repl.shell_command import MAX_LINE_BYTES, LineShower, run_shell_command


async def outcome_of(command: str, cwd: Path) -> tuple[int, list[str]]:
    shown: list[str] = []
    guardian = ProcessGuardian()
    try:
        with anyio.fail_after(20):
            status = await run_shell_command(
                command, cwd=cwd, environ=dict(os.environ), guard=guardian, show=shown.append
            )
    finally:
        guardian.close()
    return status, "\n".join(shown).split("\n")


async def test_output_comes_in_lines_and_the_status_is_the_commands(tmp_path: Path) -> None:
    assert await outcome_of("pwd; printf 'no end'; exit 3", tmp_path) == (
        3,
        [str(tmp_path), "no end"],
    )


async def test_colours_and_overdrawn_progress_are_taken_out(tmp_path: Path) -> None:
    """(CASES K14)"""
    command = r"printf '\\033[31mred\\033[0m\\n10%%\\r100%%\\n'".replace("\\\\", "\\")

    assert await outcome_of(command, tmp_path) == (0, ["red", "100%"])


async def test_a_background_child_does_not_hold_it_up_and_is_ended(tmp_path: Path) -> None:
    """(CASES K8)"""
    status, lines = await outcome_of("sleep 60 & echo $!", tmp_path)

    assert status == 0
    assert not Path(f"/proc/{lines[0]}").exists() or " Z " in Path(
        f"/proc/{lines[0]}/stat"
    ).read_text(encoding="utf-8")


def test_a_huge_line_is_cut_with_a_note() -> None:
    shown: list[str] = []
    lines = LineShower(shown.append)

    for _ in range(1_000):
        lines.feed(b"x" * 10_000)
    lines.feed(b"\nnext\n")
    lines.end()

    rest = 10_000_000 - MAX_LINE_BYTES
    assert shown == ["x" * MAX_LINE_BYTES + f"… ({rest} more bytes)\nnext"]
