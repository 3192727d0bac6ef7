"""Which calls need leave; what was already granted in this session."""

import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from agent_shell.agent.tool_calls import Refusal
from agent_shell.builtin_tools.workspace import Workspace
from agent_shell.json_types import JSONObject
from agent_shell.llm.messages import ToolCall
from agent_shell.llm.valid_text import valid_text
from agent_shell.logs import printable
from agent_shell.settings.settings import ApprovalMode
from agent_shell.tools.tool import Tool, ToolEffect

ApprovalAnswer: TypeAlias = Literal["once", "always", "no"]

COMMAND_TOOL = "run_command"
_PROTECTED_WORDS = ("mcp.json", ".agent-shell", "mcp_config.json", "trust.json")
"""A command that names one of these may be about to change what is started or allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """A question for the person. `summary` is exact, with control characters made visible.

    `warning` is set where a file is concerned that decides what is started or allowed; such a call
    is asked about every time, so `can_remember` is false.
    """

    call: ToolCall
    tool_name: str
    origin: str
    effect: ToolEffect
    summary: str
    warning: str | None = None
    can_remember: bool = True


Approve: TypeAlias = Callable[[ApprovalRequest], Awaitable[ApprovalAnswer]]


class Approvals:
    """Decides for one session. `approve` asks the person; None where nobody can be asked."""

    def __init__(
        self, mode: ApprovalMode = "ask", *, workspace: Workspace, approve: Approve | None = None
    ) -> None:
        self.mode: ApprovalMode = mode
        self.approve = approve
        self._workspace = workspace
        self._granted: set[str] = set()

    async def permit(self, call: ToolCall, tool: Tool) -> Refusal | None:
        """None if the call may run; asks where the mode and earlier answers do not say."""
        warning = self._warning(call, tool)
        key = grant_key(call, tool)
        if warning is None and (self._runs_unasked(tool.effect) or key in self._granted):
            return None
        if self.approve is None:
            return Refusal(
                reason=(
                    f"{tool.name} needs the user's approval, and nobody can be asked in this run; "
                    "do not try it again"
                ),
                needs_approval=True,
            )
        request = ApprovalRequest(
            call=call,
            tool_name=tool.name,
            origin=tool.origin,
            effect=tool.effect,
            summary=summary_of(call),
            warning=warning,
            can_remember=warning is None,
        )
        answer = await self.approve(request)
        if answer == "no":
            return Refusal(reason="the user did not allow this call")
        if answer == "always" and warning is None:
            self._granted.add(key)
        return None

    def _runs_unasked(self, effect: ToolEffect) -> bool:
        if effect == "read" or self.mode == "all":
            return True
        return effect == "edit" and self.mode == "edits"

    def _warning(self, call: ToolCall, tool: Tool) -> str | None:
        """Whether a call may change what is started or allowed (THREATS.md, row 2)."""
        arguments = call.arguments or {}
        if tool.origin != "builtin":
            return None
        path = arguments.get("path")
        if tool.effect == "edit" and isinstance(path, str) and self._workspace.is_protected(path):
            return f"{printable(valid_text(path))} decides which programs are started or allowed"
        command = str(arguments.get("command", "")).casefold()
        if tool.name == COMMAND_TOOL and any(word in command for word in _PROTECTED_WORDS):
            return "the command names a file that decides which programs are started or allowed"
        return None


def grant_key(call: ToolCall, tool: Tool) -> str:
    """What an "always" covers: this exact command; every edit; or this tool as it is now.

    A tool of a server whose description or schema changed is another tool: it is asked about anew.
    """
    if tool.name == COMMAND_TOOL and tool.origin == "builtin":
        return f"command {(call.arguments or {}).get('command')}"
    if tool.effect == "edit" and tool.origin == "builtin":
        return "edits"
    definition = json.dumps([tool.description, tool.input_schema], sort_keys=True)
    return f"tool {tool.origin} {tool.name} {hashlib.sha256(definition.encode()).hexdigest()}"


def summary_of(call: ToolCall) -> str:
    """The arguments exactly as they will be used: a command as it is, else one argument a line."""
    arguments: JSONObject = call.arguments or {}
    command = arguments.get("command")
    if call.name == COMMAND_TOOL and isinstance(command, str):
        lines = [command]
        lines += [_line(name, value) for name, value in arguments.items() if name != "command"]
    else:
        lines = [_line(name, value) for name, value in arguments.items()]
    return printable(valid_text("\n".join(lines)))


def _line(name: str, value: object) -> str:
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"{name}: {shown}"
