"""Foreign words inside our sentences."""

from agent_shell.mcp_protocol.one_line import one_line


def test_line_feeds_become_blanks_and_escapes_visible() -> None:
    assert one_line("a\n\n error:\tb\x1b[31m") == "a error: b\\x1b[31m"


def test_what_is_cut_says_so() -> None:
    assert one_line("x" * 10, 10) == "x" * 10
    assert one_line("x" * 11, 10) == "x" * 10 + "…"
    assert one_line(" " * 5_000_000 + "x", 10) == "…"
