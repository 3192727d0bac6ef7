"""What the interactive shell is started with."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellOptions:
    """The command line's wishes; None means that settings decide. Paths are absolute."""

    cwd: Path
    environ: Mapping[str, str]
    model: str | None = None
    approval: Literal["ask", "edits", "all"] | None = None
    no_mcp: bool = False
    no_project_mcp: bool = False
    mcp_config: tuple[Path, ...] = ()
    strict_mcp_config: bool = False
    trust_project: bool = False
    prompt: str | None = None
    debug: bool = False

    def setting_overrides(self) -> dict[str, object]:
        """What of this stands above every settings file, by the settings' dotted names."""
        wishes = {
            "model": self.model,
            "approval": self.approval,
            "mcp.enable_project_config": False if self.no_project_mcp else None,
        }
        return {name: wish for name, wish in wishes.items() if wish is not None}


class PaintedTerminal(Protocol):
    """A terminal whose prompt line stands already, and that can be put back as it was."""

    def hand_over(self) -> None:
        """Nothing but the caller paints from here on; the cursor is at the line's start."""
        ...

    def restore(self) -> None:
        """Put every mode back. Safe to call again, and on a terminal that is gone."""
        ...
