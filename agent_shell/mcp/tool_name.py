"""`mcp_<server>_<tool>`: a session name for every MCP tool, stable and distinct."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from typing import TypeAlias

MCP_PREFIX = "mcp_"
MAX_NAME_LENGTH = 64
"""What the strictest model services allow (MODELS.md 2.8)."""
_HASH_LENGTH = 8

ToolOrigin: TypeAlias = tuple[str, str]
"""Configured server name and the tool's own name."""


def assign_tool_names(origins: Iterable[ToolOrigin]) -> dict[ToolOrigin, str]:
    """A name for each tool; which one depends on the set of tools only, never on its order.

    Where several tools want the same name, the one that says it most exactly keeps it (nothing
    replaced, nothing cut; then by server and tool name); the others end in a hash of their origin.
    """
    wanted = defaultdict[str, list[ToolOrigin]](list)
    for origin in sorted(set(origins)):
        wanted[_plain_name(origin)].append(origin)
    names: dict[ToolOrigin, str] = {}
    taken = set(wanted)
    for plain, rivals in sorted(wanted.items()):
        rivals.sort(key=lambda origin: (plain != "mcp_{}_{}".format(*origin), origin))
        names[rivals[0]] = plain
        for origin in rivals[1:]:
            length = _HASH_LENGTH
            while (name := _hashed_name(plain, origin, length)) in taken:
                length += 4
            taken.add(name)
            names[origin] = name
    return names


@lru_cache(maxsize=4096)
def _plain_name(origin: ToolOrigin) -> str:
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", "mcp_{}_{}".format(*origin))
    return name if len(name) <= MAX_NAME_LENGTH else _hashed_name(name, origin, _HASH_LENGTH)


def _hashed_name(plain: str, origin: ToolOrigin, length: int) -> str:
    digest = hashlib.sha256("\0".join(origin).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{plain[: MAX_NAME_LENGTH - length - 1]}_{digest[:length]}"
