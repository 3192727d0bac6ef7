"""Write a whole file or leave the old one."""

import fcntl
import os
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

LOCK_WAIT_S = 5.0
"""A holder needs milliseconds; who holds it longer is stopped or broken."""


def write_atomically(path: Path, content: bytes, *, mode: int = 0o600) -> None:
    """Replace `path` by `content`: written beside it, flushed to the disk, then renamed.

    Folders are made as needed. A link is followed, so that a linked file stays linked. An existing
    file keeps its permission bits; `mode` is for a new one. Raises OSError, and then the old file
    is as it was.
    """
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileNotFoundError):
        mode = target.stat().st_mode & 0o777
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextmanager
def exclusively(path: Path, *, wait_s: float = LOCK_WAIT_S) -> Generator[None]:
    """Keep other processes of ours out while `path` is read, changed and written back.

    The lock is the folder the file lies in, so that no lock file is left beside a user's file.
    A file system without locks is worked on without. Raises TimeoutError after `wait_s` seconds,
    OSError when the folder can't be made.
    """
    folder = Path(os.path.realpath(path)).parent
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        deadline = time.monotonic() + wait_s
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                # flock has no wait with a bound, so this is asked for again and again.
                if time.monotonic() > deadline:
                    raise TimeoutError(f"{path} is being changed by another process") from None
                time.sleep(0.02)
            except OSError:
                break
            else:
                break
        yield
    finally:
        os.close(descriptor)
