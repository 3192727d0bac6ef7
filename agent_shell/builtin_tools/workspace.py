"""Paths inside the project; refuses to leave it, also through links."""

import os
from dataclasses import dataclass
from pathlib import Path

from agent_shell.errors import AgentShellError

_PROTECTED_FOLDERS = frozenset({".agent-shell", ".git"})
_PROTECTED_FILES = frozenset(
    {
        ".mcp.json",
        "mcp.json",
        ".claude.json",
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".gemini/settings.json",
        ".codex/config.toml",
        "mcp_config.json",
        "trust.json",
        "agent-shell/settings.toml",
        "claude_desktop_config.json",
    }
)


class WorkspaceError(AgentShellError):
    """A path that a tool may not use; the message is for the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """The project folder, and folders outside it that may be read but not written."""

    root: Path
    readable: tuple[Path, ...] = ()

    def to_read(self, path: str) -> Path:
        """The real path of something to read. Raises WorkspaceError outside the allowed folders."""
        real = self._real(path)
        if not any(_is_inside(real, folder) for folder in (self.root, *self.readable)):
            raise WorkspaceError(f"{path} is outside the project folder")
        return real

    def to_write(self, path: str) -> Path:
        """The real path of a file to write. Links count by where they lead, even dangling ones."""
        real = self._real(path)
        if not _is_inside(real, self.root) or real == self._real("."):
            raise WorkspaceError(f"{path} is outside the project folder")
        if real.exists() and not real.is_file():
            raise WorkspaceError(f"{path} is not a regular file")
        return real

    def shown(self, real: Path) -> str:
        """A path as the model should see it: relative to the project where it is inside."""
        root = Path(os.path.realpath(self.root))
        return real.relative_to(root).as_posix() if real.is_relative_to(root) else str(real)

    def is_protected(self, path: str) -> bool:
        """Whether it is, or leads to, a file that decides what is started or allowed.

        Compared by the real path without regard to case: a file system may not tell `.MCP.json`
        from `.mcp.json` (THREATS.md, CVE-2025-59944). Both the written and the real path count.
        """
        try:
            real = self._real(path)
        except WorkspaceError:
            return True
        written = Path(os.path.normpath(self.root / path))
        return any(_names_protected(place) for place in (real, written))

    def _real(self, path: str) -> Path:
        if "\0" in path:
            raise WorkspaceError("a path may not hold a NUL character")
        try:
            expanded = os.path.expanduser(path) if path.startswith("~") else path  # noqa: PTH111
            return Path(os.path.realpath(self.root / expanded))
        except (OSError, ValueError) as error:
            raise WorkspaceError(f"{path} can't be resolved: {error}") from error


def _is_inside(real: Path, folder: Path) -> bool:
    return real.is_relative_to(os.path.realpath(folder))


def _names_protected(path: Path) -> bool:
    parts = [part.casefold() for part in path.parts]
    if any(part in _PROTECTED_FOLDERS for part in parts):
        return True
    return any("/".join(parts[-length:]) in _PROTECTED_FILES for length in (1, 2))
