"""Text that is valid Unicode, whatever it was made of.

A Python string can hold half a character: a lone surrogate from a service that cut an emoji in two,
or from a file name or an argument that is no UTF-8. No encoder accepts it.
"""

import re
from collections.abc import Mapping
from typing import cast

_SURROGATE = re.compile("[\ud800-\udfff]")


def valid_text(text: str) -> str:
    """The text with surrogate pairs joined and lone ones replaced by U+FFFD."""
    if _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def valid_value(value: object) -> object:
    """The JSON value with every string in it made valid, keys too."""
    if isinstance(value, str):
        return valid_text(value)
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value).items()
        return {valid_text(str(key)): valid_value(item) for key, item in pairs}
    if isinstance(value, list | tuple):
        return [valid_value(item) for item in cast("list[object]", value)]
    return value


class PieceJoiner:
    """Pieces of one text, given out so that no character is cut in two between them."""

    def __init__(self) -> None:
        self._half = ""

    def take(self, piece: str) -> str:
        """What can be shown now; half a character waits for its other half."""
        text, self._half = self._half + piece, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return valid_text(text)

    def rest(self) -> str:
        """The half that never was completed, as U+FFFD."""
        text, self._half = self._half, ""
        return valid_text(text)
