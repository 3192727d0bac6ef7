"""One line, frame or event that came: its messages into a sink, its problems into the log."""

from collections.abc import Callable

from agent_shell.errors import MCPProtocolError
from agent_shell.mcp.transports.wire_log import WireLog
from agent_shell.mcp_protocol.broken_answer import broken_answer
from agent_shell.mcp_protocol.jsonrpc import Incoming, RequestFailed, decode


def take_messages(
    data: bytes | bytearray | str, log: WireLog, sink: Callable[[Incoming], None]
) -> None:
    """Hand on what can be read. An answer that can't be read fails its request at once."""
    decoded = decode(data)
    for problem in decoded.problems:
        said = log.redact.excerpt(data)
        log.skip(f"{problem}: {said!r}" if said else "a blank line")
    for message in decoded.messages:
        log.end_burst()
        sink(message)
    if decoded.messages or not decoded.problems:
        return
    broken = broken_answer(data)
    if broken is not None:
        reason = log.redact.excerpt(decoded.problems[-1])
        error = MCPProtocolError(f"the server's answer cannot be read: {reason}")
        sink(RequestFailed(id=broken.id, error=error))
