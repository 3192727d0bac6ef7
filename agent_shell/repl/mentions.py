"""@path in a turn: the file's text goes along, bounded, behind the words as they were typed."""

import re
from pathlib import Path

import anyio.to_thread

MOST_FILE_BYTES = 50_000
MOST_FILES = 10

_MENTION = re.compile(r"(?<!\S)@(\"[^\"\n]+\"|\S+)")


async def with_mentions(text: str, cwd: Path) -> str:
    """The turn's text, and the content of every file it mentions that can be read as text.

    A mention that names no file of ours stays what it is: words.
    """
    names = [match.group(1).strip('"') for match in _MENTION.finditer(text)]
    if not names:
        return text
    return await anyio.to_thread.run_sync(_attach, text, names, cwd)


def _attach(text: str, names: list[str], cwd: Path) -> str:
    parts = [text]
    for mention in list(dict.fromkeys(names))[:MOST_FILES]:
        found = _existing_file(mention, cwd)
        if found is None:
            continue
        name, path = found
        try:
            with path.open("rb") as file:
                content = file.read(MOST_FILE_BYTES + 1)
        except OSError:
            continue
        if b"\0" in content:
            continue  # not text; the model can still ask for it by its name
        body = content[:MOST_FILE_BYTES].decode("utf-8", "replace")
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", body)), default=0))
        note = "" if len(content) <= MOST_FILE_BYTES else f" (the first {MOST_FILE_BYTES} bytes)"
        parts.append(f"{name}{note}:\n{fence}\n{body.rstrip()}\n{fence}")
    return "\n\n".join(parts)


def _existing_file(name: str, cwd: Path) -> tuple[str, Path] | None:
    """The file and the name that reached it."""
    # A sentence may end right behind the name.
    for candidate in (name, name.rstrip(".,;:!?)")):
        path = cwd / Path(candidate).expanduser() if candidate else cwd
        try:
            if path.is_file():
                return candidate, path
        except (OSError, ValueError):
            continue
    return None
