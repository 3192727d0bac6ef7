"""JSON as we print it: the exact value, in signs that do nothing to a terminal."""

import json


def json_text(value: object, *, indent: int | None = None) -> str:
    """The value as JSON. Letters stay letters.

    Control and direction-changing characters, and halves of surrogate pairs, are written as JSON's
    own escapes.
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    if text.replace("\n", "").isprintable():
        return text
    # Outside of its strings JSON has no such character but our line feeds.
    return "".join(
        char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text
    )
