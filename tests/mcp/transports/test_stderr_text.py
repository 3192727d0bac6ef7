"""A standard error that comes in pieces."""

from agent_shell.mcp.transports.redact import Redactor
from agent_shell.mcp.transports.stderr_text import MAX_BEGUN_CHARS, MAX_LINE_CHARS, StderrText
from tests.requirements import requirement

SECRET = "s3cr3t-välue-0123456789"


def fed(*chunks: bytes) -> tuple[list[str], str]:
    """All lines, and the tail."""
    text = StderrText(Redactor((SECRET,)))
    return [line for chunk in chunks for line in text.feed(chunk)], text.tail


def test_lines_come_when_they_end_and_the_tail_has_what_has_begun() -> None:
    assert fed(b"one\r\ntw", b"o\nthree") == (["one", "two"], "one\ntwo\nthree")


@requirement("B4")
def test_a_secret_is_hidden_wherever_a_line_is_cut() -> None:
    line = b"x" * 65_500 + SECRET.encode() + b" end\n"
    for cut in range(65_490, 65_540):
        lines, tail = fed(line[:cut], line[cut:])
        assert not any(SECRET[:5] in shown or SECRET[-5:] in shown for shown in (*lines, tail))


def test_a_secret_across_the_bound_of_a_long_line_is_hidden() -> None:
    begun = MAX_BEGUN_CHARS - 3
    lines, tail = fed(b"x" * begun + SECRET[:7].encode(), SECRET[7:].encode() + b" end")

    assert lines == ["x" * MAX_LINE_CHARS]
    assert tail == "x" * MAX_LINE_CHARS + "\n[hidden] end"


def test_the_tail_shows_no_half_secret() -> None:
    assert fed(b"key: " + SECRET[:9].encode()) == ([], "key: ")
    assert fed(b"it was no use") == ([], "it was no use")
