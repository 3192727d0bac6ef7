"""What the built-in tools share: arguments that were checked, errors that became results."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agent_shell.errors import AgentShellError
from agent_shell.json_types import JSONObject, JSONValue
from agent_shell.tools.tool import ToolContext, ToolEffect, ToolResult, text_result

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltinTool:
    """A Tool made of a function. What it raises as OSError or our own error is a result."""

    name: str
    description: str
    input_schema: JSONObject
    effect: ToolEffect
    run: Callable[[JSONObject, ToolContext], Awaitable[ToolResult]]
    origin: str = "builtin"

    async def execute(self, arguments: JSONObject, context: ToolContext) -> ToolResult:
        """Run once. Raises nothing but cancellation, bugs excepted."""
        try:
            return await self.run(arguments, context)
        except AgentShellError as error:
            return text_result(f"error: {error.message}", is_error=True)
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            return text_result(f"error: {place}{error.strerror or error}", is_error=True)


def object_schema(
    properties: dict[str, JSONValue], *, required: tuple[str, ...] = ()
) -> JSONObject:
    """The schema of an arguments object without unknown members."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def string_argument(arguments: JSONObject, name: str, default: str = "") -> str:
    """A string argument; the schema has checked its type, a missing one is the default."""
    value = arguments.get(name)
    return value if isinstance(value, str) else default


def integer_argument(arguments: JSONObject, name: str, default: int) -> int:
    """An integer argument; 3.0 counts as 3, as JSON Schema has it."""
    value = arguments.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return default
    return int(value)
