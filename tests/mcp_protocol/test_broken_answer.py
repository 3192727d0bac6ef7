"""Whose an answer is that can't be read."""

import pytest

from agent_shell.mcp_protocol.broken_answer import BrokenAnswer, broken_answer


@pytest.mark.parametrize(
    ("line", "identifier"),
    [
        ('{"jsonrpc":"2.0","id":7,"result":{"x":NaN}}', 7),
        ('{"jsonrpc": "2.0", "id": "7", "error": {"code": NaN}}', "7"),
        ('{"id":7,"jsonrpc":"2.0","result":NaN}', 7),
        ('{"result":{"id":1,"x":NaN},"id":7,"jsonrpc":"2.0"}\r', 7),
        ('{"jsonrpc":"2.0","result":{"x":NaN,"method":"GET"},"id":7}', 7),
        ('{"jsonrpc":"2.0","id":7,"result":{"text":"cut', 7),
        ('{"jsonrpc":"2.0","id":7,"result":' + "[" * 100_000, 7),
        ('{"jsonrpc":"2.0","result":NaN,"id":{}}', None),
    ],
)
def test_an_answers_id_is_picked_out(line: str, identifier: int | str | None) -> None:
    assert broken_answer(line) == BrokenAnswer(id=identifier)
    assert broken_answer(bytearray(line.encode())) == BrokenAnswer(id=identifier)


@pytest.mark.parametrize(
    "line",
    [
        "hello",
        "",
        "{oops",
        "[1",
        '{"level":"info","id":7,"result":NaN}',
        'sent {"jsonrpc":"2.0","id":7,"result":NaN}',
        '{"jsonrpc":"2.0","id":7,"method":"m","params":{"result":NaN}}',
        '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":NaN}}',
        '{"jsonrpc":"2.0","params":{"result":NaN},"method":"m"}',
        '{"params":{"result":NaN},"method":"m","id":7,"jsonrpc":"2.0"}',
    ],
)
def test_junk_and_broken_requests_are_nobodys_answer(line: str) -> None:
    assert broken_answer(line) is None
