"""Colours and signs, once. Without colour everything can still be read."""

from collections.abc import Mapping
from typing import Literal

Role = Literal["quiet", "error", "warning", "ok", "accent", "strong"]

PROMPT_SIGN = "› "
CONTINUATION = "  "
TOOL_SIGN = "⏺"
OK_SIGN = "✓"
FAILED_SIGN = "✗"
WAITING_SIGN = "…"
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
SPINNER_FRAMES_PER_S = 8

# The sixteen colours of the terminal's own palette: they fit dark and light backgrounds alike.
RICH_STYLES: Mapping[Role, str] = {
    "quiet": "bright_black",
    "error": "red",
    "warning": "yellow",
    "ok": "green",
    "accent": "cyan",
    "strong": "bold",
}
SCREEN_STYLES: Mapping[str, str] = {
    "quiet": "ansibrightblack",
    "error": "ansired",
    "warning": "ansiyellow",
    "ok": "ansigreen",
    "accent": "ansicyan",
    "strong": "bold",
    "prompt": "",
    "completion-menu": "noinherit",
    "completion-menu.completion": "noinherit",
    "completion-menu.completion.current": "noinherit reverse",
    "completion-menu.meta.completion": "noinherit ansibrightblack",
    "completion-menu.meta.completion.current": "noinherit reverse",
    "scrollbar.background": "noinherit",
    "scrollbar.button": "noinherit reverse",
}


def is_colourless(environ: Mapping[str, str], theme: str) -> bool:
    """Whether nothing may be coloured: NO_COLOR (any value but empty), theme plain, no terminal."""
    return bool(environ.get("NO_COLOR")) or theme == "plain" or environ.get("TERM") == "dumb"
