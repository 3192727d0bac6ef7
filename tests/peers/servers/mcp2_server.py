"""A server built with the official package, 2.x: stdio | http PORT."""

import sys

import anyio
from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("mcp2-peer")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def fail(message: str) -> str:
    """Always fail with this message."""
    raise ValueError(message)


@server.tool()
async def count(steps: int, context: Context) -> str:
    """Report progress step by step."""
    for step in range(steps):
        await context.report_progress(step + 1, steps)
    return f"counted {steps}"


@server.tool()
async def wait(seconds: float) -> str:
    """Answer after some seconds."""
    await anyio.sleep(seconds)
    return "waited"


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["stdio"]:
            server.run("stdio")
        case ["http", port]:
            server.run("streamable-http", host="127.0.0.1", port=int(port))
        case _:
            sys.exit(__doc__)
