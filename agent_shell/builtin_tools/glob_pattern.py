"""Glob patterns over whole relative paths: `*` stays in one folder, `**` crosses them."""

import re


def glob_regex(pattern: str) -> re.Pattern[str]:
    """The pattern as a regular expression. One without a slash matches at any depth."""
    pattern = pattern.removeprefix("./").lstrip("/")
    if "/" not in pattern:
        pattern = f"**/{pattern}"
    parts: list[str] = []
    at = 0
    while at < len(pattern):
        if pattern.startswith("**/", at):
            parts.append("(?:[^/]+/)*")
            at += 3
        elif pattern.startswith("**", at):
            parts.append(".*")
            at += 2
        elif pattern[at] == "*":
            parts.append("[^/]*")
            at += 1
        elif pattern[at] == "?":
            parts.append("[^/]")
            at += 1
        elif pattern[at] == "[" and (end := pattern.find("]", at + 2)) > 0:
            inside = pattern[at + 1 : end].replace("\\", "\\\\")
            parts.append(f"[{'^' + inside[1:] if inside[0] in '!^' else inside}]")
            at = end + 1
        elif pattern[at] == "{" and (end := pattern.find("}", at)) > 0:
            choices = pattern[at + 1 : end].split(",")
            parts.append("(?:" + "|".join(re.escape(choice) for choice in choices) + ")")
            at = end + 1
        else:
            parts.append(re.escape(pattern[at]))
            at += 1
    try:
        return re.compile("".join(parts) + r"\Z", re.DOTALL)
    except re.error:
        return re.compile(re.escape(pattern) + r"\Z")
