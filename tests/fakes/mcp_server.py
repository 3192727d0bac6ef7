"""An MCP server in memory: real messages, no process, no socket."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TypeAlias

import anyio

from agent_shell.json_types import JSONObject, JSONValue, as_object
from agent_shell.mcp.transports.memory import MemoryTransport, memory_transport_pair
from agent_shell.mcp_protocol.background import background_tasks
from agent_shell.mcp_protocol.dispatcher import Dispatcher
from agent_shell.mcp_protocol.jsonrpc import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    Incoming,
    Message,
    Notification,
    Request,
    RpcError,
)

ToolHandler: TypeAlias = Callable[[JSONObject], Awaitable[JSONValue]]


def text_answer(text: str) -> JSONObject:
    """A tools/call result of one text block."""
    return {"content": [{"type": "text", "text": text}]}


async def _echo(arguments: JSONObject) -> JSONValue:
    return text_answer(str(arguments.get("text", "")))


class FakeMCPServer:
    """Tools with handlers; what it received and when, for tests to look at.

    `tools` are entries of tools/list; a tool without a handler echoes `text`. `capabilities` and
    `protocol_version` override what the handshake answers.
    """

    def __init__(
        self,
        *,
        name: str = "fake",
        tools: Sequence[JSONObject] | None = None,
        page_size: int | None = None,
        capabilities: JSONObject | None = None,
        protocol_version: str | None = None,
        instructions: str | None = None,
    ) -> None:
        self.name = name
        self.tools: list[JSONObject] = list(
            tools
            if tools is not None
            else [
                {"name": "echo", "inputSchema": {"type": "object"}, "description": "Say it back."}
            ]
        )
        self.handlers: dict[str, ToolHandler] = {}
        self.methods: dict[str, Callable[[Request], Awaitable[JSONValue]]] = {}
        self.received: list[Message] = []
        self.conversation: Dispatcher | None = None
        self._page_size = page_size
        self._capabilities: JSONObject = (
            {"tools": {"listChanged": True}} if capabilities is None else capabilities
        )
        self._protocol_version = protocol_version
        self._instructions = instructions
        self._arrived = anyio.Event()

    @property
    def methods_received(self) -> list[str]:
        """The methods of all requests and notifications, in order."""
        return [m.method for m in self.received if isinstance(m, Request | Notification)]

    async def wait_for(self, method: str) -> Message:
        """The first message of this method, as soon as it has arrived."""
        while True:
            for message in self.received:
                if isinstance(message, Request | Notification) and message.method == method:
                    return message
            self._arrived = anyio.Event()
            await self._arrived.wait()

    def note(self, message: Incoming) -> None:
        """Keep what came."""
        if isinstance(message, Request | Notification):
            self.received.append(message)
            self._arrived.set()

    async def answer(self, request: Request) -> JSONValue:
        """The result of one request. Raises RpcError."""
        self.note(request)
        if request.method in self.methods:
            return await self.methods[request.method](request)
        params = request.params or {}
        match request.method:
            case "initialize":
                return self._initialize(params)
            case "ping":
                return {}
            case "tools/list":
                return self._page(params)
            case "tools/call":
                name = str(params.get("name"))
                if not any(tool.get("name") == name for tool in self.tools):
                    raise RpcError(INVALID_PARAMS, f"unknown tool: {name}")
                handler = self.handlers.get(name, _echo)
                return await handler(as_object(params.get("arguments")) or {})
            case _:
                raise RpcError(METHOD_NOT_FOUND, f"unknown method: {request.method}")

    async def change_tools(self, tools: Sequence[JSONObject]) -> None:
        """Offer other tools from now on, and say so."""
        self.tools = list(tools)
        if self.conversation is not None:
            await self.conversation.notify("notifications/tools/list_changed")

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[tuple[MemoryTransport, MemoryTransport]]:
        """Serve one client; gives the client's end of the wire and the server's."""
        client_end, server_end = memory_transport_pair()
        self.conversation = Dispatcher(
            server_end, on_request=self.answer, on_notification=self.note
        )
        async with background_tasks(), self.conversation:
            try:
                yield client_end, server_end
            finally:
                server_end.close()

    def _initialize(self, params: JSONObject) -> JSONObject:
        result: dict[str, JSONValue] = {
            "protocolVersion": self._protocol_version or params.get("protocolVersion"),
            "capabilities": self._capabilities,
            "serverInfo": {"name": self.name, "version": "1.0"},
        }
        if self._instructions is not None:
            result["instructions"] = self._instructions
        return result

    def _page(self, params: JSONObject) -> JSONObject:
        if self._page_size is None:
            return {"tools": self.tools}
        cursor = params.get("cursor")
        # The first cursor is "": a cursor like any other, and a trap for `if cursor`.
        cursors = ["", *(str(number) for number in range(1, len(self.tools)))]
        start = 0 if cursor is None else (cursors.index(str(cursor)) + 1) * self._page_size
        page: dict[str, JSONValue] = {"tools": self.tools[start : start + self._page_size]}
        if start + self._page_size < len(self.tools):
            page["nextCursor"] = cursors[start // self._page_size]
        return page
