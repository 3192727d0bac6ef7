"""The first seed's reload, and what it changed."""

from collections.abc import Mapping
from dataclasses import dataclass

from agent_shell.discovery.discovered import Discovery
from agent_shell.errors import ConfigError
from agent_shell.mcp.config import load_all_mcp_configs
from agent_shell.mcp.manager import MCPLoadResult, MCPManager


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Names that came, went, or stayed with another content; each sorted."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.altered)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReloadReport:
    """How the usable servers stand when the gate has opened, and what is not as it was."""

    connected: int
    connecting: int
    failed: int
    servers: Difference
    tools: Difference
    loaded: MCPLoadResult


async def reload_servers(manager: MCPManager) -> ReloadReport:
    """`disconnect_all`, `discover_and_connect`; the caller then refreshes its session's tools.

    The files are read afresh and every server is a new connection. Raises ConfigError, and leaves
    everything as it is, when a file that running servers come from can't be read any more: it is
    perhaps half saved. Raises what discovery raises; then nothing is connected.
    """
    configs = await load_all_mcp_configs(manager.options)
    _check_files_in_use(manager, configs.discovery)
    servers_before = manager.started_configs()
    tools_before = _tools(manager)
    # A server's successor waits for its end itself, so the reload is not as slow as all closings.
    await manager.disconnect_all(wait=False)
    loaded = await manager.discover_and_connect(configs=configs)
    servers_after = manager.started_configs()
    statuses = [manager.get_connection_status(name) for name in servers_after]
    return ReloadReport(
        connected=statuses.count("connected"),
        connecting=statuses.count("connecting"),
        failed=statuses.count("disconnected"),
        servers=_difference(servers_before, servers_after),
        tools=_difference(tools_before, _tools(manager)),
        loaded=loaded,
    )


def _check_files_in_use(manager: MCPManager, discovery: Discovery) -> None:
    in_use = {manager.registries.sources[name].path for name in manager.registries.connections}
    if not in_use.intersection(discovery.unusable_files):
        return
    reasons = [error.message for error in discovery.errors]
    raise ConfigError(
        "; ".join(reasons) or "a file of servers can't be read",
        hint="nothing was changed: its servers run on; mend the file and reload again",
    )


def _tools(manager: MCPManager) -> dict[str, object]:
    return {tool.name: tool.definition for tool in manager.get_tools()}


def _difference(before: Mapping[str, object], after: Mapping[str, object]) -> Difference:
    return Difference(
        added=tuple(sorted(set(after) - set(before))),
        removed=tuple(sorted(set(before) - set(after))),
        altered=tuple(
            sorted(name for name in before if name in after and before[name] != after[name])
        ),
    )
