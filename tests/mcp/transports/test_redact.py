"""No secret of an entry is ever shown."""

import pytest

from agent_shell.discovery.server_config import HttpServerConfig, StdioServerConfig
from agent_shell.mcp.transports.redact import (
    MAX_SEARCHED_CHARS,
    Redactor,
    last_words,
    secrets_of,
    shown_url,
)
from tests.requirements import requirement


def test_env_values_are_hidden_and_plain_words_and_paths_are_not() -> None:
    config = StdioServerConfig(
        name="s",
        command="x",
        env={"KEY": "s3cr3t-value", "LEVEL": "debug", "DIR": "/srv/data", "N": "1", "E": ""},
    )
    redact = Redactor(secrets_of(config))

    assert redact("s3cr3t-value debug /srv/data 1") == "[hidden] debug /srv/data 1"


def test_a_key_of_several_lines_is_hidden_line_by_line() -> None:
    config = StdioServerConfig(name="s", command="x", env={"PEM": "line-one\nline-two\n"})

    assert Redactor(secrets_of(config))("bad: line-two") == "bad: [hidden]"


def test_headers_and_their_words_and_the_urls_parts_are_hidden() -> None:
    config = HttpServerConfig(
        name="s",
        url="https://user:passw0rd@host/mcp?key=querykey&x=1",
        headers={"Authorization": "Bearer tok-12345", "X-Api-Key": "key-67890"},
    )
    redact = Redactor(secrets_of(config))

    assert redact("tok-12345|Bearer tok-12345|key-67890|querykey|passw0rd") == (
        "[hidden]|[hidden]|[hidden]|[hidden]|[hidden]"
    )


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:pw@host:8443/mcp?key=1#f", "https://host:8443/mcp"),
        ("http://[::1]:80/x", "http://[::1]:80/x"),
        ("http://[bad", "[hidden]"),
        ("http://h/\x1b[31m", "http://h/\\x1b[31m"),
    ],
)
def test_a_url_is_shown_without_what_may_be_secret(url: str, shown: str) -> None:
    assert shown_url(url) == shown


def test_an_excerpt_is_cut_after_its_secrets_are_hidden() -> None:
    redact = Redactor(("s3cr3t-" * 20,))
    body = ("x" * 150 + " Authorization: Bearer " + "s3cr3t-" * 20).encode()

    assert redact.excerpt(body) == "x" * 150 + " Authorization: Bearer [hidden]"


def test_a_secret_at_the_end_of_what_is_searched_does_not_begin_to_show() -> None:
    secret = "s3cr3t-" * 20
    text = secret * 1000

    assert "s3cr3t" not in Redactor((secret,)).excerpt(text, MAX_SEARCHED_CHARS)


def test_secrets_are_hidden_in_the_forms_that_json_gives_them() -> None:
    redact = Redactor(('pässwörd"1',))

    assert redact('pässwörd"1|p\\u00e4ssw\\u00f6rd\\"1|p\\u00E4ssw\\u00F6rd\\"1|pässwörd\\"1') == (
        "[hidden]|[hidden]|[hidden]|[hidden]"
    )


def test_what_goes_on_is_held_back_where_a_secret_may_have_begun() -> None:
    redact = Redactor(("abcabd",))

    assert redact.split("x abcab") == ("x ", "abcab")
    assert redact.split("x abcabd") == ("x [hidden]", "")


@requirement("B4")
def test_last_words_are_the_end_of_standard_error_in_one_line() -> None:
    assert last_words("") == ""
    assert last_words("one\n\n  two \n") == " (stderr: one; two)"
    assert last_words("x" * 300 + "\n" + "y" * 300) == f" (stderr: {'y' * 300})"
    assert len(last_words("z" * 1000)) == 400 + len(" (stderr: )")
