"""An answer that is no JSON: whose it is, picked out without reading it."""

import re
from dataclasses import dataclass

from agent_shell.mcp_protocol.jsonrpc import RequestId

EDGE = 300
"""Characters at both ends where the envelope's own fields stand; results lie between them."""

_ANSWER = re.compile(r'"(result|error)"\s*:')
_METHOD = re.compile(r'"method"\s*:\s*"')
_METHOD_LAST = re.compile(
    r',\s*"method"\s*:\s*"[^"]*"\s*(?:,\s*"(?:jsonrpc|id)"\s*:\s*(?:"[^"]*"|\d+)\s*)*\}\s*$'
)
_ID = r'"id"\s*:\s*(\d{1,18}|"[^"\\]{1,64}")'
_ID_FIRST = re.compile(r'\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID + r"\s*,")
_ID_LAST = re.compile(r",\s*" + _ID + r'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenAnswer:
    """`id` is None where it could not be picked out: it can only be the one that waits."""

    id: RequestId | None


def broken_answer(data: bytes | bytearray | str) -> BrokenAnswer | None:
    """None for what does not look like an answer: other junk must never fail a request.

    It looks like one if it begins as an object and has "jsonrpc", "result" or "error" and no
    "method" at one of its ends.
    """
    head, tail = data[:EDGE], data[-EDGE:]
    if not isinstance(head, str):
        head = head.decode("utf-8", "replace")
    if not isinstance(tail, str):
        tail = tail.decode("utf-8", "replace")
    head = head.removeprefix("\ufeff").lstrip()
    edges = (head, tail)
    if not head.startswith("{") or not any('"jsonrpc"' in edge for edge in edges):
        return None
    if not any(_ANSWER.search(edge) for edge in edges):
        return None
    # Inside a result "method" may be anybody's word; before and behind it is the envelope's.
    if _METHOD.search(_ANSWER.split(head, maxsplit=1)[0]) or _METHOD_LAST.search(tail):
        return None
    found = _ID_FIRST.match(head) or _ID_LAST.search(tail)
    if found is None:
        return BrokenAnswer(id=None)
    word = found[1]
    return BrokenAnswer(id=word[1:-1] if word.startswith('"') else int(word))
