"""What the model reads when a call fails."""

from agent_shell.errors import MCPClosedError, MCPError, MCPTimeoutError
from agent_shell.mcp.tool_bridge import mcp_error_result


def test_an_error_names_its_server_once() -> None:
    assert mcp_error_result("s", MCPTimeoutError("no answer within 4 s")).text == (
        'MCP error: server "s": no answer within 4 s'
    )
    assert mcp_error_result("s", MCPClosedError('server "s" was disconnected')).text == (
        'MCP error: server "s" was disconnected\nhint: /mcp connect s starts it again'
    )


def test_an_error_describes_itself_with_its_server_where_it_knows_it() -> None:
    assert MCPError("no answer").described == "no answer"
    assert MCPError("no answer", server="files").described == 'server "files": no answer'
    assert MCPError('no server "files"', server="files").described == 'no server "files"'
