"""`!command` values, run with real commands just before connecting."""

from pathlib import Path

import anyio
import pytest

from agent_shell.discovery.server_config import HttpServerConfig, StdioServerConfig
from agent_shell.errors import MCPConnectError
from agent_shell.mcp.resolve_auth import SecretCommands
from tests.fakes.connections import until, until_file
from tests.requirements import requirement

ENVIRON = {"PATH": "/usr/bin:/bin", "WHO": "me"}


@requirement("connect:resolves-auth")
async def test_the_output_of_a_command_is_the_value() -> None:
    config = HttpServerConfig(
        name="s",
        url="http://127.0.0.1/mcp",
        headers={"Authorization": '!printf "Bearer %s\\n" "$WHO"', "X-Plain": "a!b"},
    )

    resolved = await SecretCommands(ENVIRON).resolve_auth_config(config)

    assert isinstance(resolved, HttpServerConfig)
    assert resolved.headers == {"Authorization": "Bearer me", "X-Plain": "a!b"}


async def test_a_command_runs_once_until_it_is_forgotten(tmp_path: Path) -> None:
    count = tmp_path / "count"
    config = StdioServerConfig(name="s", command="true", env={"T": f"!echo x >>'{count}'; echo t"})
    commands = SecretCommands(ENVIRON)

    await commands.resolve_auth_config(config)
    await commands.resolve_auth_config(config)
    assert count.read_text(encoding="utf-8") == "x\n"

    commands.forget()
    await commands.resolve_auth_config(config)
    assert count.read_text(encoding="utf-8") == "x\nx\n"


async def test_a_value_that_came_out_of_a_variable_is_never_a_command(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    config = StdioServerConfig(
        name="s",
        command="true",
        env={"T": f"!touch '{marker}'"},
        literal_values=frozenset({"T"}),
    )

    resolved = await SecretCommands(ENVIRON).resolve_auth_config(config)

    assert resolved == config
    assert not marker.exists()


async def test_a_failing_command_names_the_field_and_not_the_command() -> None:
    config = StdioServerConfig(name="s", command="true", env={"TOKEN": "!echo hidden; exit 3"})

    with pytest.raises(MCPConnectError) as caught:
        await SecretCommands(ENVIRON).resolve_auth_config(config)

    assert caught.value.message == "the command in env.TOKEN failed with exit status 3"


async def test_a_cancelled_command_leaves_no_process(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    command = f"!sleep 60 & echo $! >'{pid_file}'; wait"
    config = StdioServerConfig(name="s", command="true", env={"T": command})

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(SecretCommands(ENVIRON).resolve_auth_config, config)
            await until_file(pid_file)
            tasks.cancel_scope.cancel()

    sleeper = Path("/proc") / pid_file.read_text(encoding="utf-8").strip() / "stat"
    with anyio.fail_after(5):
        await until(lambda: not sleeper.exists() or " Z " in sleeper.read_text(encoding="utf-8"))
