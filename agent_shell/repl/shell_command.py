"""`!cmd`: a shell command in its own process group; its output goes above as it comes."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path

from agent_shell.builtin_tools.child_process import ProcessGroupGuard, run_child
from agent_shell.builtin_tools.plain_text import plain_text

MAX_LINE_BYTES = 20_000
"""A longer line is cut: drawing it would hold up the keys."""


async def run_shell_command(
    command: str,
    *,
    cwd: Path,
    environ: Mapping[str, str],
    guard: ProcessGroupGuard,
    show: Callable[[str], None],
) -> int:
    """Run it with empty standard input; `show` gets whole lines. Returns the exit status.

    When it ends, or the caller is cancelled, what is left of its group is ended; `guard` sees to
    that even if we die. Raises OSError when there is no shell.
    """
    lines = LineShower(show)
    try:
        result = await run_child(
            ["/bin/sh", "-c", command],
            cwd=cwd,
            environ=environ,
            timeout_s=math.inf,
            max_bytes=0,
            guard=guard,
            on_output=lines.feed,
        )
    finally:
        lines.end()
    return result.exit_code or 0


class LineShower:
    """Pieces of output to whole, harmless lines of a bounded length."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._begun = bytearray()
        self._cut_bytes = 0

    def feed(self, piece: bytes) -> None:
        """Take some output; what is whole of it is shown."""
        first, *others = piece.split(b"\n")
        self._add(first)
        shown: list[str] = []
        for line in others:
            shown.append(self._take())
            self._add(line)
        if shown:
            self._show("\n".join(shown))

    def end(self) -> None:
        """Show a last line that has no end."""
        if self._begun:
            self._show(self._take())

    def _add(self, piece: bytes) -> None:
        room = MAX_LINE_BYTES - len(self._begun)
        self._begun += piece[:room]
        self._cut_bytes += max(0, len(piece) - room)

    def _take(self) -> str:
        # A progress bar redraws its line with carriage returns: its last state is what counts.
        line = plain_text(bytes(self._begun))
        if self._cut_bytes:
            line += f"… ({self._cut_bytes} more bytes)"
        self._begun.clear()
        self._cut_bytes = 0
        return line
