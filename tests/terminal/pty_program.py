"""The real program on a pseudo-terminal: keys in, the screen as a person would see it out.

    with PtyProgram.agent_shell(home=tmp_path, cwd=project) as shell:
        shell.wait_for("› ")
        shell.send("/help\r")
        shell.wait_for("/mcp reload")
        shell.send("\x04")
        assert shell.wait_exit() == 0

A thread reads the terminal all the time, so the program never blocks on a full one, and feeds what
it reads to a terminal emulator (pyte). Every wait is bounded; a wait that fails shows the screen.
All methods are synchronous: an async test calls them through `anyio.to_thread.run_sync`.
"""

import fcntl
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

import pyte

DEFAULT_WAIT_S = 15.0
"""Generous: the machine that runs the tests may be busy. A wait ends as soon as it is fulfilled."""

SETTLE_S = 0.03
"""One drawing is written in a few milliseconds; what moves is drawn eight times a second."""

LONGEST_SETTLING_S = 1.0

CHECKOUT = Path(__file__).resolve().parents[2]

PASTE_START = "\x1b[200~"
PASTE_END = "\x1b[201~"
BRACKETED_PASTE_MODE = 2004 << 5
"""How pyte keeps a private mode in `screen.mode`."""

_STUB = (
    "import fcntl,os,sys,termios;os.setsid();fcntl.ioctl(0,termios.TIOCSCTTY,0);"
    "os.execv(sys.argv[1],sys.argv[1:])"
)


def shell_environment(home: Path, **extra: str) -> dict[str, str]:
    """A small, known environment in which everything of ours lives under `home`."""
    environ = {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "HOME": str(home),
        "AGENT_SHELL_HOME": str(home / "agent-shell"),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(CHECKOUT),
        "PYTHONDONTWRITEBYTECODE": os.environ.get("PYTHONDONTWRITEBYTECODE", ""),
    }
    environ.update(extra)
    return {name: value for name, value in environ.items() if value or name in extra}


