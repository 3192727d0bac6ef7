"""A copy of a tool's schema that model services accept; the original stays for checking arguments.

Services refuse a whole request for one schema they dislike, so the copy says a little less than the
original where it must (MODELS.md 2.8). It is plain JSON without `$ref`, rooted in an object.
"""

from collections.abc import Mapping
from typing import cast

from agent_shell.json_types import JSONObject, JSONValue, as_array, as_object, as_string

MAX_DESCRIPTION_CHARACTERS = 4_000
MAX_REF_DEPTH = 12
MAX_NODES = 10_000
"""References that fan out can grow without bound; past this they become open objects."""

_MAPS_OF_SCHEMAS = frozenset({"properties", "patternProperties", "dependentSchemas"})
_LISTS_OF_SCHEMAS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SCHEMAS = frozenset({"items", "contains", "propertyNames", "not", "if", "then", "else"})
_SCHEMAS_OR_BOOLS = frozenset(
    {"additionalProperties", "unevaluatedProperties", "additionalItems", "unevaluatedItems"}
)
_DROPPED = frozenset({"definitions", "discriminator", "nullable", "id"})
_ROOT_COMBINATORS = ("allOf", "anyOf", "oneOf")
_ROOT_DROPPED = frozenset({"enum", "const", "not", "if", "then", "else"})
_GRAMMAR_BREAKERS = frozenset({"pattern", "format", "patternProperties"})


def schema_for_model(schema: JSONObject, *, is_plain: bool = False) -> dict[str, JSONValue]:
    """The copy. `is_plain` also leaves out what llama.cpp's grammar converter stumbles over."""
    converter = _Converter(schema, is_plain=is_plain)
    return _object_root(converter.convert(schema, ()))


def short_description(text: str) -> str:
    """A description no longer than services take."""
    if len(text) <= MAX_DESCRIPTION_CHARACTERS:
        return text
    return text[: MAX_DESCRIPTION_CHARACTERS - 1] + "…"


class _Converter:
    """Walks one schema; knows its root, for references, and how much was written already."""

    def __init__(self, root: JSONObject, *, is_plain: bool) -> None:
        self._root = root
        self._is_plain = is_plain
        self._nodes = 0

    def convert(self, value: object, open_refs: tuple[str, ...]) -> dict[str, JSONValue]:
        """One schema's copy. `open_refs` are the references this place is inside of."""
        self._nodes += 1
        node = as_object(value)
        if node is None:
            return {}  # `true`, `false` or nonsense: anything goes
        reference = as_string(node.get("$ref"))
        if reference is not None:
            return self._inline(node, reference, open_refs)
        result: dict[str, JSONValue] = {}
        for key, part in node.items():
            if key.startswith("$") or key in _DROPPED:
                continue
            if self._is_plain and key in _GRAMMAR_BREAKERS:
                continue
            converted = self._convert_keyword(key, part, open_refs)
            if converted is not None:
                result[key] = converted
        return _completed(result)

    def _convert_keyword(
        self, key: str, part: JSONValue, open_refs: tuple[str, ...]
    ) -> JSONValue | None:
        """One keyword's value, or None to leave the keyword out."""
        if key in _MAPS_OF_SCHEMAS:
            members = as_object(part) or {}
            return {name: self.convert(member, open_refs) for name, member in members.items()}
        if key in _LISTS_OF_SCHEMAS or (key == "items" and as_array(part) is not None):
            members = as_array(part)
            return [self.convert(member, open_refs) for member in members] if members else None
        if key in _SCHEMAS_OR_BOOLS and isinstance(part, bool):
            return part
        if key in _SCHEMAS or key in _SCHEMAS_OR_BOOLS:
            return self.convert(part, open_refs)
        if key == "description":
            text = as_string(part)
            return short_description(text) if text is not None else None
        if key == "required":
            return [name for name in as_array(part) or () if isinstance(name, str)]
        return part

    def _inline(
        self, node: JSONObject, reference: str, open_refs: tuple[str, ...]
    ) -> dict[str, JSONValue]:
        """The referred schema in place, with the other keys of the referring node on top."""
        beside = {key: part for key, part in node.items() if key != "$ref"}
        target = self._look_up(reference)
        is_too_much = len(open_refs) >= MAX_REF_DEPTH or self._nodes > MAX_NODES
        if target is None or reference in open_refs or is_too_much:
            return {"type": "object", **self.convert(beside, open_refs)}
        inlined = self.convert(target, (*open_refs, reference))
        return {**inlined, **self.convert(beside, open_refs)} if beside else inlined

    def _look_up(self, reference: str) -> JSONValue | None:
        """What a local JSON pointer refers to (RFC 6901); anything remote is unknown."""
        if not reference.startswith("#"):
            return None
        found: JSONValue = self._root
        for step in reference[1:].split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            members = as_object(found)
            items = as_array(found)
            if members is not None and key in members:
                found = members[key]
            elif items is not None and key.isdecimal() and int(key) < len(items):
                found = items[int(key)]
            else:
                return None
        return found


def _completed(node: dict[str, JSONValue]) -> dict[str, JSONValue]:
    """OpenAI wants `properties` in every object and `items` in every array."""
    kind = node.get("type")
    if kind == "object" or ("properties" in node and kind is None):
        node["type"] = "object"
        node.setdefault("properties", {})
    if kind == "array" and "items" not in node and "prefixItems" not in node:
        node["items"] = {}
    return node


def _object_root(node: dict[str, JSONValue]) -> dict[str, JSONValue]:
    """The root as one plain object: alternatives at the top become one union of properties."""
    properties: dict[str, JSONValue] = {}
    required: set[str] = set()
    notes: list[str] = []
    for combinator in _ROOT_COMBINATORS:
        branches = [as_object(branch) or {} for branch in as_array(node.get(combinator)) or ()]
        if not branches:
            continue
        roots = [_object_root(dict(branch)) for branch in branches]
        for root in roots:
            properties.update(cast("Mapping[str, JSONValue]", root["properties"]))
        demands = [set(cast("list[str]", root.get("required", []))) for root in roots]
        if combinator == "allOf":
            required |= set[str]().union(*demands)
        else:
            required |= set[str].intersection(*demands)
            notes.append(_alternatives_note(roots))
    properties.update(as_object(node.get("properties")) or {})
    required |= {name for name in as_array(node.get("required")) or () if isinstance(name, str)}
    result: dict[str, JSONValue] = {
        key: part
        for key, part in node.items()
        if key not in _ROOT_DROPPED and key not in _ROOT_COMBINATORS
    }
    result["type"] = "object"
    result["properties"] = properties
    result.pop("required", None)
    if present := [name for name in properties if name in required]:
        result["required"] = present
    if notes:
        described = as_string(result.get("description"))
        result["description"] = "\n".join([described, *notes] if described else notes)
    return result


def _alternatives_note(roots: list[dict[str, JSONValue]]) -> str:
    """Tells the model in words what the flattened schema no longer says."""
    sets = ["{" + ", ".join(cast("Mapping[str, JSONValue]", r["properties"])) + "}" for r in roots]
    return "Give the properties of one of these alternatives: " + " or ".join(sets)
