"""Who wins when two files name the same server."""

from collections.abc import Iterable
from dataclasses import dataclass

from agent_shell.discovery.providers.base import FileContents, FoundEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedEntry:
    """An entry and the file it stands in; `shadowed_by` is the file that has the name already."""

    contents: FileContents
    entry: FoundEntry
    shadowed_by: str | None


def rank_entries(files: Iterable[FileContents]) -> tuple[RankedEntry, ...]:
    """All entries of all files, which come highest rank first.

    The first definition of a name wins, and wins whole: nothing of a later one is mixed in. A
    disabled or broken entry claims its name too, since something else under the same name is not
    what the user meant.
    """
    owners: dict[str, str] = {}
    ranked: list[RankedEntry] = []
    for contents in files:
        for entry in contents.entries:
            owner = owners.get(entry.name)
            owners.setdefault(entry.name, contents.shown)
            ranked.append(RankedEntry(contents=contents, entry=entry, shadowed_by=owner))
    return tuple(ranked)
