"""${VAR} and ${VAR:-default} in a config value."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

MAX_EXPANDED_CHARACTERS = 1_000_000
"""No command line or header is longer; it bounds what repeated large variables can cost."""

_OPENING = re.compile(r"\$\{(?:([A-Za-z_][A-Za-z0-9_]*)(\}|:-))?")
_OPENING_OR_END = re.compile(rf"{_OPENING.pattern}|\}}")


class ExpandError(Exception):
    """The text can't be expanded. `variable` is the one that is not set, where that is why."""

    def __init__(self, message: str, *, variable: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.variable = variable


@dataclass(slots=True)
class _Open:
    """A `${VAR:-` whose end has not been seen; `is_used` is false where the default is not."""

    value: str | None
    is_used: bool
    parts: list[str] = field(default_factory=list[str])


def expand(text: str, environ: Mapping[str, str]) -> str:
    """Replace the variables, defaults within defaults too.

    As in the shell, `:-` takes the default for a variable that is unset or empty, and a `}` ends
    the innermost `${`. What a variable holds is not expanded again. Raises ExpandError for a
    variable that is unset and has no default, and for a `${` that is no such form; never in a
    default that is not used.
    """
    if "${" not in text:
        return text
    stack = [_Open(value=None, is_used=True)]
    position = length = 0
    while True:
        pattern = _OPENING_OR_END if len(stack) > 1 else _OPENING
        found = pattern.search(text, position)
        until = len(text) if found is None else found.start()
        stack[-1].parts.append(text[position:until])
        if found is None:
            break
        position = found.end()
        name, ending = found[1], found[2]
        top = stack[-1]
        if found[0] == "}":
            done = stack.pop()
            default = "".join(done.parts)
            stack[-1].parts.append(default if done.value is None else done.value)
        elif name is None:
            # The text itself may be half a password: it is not shown.
            raise ExpandError("after ${ there is no name of a variable")
        elif ending == "}":
            value = environ.get(name) if top.is_used else ""
            if value is None:
                raise ExpandError(f"variable {name} is not set", variable=name)
            top.parts.append(value)
            length += len(value)
        else:
            value = (environ.get(name) or None) if top.is_used else ""
            length += len(value or "")
            stack.append(_Open(value=value, is_used=top.is_used and value is None))
        if length > MAX_EXPANDED_CHARACTERS:
            raise ExpandError("becomes too long when its variables are put in")
    if len(stack) > 1:
        raise ExpandError('a "${" has no "}"')
    return "".join(stack[0].parts)


def expand_home(text: str, environ: Mapping[str, str]) -> str:
    """A leading `~/` (and a lone `~`) as the home folder; unchanged if HOME is not set."""
    home = environ.get("HOME")
    if not home or not (text == "~" or text.startswith("~/")):
        return text
    return home.rstrip("/") + text[1:] if text != "~" else home
