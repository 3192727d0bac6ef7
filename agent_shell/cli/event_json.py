"""A turn's events as JSON objects, one a line: what `--output-format stream-json` prints."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import assert_never

from agent_shell.agent.events import (
    AgentEvent,
    AssistantTextDone,
    ToolCallFinished,
    ToolCallProgressed,
    ToolCallStarted,
    TurnFinished,
)
from agent_shell.llm.messages import ToolCall
from agent_shell.llm.provider import (
    ReasoningPiece,
    RetryNotice,
    TextPiece,
    ToolCallPiece,
    Usage,
)
from agent_shell.tools.content import TextContent
from agent_shell.tools.tool import ToolResult


def event_json(event: AgentEvent) -> Mapping[str, object] | None:
    """The object of one event, or None for those that only a screen needs."""
    match event:
        case TextPiece(text=text):
            return {"type": "text", "text": text}
        case ReasoningPiece(text=text):
            return {"type": "reasoning", "text": text}
        case ToolCallPiece():
            return None
        case RetryNotice():
            return {"type": "retry", **asdict(event)}
        case AssistantTextDone(text=text, usage=usage):
            return {"type": "message", "text": text, "usage": usage_json(usage)}
        case ToolCallStarted(call=call, origin=origin):
            return {"type": "tool_call", **call_json(call), "origin": origin}
        case ToolCallProgressed(call_id=call_id, progress=progress):
            return {"type": "tool_progress", "id": call_id, **asdict(progress)}
        case ToolCallFinished(call=call, result=result, duration_s=duration_s):
            return {
                "type": "tool_result",
                **call_json(call),
                **result_json(result),
                "duration_s": round(duration_s, 3),
            }
        case TurnFinished():
            return None  # the face says more about the end than the event knows
        case _:
            assert_never(event)


def call_json(call: ToolCall) -> dict[str, object]:
    """Which call, with which arguments."""
    return {"id": call.id, "tool": call.name, "arguments": call.arguments}


def result_json(result: ToolResult) -> dict[str, object]:
    """What a call answered; pictures by their type only."""
    content = [
        {"type": "text", "text": part.text}
        if isinstance(part, TextContent)
        else {"type": "image", "mime_type": part.mime_type}
        for part in result.content
    ]
    return {"is_error": result.is_error, "content": content, "structured": result.structured}


def usage_json(usage: Usage | None) -> Mapping[str, object] | None:
    """Tokens and cost, as far as the service told."""
    return asdict(usage) if usage is not None else None
