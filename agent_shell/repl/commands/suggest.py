"""The known word that a mistyped one most likely meant."""

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The closest of `known`, if one is close."""
    # Only a mistake needs it, and the first import takes a while.
    from difflib import get_close_matches  # noqa: PLC0415

    names = list(known)
    close = get_close_matches(word, names, n=1, cutoff=0.5)
    if close:
        return close[0]
    return next((name for name in names if word and name.startswith(word)), None)
