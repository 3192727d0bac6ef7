"""The end of a pipe that a child reads: whole messages, in order, never blocking a reader."""

import os
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import anyio
import anyio.lowlevel

FLUSH_S = 0.25
"""At closing, this long for what is still queued, such as a cancellation notice."""


class WritablePipe(Protocol):
    """What is needed of a raw file object."""

    def fileno(self) -> int: ...

    def close(self) -> None: ...


@dataclass(slots=True, eq=False)
class _Outgoing:
    line: bytes
    written: int = 0
    is_lost: bool = False
    done: anyio.Event = field(default_factory=anyio.Event)


class PipeWriter:
    """A queue before a pipe. `run` empties it; one who gives up takes back what has not begun.

    `on_broken` is called once when the other side no longer reads at all.
    """

    def __init__(self, pipe: WritablePipe, on_broken: Callable[[], None]) -> None:
        self._pipe = pipe
        self._on_broken = on_broken
        self._queue: deque[_Outgoing] = deque()
        self._changed = anyio.Event()
        self._is_finishing = False
        self._is_closed = False

    async def write(self, line: bytes) -> bool:
        """Write one line; return whether the system has taken all of it."""
        await anyio.lowlevel.checkpoint_if_cancelled()
        if self._is_closed or self._is_finishing:
            return False
        outgoing = _Outgoing(line)
        self._queue.append(outgoing)
        if len(self._queue) == 1:
            self._push(outgoing)  # the usual case: the pipe has room and no task has to switch
        if not outgoing.done.is_set():
            self._changed.set()
            try:
                await outgoing.done.wait()
            except BaseException:
                # A message that has begun has to be completed, or it would spoil the next one.
                if outgoing.written == 0 and outgoing in self._queue:
                    self._queue.remove(outgoing)
                raise
        return not outgoing.is_lost

    async def run(self) -> None:
        """Write what is queued, until `finish`. May be cancelled and started again."""
        while not self._is_closed:
            if self._queue:
                if self._push(self._queue[0]):
                    continue
                try:
                    await anyio.wait_writable(self._pipe.fileno())
                except anyio.ClosedResourceError:
                    return  # a direct write found the pipe broken meanwhile
            elif self._is_finishing:
                self._close()
            else:
                self._changed = anyio.Event()
                await self._changed.wait()

    def finish(self) -> None:
        """Take no more, write what is queued, then close."""
        self._is_finishing = True
        self._changed.set()

    async def run_to_end(self) -> None:
        """`finish`, within FLUSH_S; what could not be written is lost."""
        self.finish()
        with anyio.move_on_after(FLUSH_S):
            await self.run()
        self.close_now()

    def close_now(self) -> None:
        """Close, and lose what is queued."""
        if not self._is_closed:
            self._close()

    def _push(self, outgoing: _Outgoing) -> bool:
        """Write what the pipe takes; True when the front of the queue was settled."""
        view = memoryview(outgoing.line)
        try:
            while outgoing.written < len(view):
                outgoing.written += os.write(self._pipe.fileno(), view[outgoing.written :])
        except BlockingIOError:
            return False
        except OSError:
            self._close()
            self._on_broken()
            return True
        self._queue.popleft()
        outgoing.done.set()
        return True

    def _close(self) -> None:
        self._is_closed = True
        anyio.notify_closing(self._pipe.fileno())
        self._pipe.close()
        for outgoing in self._queue:
            outgoing.is_lost = True
            outgoing.done.set()
        self._queue.clear()
        self._changed.set()
