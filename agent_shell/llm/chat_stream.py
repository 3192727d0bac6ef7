"""Chunks of a streamed chat completion, put together; as tolerant as 172 recorded streams demand.

No I/O. `ChatStreamReader` is fed one `data:` payload at a time and knows at the end whether the
stream was whole: one that lacks its terminal event is an error, never an answer (MODELS.md 1).
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

import msgspec

from agent_shell.errors import LLMError
from agent_shell.json_types import (
    JSONObject,
    JSONValue,
    as_array,
    as_integer,
    as_object,
    as_string,
)
from agent_shell.llm.http_stream import error_object_text
from agent_shell.llm.messages import AssistantMessage, ToolCall
from agent_shell.llm.provider import (
    MessageDone,
    ReasoningPiece,
    StopReason,
    StreamEvent,
    TextPiece,
    ToolCallPiece,
    Usage,
)
from agent_shell.llm.reasoning import ReasoningDetails, ThinkTagSplitter, content_pieces
from agent_shell.llm.retry import should_retry_status
from agent_shell.llm.valid_text import PieceJoiner, valid_text

END_OF_STREAM = "[DONE]"

_STOP_REASONS: Mapping[str, StopReason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "refusal",
}


@dataclass(slots=True, eq=False)
class _OpenCall:
    """A tool call whose pieces still come. `place` is its place among the message's calls."""

    place: int
    id: str | None = None
    index: int | None = None
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])
    characters: int = 0
    extra: dict[str, JSONValue] = field(default_factory=dict[str, JSONValue])

    def write(self, text: str) -> None:
        """Append to the arguments."""
        self.arguments.append(text)
        self.characters += len(text)

    @property
    def is_whole(self) -> bool:
        """It has a name, and its arguments are a JSON object already."""
        return bool(self.name) and parse_arguments("".join(self.arguments)) is not None


