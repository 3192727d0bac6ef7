"""JSON as Python sees it, and the few functions that narrow it."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias, Union, cast

# A Union, since `|` cannot be written between a name in quotes and anything else.
JSONValue: TypeAlias = Union[  # noqa: UP007
    bool, int, float, str, Sequence["JSONValue"], Mapping[str, "JSONValue"], None
]
JSONObject: TypeAlias = Mapping[str, JSONValue]


def as_object(value: object) -> JSONObject | None:
    """The value if it is a JSON object, else None."""
    return cast("JSONObject", value) if isinstance(value, dict) else None


def as_array(value: object) -> Sequence[JSONValue] | None:
    """The value if it is a JSON array, else None."""
    return cast("Sequence[JSONValue]", value) if isinstance(value, list | tuple) else None


def as_string(value: object) -> str | None:
    """The value if it is a string, else None."""
    return value if isinstance(value, str) else None


def as_integer(value: object) -> int | None:
    """The value if it is an integer (true and false are not), else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
