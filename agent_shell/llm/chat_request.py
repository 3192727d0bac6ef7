"""A conversation as an OpenAI-compatible chat completion request; no I/O.

What one service wants differently from the next is in `ChatDialect`, by host (MODELS.md 2.1).
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import msgspec

from agent_shell.json_types import JSONObject, JSONValue
from agent_shell.llm.messages import (
    AssistantMessage,
    ChatMessage,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agent_shell.llm.tool_schema import schema_for_model, short_description
from agent_shell.llm.valid_text import valid_value
from agent_shell.tools.content import Content, ImageContent, TextContent
from agent_shell.tools.tool import Tool

MAX_CALL_ID_CHARACTERS = 40
"""OpenAI refuses longer ids; other services' are longer."""
IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})

_MAX_COMPLETION_TOKENS_HOSTS = ("openai.com", "openai.azure.com", "x.ai", "groq.com")
_MAX_COMPLETION_TOKENS_ROUTERS = ("openrouter.ai",)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatDialect:
    """What one service wants differently. The defaults are for an unknown, local one."""

    max_tokens_field: str = "max_tokens"
    asks_for_usage: bool = True
    always_replays_reasoning: bool = False
    short_call_ids: bool = False


def dialect_of(host: str) -> ChatDialect:
    """The dialect of a service, by its host name."""
    if _is_at(host, "mistral.ai"):
        # Usage comes unasked, and unknown fields are refused; ids are nine letters or digits.
        return ChatDialect(asks_for_usage=False, short_call_ids=True)
    if _is_at(host, "deepseek.com"):
        return ChatDialect(always_replays_reasoning=True)
    hosts = (*_MAX_COMPLETION_TOKENS_HOSTS, *_MAX_COMPLETION_TOKENS_ROUTERS)
    if any(_is_at(host, known) for known in hosts):
        return ChatDialect(max_tokens_field="max_completion_tokens")
    return ChatDialect()


