"""Event streams: every way to cut and end lines gives the same events."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_shell.errors import MCPProtocolError
from agent_shell.mcp.transports.sse_events import ServerSentEvent, SSEParser


def events_of(*chunks: bytes) -> list[tuple[str, bytes]]:
    """Name and data of all events."""
    parser = SSEParser()
    return [(event.event, bytes(event.data)) for chunk in chunks for event in parser.feed(chunk)]


STREAM = (
    "\ufeff: hello\nid: 7\nretry: 200\ndata: first\n\n"
    "event: endpoint\ndata: /messages?s=1\n\n"
    "data: \u2028 \u0085 \u65e5\u672c\ndata:no blank\ndata\n\nid: 8\n\ndata:unfinished"
)
EVENTS = [
    ("message", b"first"),
    ("endpoint", b"/messages?s=1"),
    ("message", "\u2028 \u0085 \u65e5\u672c\nno blank\n".encode()),
]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_all_three_line_ends_and_none_other_end_a_line(line_end: str) -> None:
    stream = STREAM.replace("\n", line_end).encode()

    assert events_of(stream) == EVENTS
    assert events_of(*(stream[at : at + 1] for at in range(len(stream)))) == EVENTS


@given(st.lists(st.sampled_from([b"\r", b"\n", b"\r\n", b"data: x", b"data:", b"id: 1", b":"])))
def test_the_cuts_between_chunks_make_no_difference(pieces: list[bytes]) -> None:
    assert events_of(*pieces) == events_of(b"".join(pieces))


def test_an_event_that_ends_in_a_bare_carriage_return_is_not_held_back() -> None:
    parser = SSEParser()

    assert list(parser.feed(b"data: x\r\r")) == [
        ServerSentEvent(event="message", data=bytearray(b"x"))
    ]
    assert list(parser.feed(b"\ndata: y\n\n")) == [
        ServerSentEvent(event="message", data=bytearray(b"y"))
    ]


def test_ids_and_retry_are_remembered_also_without_data() -> None:
    parser = SSEParser()
    list(parser.feed(b"id: 7\nretry: 200\n\nid: half"))

    assert (parser.last_event_id, parser.retry_ms) == ("7", 200)


def test_nonsense_in_id_and_retry_is_ignored() -> None:
    parser = SSEParser()
    list(parser.feed(b"id: a\0b\nretry: -5\nretry: x\n\n"))

    assert (parser.last_event_id, parser.retry_ms) == (None, None)


def test_a_server_cannot_ask_for_a_day_of_patience() -> None:
    parser = SSEParser()
    list(parser.feed(b"retry: 99999999999999999999\n\n"))

    assert parser.retry_ms == 60_000


def test_an_event_of_several_megabytes_arrives_whole() -> None:
    data = b"x" * (5 << 20)
    stream = b"data: " + data + b"\n\n"

    chunks = (stream[at : at + 65536] for at in range(0, len(stream), 65536))
    assert events_of(*chunks) == [("message", data)]


def test_an_endless_event_is_refused() -> None:
    parser = SSEParser(max_bytes=100)

    with pytest.raises(MCPProtocolError, match="more than 100 bytes"):
        list(parser.feed(b"data: 0123456789\n" * 20))
