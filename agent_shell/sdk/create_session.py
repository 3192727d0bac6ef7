"""create_agent_session: the one place where the parts are joined."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio

from agent_shell.builtin_tools.create import create_builtin_tools
from agent_shell.builtin_tools.workspace import Workspace
from agent_shell.discovery.discovered import DiscoveryOptions
from agent_shell.llm.create import resolve_provider
from agent_shell.llm.provider import LLMProvider
from agent_shell.mcp.loader import MCPToolsLoadResult, discover_and_load_mcp_tools
from agent_shell.mcp.manager import MCPManager
from agent_shell.mcp.registries import ManagerEvent, ToolsChanged
from agent_shell.mcp.transports.process_group import ProcessGuardian
from agent_shell.paths import AppPaths
from agent_shell.session.agent_session import AgentSession
from agent_shell.session.approvals import Approvals
from agent_shell.session.tool_registry import ToolRegistry
from agent_shell.session.transcript import project_folder_name
from agent_shell.settings.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """What a session is made of.

    `wait_for_mcp=False` leaves it to the caller to run `start_mcp` when it likes (the shell does,
    once its prompt stands). `provider=None`: the model is found at the first turn.
    """

    cwd: Path
    paths: AppPaths
    environ: Mapping[str, str]
    settings: Settings
    provider: LLMProvider | None = None
    enable_mcp: bool = True
    extra_mcp_files: tuple[Path, ...] = ()
    strict_mcp_config: bool = False
    trust_project: bool = False
    wait_for_mcp: bool = True


@dataclass(slots=True, kw_only=True)
class CreateAgentSessionResult:
    """A session and its servers. `mcp_ready` is set once the start-up gate has opened.

    `guardian` knows every process group of servers and commands, for an end without delay.
    """

    session: AgentSession
    mcp_manager: MCPManager | None
    guardian: ProcessGuardian
    mcp_ready: anyio.Event = field(default_factory=anyio.Event)
    mcp_load: MCPToolsLoadResult | None = None

    async def start_mcp(self, *, since: float | None = None) -> MCPToolsLoadResult | None:
        """Discover, connect and bind the tools, to the gate; None when MCP is off.

        The gate's time counts from `since` (anyio.current_time), or from this call.
        """
        try:
            if self.mcp_manager is not None:
                self.mcp_load = await discover_and_load_mcp_tools(self.mcp_manager, since=since)
                self.session.refresh_mcp_tools(self.mcp_manager.get_tools())
            return self.mcp_load
        finally:
            self.mcp_ready.set()


@asynccontextmanager
async def create_agent_session(options: SessionOptions) -> AsyncGenerator[CreateAgentSessionResult]:
    """A session with its MCP servers; leaving the block closes them within 3 s.

    Never fails for a server or a file: see `mcp_load.errors` (first seed). With `enable_mcp=False`
    nothing of MCP is read or started.
    """
    async with AsyncExitStack() as stack:
        guardian = ProcessGuardian()
        stack.callback(guardian.close)
        manager: MCPManager | None = None
        if options.enable_mcp:
            manager = await stack.enter_async_context(
                MCPManager(
                    discovery_options(options), settings=options.settings.mcp, guardian=guardian
                )
            )
        session = await stack.enter_async_context(_session_of(options, manager, guardian))
        result = CreateAgentSessionResult(session=session, mcp_manager=manager, guardian=guardian)
        if manager is not None:
            manager.subscribe(_refresher(session, manager))
        if manager is None or options.wait_for_mcp:
            await result.start_mcp()
        yield result


def _session_of(
    options: SessionOptions, manager: MCPManager | None, guardian: ProcessGuardian
) -> AgentSession:
    # Cut results are kept in full beside the transcript, and may be read from there.
    own_folder = options.paths.sessions / project_folder_name(options.cwd)
    workspace = Workspace(root=options.cwd, readable=(own_folder,))
    tools = create_builtin_tools(
        workspace, settings=options.settings.tools, environ=options.environ, guard=guardian
    )
    return AgentSession(
        cwd=options.cwd,
        registry=ToolRegistry(tools),
        settings=options.settings,
        approvals=Approvals(options.settings.approval, workspace=workspace),
        sessions_folder=options.paths.sessions,
        provider=options.provider,
        resolve=partial(resolve_provider, options.settings, options.environ),
        environ=options.environ,
        server_instructions=manager.instructions if manager is not None else dict,
    )


def discovery_options(options: SessionOptions) -> DiscoveryOptions:
    """What discovery needs of a session's options; Exa entries are always filtered (first seed)."""
    return DiscoveryOptions(
        cwd=options.cwd,
        paths=options.paths,
        environ=options.environ,
        enable_project_config=options.settings.mcp.enable_project_config,
        extra_files=options.extra_mcp_files,
        strict=options.strict_mcp_config,
        filter_exa=True,
        trust_project=options.trust_project,
    )


def _refresher(session: AgentSession, manager: MCPManager) -> Callable[[ManagerEvent], None]:
    """Late connections, list changes, disconnects: whatever changes the tools rebinds them."""

    def on_event(event: ManagerEvent) -> None:
        if isinstance(event, ToolsChanged):
            session.refresh_mcp_tools(manager.get_tools())

    return on_event
