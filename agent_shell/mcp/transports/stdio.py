"""A server that is a child process: newline-delimited JSON over its standard input and output."""

import os
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Protocol

import anyio
import anyio.lowlevel
import anyio.to_thread

from agent_shell.discovery.server_config import StdioServerConfig
from agent_shell.errors import MCPClosedError, MCPConnectError
from agent_shell.mcp.transports.inbox import Inbox
from agent_shell.mcp.transports.line_framer import Line, LineFramer
from agent_shell.mcp.transports.pipe_writer import PipeWriter
from agent_shell.mcp.transports.process_group import ProcessGroup, ProcessGuardian, spawn_group
from agent_shell.mcp.transports.redact import last_words
from agent_shell.mcp.transports.server_environment import server_environment
from agent_shell.mcp.transports.spawn_error import spawn_error
from agent_shell.mcp.transports.stderr_text import StderrText
from agent_shell.mcp.transports.take_messages import take_messages
from agent_shell.mcp.transports.wire_log import WireLog
from agent_shell.mcp_protocol.background import background_tasks
from agent_shell.mcp_protocol.jsonrpc import (
    INTERNAL_ERROR,
    ErrorResponse,
    Incoming,
    Message,
    encode,
)

READ_BYTES = 256 * 1024
EXIT_STATUS_S = 0.5
"""End of output usually means an exit that is on its way; its status is worth a short wait."""
MAX_FINAL_READS = 64
"""A grandchild may go on writing into a dead server's pipe; its last words are not endless."""


class _Pipe(Protocol):
    def fileno(self) -> int: ...

    def close(self) -> None: ...


class StdioTransport:
    """One child process. See open_stdio."""

    def __init__(
        self, group: ProcessGroup, stdin: _Pipe, stdout: _Pipe, stderr: _Pipe, log: WireLog
    ) -> None:
        self._group = group
        self._stdout, self._stderr = stdout, stderr
        self._log = log
        self._inbox = Inbox()
        self._framer = LineFramer()
        self._is_at_end = False
        self._over = anyio.Event()
        self._explained = anyio.Event()
        self._why = ""
        self._writer = PipeWriter(stdin, on_broken=self._note_broken_pipe)
        self._stderr_text = StderrText(log.redact)

    # --- the Transport Protocol

    async def send(self, message: Message) -> None:
        """Write one line. Raises MCPClosedError when the server no longer reads."""
        if await self._writer.write(encode(message) + b"\n"):
            return
        # What broke the pipe is about to be explained, with the exit status.
        with anyio.move_on_after(EXIT_STATUS_S * 2):
            await self._explained.wait()
        error = self._inbox.closed_error
        raise MCPClosedError(error.message if error else "the server's standard input is closed")

    async def receive(self) -> Incoming:
        """The next message from standard output. Raises MCPClosedError."""
        return await self._inbox.receive()

    def handshake_done(self, protocol_version: str) -> None:
        """Nothing to remember: stdio has no headers."""

    @property
    def pid(self) -> int | None:
        """The process id, also after its end."""
        return self._group.pid

    @property
    def stderr_tail(self) -> str:
        """The last lines of standard error."""
        return self._stderr_text.tail

    # --- running

    async def supervise(self) -> None:
        """Wait for the end, whatever it is; say why; end the group."""
        await self._over.wait()
        with anyio.move_on_after(EXIT_STATUS_S):
            await self._group.exited.wait()
        self._read_what_is_left()
        self._inbox.close(MCPClosedError(self._reason()))
        self._explained.set()
        self._log.write("life", self._reason())
        await self._end()

    async def watch(self) -> None:
        """Notice the process's exit."""
        await self._group.watch()
        self._note_over("")

    async def read_stdout(self) -> None:
        """Turn lines into messages, until the end of output."""
        while not self._is_at_end:
            chunk = _read_some(self._stdout)
            if chunk is None:
                await anyio.wait_readable(self._stdout.fileno())
                continue
            self._feed(chunk)
            await self._inbox.wait_for_room()
            await anyio.lowlevel.checkpoint()

    async def read_stderr(self) -> None:
        """Drain standard error, always: a full pipe would stop the server."""
        while True:
            chunk = _read_some(self._stderr)
            if chunk is None:
                await anyio.wait_readable(self._stderr.fileno())
                continue
            if not chunk:
                return
            self._feed_stderr(chunk)
            await anyio.lowlevel.checkpoint()

    async def write_stdin(self) -> None:
        """Empty the writer's queue."""
        await self._writer.run()

    async def shut_down(self) -> None:
        """End the process and its group, draining what it says meanwhile. Under 3 s."""
        self._inbox.close(MCPClosedError("the connection was closed"))
        self._explained.set()
        if not self._group.is_ended:
            async with background_tasks() as tasks:
                tasks.start_soon(self._group.watch)
                tasks.start_soon(self.read_stdout)
                tasks.start_soon(self.read_stderr)
                await self._end(flush=True)
        self._read_what_is_left()
        self._log.end_burst()
        self._writer.close_now()
        self._stdout.close()
        self._stderr.close()

    # --- the end

    async def _end(self, *, flush: bool = False) -> None:
        if flush:
            await self._writer.run_to_end()
        await self._group.end(self._writer.finish)
        if not self._group.is_ended:
            self._log.write("life", f"process {self._group.pid} survives even SIGKILL")

    def _note_over(self, why: str) -> None:
        if not self._over.is_set():
            self._why = why
            self._over.set()

    def _note_broken_pipe(self) -> None:
        self._note_over("the server closed its standard input")

    def _reason(self) -> str:
        """Why it is over, in one line, with the last words of standard error."""
        status = self._group.exit_status
        if not self._group.exited.is_set():
            reason = self._why or "the server closed its standard output"
        elif status is None:
            reason = "the server exited"
        elif status < 0:
            reason = f"the server was ended by {_signal_name(-status)}"
        else:
            reason = f"the server exited with status {status}"
        return reason + last_words(self.stderr_tail)

    def _read_what_is_left(self) -> None:
        """What a dead process left in its pipes: perhaps the answer, perhaps the explanation."""
        for pipe, feed in ((self._stdout, self._feed), (self._stderr, self._feed_stderr)):
            for _ in range(MAX_FINAL_READS):
                chunk = _read_some(pipe)
                if not chunk:
                    break
                feed(chunk)

    # --- what came

    def _feed(self, chunk: bytes) -> None:
        if not chunk:
            if not self._is_at_end:
                self._is_at_end = True
                if rest := self._framer.rest():
                    self._take(rest)
                self._note_over("the server closed its standard output")
            return
        for line in self._framer.feed(chunk):
            self._take(line)
        if self._framer.too_long:
            self._framer.too_long = 0
            text = "the server sent a message that is too long"
            self._log.skip(text)
            self._inbox.put(ErrorResponse(id=None, code=INTERNAL_ERROR, message=text))

    def _take(self, line: Line) -> None:
        if self._inbox.closed_error is not None:
            return
        take_messages(line, self._log, self._inbox.put)

    def _feed_stderr(self, chunk: bytes) -> None:
        if lines := self._stderr_text.feed(chunk):
            # One entry a chunk: a server that floods its standard error must not hold up the loop.
            self._log.write("stderr", "\n".join(lines))


