"""What a person writes behind a tool's name, as the JSON object the tool takes.

`{…}` is JSON. Otherwise each word is `key=value`, read as the tool's schema says, or `key:=JSON`.
A key whose value is an array may be repeated, or hold its items separated by commas.
"""

import json
import re
import shlex
from collections.abc import Sequence

from agent_shell.errors import UsageError
from agent_shell.json_types import JSONObject, JSONValue, as_array, as_object

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,30})")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{1,60})?(?:[eE][+-]?[0-9]{1,3})?")
_TYPES = ("boolean", "integer", "number", "array", "object", "null", "string")
_MAX_SCHEMA_DEPTH = 8


def parse_call_arguments(words: str | Sequence[str], schema: JSONObject) -> JSONObject:
    """The arguments as an object. Text is split into words as a shell does it.

    Raises UsageError that says which word is wrong, and how. Whether everything the tool needs is
    there is not looked at here.
    """
    if isinstance(words, str):
        text = words.strip()
        if text.startswith("{"):
            return _json_object(text)
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise UsageError(f"arguments: {str(error).lower()}") from error
    if words and words[0].lstrip().startswith("{"):
        return _json_object(" ".join(words))
    return _Reading(schema).arguments(words)


def _json_object(text: str) -> JSONObject:
    value = as_object(_parse_json(text, "the arguments"))
    if value is None:
        raise UsageError("the arguments must be a JSON object")
    return value


def _parse_json(text: str, what: str) -> JSONValue:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise UsageError(f"{what}: not valid JSON: {error.msg.lower()} ({place})") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{what}: not valid JSON: {error}") from None


class _Reading:
    """Words being read against one schema."""

    def __init__(self, schema: JSONObject) -> None:
        self.schema = schema
        self.properties = as_object(schema.get("properties")) or {}

    def arguments(self, words: Sequence[str]) -> JSONObject:
        found: dict[str, JSONValue] = {}
        for word in words:
            key, equals, text = word.partition("=")
            is_json = key.endswith(":") and key not in self.properties
            key = key.removesuffix(":") if is_json else key
            if not equals or not key:
                raise UsageError(
                    f'"{word}" is not key=value', hint='or write JSON: {"key": "value"}'
                )
            self.check_key(key)
            value = _parse_json(text, f'"{key}"') if is_json else self.value(key, text)
            if key in found:
                value = self.joined(key, found[key], value)
            found[key] = value
        return found

    def check_key(self, key: str) -> None:
        """Refuse a key that the schema rules out; what it does not mention may still be meant."""
        if key in self.properties or self.schema.get("additionalProperties") is not False:
            return
        known = ", ".join(sorted(self.properties)) or "none"
        raise UsageError(f'the tool has no argument "{key}"', hint=f"its arguments: {known}")

    def joined(self, key: str, first: JSONValue, second: JSONValue) -> JSONValue:
        one, two = as_array(first), as_array(second)
        if one is None or two is None:
            raise UsageError(f'"{key}" is given twice')
        return [*one, *two]

    def value(self, key: str, text: str) -> JSONValue:
        if key not in self.properties:
            return _guessed(text)
        schema = as_object(self.properties[key]) or {}
        return self.read(text, schema, f'"{key}"')

    def read(self, text: str, schema: JSONObject, what: str) -> JSONValue:
        """The text as one of the types that the schema allows; a string if nothing else fits."""
        for choice in as_array(schema.get("enum")) or ():
            if isinstance(choice, str) and choice == text:
                return text
        types = self.types(schema, 0)
        if not types:
            return _guessed(text)
        for kind in _TYPES:
            if kind in types:
                is_only = types == {kind} or types == {kind, "null"}
                value = self.as_kind(kind, text, schema, what, is_only=is_only)
                if value is not _NOT_THIS:
                    return value  # pyright: ignore[reportReturnType]
        allowed = " or ".join(kind for kind in _TYPES if kind in types)
        raise UsageError(f"{what} must be {_article(allowed)}, not {_cut(text)}")

    def as_kind(
        self, kind: str, text: str, schema: JSONObject, what: str, *, is_only: bool
    ) -> object:
        match kind:
            case "boolean" if text in ("true", "false"):
                return text == "true"
            case "integer" if _INTEGER.fullmatch(text):
                return int(text)
            case "number" if _NUMBER.fullmatch(text):
                return int(text) if _INTEGER.fullmatch(text) else float(text)
            case "null" if text == "null":
                return None
            case "array" | "object" if text.lstrip().startswith("[" if kind == "array" else "{"):
                return _parse_json(text, what)
            case "array" if is_only:
                items = self.items_of(schema)
                parts = text.split(",") if text else []
                return [self.read(part, items, f"an item of {what}") for part in parts]
            case "string":
                return text
            case _:
                return _NOT_THIS

    def types(self, schema: JSONObject, depth: int) -> set[str]:
        """The types a value may have, as far as the schema tells; empty: it does not."""
        schema = self.resolved(schema)
        named = schema.get("type")
        names = {named} if isinstance(named, str) else set(as_array(named) or ())
        types = {name for name in names if isinstance(name, str) and name in _TYPES}
        if types or depth >= _MAX_SCHEMA_DEPTH:
            return types
        if "enum" in schema or "const" in schema:
            values = as_array(schema.get("enum")) or (schema.get("const"),)
            return {_type_of(value) for value in values}
        for key in ("anyOf", "oneOf", "allOf"):
            for option in as_array(schema.get(key)) or ():
                types |= self.types(as_object(option) or {}, depth + 1)
        return types

    def items_of(self, schema: JSONObject) -> JSONObject:
        schema = self.resolved(schema)
        for candidate in (schema, *(as_array(schema.get("anyOf")) or ())):
            items = as_object((as_object(candidate) or {}).get("items"))
            if items is not None:
                return items
        return {"type": "string"}

    def resolved(self, schema: JSONObject) -> JSONObject:
        """Follow `$ref` within the schema itself."""
        for _ in range(_MAX_SCHEMA_DEPTH):
            reference = schema.get("$ref")
            if not isinstance(reference, str) or not reference.startswith("#/"):
                return schema
            found: JSONValue = self.schema
            for step in reference[2:].split("/"):
                found = (as_object(found) or {}).get(step.replace("~1", "/").replace("~0", "~"))
            schema = as_object(found) or {}
        return schema


_NOT_THIS = object()


def _guessed(text: str) -> JSONValue:
    """Without a type: JSON where it can be read as JSON, else a string."""
    if text in ("true", "false", "null") or _NUMBER.fullmatch(text) or text[:1] in ("{", "["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text


def _type_of(value: JSONValue) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int | float):
        return "number"
    return "array" if as_array(value) is not None else "object"


def _article(words: str) -> str:
    return f"an {words}" if words[:1] in "aio" else f"a {words}"


def _cut(text: str) -> str:
    return f'"{text if len(text) <= 60 else text[:59] + "…"}"'
