"""The shell's own options, with their defaults."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

ApprovalMode = Literal["ask", "edits", "all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MCPSettings:
    """`[mcp]`: how servers are found and treated. Times are in milliseconds."""

    enable_project_config: bool = True
    startup_timeout_ms: int = 250
    timeout_override_ms: int | None = None
    """AGENT_SHELL_MCP_TIMEOUT_MS: beats every server's own timeout; 0 means none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSettings:
    """`[tools]`: bounds of what a tool may give the model, and of how long a command may run."""

    max_result_bytes: int = 30_000
    command_timeout_s: int = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings:
    """`[providers.NAME]`: one OpenAI-compatible service. Only the user's own file may set these."""

    base_url: str
    api_key_env: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that settings files, environment and flags decide, already merged."""

    model: str | None = None
    approval: ApprovalMode = "ask"
    theme: Literal["auto", "plain"] = "auto"
    mcp: MCPSettings = field(default_factory=MCPSettings)
    tools: ToolSettings = field(default_factory=ToolSettings)
    providers: Mapping[str, ProviderSettings] = field(default_factory=dict[str, ProviderSettings])
