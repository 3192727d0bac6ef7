"""What the kernel says about processes (Linux: /proc)."""

import os
import time
from pathlib import Path


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that only waits to be reaped does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text("utf-8", errors="replace")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in {"Z", "X"}


def command_line(pid: int) -> str:
    """The words a process was started with; empty once it has ended."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return ""
    return words.replace(b"\0", b" ").decode("utf-8", errors="replace").strip()


def descendants(pid: int) -> set[int]:
    """Children, their children, and so on, ended ones that nobody has reaped included."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text("utf-8", errors="replace").rpartition(")")[2]
        except OSError:
            continue
        parents[int(entry.name)] = int(fields.split()[1])
    found: set[int] = set()
    fringe = {pid}
    while fringe:
        fringe = {child for child, parent in parents.items() if parent in fringe} - found
        found |= fringe
    return found


def pid_in(file: Path, *, limit_s: float = 15) -> int:
    """The process id that a server writes into a file once it runs."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        try:
            return int(file.read_text("ascii"))
        except (OSError, ValueError):
            time.sleep(0.02)  # another program writes the file; nothing else tells us when
    raise AssertionError(f"{file} was not written within {limit_s} s")


def seconds_until_gone(pids: set[int], *, limit_s: float) -> float:
    """How long it took until none of them was alive; the limit plus one if one still is."""
    started = time.monotonic()
    while any(is_alive(pid) for pid in pids):
        if time.monotonic() - started > limit_s:
            return limit_s + 1
        time.sleep(0.02)  # they are not our children: there is no event to wait for
    return time.monotonic() - started


def open_files() -> int:
    """How many file descriptors this process holds."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def resident_bytes() -> int:
    """Resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
