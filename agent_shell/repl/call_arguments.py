"""What a person writes behind a tool's name, as the JSON object the tool takes."""

import json
import shlex

from agent_shell.errors import UsageError
from agent_shell.json_types import JSONObject, JSONValue, as_array, as_object


def parse_call_arguments(text: str, input_schema: JSONObject) -> JSONObject:
    """`{…}` is JSON; else words of the form key=value, quoted as in a shell.

    A value is a string where the schema says so, else JSON where it can be read as JSON.
    Raises UsageError that says what is wrong and where.
    """
    text = text.strip()
    if not text:
        return {}
    if text.startswith("{"):
        return _json_object(text)
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"arguments: {str(error).lower()}") from error
    properties = as_object(input_schema.get("properties")) or {}
    arguments: dict[str, JSONValue] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise UsageError(
                f'arguments: "{word}" is not key=value', hint='or write JSON: {"key": "value"}'
            )
        arguments[key] = _value(value, as_object(properties.get(key)) or {})
    return arguments


def _json_object(text: str) -> JSONObject:
    try:
        value = as_object(json.loads(text))
    except ValueError as error:
        raise UsageError(f"arguments are not valid JSON: {error}") from error
    if value is None:
        raise UsageError("arguments must be a JSON object")
    return value


def _value(text: str, schema: JSONObject) -> JSONValue:
    kinds = schema.get("type")
    names = as_array(kinds) or (kinds,)
    if "string" in names:
        return text
    try:
        value: JSONValue = json.loads(text)
    except ValueError:
        return text
    return value
