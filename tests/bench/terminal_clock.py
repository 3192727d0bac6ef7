"""A program on a pseudo-terminal with a stopwatch: when does which output appear?

Bare on purpose: no emulator and no thread, so that the clock measures the program.
"""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

KEY = "\N{CURRENCY SIGN}"
"""A key nobody's prompt, path or escape sequence contains."""

CURSOR_REQUEST = b"\x1b[6n"
CURSOR_ANSWER = b"\x1b[1;1R"

WAIT_LIMIT_S = 30.0


class TimedProgram:
    """Start `argv` on a terminal of its own; `started` is the clock at exec. A context manager.

    The terminal does not echo by itself: what appears was painted by the program. Standard error
    goes to `stderr` where that is given. `keys` are there from the start.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        environ: Mapping[str, str],
        cwd: Path,
        keys: str = "",
        stderr: Path | None = None,
    ) -> None:
        self.output = bytearray()
        self._master, slave = pty.openpty()
        settings = termios.tcgetattr(slave)
        settings[3] &= ~(termios.ECHO | termios.ECHONL)
        termios.tcsetattr(slave, termios.TCSANOW, settings)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        if keys:
            os.write(self._master, keys.encode())
        errors = stderr.open("wb") if stderr is not None else None
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            argv,
            stdin=slave,
            stdout=slave,
            stderr=errors or slave,
            env=dict(environ),
            cwd=cwd,
            start_new_session=True,
        )
        os.close(slave)
        if errors is not None:
            errors.close()

    def send(self, keys: str) -> float:
        """Type; returns the clock just before."""
        now = time.perf_counter()
        os.write(self._master, keys.encode())
        return now

    def seconds_until(self, wanted: str, *, since: float | None = None) -> float:
        """Read until `wanted` has appeared; seconds since `since`, or since exec."""
        goal = wanted.encode()
        deadline = time.perf_counter() + WAIT_LIMIT_S
        while goal not in self.output:
            if not self._read(deadline - time.perf_counter()):
                raise AssertionError(f"no {wanted!r} in {bytes(self.output[-2000:])!r}")
        return time.perf_counter() - (self.started if since is None else since)

    def read_for(self, seconds: float) -> None:
        """Keep the terminal empty for a while."""
        deadline = time.perf_counter() + seconds
        while self._read(deadline - time.perf_counter()):
            pass

    def _read(self, timeout_s: float) -> bool:
        """One piece of output; False at the end, or when the time is over."""
        if timeout_s <= 0 or not select.select([self._master], [], [], timeout_s)[0]:
            return False
        try:
            piece = os.read(self._master, 65536)
        except OSError:
            return False
        self.output += piece
        # A terminal answers where its cursor is; without that, line editors wait or complain.
        for _ in range(piece.count(CURSOR_REQUEST)):
            os.write(self._master, CURSOR_ANSWER)
        return bool(piece)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            deadline = time.perf_counter() + 5
            while self.process.poll() is None and time.perf_counter() < deadline:
                self._read(0.01)
            if self.process.poll() is None:
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(timeout=5)
        os.close(self._master)


def seconds_to_exit(argv: Sequence[str], *, environ: Mapping[str, str], cwd: Path) -> float:
    """From exec to the end of a program that asks nothing."""
    started = time.perf_counter()
    subprocess.run(
        argv,
        env=dict(environ),
        cwd=cwd,
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - started
