"""agent-shell mcp tools, call, resources, read and prompts: what servers have, by hand."""

import base64
import binascii
import sys
from argparse import Namespace
from collections.abc import Awaitable, Callable, Sequence

from agent_shell.cli.mcp_place import CommandPlace, check_named_files, put, put_json, put_line
from agent_shell.cli.say import say, say_error
from agent_shell.errors import MCPError, UsageError
from agent_shell.json_types import JSONObject, JSONValue, as_array, as_object, as_string
from agent_shell.mcp.client import MCPServerConnection
from agent_shell.mcp.manager import MCPManager
from agent_shell.mcp.registries import SessionTool
from agent_shell.mcp.result_content import tool_result_of
from agent_shell.tools.arguments import check_arguments
from agent_shell.tools.call_arguments import parse_call_arguments
from agent_shell.tools.content import TextContent

FAILED_EXIT = 1


async def tools(place: CommandPlace, namespace: Namespace) -> int:
    """`mcp tools [NAME]`: what can be called, where it comes from, under which session name."""
    listed: list[SessionTool] = []

    async def take(manager: MCPManager, connection: MCPServerConnection) -> None:
        listed.extend(tool for tool in manager.get_tools() if tool.server == connection.name)

    errors = await _ask_servers(place, namespace.name, take)
    if namespace.json:
        put_json({"tools": [_tool_json(tool) for tool in listed], "errors": _errors_json(errors)})
    else:
        for tool in listed:
            about = _first_line(tool.definition.description or tool.definition.title or "")
            put_line(f"{tool.server}: {tool.remote_name}  {about}".rstrip())
    return _finish(errors)


async def call(place: CommandPlace, namespace: Namespace) -> int:
    """`mcp call NAME TOOL …`: the result's text, or with --json the whole; 1 on a tool error."""
    async with place.connected(namespace.name) as (manager, connection):
        tool = _tool_named(manager, namespace.name, namespace.tool)
        arguments = parse_call_arguments(namespace.arguments, tool.input_schema)
        check_arguments(tool.input_schema, arguments)
        result = await connection.call_tool(tool.remote_name, arguments)
    if namespace.json:
        put_json(result.raw)
    else:
        parts = [
            part.text
            if isinstance(part, TextContent)
            else f"[image: {part.mime_type}, about {len(part.data) * 3 // 4} bytes]"
            for part in tool_result_of(result).content
        ]
        put("\n".join(parts))
    if result.is_error:
        say(f'error: the tool "{namespace.tool}" reports an error')
        return FAILED_EXIT
    return 0


async def resources(place: CommandPlace, namespace: Namespace) -> int:
    """`mcp resources [NAME]`: what can be read, and the templates of more."""
    found: list[JSONValue] = []
    templates: list[JSONValue] = []

    async def take(manager: MCPManager, connection: MCPServerConnection) -> None:
        for item in await connection.list_resources():
            found.append({"server": connection.name, **item})
        for item in await _list_templates(connection):
            templates.append({"server": connection.name, **item})

    errors = await _ask_servers(place, namespace.name, take)
    if namespace.json:
        put_json({"resources": found, "templates": templates, "errors": _errors_json(errors)})
    else:
        for item in (*found, *templates):
            row = as_object(item) or {}
            uri = as_string(row.get("uri")) or as_string(row.get("uriTemplate")) or "?"
            put_line(f"{row.get('server')}: {uri}  {_about(row)}".rstrip())
    return _finish(errors)


async def read(place: CommandPlace, namespace: Namespace) -> int:
    """`mcp read NAME URI`: the text; bytes go out as bytes where nobody watches."""
    async with place.connected(namespace.name) as (_, connection):
        result = await connection.read_resource(namespace.uri)
    if namespace.json:
        put_json(result)
        return 0
    for item in as_array(result.get("contents")) or ():
        content = as_object(item) or {}
        text, blob = as_string(content.get("text")), as_string(content.get("blob"))
        if text is not None:
            put(text)
        elif blob is not None:
            _put_bytes(blob, as_string(content.get("mimeType")) or "unknown type")
    return 0


