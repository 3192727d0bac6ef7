"""CLIOptions: the command line as the faces read it. How it is parsed: read_argv.py."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from agent_shell.repl.shell_options import ShellOptions

if TYPE_CHECKING:
    from argparse import Namespace

OutputFormat = Literal["text", "json", "stream-json"]
ApprovalChoice = Literal["ask", "edits", "all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CLIOptions:
    """Everything the command line can say. `cwd` exists; paths are absolute.

    `command` holds a subcommand and its own arguments, parsed.
    """

    cwd: Path
    model: str | None = None
    approval: ApprovalChoice | None = None
    no_mcp: bool = False
    no_project_mcp: bool = False
    mcp_config: tuple[Path, ...] = ()
    strict_mcp_config: bool = False
    trust_project: bool = False
    print_mode: bool = False
    output_format: OutputFormat = "text"
    prompt: str | None = None
    debug: bool = False
    command: "Namespace | None" = None

    def shell_options(self) -> ShellOptions:
        """The part of this that the interactive shell takes."""
        return ShellOptions(
            cwd=self.cwd,
            environ=dict(os.environ),
            model=self.model,
            approval=self.approval,
            no_mcp=self.no_mcp,
            no_project_mcp=self.no_project_mcp,
            mcp_config=self.mcp_config,
            strict_mcp_config=self.strict_mcp_config,
            trust_project=self.trust_project,
            prompt=self.prompt,
            debug=self.debug,
        )
