"""What a stdio server sees of our environment."""

from agent_shell.discovery.server_config import StdioServerConfig
from agent_shell.mcp.transports.server_environment import server_environment
from tests.requirements import requirement

ENVIRON = {
    "PATH": "/bin",
    "HOME": "/home/u",
    "LC_TIME": "C",
    "OPENAI_API_KEY": "key",
    "EXTRA": "1",
}


@requirement("B13")
def test_a_server_gets_the_short_environment_and_its_own_variables() -> None:
    config = StdioServerConfig(name="s", command="x", env={"X": "", "HOME": "/other"})

    assert server_environment(config, ENVIRON) == {
        "PATH": "/bin",
        "HOME": "/other",
        "LC_TIME": "C",
        "X": "",
    }


def test_inherit_env_passes_names_or_everything() -> None:
    some = StdioServerConfig(name="s", command="x", inherit_env=("EXTRA", "ABSENT"))
    everything = StdioServerConfig(name="s", command="x", inherit_env=True, env={"EXTRA": "2"})

    assert server_environment(some, ENVIRON) == {
        "PATH": "/bin",
        "HOME": "/home/u",
        "LC_TIME": "C",
        "EXTRA": "1",
    }
    assert server_environment(everything, ENVIRON) == {**ENVIRON, "EXTRA": "2"}
