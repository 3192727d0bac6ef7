"""A command's output as plain text: what a terminal would have been told is taken out."""

import re

_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\|$)"  # OSC: titles, links
    r"|\x1b[PX^_].*?(?:\x1b\\|$)"  # DCS, SOS, PM, APC: strings for the terminal
    r"|\x1b\[[0-?]*[ -/]*(?:[@-~]|$)"  # CSI: colours, cursor
    r"|\x1b[ -/]*(?:[0-~]|$)"  # the short ones
    r"|\x9b[0-?]*[ -/]*[@-~]",
    re.DOTALL,
)
_OTHER_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def plain_text(output: bytes) -> str:
    """The words of the output. Of a line that was painted over and over, the last state."""
    text = _ESCAPES.sub("", output.decode(errors="replace"))
    lines = [line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n")]
    return _OTHER_CONTROLS.sub("", "\n".join(lines))
