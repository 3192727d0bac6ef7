"""The recorded answers of real services: each chat completion stream of the corpus as SSE text.

The corpus lies beside the project and is not part of it. The recorders' YAML is read by a few lines
here, since the project needs no YAML otherwise: only the scalars of `body` and `string` matter.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

STREAMS = Path(__file__).resolve().parents[3] / "shared" / "streams"

# In CI a missing corpus is a failure, never a skip.
needs_streams = pytest.mark.skipif(
    not STREAMS.is_dir() and not os.environ.get("CI"),
    reason="the recorded streams (../shared/streams) are not on this machine",
)

_SCALAR = re.compile(r"^(?P<indent> +)(?:body|string): (?P<start>.*)$")


def chat_streams() -> Iterator[tuple[str, str]]:
    """(name, SSE text) of every recorded stream in the shape of chat completions."""
    for path in sorted(STREAMS.rglob("*")):
        name = path.relative_to(STREAMS).as_posix()
        if path.name.endswith(".chunks.txt"):
            lines = path.read_text(encoding="utf-8").splitlines()
            yield from _chat_only(name, "".join(f"data: {line}\n\n" for line in lines if line))
        elif path.suffix == ".bin":
            yield from _chat_only(name, path.read_text(encoding="utf-8"))
        elif path.suffix == ".yaml":
            for number, text in enumerate(scalars(path.read_text(encoding="utf-8"))):
                yield from _chat_only(f"{name}#{number}", text)


def stream(name: str) -> str:
    """The SSE text of one stream."""
    return next(text for found, text in chat_streams() if found == name)


def _chat_only(name: str, text: str) -> Iterator[tuple[str, str]]:
    if re.search(r'^data:.*"choices":', text, re.MULTILINE) and '"text_completion"' not in text:
        yield name, text


def scalars(document: str) -> Iterator[str]:
    """The values of all `body` and `string` keys of a recorder's YAML file."""
    lines = document.split("\n")
    for at, line in enumerate(lines):
        if (match := _SCALAR.match(line)) is None:
            continue
        start, indent = match["start"], len(match["indent"])
        if start.startswith("|"):
            yield _literal(lines[at + 1 :], indent)
        elif start[:1] in {'"', "'"}:
            yield _quoted([start, *lines[at + 1 :]])


def _literal(lines: list[str], indent: int) -> str:
    block: list[str] = []
    for line in lines:
        if line.strip() and len(line) - len(line.lstrip(" ")) <= indent:
            break
        block.append(line)
    inner = next((len(line) - len(line.lstrip(" ")) for line in block if line.strip()), 0)
    return "\n".join(line[inner:] for line in block)


def _quoted(lines: list[str]) -> str:
    quote = lines[0][0]
    text = ""
    for number, line in enumerate(lines):
        # Lines fold: one line feed is a space, an empty line is a line feed.
        piece = line if number == 0 else line.strip()
        if number > 0 and not text.endswith("\\"):
            text = text + "\n" if not piece else (text if text.endswith("\n") else text + " ")
        text = text.removesuffix("\\") + piece if number else piece
        ending = re.compile(r'(?<!\\)(?:\\\\)*"$' if quote == '"' else r"(?<!')(?:'')*'$")
        if len(text) > 1 and ending.search(text):
            break
    if quote == "'":
        return text[1:-1].replace("''", "'")
    # Three of YAML's escapes are not JSON's: a space that must not fold, two and eight digits.
    escaped = re.sub(r"\\(\\| |x[0-9A-Fa-f]{2}|U[0-9A-Fa-f]{8})", _as_json_escape, text[1:-1])
    return str(json.loads('"' + escaped.replace("\n", "\\n") + '"', strict=False))


def _as_json_escape(match: re.Match[str]) -> str:
    escape = match[1]
    if escape == "\\":
        return match[0]
    return " " if escape == " " else json.dumps(chr(int(escape[1:], 16)))[1:-1]