class ChatStreamReader:
    """Reads one stream. `service` is its name, for error texts and for replay."""

    def __init__(self, service: str) -> None:
        self._service = service
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._reasoning_field: str | None = None
        self._details = ReasoningDetails()
        self._calls: list[_OpenCall] = []
        self._usage: JSONObject | None = None
        self._finish_reason: str | None = None
        self._is_refusal = False
        self._saw_end = False
        self._tags = ThinkTagSplitter()
        self._text_joiner = PieceJoiner()
        self._reasoning_joiner = PieceJoiner()

    def feed(self, payload: str) -> list[StreamEvent]:
        """The events one payload brings. Raises LLMError for an error object and for no JSON."""
        if payload.strip() == END_OF_STREAM:
            self._saw_end = True
            return []
        chunk = as_object(self._decode(payload))
        if chunk is None:
            raise LLMError(f"{self._service} sent something that is no object: {payload[:200]}")
        self._raise_if_error(chunk)
        self._take_usage(chunk.get("usage"))
        self._take_usage((as_object(chunk.get("x_groq")) or {}).get("usage"))
        events: list[StreamEvent] = []
        for value in as_array(chunk.get("choices")) or ():
            choice = as_object(value)
            # Only one answer was asked for; a second one's text must not be mixed in.
            if choice is not None and not as_integer(choice.get("index")):
                events += self._take_choice(choice)
        return events

    def finish(self) -> list[StreamEvent]:
        """What was held back, then MessageDone. Raises LLMError if the stream was cut."""
        if not self._saw_end and self._finish_reason is None:
            raise LLMError(f"{self._service} broke off in the middle of its answer", can_retry=True)
        if self._finish_reason == "error":
            raise LLMError(f"{self._service} ended its answer with an error", can_retry=True)
        events = self._emit_text(self._text_joiner.rest(), is_last=True)
        events += self._emit_reasoning(self._reasoning_joiner.rest())
        calls = tuple(self._finished_calls())
        stop: StopReason = _STOP_REASONS.get(self._finish_reason or "stop", "stop")
        if self._is_refusal:
            stop = "refusal"
        if calls and stop != "length":
            stop = "tool_calls"  # whatever the finish reason says: Gemini ends such turns with stop
        elif not calls and stop == "tool_calls":
            stop = "stop"
        data: dict[str, JSONValue] = {"service": self._service}
        if details := self._details.joined():
            data["reasoning_details"] = details
        message = AssistantMessage(
            text="".join(self._text),
            reasoning="".join(self._reasoning),
            reasoning_field=self._reasoning_field,
            tool_calls=calls,
            provider_data=data,
        )
        usage = usage_from(self._usage) if self._usage is not None else None
        return [*events, MessageDone(message=message, stop_reason=stop, usage=usage)]

    def _decode(self, payload: str) -> object:
        try:
            return msgspec.json.decode(payload)
        except (msgspec.DecodeError, UnicodeEncodeError):
            pass
        except RecursionError as error:
            raise LLMError(f"{self._service} sent JSON that is nested too deeply") from error
        try:
            # The standard library accepts half a surrogate pair, which some services send.
            return json.loads(payload)
        except (ValueError, RecursionError) as error:
            raise LLMError(
                f"{self._service} sent something that is no JSON: {payload[:200]}", can_retry=True
            ) from error

    def _raise_if_error(self, chunk: JSONObject) -> None:
        error = chunk.get("error")
        is_error_event = chunk.get("type") == "error" or chunk.get("object") == "error"
        if not error and not is_error_event:
            return
        said = valid_text(error_object_text(chunk))
        detail = as_object(error) or chunk
        code = as_integer(detail.get("code")) or as_integer(detail.get("status"))
        kind = f"{detail.get('type')} {detail.get('code')}"
        can_retry = (
            should_retry_status(code, f"{said} {kind}", {})
            if code is not None
            else any(word in kind for word in ("overloaded", "server_error", "rate_limit"))
        )
        raise LLMError(
            f"{self._service} reported an error: {said}", status=code, can_retry=can_retry
        )

    def _take_usage(self, value: object) -> None:
        """The last report counts; it may come before or after the finish reason."""
        if usage := as_object(value):
            self._usage = usage

    def _take_choice(self, choice: JSONObject) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        self._take_usage(choice.get("usage"))
        # `message` instead of `delta` is what a service sends that ignored `stream: true`.
        delta = as_object(choice.get("delta")) or as_object(choice.get("message"))
        if delta is not None:
            events += self._take_reasoning(delta)
            for kind, piece in content_pieces(delta.get("content")):
                if kind == "reasoning":
                    events += self._emit_reasoning(self._reasoning_joiner.take(piece))
                else:
                    events += self._emit_text(self._text_joiner.take(piece))
            if refusal := as_string(delta.get("refusal")):
                self._is_refusal = True
                events += self._emit_text(self._text_joiner.take(refusal))
            for value in as_array(delta.get("tool_calls")) or ():
                if (piece := as_object(value)) is not None:
                    events += self._take_call_piece(piece)
            if (old_call := as_object(delta.get("function_call"))) is not None:
                events += self._take_call_piece({"index": 0, "function": old_call})
        if reason := as_string(choice.get("finish_reason")):
            self._finish_reason = reason
        return events

    def _take_reasoning(self, delta: JSONObject) -> list[StreamEvent]:
        """Some services send the same words in two fields: the first that is not empty counts."""
        self._details.take(delta.get("reasoning_details"))
        for name in ("reasoning_content", "reasoning"):
            if piece := as_string(delta.get(name)):
                self._reasoning_field = self._reasoning_field or name
                return self._emit_reasoning(self._reasoning_joiner.take(piece))
        return []

    def _emit_text(self, piece: str, *, is_last: bool = False) -> list[StreamEvent]:
        """Text for the reader; a leading `<think>` block is reasoning that lost its field."""
        events: list[StreamEvent] = []
        for kind, part in self._tags.split(piece, is_last=is_last):
            if kind == "reasoning":
                events += self._emit_reasoning(part)
            elif part:
                self._text.append(part)
                events.append(TextPiece(text=part))
        return events

    def _emit_reasoning(self, piece: str) -> list[StreamEvent]:
        if not piece:
            return []
        self._reasoning.append(piece)
        return [ReasoningPiece(text=piece)]

    def _take_call_piece(self, piece: JSONObject) -> list[StreamEvent]:
        function = as_object(piece.get("function")) or {}
        name = as_string(function.get("name")) or ""
        call = self._call_for(as_string(piece.get("id")), as_integer(piece.get("index")), name)
        call.name = call.name or name
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            call.write(arguments)
        elif (ready := as_object(arguments)) is not None:
            call.write(json.dumps(ready))
        for key in piece:
            if key not in {"id", "index", "type", "function"} and piece[key] is not None:
                call.extra[key] = piece[key]
        if not call.name:
            return []
        name = valid_text(call.name)
        return [ToolCallPiece(index=call.place, name=name, argument_characters=call.characters)]

    def _call_for(self, call_id: str | None, index: int | None, name: str) -> _OpenCall:
        """Which call a piece belongs to: by a known id, by its index, else the latest one."""
        if call_id:
            for call in self._calls:
                if call.id == call_id:
                    return call
        at_index = next(
            (call for call in reversed(self._calls) if index is not None and call.index == index),
            None,
        )
        if call_id:
            # An id nobody has seen begins a call; but a piece without a name can't begin one, and a
            # call that has no id yet may just be learning it.
            if at_index is not None and (not name or (at_index.id is None and not at_index.name)):
                at_index.id = at_index.id or call_id
                return at_index
            return self._open_call(call_id, index)
        latest = self._calls[-1] if self._calls else None
        known = at_index if index is not None else latest
        if index is not None and known is None and not name and latest is not None:
            # A signature in a delta of its own can come with an index of its own.
            return latest
        # A name comes once a call: a second one, after a whole call, begins the next.
        if known is None or (name and known.name and (index is None or known.is_whole)):
            return self._open_call(None, index)
        return known

    def _open_call(self, call_id: str | None, index: int | None) -> _OpenCall:
        call = _OpenCall(place=len(self._calls), id=call_id, index=index)
        self._calls.append(call)
        return call

    def _finished_calls(self) -> list[ToolCall]:
        """The calls with their arguments parsed; one that never got a name can't be called."""
        calls: list[ToolCall] = []
        for call in self._calls:
            if not call.name:
                continue
            text = "".join(call.arguments)
            calls.append(
                ToolCall(
                    id=call.id or f"call_{secrets.token_hex(6)}",
                    name=valid_text(call.name),
                    arguments=parse_arguments(text),
                    arguments_text=valid_text(text),
                    provider_data=call.extra or None,
                )
            )
        return calls


def parse_arguments(text: str) -> JSONObject | None:
    """The arguments as an object; none at all are `{}`. None where the text is no JSON object."""
    if text.strip() in {"", "null"}:
        return {}
    try:
        value: object = json.loads(text, strict=False)
        if isinstance(value, str):
            value = json.loads(value, strict=False)  # JSON in a JSON string: seen from gateways
    except (ValueError, RecursionError):
        return None
    return as_object(value)


def usage_from(wire: JSONObject) -> Usage:
    """Tokens in the services' three spellings (MODELS.md 2.1)."""
    details = as_object(wire.get("prompt_tokens_details")) or {}
    cached = (
        as_integer(details.get("cached_tokens"))
        or as_integer(wire.get("prompt_cache_hit_tokens"))
        or as_integer(wire.get("cached_tokens"))
        or 0
    )
    cost = wire.get("cost")
    is_number = isinstance(cost, int | float) and not isinstance(cost, bool)
    return Usage(
        input_tokens=as_integer(wire.get("prompt_tokens")) or 0,
        output_tokens=as_integer(wire.get("completion_tokens")) or 0,
        cached_tokens=cached,
        cost_usd=float(cast("float", cost)) if is_number else None,
    )
