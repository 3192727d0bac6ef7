"""JSON-RPC messages on the wire: strict in what is sent, lenient in what is read."""

from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_shell.json_types import JSONValue
from agent_shell.mcp_protocol.jsonrpc import (
    INTERNAL_ERROR,
    Decoded,
    ErrorResponse,
    Message,
    Notification,
    Request,
    Response,
    decode,
    encode,
    same_id,
)
from tests.requirements import requirement

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(JSON_VALUES)
def test_what_is_encoded_is_one_line_and_comes_back(value: JSONValue) -> None:
    line = encode(Response(id=1, result=value))

    assert b"\n" not in line
    assert decode(line) == Decoded(messages=(Response(id=1, result=value),))


@pytest.mark.parametrize(
    "message",
    [
        Request(id=7, method="tools/list"),
        Request(id="a", method="tools/call", params={"name": "x", "arguments": {}}),
        Notification(method="notifications/initialized"),
        Notification(method="notifications/progress", params={"progress": 0.5}),
        Response(id=7, result={}),
        ErrorResponse(id=None, code=-32700, message="parse error"),
        ErrorResponse(id=7, code=-32602, message="bad", data={"why": [1, 2]}),
    ],
)
def test_each_kind_of_message_survives_the_wire(message: Message) -> None:
    assert decode(encode(message)) == Decoded(messages=(message,))


@requirement("I9")
def test_lone_surrogates_are_sent_as_replacement_characters_and_pairs_are_joined() -> None:
    params = MappingProxyType({"lone": "a\ud83db", "pair": "\ud83d\ude00"})
    line = encode(Notification(method="m", params=params))

    assert line.decode("utf-8") == (
        '{"jsonrpc":"2.0","method":"m","params":{"lone":"a\ufffdb","pair":"\U0001f600"}}'
    )


@requirement("I9")
def test_a_received_lone_surrogate_becomes_text_that_can_be_written_anywhere() -> None:
    line = rb'{"jsonrpc":"2.0","id":1,"result":{"text":"a\ud83db"}}'

    assert decode(line) == Decoded(messages=(Response(id=1, result={"text": "a\ufffdb"}),))


@requirement("B11")
def test_a_bad_byte_inside_a_reply_costs_a_character_and_is_told() -> None:
    decoded = decode(b'{"jsonrpc":"2.0","id":1,"result":"it\x92s"}')

    assert decoded.messages == (Response(id=1, result="it\ufffds"),)
    assert decoded.problems == ("not UTF-8 (invalid start byte at byte 36)",)


@requirement("B12")
def test_line_separators_and_a_trailing_carriage_return_are_let_be() -> None:
    line = '{"jsonrpc":"2.0","id":1,"result":"a\u2028b\u2029c\u0085d"}\r'.encode()

    assert decode(line) == Decoded(messages=(Response(id=1, result="a\u2028b\u2029c\u0085d"),))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"result":{}}', Response(id=1, result={})),
        (b'{"id":1,"result":{},"error":null}', Response(id=1, result={})),
        (b'{"jsonrpc":"2.0","id":1}', Response(id=1, result=None)),
        (b'{"jsonrpc":"2.0","id":1.0,"result":2}', Response(id=1, result=2)),
        (b'{"jsonrpc":"2.0","id":"1","result":2}', Response(id="1", result=2)),
        (b'{"jsonrpc":"2.0","id":null,"method":"m"}', Notification(method="m")),
        (
            b'{"jsonrpc":"2.0","id":1,"error":{"message":"no code"}}',
            ErrorResponse(id=1, code=INTERNAL_ERROR, message="no code"),
        ),
        (
            b'{"jsonrpc":"2.0","id":1,"error":"just text"}',
            ErrorResponse(id=1, code=INTERNAL_ERROR, message="just text"),
        ),
        (
            b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}',
            ErrorResponse(id=None, code=-32700, message="?"),
        ),
        (
            b'{"jsonrpc":"2.0","id":1,"error":{"code":-1.0,"message":""}}',
            ErrorResponse(id=1, code=-1, message="no message given"),
        ),
    ],
)
def test_what_servers_get_slightly_wrong_is_understood(line: bytes, message: Message) -> None:
    assert decode(line) == Decoded(messages=(message,))


@requirement("B1")
@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"hello",
        b"[1]",
        b"{oops",
        b"\xff\xfe",
        b"NaN",
        b"{}",
        b'{"id":true,"method":"m"}',
        b'{"id":{},"result":1}',
        b'{"id":1.5,"result":1}',
        b"[" * 100_000,
        b'"' + b"x" * 100,
    ],
)
def test_what_is_no_message_is_one_problem_and_no_exception(line: bytes) -> None:
    decoded = decode(line)

    assert decoded.messages == ()
    assert decoded.problems
    assert all("\n" not in problem for problem in decoded.problems)


def test_a_batch_gives_its_messages_and_its_problems() -> None:
    batch = b'[{"jsonrpc":"2.0","id":1,"result":1},3,{"jsonrpc":"2.0","method":"m"}]'

    assert decode(bytearray(batch)) == Decoded(
        messages=(Response(id=1, result=1), Notification(method="m")),
        problems=("not a JSON object",),
    )


@given(st.binary())
def test_no_bytes_at_all_raise(line: bytes) -> None:
    decode(line)


def test_ids_match_across_their_two_spellings() -> None:
    assert same_id(1, "1")
    assert not same_id(1, "01")