async def prompts(place: CommandPlace, namespace: Namespace) -> int:
    """`mcp prompts [NAME]`: the prompts with the arguments they take."""
    found: list[JSONValue] = []

    async def take(manager: MCPManager, connection: MCPServerConnection) -> None:
        for item in await connection.list_prompts():
            found.append({"server": connection.name, **item})

    errors = await _ask_servers(place, namespace.name, take)
    if namespace.json:
        put_json({"prompts": found, "errors": _errors_json(errors)})
    else:
        for item in found:
            row = as_object(item) or {}
            names = [
                as_string((as_object(each) or {}).get("name")) or "?"
                for each in as_array(row.get("arguments")) or ()
            ]
            words = "".join(f" {name}=" for name in names)
            put_line(f"{row.get('server')}: {row.get('name')}{words}  {_about(row)}".rstrip())
    return _finish(errors)


async def _ask_servers(
    place: CommandPlace,
    name: str | None,
    ask: Callable[[MCPManager, MCPServerConnection], Awaitable[None]],
) -> list[MCPError]:
    """Ask one server, or all usable ones by name; returns what went wrong with whom.

    Raises AgentShellError for trouble with a server that was named.
    """
    if name is not None:
        async with place.connected(name) as (manager, connection):
            await ask(manager, connection)
        return []
    async with place.manager() as manager:
        loaded = await manager.discover_and_connect()
        check_named_files(place.discovery_options, manager.discovery)
        for problem in manager.config_errors:
            say_error(problem)
        for row in manager.untrusted():
            say(f"note: {row.name} is not started: you have not agreed to it yet")
        errors = dict(loaded.errors)
        for server in sorted(loaded.connected):
            try:
                await ask(manager, await manager.wait_for_connection(server))
            except MCPError as error:
                errors[server] = error
    return [errors[server] for server in sorted(errors)]


async def _list_templates(connection: MCPServerConnection) -> Sequence[JSONObject]:
    try:
        return await connection.list_resource_templates()
    except MCPError:
        # Many servers offer resources and know no templates: they answer "unknown method".
        return ()


def _tool_named(manager: MCPManager, server: str, name: str) -> SessionTool:
    """By the tool's own name, or by its name in a session. Raises UsageError."""
    own = [tool for tool in manager.get_tools() if tool.server == server]
    for tool in own:
        if tool.remote_name == name:
            return tool
    for tool in own:
        if tool.name == name:
            return tool
    names = ", ".join(tool.remote_name for tool in own) or "none"
    raise UsageError(f'server "{server}" has no tool "{name}"; it has: {names}')


def _tool_json(tool: SessionTool) -> JSONObject:
    definition = tool.definition
    return {
        "server": tool.server,
        "name": tool.remote_name,
        "session_name": tool.name,
        "title": definition.title,
        "description": definition.description,
        "inputSchema": definition.input_schema,
        "outputSchema": definition.output_schema,
        "annotations": definition.annotations,
    }


def _errors_json(errors: Sequence[MCPError]) -> list[JSONValue]:
    return [{"server": error.server, "error": error.message} for error in errors]


def _finish(errors: Sequence[MCPError]) -> int:
    for error in errors:
        say_error(error)
    return FAILED_EXIT if errors else 0


def _about(row: JSONObject) -> str:
    words = (as_string(row.get(key)) for key in ("title", "description", "name"))
    return _first_line(next((word for word in words if word), ""))


def _first_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[0] if lines else ""


def _put_bytes(blob: str, mime_type: str) -> None:
    try:
        content = base64.b64decode(blob, validate=True)
    except (binascii.Error, ValueError) as error:
        raise MCPError("the server sent bytes that are not base64") from error
    if sys.stdout.isatty():
        say(f"note: {len(content)} bytes of {mime_type} are not shown on a terminal")
        return
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
