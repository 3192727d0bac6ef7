"""Searches files for a regular expression; a program of its own, standard library only.

A pattern can take for ever to match, and Python cannot interrupt it: as a process it can be ended.
Standard input: one JSON object {folder, files, pattern, ignore_case, max_matches}. Standard output:
one JSON object a line, {file, line, text}, and at the end {"matches": N, "is_cut": bool} or
{"error": …}.
"""

import json
import os
import re
import sys
from typing import Any

BINARY_PROBE_BYTES = 8_192
MAX_FILE_BYTES = 10_000_000
MAX_LINE_CHARACTERS = 400


def main() -> None:
    """Search as standard input says."""
    request: dict[str, Any] = json.load(sys.stdin)
    try:
        pattern = re.compile(request["pattern"], re.IGNORECASE if request["ignore_case"] else 0)
    except (re.error, OverflowError, RecursionError) as error:
        say({"error": f"the pattern is no regular expression: {error}"})
        return
    matches = 0
    for name in request["files"]:
        for number, line in lines_of(f"{request['folder']}/{name}"):
            if pattern.search(line) is None:
                continue
            if matches >= request["max_matches"]:
                say({"matches": matches, "is_cut": True})
                return
            matches += 1
            say({"file": name, "line": number, "text": line[:MAX_LINE_CHARACTERS]})
    say({"matches": matches, "is_cut": False})


def lines_of(path: str) -> list[tuple[int, str]]:
    """The numbered lines of a text file; none of a binary, huge, special or unreadable one."""
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > MAX_FILE_BYTES:  # noqa: PTH113, PTH202
            return []
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib would double the start-up time
            content = file.read()
    except OSError:
        return []
    if b"\0" in content[:BINARY_PROBE_BYTES]:
        return []
    text = content.decode(errors="replace")
    return [(number, line.rstrip("\r")) for number, line in enumerate(text.split("\n"), 1)]


def say(value: dict[str, Any]) -> None:
    """One line of output."""
    sys.stdout.write(json.dumps(value) + "\n")


if __name__ == "__main__":
    main()
