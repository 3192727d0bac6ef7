"""The greeting that opens a conversation (2025-11-25, lifecycle)."""

from agent_shell import __version__
from agent_shell.errors import MCPProtocolError
from agent_shell.json_types import JSONValue
from agent_shell.mcp_protocol.dispatcher import Dispatcher
from agent_shell.mcp_protocol.messages import InitializeResult, read_initialize_result
from agent_shell.mcp_protocol.one_line import one_line
from agent_shell.mcp_protocol.transport import Transport
from agent_shell.mcp_protocol.versions import LATEST_HANDSHAKE_VERSION, SUPPORTED_VERSIONS

INITIALIZE = "initialize"
INITIALIZED = "notifications/initialized"


async def shake_hands(
    conversation: Dispatcher, transport: Transport, *, offers_roots: bool, timeout_s: float | None
) -> InitializeResult:
    """Offer the newest revision, take any known one, and say that we are ready.

    `timeout_s` bounds the wait for the answer (seconds; None: no limit). Raises MCPProtocolError
    when the server insists on an unknown revision, and what Dispatcher.request raises.
    """
    capabilities: dict[str, JSONValue] = {"roots": {}} if offers_roots else {}
    value = await conversation.request(
        INITIALIZE,
        {
            "protocolVersion": LATEST_HANDSHAKE_VERSION,
            "capabilities": capabilities,
            "clientInfo": {"name": "agent-shell", "version": __version__},
        },
        timeout_s=timeout_s,
        is_cancellable=False,
    )
    result = read_initialize_result(value)
    if result.protocol_version not in SUPPORTED_VERSIONS:
        raise MCPProtocolError(
            f"it speaks protocol version {one_line(result.protocol_version, 40)!r}; "
            f"agent-shell speaks {', '.join(SUPPORTED_VERSIONS)}"
        )
    transport.handshake_done(result.protocol_version)
    await conversation.notify(INITIALIZED)
    return result