def _is_at(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")


class ToolListEncoder:
    """The `tools` of a request as ready JSON; each schema is converted once, while it is in use.

    `dropped` names tools that the service refused; `is_plain` asks for simpler schemas.
    """

    def __init__(self) -> None:
        self.dropped: set[str] = set()
        self.is_plain = False
        self._ready: dict[str, tuple[JSONObject, str, bool, msgspec.Raw]] = {}

    def encode(self, tools: Sequence[Tool]) -> list[msgspec.Raw]:
        """One JSON text a tool, in the given order."""
        ready: dict[str, tuple[JSONObject, str, bool, msgspec.Raw]] = {}
        for tool in tools:
            if tool.name in self.dropped:
                continue
            schema, description = tool.input_schema, tool.description
            known = self._ready.get(tool.name)
            if (
                known is not None
                and known[0] is schema
                and known[1] == description
                and known[2] == self.is_plain
            ):
                ready[tool.name] = known
            else:
                text = self._encode_one(tool.name, description, schema)
                ready[tool.name] = (schema, description, self.is_plain, text)
        # What is no longer offered is forgotten: reloads must not pile up old schemas.
        self._ready = ready
        return [entry[3] for entry in ready.values()]

    def offered(self, tools: Sequence[Tool]) -> list[Tool]:
        """The tools in the order of the request's list."""
        return [tool for tool in tools if tool.name not in self.dropped]

    def _encode_one(self, name: str, description: str, schema: JSONObject) -> msgspec.Raw:
        function = {
            "name": name,
            "description": short_description(description),
            "parameters": schema_for_model(schema, is_plain=self.is_plain),
        }
        return msgspec.Raw(encode_json({"type": "function", "function": function}))


def encode_request(
    *,
    model: str,
    service: str,
    dialect: ChatDialect,
    system: str,
    messages: Sequence[ChatMessage],
    tools: Sequence[msgspec.Raw],
    max_output_tokens: int | None = None,
) -> bytes:
    """The body of the POST: valid UTF-8 JSON whatever strings are in the conversation."""
    payload: dict[str, object] = {
        "model": model,
        "messages": wire_messages(system, messages, service=service, dialect=dialect),
        "stream": True,
    }
    if dialect.asks_for_usage:
        payload["stream_options"] = {"include_usage": True}
    if max_output_tokens is not None:
        payload[dialect.max_tokens_field] = max_output_tokens
    if tools:
        payload["tools"] = tools
    return encode_json(payload)


def encode_json(value: Mapping[str, object]) -> bytes:
    """JSON in UTF-8; strings that hold half a character are repaired on the way."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(valid_value(value))


def wire_messages(
    system: str, messages: Sequence[ChatMessage], *, service: str, dialect: ChatDialect
) -> list[dict[str, JSONValue]]:
    """The conversation in the service's words.

    Empty assistant messages are left out. Pictures from tools follow the last result in a user
    message, since a tool's message holds text only. Neighbouring user texts become one message:
    some chat templates demand that the sides take turns.
    """
    wire: list[dict[str, JSONValue]] = []
    if system:
        wire.append({"role": "system", "content": system})
    pictures: list[Content] = []
    for message in messages:
        if not isinstance(message, ToolResultMessage) and pictures:
            _append_user(wire, pictures)
            pictures = []
        if isinstance(message, UserMessage):
            _append_user(wire, message.content)
        elif isinstance(message, AssistantMessage):
            if said := _assistant(message, service, dialect):
                wire.append(said)
        else:
            wire.append(_tool_result(message, dialect))
            pictures += _pictures_of(message)
    if pictures:
        _append_user(wire, pictures)
    return wire


def _append_user(wire: list[dict[str, JSONValue]], content: Sequence[Content]) -> None:
    parts = [_user_part(part) for part in content]
    texts = [str(part["text"]) for part in parts if part["type"] == "text"]
    is_text = len(texts) == len(parts)
    before = wire[-1] if wire and wire[-1]["role"] == "user" else None
    if before is not None and is_text and isinstance(before["content"], str):
        before["content"] = "\n\n".join([before["content"], *texts])
        return
    wire.append({"role": "user", "content": "\n".join(texts) if is_text else parts})


def _user_part(part: Content) -> dict[str, JSONValue]:
    if isinstance(part, ImageContent) and part.mime_type.lower() in IMAGE_TYPES:
        url = f"data:{part.mime_type.lower()};base64,{part.data}"
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "text", "text": part.text if isinstance(part, TextContent) else _note(part)}


def _note(picture: ImageContent) -> str:
    """What stands for a picture of a kind that no service takes."""
    kind = picture.mime_type or "unknown type"
    return f"[image of type {kind}, {len(picture.data) * 3 // 4} bytes, not shown]"


def _assistant(
    message: AssistantMessage, service: str, dialect: ChatDialect
) -> dict[str, JSONValue] | None:
    calls = message.tool_calls
    if not calls and not message.text.strip():
        return None
    wire: dict[str, JSONValue] = {"role": "assistant", "content": message.text or None}
    if calls:
        wire["tool_calls"] = [_call(call, dialect) for call in calls]
    data = message.provider_data or {}
    is_own = data.get("service") == service
    if calls and is_own and message.reasoning_field in {"reasoning_content", "reasoning"}:
        wire[message.reasoning_field] = message.reasoning
    if calls and dialect.always_replays_reasoning:
        wire.setdefault("reasoning_content", "")
    if is_own and (details := data.get("reasoning_details")) is not None:
        wire["reasoning_details"] = details
    return wire


def _call(call: ToolCall, dialect: ChatDialect) -> dict[str, JSONValue]:
    # A call whose arguments were no JSON object is replayed with none: the broken text would make
    # the next request invalid too, and the result that follows says what was wrong.
    arguments = json.dumps(valid_value(call.arguments or {}), ensure_ascii=False)
    return {
        "id": _call_id(call.id, dialect),
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
        **cast("Mapping[str, JSONValue]", call.provider_data or {}),
    }


def _tool_result(message: ToolResultMessage, dialect: ChatDialect) -> dict[str, JSONValue]:
    texts = [part.text for part in message.content if isinstance(part, TextContent)]
    texts += [
        _note(part)
        for part in message.content
        if isinstance(part, ImageContent) and part.mime_type.lower() not in IMAGE_TYPES
    ]
    text = "\n".join(texts)
    if not text:
        text = "(the picture follows)" if message.content else "(no output)"
    if message.is_error and not text.lower().startswith(("error", "mcp error")):
        # Chat completions have no mark for a failed call.
        text = f"error: {text}"
    call_id = _call_id(message.call_id, dialect)
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def _pictures_of(message: ToolResultMessage) -> list[Content]:
    pictures = [
        part
        for part in message.content
        if isinstance(part, ImageContent) and part.mime_type.lower() in IMAGE_TYPES
    ]
    return [TextContent(text=f"Image from {message.tool_name}:"), *pictures] if pictures else []


def _call_id(original: str, dialect: ChatDialect) -> str:
    """The id as the service takes it: the same for a call and its result."""
    if dialect.short_call_ids:
        if re.fullmatch("[a-zA-Z0-9]{9}", original):
            return original
        return hashlib.sha256(original.encode(errors="replace")).hexdigest()[:9]
    if len(original) <= MAX_CALL_ID_CHARACTERS:
        return original
    return "call_" + hashlib.sha256(original.encode(errors="replace")).hexdigest()[:32]
