"""A server's whole process group: spawn it, end it, and guard it against our sudden death."""

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence

import anyio

CLOSE_GRACE_S = 1.0
"""After the end of input: most servers leave by themselves."""
TERM_GRACE_S = 1.0
"""After SIGTERM to the group."""
KILL_GRACE_S = 0.4
"""After SIGKILL: the kernel only has to get to it. The three together stay under 3 s."""
REST_GRACE_S = 0.4
"""What is left of a group whose leader has gone gets SIGTERM, and this long to tidy up."""

GUARDIAN_SCRIPT = """
trap '' HUP INT QUIT TERM PIPE TSTP
groups=' '
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) case $groups in
         *" $group "*) groups="${groups%%" $group "*} ${groups#*" $group "}" ;;
       esac ;;
  esac
done
any=
for group in $groups; do kill -TERM "-$group" 2>/dev/null && any=yes; done
[ -z "$any" ] && exit
sleep 0.5
for group in $groups; do kill -KILL "-$group" 2>/dev/null; done
"""
# It learns the groups over its standard input, whose end is our end, whatever the reason.
# No `--` before the group: the kill of some shells does not know it.


class ProcessGuardian:
    """Ends all server groups if this program dies without doing so, by SIGKILL even.

    A `sh` in a session of its own holds the reading end of a pipe; when the last writing end is
    gone, so are we. It starts before the first group (one to two milliseconds), and nothing
    inherits the writing end, as Python makes it close-on-exec. May be used from any thread.
    """

    def __init__(self) -> None:
        self._groups: set[int] = set()
        self._shell: subprocess.Popen[bytes] | None = None
        self._lock = threading.RLock()

    def start(self) -> None:
        """Be there before the first group is: called by whoever is about to spawn one."""
        with self._lock:
            if self._shell is None:
                try:
                    self._shell = _start_guardian()
                except OSError:
                    return  # no /bin/sh: groups are still ended in every way but the sudden one

    def register(self, pgid: int) -> None:
        """From now on this group must not outlive us."""
        with self._lock:
            self._groups.add(pgid)
            self._tell(f"+ {pgid}\n")

    def unregister(self, pgid: int) -> None:
        """The group is gone; its number may soon mean somebody else's."""
        with self._lock:
            if pgid in self._groups:
                self._groups.discard(pgid)
                if self._shell is not None:
                    self._tell(f"- {pgid}\n")

    def kill_all_now(self) -> None:
        """SIGKILL to every registered group, at once and without waiting."""
        for pgid in tuple(self._groups):
            signal_group(pgid, signal.SIGKILL)

    def close(self) -> None:
        """Let the guardian go. What is still registered is killed. Takes a few milliseconds."""
        self.kill_all_now()
        with self._lock:
            self._write("".join(f"- {pgid}\n" for pgid in self._groups))
            self._groups.clear()
            self._dismiss(grace_s=0.5)

    def _tell(self, line: str) -> None:
        """Write to the guardian; start it, or a new one if someone killed it."""
        if self._write(line):
            return
        self._dismiss(grace_s=0)
        if self._groups:
            self.start()
        self._write("".join(f"+ {pgid}\n" for pgid in sorted(self._groups)))

    def _dismiss(self, *, grace_s: float) -> None:
        """Close our end, which ends the guardian, and reap it."""
        shell, self._shell = self._shell, None
        if shell is None:
            return
        if shell.stdin is not None:
            shell.stdin.close()
        try:
            shell.wait(timeout=grace_s)
        except subprocess.TimeoutExpired:
            shell.kill()
            shell.wait()

    def _write(self, line: str) -> bool:
        shell = self._shell
        if shell is None or shell.stdin is None:
            return False
        try:
            # The pipe holds thousands of lines: this does not block, and is not cut in two.
            os.write(shell.stdin.fileno(), line.encode("ascii"))
        except OSError:
            return False
        return True


