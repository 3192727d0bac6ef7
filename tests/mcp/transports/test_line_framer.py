"""Bytes to lines: only LF counts, nothing is lost, nothing is quadratic."""

import time

from hypothesis import given
from hypothesis import strategies as st

from agent_shell.mcp.transports.line_framer import LineFramer
from tests.requirements import requirement


def lines_of(framer: LineFramer, *chunks: bytes) -> list[bytes]:
    """All lines of these chunks."""
    return [bytes(line) for chunk in chunks for line in framer.feed(chunk)]


@given(st.lists(st.binary(max_size=8).map(lambda piece: piece.replace(b"x", b"\n"))))
def test_the_cuts_between_chunks_make_no_difference(chunks: list[bytes]) -> None:
    framer = LineFramer()

    assert [*lines_of(framer, *chunks), bytes(framer.rest())] == b"".join(chunks).split(b"\n")


@requirement("B12")
def test_only_a_line_feed_ends_a_line() -> None:
    text = "a\u2028b\u0085c\rd\x0be"

    assert lines_of(LineFramer(), f"{text}\r\n".encode()) == [f"{text}\r".encode()]


@requirement("B9")
def test_a_line_that_fills_its_chunk_exactly_is_whole() -> None:
    line = b"x" * 65535

    assert lines_of(LineFramer(), line + b"\n", b"next\n") == [line, b"next"]
    assert lines_of(LineFramer(), line + b"y", b"\nnext\n") == [line + b"y", b"next"]


def test_a_line_over_the_bound_is_dropped_and_counted_and_the_next_is_read() -> None:
    framer = LineFramer(max_bytes=10)

    assert lines_of(framer, b"x" * 8, b"y" * 8, b"z" * 8, b"end\ngood\n") == [b"good"]
    assert framer.too_long == 1


@requirement("B9")
def test_a_long_line_costs_linear_time() -> None:
    def seconds() -> float:
        framer, chunk = LineFramer(), b"x" * 65536
        started = time.perf_counter()
        for _ in range(1024):
            assert lines_of(framer, chunk) == []
        assert [len(line) for line in framer.feed(b"\n")] == [64 << 20]
        return time.perf_counter() - started

    # Copying what has begun for each of the 1024 chunks would move 32 GB: many seconds.
    assert min(seconds() for _ in range(3)) < 1.5
