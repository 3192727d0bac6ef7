"""Change one member of a JSON text and leave everything else as it stands, comments too."""

import json

from agent_shell.discovery.jsonc import Container, JsonDocument, KeyPath, Member
from agent_shell.json_types import JSONValue

_BLANKS = " \t\r\n"
"""What JSON calls white space; other blanks can only be part of a comment."""


def with_member(document: JsonDocument, at: KeyPath, key: str, value: JSONValue) -> str:
    """The text with `key` set to `value` in the object at path `at`, which has to be there."""
    container = _container(document, at)
    member = container.by_key.get(key)
    if member is None:
        text = f"{json.dumps(key, ensure_ascii=False)}: "
        return _with_item(document, container, text, value)
    indent = _indent_of_line(document.text, member.start)
    written = _written(document, value, indent)
    return document.text[: member.value_start] + written + document.text[member.value_end :]


def with_array_item(document: JsonDocument, at: KeyPath, value: JSONValue) -> str:
    """The text with `value` appended to the array at path `at`, which has to be there."""
    return _with_item(document, _container(document, at), "", value)


def without_member(document: JsonDocument, at: KeyPath, key: str | int) -> str:
    """The text without the first member `key` of the object or array at path `at`.

    The commas around it stay right. Comments beside it are kept: they are not ours to judge.
    """
    container = _container(document, at)
    member = container.by_key[key]
    position = container.members.index(member)
    is_last = position == len(container.members) - 1
    text = document.text
    end = member.value_end
    comma = _next_sign(document, end)
    if comma is not None and text[comma] == ",":
        # The comma behind it goes too, a trailing one as well as one between two members.
        between = text[end:comma]
        text = text[:comma] + text[comma + 1 :]
        if not between.strip():
            text = text[:end] + text[comma:]
    elif is_last and position > 0:
        before = container.members[position - 1]
        comma = document.plain.index(",", before.value_end, member.start)
        text = text[:comma] + text[comma + 1 :]
        member = Member(member.key, member.start - 1, member.value_start - 1, member.value_end - 1)
        end -= 1
    return _without_span(text, member.start, end)


def _without_span(text: str, start: int, end: int) -> str:
    """Cut the span, and its line where nothing else stands on it."""
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end + 1
    if not text[line_start:start].strip(" \t") and not text[end:line_end].strip():
        return text[:line_start] + text[line_end:]
    after = end
    while after < len(text) and text[after] in " \t":
        after += 1
    return text[:start] + text[after:]


def _with_item(document: JsonDocument, container: Container, label: str, value: JSONValue) -> str:
    text = document.text
    close = container.end
    has_trailing_comma = False
    after_last = container.start + 1
    if container.members:
        after_last = container.members[-1].value_end
        comma = _next_sign(document, after_last)
        has_trailing_comma = comma is not None and text[comma] == ","
        if has_trailing_comma and comma is not None:
            after_last = comma + 1
    is_one_line = "\n" not in text[container.start : close]
    if is_one_line and container.members:
        space = "" if has_trailing_comma else ","
        written = json.dumps(value, ensure_ascii=False)
        return f"{text[:after_last]}{space} {label}{written}{text[after_last:]}"
    line_end = _line_end(text)
    outer = _indent_of_line(text, container.start)
    indent = outer + _indent_unit(document)
    if container.members:
        first = container.members[0].start
        if not text[text.rfind("\n", 0, first) + 1 : first].strip(" \t"):
            indent = _indent_of_line(text, first)
    written = label + _written(document, value, indent)
    # Behind the last comment, on a line of its own; the closing bracket keeps or gets its line.
    body_end = container.start + 1 + len(text[container.start + 1 : close].rstrip(_BLANKS))
    tail = text[body_end:close]
    if "\n" not in tail:
        tail = f"{line_end}{outer}"
    head = text[:after_last]
    if container.members and not has_trailing_comma:
        head += ","
    ending = "," if has_trailing_comma else ""
    middle = text[after_last:body_end] if body_end > after_last else ""
    return f"{head}{middle}{line_end}{indent}{written}{ending}{tail}{text[close:]}"


def _written(document: JsonDocument, value: JSONValue, indent: str) -> str:
    """The value over several lines, as deep as its place; short arrays stay on one line."""
    unit = _indent_unit(document)
    return _layout(value, indent, unit, _line_end(document.text))


def _layout(value: JSONValue, indent: str, unit: str, line_end: str) -> str:
    if isinstance(value, dict) and value:
        inner = indent + unit
        members = f",{line_end}{inner}".join(
            f"{json.dumps(key, ensure_ascii=False)}: {_layout(each, inner, unit, line_end)}"
            for key, each in value.items()
        )
        return f"{{{line_end}{inner}{members}{line_end}{indent}}}"
    return json.dumps(value, ensure_ascii=False)


def _container(document: JsonDocument, at: KeyPath) -> Container:
    container = document.container_at(at)
    if container is None:
        raise KeyError(at)
    return container


def _next_sign(document: JsonDocument, at: int) -> int | None:
    """Where the next character stands that is neither blank nor part of a comment.

    A trailing comma is blank in `plain` but not in `text`; a comment is blank in `plain` and
    begins with a slash in `text`.
    """
    text, plain = document.text, document.plain
    while at < len(text):
        if text[at] in " \t\r\n":
            at += 1
        elif plain[at] != " " or text[at] == ",":
            return at
        elif text[at : at + 2] == "//":
            at = text.find("\n", at)
            if at < 0:
                return None
        else:
            at = text.index("*/", at + 2) + 2
    return None


def _indent_of_line(text: str, at: int) -> str:
    start = text.rfind("\n", 0, at) + 1
    end = start
    while end < len(text) and text[end] in " \t":
        end += 1
    return text[start:end]


def _indent_unit(document: JsonDocument) -> str:
    """The file's own indentation, taken from its first member; two blanks if there is none."""
    root = document.container_at(())
    if root is not None and root.members:
        first = root.members[0].start
        indent = _indent_of_line(document.text, first)
        if indent and not document.text[document.text.rfind("\n", 0, first) + 1 : first].strip():
            return indent
    return "  "


def _line_end(text: str) -> str:
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"