class PtyProgram:
    """One program on its own terminal of `columns` by `rows`; use it as a context manager."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        columns: int = 80,
        rows: int = 24,
    ) -> None:
        self._screen = pyte.HistoryScreen(columns, rows, history=5000, ratio=0.5)
        self._stream = pyte.ByteStream(self._screen)
        self._changed = threading.Condition()
        self._output = bytearray()
        self._last_output_at = time.monotonic()
        self._master, self._slave = pty.openpty()
        self._wake_reader, self._wake_writer = os.pipe()
        self._is_hung_up = False
        self._set_size(columns, rows)
        self.stty_before = self.stty()
        self.started_at = time.monotonic()
        self._process = subprocess.Popen(
            [*_become_session_leader(), *argv],
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            env=dict(env),
            cwd=cwd,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @classmethod
    def agent_shell(
        cls,
        *arguments: str,
        home: Path,
        cwd: Path,
        columns: int = 80,
        rows: int = 24,
        env: Mapping[str, str] | None = None,
    ) -> Self:
        """The shell of this checkout, with everything it keeps under `home`."""
        return cls(
            [sys.executable, "-m", "agent_shell", *arguments],
            env=shell_environment(home, **(env or {})),
            cwd=cwd,
            columns=columns,
            rows=rows,
        )

    # --- what the person does

    def send(self, keys: str | bytes) -> None:
        """Type `keys` in one go (the terminal hands them over in one read)."""
        os.write(self._master, keys.encode() if isinstance(keys, str) else keys)

    def type_slowly(self, keys: str) -> None:
        """Type `keys` one by one as fingers do: slower than a paste's burst."""
        for key in keys:
            time.sleep(0.08)  # a person's pace, not a wait for something
            self.send(key)

    def paste(self, text: str) -> None:
        """Paste as a terminal with bracketed paste does."""
        self.send(PASTE_START + text + PASTE_END)

    def resize(self, columns: int, rows: int) -> None:
        """Change the window's size; the kernel tells the program."""
        with self._changed:
            self._screen.resize(rows, columns)
        self._set_size(columns, rows)

    def signal(self, number: int) -> None:
        """Send a signal to the program itself."""
        os.kill(self.pid, number)

    def hang_up(self) -> None:
        """The terminal goes away: the program gets SIGHUP, then errors from its terminal."""
        self._is_hung_up = True
        os.write(self._wake_writer, b"x")
        self._reader.join()
        os.close(self._slave)
        os.close(self._master)

    # --- what the person sees

    @property
    def pid(self) -> int:
        """The program's process id."""
        return self._process.pid

    @property
    def lines(self) -> list[str]:
        """The visible rows, without trailing blanks."""
        with self._changed:
            return [line.rstrip() for line in self._screen.display]

    @property
    def screen(self) -> str:
        """The visible rows as one text."""
        return "\n".join(self.lines).rstrip()

    def lines_with(self, text: str) -> list[str]:
        """The visible rows that have this text."""
        return [line for line in self.lines if text in line]

    @property
    def scrollback(self) -> str:
        """Everything that scrolled off the top, then the visible rows."""
        with self._changed:
            top = cast("Sequence[Mapping[int, Any]]", list(self._screen.history.top))
            columns = self._screen.columns
            above = [
                "".join(str(row[column].data) for column in range(columns)).rstrip() for row in top
            ]
            return "\n".join([*above, *(line.rstrip() for line in self._screen.display)]).rstrip()

    @property
    def output(self) -> bytes:
        """Every byte the program wrote so far."""
        with self._changed:
            return bytes(self._output)

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and row of the cursor, from 0."""
        with self._changed:
            return self._screen.cursor.x, self._screen.cursor.y

    @property
    def is_cursor_visible(self) -> bool:
        """Whether the terminal shows its cursor."""
        with self._changed:
            return not self._screen.cursor.hidden

    @property
    def is_bracketed_paste_on(self) -> bool:
        """Whether the program asked for bracketed paste and did not take it back."""
        with self._changed:
            return BRACKETED_PASTE_MODE in self._screen.mode

    @property
    def is_alternate_screen_used(self) -> bool:
        """Whether the program ever asked for the alternate screen."""
        return any(f"\x1b[?{mode}h".encode() in self.output for mode in (47, 1047, 1049))

    def stty(self) -> list[Any]:
        """The terminal's settings, as `stty -g` would name them; readable after the exit too."""
        return termios.tcgetattr(self._slave)

    # --- waiting

    def wait_for(
        self,
        wanted: str | Callable[[Self], bool],
        timeout_s: float = DEFAULT_WAIT_S,
        *,
        settle_s: float = SETTLE_S,
    ) -> None:
        """Wait until the text is on the visible screen, or the predicate holds.

        The predicate is asked after every piece of output, and has to hold still when the output
        has paused for `settle_s` seconds: the screen is then no half-painted one. Use 0 to measure
        times. Raises AssertionError with the screen.
        """

        def holds() -> bool:
            return wanted in self.screen if isinstance(wanted, str) else wanted(self)

        deadline = time.monotonic() + timeout_s
        held_since: float | None = None
        while True:
            with self._changed:
                seen = len(self._output)
                quiet_s = time.monotonic() - self._last_output_at
            now = time.monotonic()
            wait_s = 0.1  # now and then ask again for what is not on the screen
            if holds():
                held_since = held_since or now
                if quiet_s >= settle_s or now - held_since > LONGEST_SETTLING_S:
                    return
                wait_s = settle_s - quiet_s
            else:
                held_since = None
            if now >= deadline:
                raise AssertionError(f"waited {timeout_s} s for {wanted!r}; screen:\n{self.screen}")
            with self._changed:
                if len(self._output) == seen:
                    self._changed.wait(max(0.001, min(deadline - now, wait_s)))

    def wait_until_quiet(self, quiet_s: float = 0.3, timeout_s: float = DEFAULT_WAIT_S) -> None:
        """Wait until the program has written nothing for `quiet_s` seconds from now on."""
        called_at = time.monotonic()

        def is_quiet(_: object) -> bool:
            with self._changed:
                return time.monotonic() - max(self._last_output_at, called_at) >= quiet_s

        self.wait_for(is_quiet, timeout_s)

    def output_during(self, seconds: float) -> bytes:
        """What the program writes from now on for `seconds`."""
        before = len(self.output)
        time.sleep(seconds)  # the thing tested is that nothing happens in this time
        return self.output[before:]

    def wait_exit(self, timeout_s: float = DEFAULT_WAIT_S) -> int:
        """Wait for the program's end; its exit status, negative for a signal."""
        try:
            status = self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(
                f"still runs after {timeout_s} s; screen:\n{self.screen}"
            ) from None
        if not self._is_hung_up:
            # What it wrote last may still be on its way to the emulator.
            self.wait_until_quiet(0.05)
        return status

    @property
    def is_running(self) -> bool:
        """Whether the program has not ended yet."""
        return self._process.poll() is None

    # --- the machinery

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if not self._is_hung_up:
            self.hang_up()
        os.close(self._wake_reader)
        os.close(self._wake_writer)

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _read(self) -> None:
        while True:
            ready, _, _ = select.select([self._master, self._wake_reader], [], [])
            if self._wake_reader in ready:
                return
            try:
                piece = os.read(self._master, 65536)
            except OSError:
                return
            with self._changed:
                self._output += piece
                self._last_output_at = time.monotonic()
                self._stream.feed(piece)
                self._changed.notify_all()


def _become_session_leader() -> list[str]:
    """The words before argv that give the program the terminal as its controlling one."""
    setsid = shutil.which("setsid")
    if setsid is not None and sys.platform == "linux":
        return [setsid, "--ctty"]
    return [sys.executable, "-I", "-S", "-c", _STUB]
