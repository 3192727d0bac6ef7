"""Tools for tests: they implement the Protocol and remember how they were called."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from agent_shell.json_types import JSONObject
from agent_shell.tools.tool import ToolContext, ToolEffect, ToolResult, text_result


async def _say_ok(arguments: JSONObject, context: ToolContext) -> ToolResult:
    return text_result("ok")


def any_object() -> dict[str, Any]:
    """The schema that allows every object."""
    return {"type": "object"}


@dataclass
class FakeTool:
    """A tool that does what it is told; `calls` holds the arguments it was given."""

    name: str
    description: str = "for a test"
    input_schema: JSONObject = field(default_factory=any_object)
    effect: ToolEffect = "read"
    origin: str = "builtin"
    run: Callable[[JSONObject, ToolContext], Awaitable[ToolResult]] = _say_ok
    calls: list[JSONObject] = field(default_factory=list[JSONObject])

    async def execute(self, arguments: JSONObject, context: ToolContext) -> ToolResult:
        """Run once."""
        self.calls.append(arguments)
        return await self.run(arguments, context)
