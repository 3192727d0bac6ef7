"""What comes on standard input, without waiting for ever where a prompt was given already."""

import os
import sys

import anyio
from anyio import to_thread

FIRST_BYTE_WAIT_S = 2.0
"""A pipe that stays silent this long is nobody's input: cron and CI leave one open."""
CHUNK_BYTES = 65_536


async def read_stdin(*, is_needed: bool) -> tuple[str, bool]:
    """Everything up to the end of standard input, and whether it was given up on.

    A terminal counts as empty. When not `is_needed`, input that does not begin within
    `FIRST_BYTE_WAIT_S` is left alone. Bytes that are no UTF-8 become U+FFFD.
    """
    try:
        descriptor = sys.stdin.fileno()
        if os.isatty(descriptor):
            return "", False
    except (AttributeError, ValueError, OSError):
        return "", False  # there is none
    content = bytearray()
    wait_s = None if is_needed else FIRST_BYTE_WAIT_S
    while True:
        with anyio.move_on_after(wait_s) as scope:
            await _until_readable(descriptor)
        if scope.cancelled_caught:
            return "", True
        piece = await to_thread.run_sync(os.read, descriptor, CHUNK_BYTES)
        if not piece:
            return bytes(content).decode(errors="replace"), False
        content += piece
        wait_s = None  # it has begun, so it has an end


async def _until_readable(descriptor: int) -> None:
    try:
        await anyio.wait_readable(descriptor)
    except PermissionError:
        return  # a regular file: always readable, and epoll does not take it