@asynccontextmanager
async def open_stdio(
    config: StdioServerConfig,
    *,
    environ: Mapping[str, str],
    default_cwd: Path | None,
    guardian: ProcessGuardian,
    log: WireLog,
) -> AsyncGenerator[StdioTransport]:
    """Start the program; leaving ends it and its whole group within 3 s, also when cancelled.

    A relative `cwd` is taken from `default_cwd`. Raises MCPConnectError when it can't be started.
    """
    transport = await _spawn(config, environ, default_cwd, guardian, log)
    # No await between the spawn and this block, or a cancellation would leak the child.
    try:
        async with background_tasks() as tasks:
            for task in (
                transport.read_stdout,
                transport.read_stderr,
                transport.write_stdin,
                transport.watch,
                transport.supervise,
            ):
                tasks.start_soon(task)
            yield transport
    finally:
        with anyio.CancelScope(shield=True):
            await transport.shut_down()


def _read_some(pipe: _Pipe) -> bytes | None:
    """What the pipe holds now; None for nothing yet, empty for the end."""
    try:
        return os.read(pipe.fileno(), READ_BYTES)
    except BlockingIOError:
        return None
    except OSError:
        return b""


async def _spawn(
    config: StdioServerConfig,
    environ: Mapping[str, str],
    default_cwd: Path | None,
    guardian: ProcessGuardian,
    log: WireLog,
) -> StdioTransport:
    if sys.platform == "win32":
        raise MCPConnectError("stdio servers need Linux or macOS")
    env = server_environment(config, environ)
    cwd = _working_folder(config, default_cwd)
    try:
        # In a thread, for it blocks: twenty spawns would hold up the prompt for 0.2 s.
        # The thread is waited for even when we are cancelled, and its result is then still ours.
        process = await anyio.to_thread.run_sync(
            partial(
                spawn_group,
                (config.command, *config.args),
                cwd=cwd,
                env=env,
                guardian=guardian,
            )
        )
    except (OSError, ValueError) as error:
        raise spawn_error(config, error, cwd, env) from error
    log.write("life", f"started process {process.pid}")
    stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
    assert stdin is not None
    assert stdout is not None
    assert stderr is not None
    for pipe in (stdin, stdout, stderr):
        os.set_blocking(pipe.fileno(), False)
    return StdioTransport(ProcessGroup(process, guardian), stdin, stdout, stderr, log)


def _working_folder(config: StdioServerConfig, default_cwd: Path | None) -> str | None:
    if config.cwd is None:
        return str(default_cwd) if default_cwd is not None else None
    return str((default_cwd or Path()) / config.cwd)


def _signal_name(number: int) -> str:
    import signal  # noqa: PLC0415 (only for this message)

    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
