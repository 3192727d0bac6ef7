"""Where configuration, data, cache and state live (CONTRACT section 2)."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

APP_NAME = "agent-shell"
HOME_VARIABLE = "AGENT_SHELL_HOME"


@dataclass(frozen=True, slots=True, kw_only=True)
class AppPaths:
    """The four folders everything of ours lives in. None of them needs to exist yet."""

    config: Path
    data: Path
    cache: Path
    state: Path

    @property
    def user_settings(self) -> Path:
        """The user's settings file."""
        return self.config / "settings.toml"

    @property
    def user_mcp_config(self) -> Path:
        """The user's own MCP servers."""
        return self.config / "mcp.json"

    @property
    def trust_file(self) -> Path:
        """What the user agreed to start."""
        return self.data / "trust.json"

    @property
    def sessions(self) -> Path:
        """Transcripts, one folder a project."""
        return self.data / "sessions"

    @property
    def input_history(self) -> Path:
        """What was typed at the prompt."""
        return self.state / "input-history"

    @property
    def tool_cache(self) -> Path:
        """The last known tool list of each server configuration."""
        return self.cache / "mcp-tools"

    @property
    def log_file(self) -> Path:
        """The program's own log."""
        return self.state / "logs" / "agent-shell.log"

    def server_log(self, server: str) -> Path:
        """The log of one MCP server, whatever its name holds."""
        return self.state / "logs" / "mcp" / f"{file_stem(server)}.log"


def file_stem(name: str) -> str:
    """A file name's stem for any name: itself if it is harmless, else made safe plus a hash."""
    safe = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:80]
    if safe == name and name:
        return name
    return f"{safe}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def app_paths(environ: Mapping[str, str]) -> AppPaths:
    """The folders for this environment: all under AGENT_SHELL_HOME if set, else the system's."""
    home = environ.get(HOME_VARIABLE)
    if home:
        root = Path(home).expanduser().absolute()
        return AppPaths(
            config=root / "config", data=root / "data", cache=root / "cache", state=root / "state"
        )
    import platformdirs  # noqa: PLC0415 - not needed when the variable is set

    return AppPaths(
        config=Path(platformdirs.user_config_dir(APP_NAME)),
        data=Path(platformdirs.user_data_dir(APP_NAME)),
        cache=Path(platformdirs.user_cache_dir(APP_NAME)),
        state=Path(platformdirs.user_state_dir(APP_NAME)),
    )
