"""What a stdio server may see of our environment."""

from collections.abc import Mapping

from agent_shell.discovery.server_config import StdioServerConfig

SAFE_NAMES = frozenset({"PATH", "HOME", "USER", "LANG", "TMPDIR", "SHELL", "TERM"})
SAFE_PREFIX = "LC_"
WINDOWS_NAMES = frozenset(
    {
        "APPDATA",
        "COMSPEC",
        "HOMEDRIVE",
        "HOMEPATH",
        "LOCALAPPDATA",
        "PATHEXT",
        "PROCESSOR_ARCHITECTURE",
        "PROGRAMDATA",
        "PROGRAMFILES",
        "SYSTEMDRIVE",
        "SYSTEMROOT",
        "TEMP",
        "TMP",
        "USERNAME",
        "USERPROFILE",
        "WINDIR",
    }
)
"""CONTRACT section 3. Keys and tokens of other programs are none of a server's business."""


def server_environment(config: StdioServerConfig, environ: Mapping[str, str]) -> dict[str, str]:
    """The short safe environment, what `inheritEnv` passes besides, and the entry's own `env`."""
    inherited = config.inherit_env
    if inherited is True:
        passed = dict(environ)
    else:
        names = SAFE_NAMES | WINDOWS_NAMES | set(inherited or ())
        passed = {
            name: value
            for name, value in environ.items()
            if name in names or name.startswith(SAFE_PREFIX)
        }
    return passed | dict(config.env)