class ProcessGroup:
    """One running server process that leads its own group.

    Its exit is seen without reaping it, so that its number stays taken until the group is ended.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", guardian: ProcessGuardian) -> None:
        self.pid = process.pid
        self.exited = anyio.Event()
        self.exit_status: int | None = None
        self.is_ended = False
        self._process = process
        self._guardian = guardian
        self._was_killed = False
        self._was_terminated = False

    async def watch(self) -> None:
        """Wait for the leader's exit, then set `exited` and `exit_status` (negative: a signal)."""
        if self.exited.is_set():
            return
        try:
            pidfd = os.pidfd_open(self.pid)
        except (AttributeError, OSError):
            await self._poll_for_exit()
            return
        try:
            while not self._has_exited():
                await anyio.wait_readable(pidfd)
        finally:
            os.close(pidfd)

    async def end(self, close_stdin: Callable[[], None]) -> None:
        """End the whole group: end of input, SIGTERM, SIGKILL, each with its grace; then reap.

        Takes under 3 s. Needs `watch` running beside it. May be called again after cancellation.
        """
        close_stdin()
        await self._wait_for_exit(CLOSE_GRACE_S)
        if not self.exited.is_set():
            self._terminate()
            await self._wait_for_exit(TERM_GRACE_S)
        if not self.exited.is_set():
            self._kill()
            await self._wait_for_exit(KILL_GRACE_S)
        if self.exited.is_set() and not self.is_ended:
            await self._end_rest()

    async def _end_rest(self) -> None:
        """The leader is a zombie; whoever is left of its group ends, too."""
        if not self._was_terminated:
            self._terminate()
        self._process.poll()
        if not self._was_killed:
            with anyio.move_on_after(REST_GRACE_S):
                # Nothing tells when a group becomes empty, so it has to be asked again and again;
                # the number can't come back as another group's within one of these naps.
                pause = 0.005
                while signal_group(self.pid, 0):
                    await anyio.sleep(pause)
                    pause = min(pause * 2, 0.05)
            if signal_group(self.pid, 0):
                self._kill()
        self.is_ended = True
        self._guardian.unregister(self.pid)

    async def _wait_for_exit(self, grace_s: float) -> None:
        with anyio.move_on_after(grace_s):
            await self.exited.wait()

    def _terminate(self) -> None:
        self._was_terminated = True
        signal_group(self.pid, signal.SIGTERM)

    def _kill(self) -> None:
        self._was_killed = True
        signal_group(self.pid, signal.SIGKILL)

    async def _poll_for_exit(self) -> None:
        """For systems without pidfd: nothing else there wakes an event loop for one process."""
        pause = 0.01
        while not self._has_exited():
            await anyio.sleep(pause)
            pause = min(pause * 1.5, 0.2)

    def _has_exited(self) -> bool:
        if self.exited.is_set():
            return True
        try:
            result = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            # Somebody reaped it (SIGCHLD ignored): gone, with a status nobody knows.
            self.exited.set()
            return True
        if result is None:
            return False
        was_signalled = result.si_code != os.CLD_EXITED
        self.exit_status = -result.si_status if was_signalled else result.si_status
        self.exited.set()
        return True


def spawn_group(
    argv: Sequence[str],
    *,
    cwd: str | None,
    env: Mapping[str, str],
    guardian: ProcessGuardian,
) -> "subprocess.Popen[bytes]":
    """Start a program, without a shell, as the leader of its own session and group.

    Its three standard streams are pipes. Raises OSError and ValueError as Popen does. Blocks until
    the program has been executed, one millisecond or, where many start at once, ten: call it in a
    thread that is never abandoned, so that nothing lies between the spawn and the guardian's
    knowing, and nothing between them and the caller.
    """
    guardian.start()
    process = subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        cwd=cwd,
        env=env,
        start_new_session=True,
    )
    guardian.register(process.pid)
    return process


def signal_group(pgid: int, number: int) -> bool:
    """Send a signal to a group (0: only ask). False when there is nobody left to get it."""
    try:
        os.killpg(pgid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _start_guardian() -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        ["/bin/sh", "-c", GUARDIAN_SCRIPT],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        cwd="/",
        env={"PATH": os.defpath},
        start_new_session=True,
    )
