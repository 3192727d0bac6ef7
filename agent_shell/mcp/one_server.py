"""What a person does to one server: connect it again, trust it, turn it on or off."""

from collections.abc import Iterable
from functools import partial

import anyio.to_thread

from agent_shell.discovery.discovered import DiscoveredServer
from agent_shell.discovery.edit import set_server_enabled
from agent_shell.discovery.entry import read_entry
from agent_shell.errors import MCPError
from agent_shell.mcp.config import is_usable, load_all_mcp_configs
from agent_shell.mcp.manager import MCPLoadResult, MCPManager


async def connect_server(manager: MCPManager, name: str) -> MCPLoadResult:
    """Close this server if it is open, read the files again, connect it and wait for it.

    Raises MCPError when there is no such server or it may not be started.
    """
    await manager.rediscover()
    found = _required(manager, name)
    if not is_usable(found):
        raise MCPError(
            f'server "{name}" is not started: {found.error or found.reason}',
            hint=found.hint or _hint_for(found),
            server=name,
            stage="config",
        )
    await manager.disconnect_server(name)
    return await manager.connect_found([found], startup_timeout_ms=0)


async def trust_servers(
    manager: MCPManager, names: Iterable[str], *, whole_folder: bool
) -> MCPLoadResult:
    """Remember the user's yes to these entries, or to the folder, and connect them.

    Raises ConfigError when the decision can't be written down; then nothing is started.
    """
    wanted = set(names)
    agreed = [found for found in manager.untrusted() if found.name in wanted]
    project = manager.options.cwd
    if whole_folder:
        await anyio.to_thread.run_sync(manager.trust.trust_folder, project)
    else:
        for found in agreed:
            await anyio.to_thread.run_sync(
                manager.trust.trust_entry, project, found.name, found.trust_key
            )
    # Only what was shown: an entry that changed since then is asked for anew.
    keys = {found.trust_key for found in agreed}
    discovery = await manager.rediscover()
    return await manager.connect_found(
        [found for found in discovery.servers if found.trust_key in keys]
    )


async def agree_to(manager: MCPManager, name: str) -> None:
    """Remember a yes to this entry as its file has it now, unasked. Starts nothing.

    For an entry that the user has just written. Raises ConfigError when it can't be written down.
    """
    discovery = (await load_all_mcp_configs(manager.options)).discovery
    found = discovery.find(name)
    if found is not None and not found.trusted:
        await anyio.to_thread.run_sync(
            manager.trust.trust_entry, manager.options.cwd, name, found.trust_key
        )


async def set_enabled(manager: MCPManager, name: str, *, enabled: bool) -> MCPLoadResult:
    """Write the user's lists and apply the change to this server only (CONTRACT section 6).

    Raises MCPError for a name that no file defines, ConfigError when the user's file can't be
    edited.
    """
    await manager.rediscover()
    found = _required(manager, name)
    says_off = not read_entry(name, found.raw, manager.options.environ).is_enabled
    await anyio.to_thread.run_sync(
        partial(
            set_server_enabled,
            manager.options.paths,
            name,
            enabled=enabled,
            overrides_entry=says_off,
        )
    )
    await manager.rediscover()
    if not enabled:
        await manager.disconnect_server(name)
        return MCPLoadResult(tools=manager.get_tools())
    return await manager.connect_found([_required(manager, name)], startup_timeout_ms=0)


def _required(manager: MCPManager, name: str) -> DiscoveredServer:
    found = manager.discovery.find(name)
    if found is None:
        known = sorted(row.name for row in manager.discovery.winners())
        names = ", ".join(known) if known else "none are configured"
        raise MCPError(f'no server "{name}"; known: {names}', server=name, stage="config")
    return found


def _hint_for(found: DiscoveredServer) -> str | None:
    match found.reason:
        case "untrusted":
            return f"/mcp trust {found.name} starts it"
        case "disabled":
            return f"/mcp enable {found.name} turns it on"
        case _:
            return None
