"""Arguments as a person writes them."""

import pytest

from agent_shell.errors import UsageError
from agent_shell.json_types import JSONObject
from agent_shell.repl.call_arguments import parse_call_arguments

SCHEMA: JSONObject = {
    "properties": {
        "zip": {"type": "string"},
        "count": {"type": "integer"},
        "maybe": {"type": ["string", "null"]},
    }
}


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("", {}),
        ('{"a": [1, null]}', {"a": [1, None]}),
        ("count=3", {"count": 3}),
        ("zip=01234", {"zip": "01234"}),
        ("maybe=null", {"maybe": "null"}),
        ("other=true", {"other": True}),
        ("other=[1,2]", {"other": [1, 2]}),
        ("other=plain", {"other": "plain"}),
        ("zip='a b=c' count=1", {"zip": "a b=c", "count": 1}),
        ('other="{\\"x\\": 1}"', {"other": {"x": 1}}),
        ("zip=", {"zip": ""}),
    ],
)
def test_words_and_json_become_an_object(text: str, arguments: JSONObject) -> None:
    assert parse_call_arguments(text, SCHEMA) == arguments


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{bad", "arguments are not valid JSON: "),
        ("'open", "arguments: no closing quotation"),
        ("word", 'arguments: "word" is not key=value'),
        ("=x", 'arguments: "=x" is not key=value'),
    ],
)
def test_mistakes_say_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_call_arguments(text, SCHEMA)

    assert caught.value.message.startswith(message)
