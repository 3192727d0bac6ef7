"""Files are replaced whole, and one writer goes after the other."""

import threading
from pathlib import Path

import pytest

from agent_shell.atomic_file import exclusively, write_atomically


def test_a_file_is_replaced_whole_and_keeps_its_mode_and_its_link(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "file"
    write_atomically(file, b"one")
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(file)

    write_atomically(link, b"two")

    assert (link.is_symlink(), file.read_bytes()) == (True, b"two")
    assert file.stat().st_mode & 0o777 == 0o640
    assert list(file.parent.iterdir()) == [file]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()

    with pytest.raises(OSError, match="directory"):
        write_atomically(tmp_path / "folder", b"two")

    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_only_one_writer_is_inside_at_a_time(tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    counter.write_text("0", encoding="utf-8")

    def count() -> None:
        for _ in range(10):
            with exclusively(counter):
                number = int(counter.read_text(encoding="utf-8"))
                write_atomically(counter, str(number + 1).encode())

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert counter.read_text(encoding="utf-8") == "40"
    assert list(tmp_path.iterdir()) == [counter]


def test_a_holder_that_never_lets_go_is_not_waited_for_without_end(tmp_path: Path) -> None:
    with (
        exclusively(tmp_path / "file"),
        pytest.raises(TimeoutError, match="another process"),
        exclusively(tmp_path / "file", wait_s=0.05),
    ):
        pass
