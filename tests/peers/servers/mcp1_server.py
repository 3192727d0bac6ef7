"""A server built with the official package, 1.x: stdio | http PORT | sse PORT | ws PORT."""

import sys

import anyio
import uvicorn
from mcp.server.fastmcp import Context, FastMCP
from mcp.server.websocket import websocket_server
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute

server = FastMCP("mcp1-peer", host="127.0.0.1")


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


def serve_websocket(port: int) -> None:
    """The transport has no run mode of its own: an application around it."""

    class Endpoint:
        async def __call__(self, scope, receive, send):
            async with websocket_server(scope, receive, send) as (read, write):
                inner = server._mcp_server
                await inner.run(read, write, inner.create_initialization_options())

    app = Starlette(routes=[WebSocketRoute("/ws", endpoint=Endpoint())])
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["stdio"]:
            server.run("stdio")
        case ["http", port]:
            server.settings.port = int(port)
            server.run("streamable-http")
        case ["sse", port]:
            server.settings.port = int(port)
            server.run("sse")
        case ["ws", port]:
            serve_websocket(int(port))
        case _:
            sys.exit(__doc__)
