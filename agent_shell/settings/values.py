"""Which settings there are, and which values each may have."""

from collections.abc import Callable, Iterable, Mapping
from typing import cast, get_args

from agent_shell.settings.settings import ApprovalMode

LARGEST = 10**9


class SettingError(Exception):
    """A key that does not exist, or a value that it can't have."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def _text(key: str, value: object) -> object:
    if not isinstance(value, str) or not value.strip():
        raise SettingError(f'"{key}" must be a string, not {_shown(value)}')
    return value


def _boolean(key: str, value: object) -> object:
    if not isinstance(value, bool):
        raise SettingError(f'"{key}" must be true or false, not {_shown(value)}')
    return value


def _whole_number(least: int) -> Callable[[str, object], object]:
    def check_number(key: str, value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= LARGEST:
            what = f"from {least} to {LARGEST}"
            raise SettingError(f'"{key}" must be a whole number {what}, not {_shown(value)}')
        return value

    return check_number


def _one_of(*allowed: str) -> Callable[[str, object], object]:
    def check_word(key: str, value: object) -> object:
        if value not in allowed:
            meant = closest(value, allowed) if isinstance(value, str) else None
            words = ", ".join(f'"{word}"' for word in allowed)
            raise SettingError(
                f'"{key}" must be one of {words}, not {_shown(value)}',
                hint=f'did you mean "{meant}"?' if meant else None,
            )
        return value

    return check_word


CHECKS: Mapping[str, Callable[[str, object], object]] = {
    "model": _text,
    "approval": _one_of(*cast("tuple[str, ...]", get_args(ApprovalMode))),
    "theme": _one_of("auto", "plain"),
    "mcp.enable_project_config": _boolean,
    "mcp.startup_timeout_ms": _whole_number(0),
    "mcp.timeout_override_ms": _whole_number(0),
    "tools.max_result_bytes": _whole_number(1),
    "tools.command_timeout_s": _whole_number(1),
}
"""Every setting but `providers`, by its dotted key."""


def check(key: str, value: object) -> object:
    """The value if the key may have it. Raises SettingError."""
    if key in CHECKS:
        return CHECKS[key](key, value)
    if key in ("mcp", "tools", "providers"):
        raise SettingError(f'"{key}" must be a table')
    meant = closest(key, (*CHECKS, "providers"))
    if meant is None:
        last = key.rsplit(".", 1)[-1]
        meant = next((known for known in CHECKS if known.rsplit(".", 1)[-1] == last), None)
    raise SettingError(f'unknown key "{key}"', hint=f'did you mean "{meant}"?' if meant else None)


def keys_of(table: tuple[str, ...]) -> frozenset[str]:
    """The tables that may stand directly in this one."""
    prefix = "".join(f"{part}." for part in table)
    rests = (key.removeprefix(prefix) for key in CHECKS if key.startswith(prefix))
    return frozenset(rest.split(".")[0] for rest in rests if "." in rest)


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant, or None."""
    import difflib  # noqa: PLC0415 - only when a word is unknown

    found = difflib.get_close_matches(word.lower()[:100], list(known), n=1, cutoff=0.7)
    return found[0] if found else None


def _shown(value: object) -> str:
    if isinstance(value, str):
        return f'"{value[:60]}"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    return "a table" if isinstance(value, dict) else "another kind of value"
