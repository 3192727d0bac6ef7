"""A conversation on disk: append-only, one JSON line a message (CONTRACT section 2)."""

import hashlib
import json
import logging
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agent_shell.agent.tool_calls import ABORTED
from agent_shell.json_types import JSONObject, as_array, as_object, as_string
from agent_shell.llm.messages import (
    AssistantMessage,
    ChatMessage,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agent_shell.llm.valid_text import valid_value
from agent_shell.tools.content import Content, ImageContent, TextContent

FORMAT_VERSION = 1

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptContent:
    """What was read back. `bad_lines` could not be read: the last one may have been cut."""

    id: str
    cwd: str
    messages: tuple[ChatMessage, ...]
    bad_lines: int = 0


def project_folder_name(cwd: Path) -> str:
    """A folder name for a project: readable, and different for every path."""
    readable = re.sub(r"[^a-zA-Z0-9._-]+", "-", cwd.name).strip("-.")[:40] or "root"
    digest = hashlib.sha256(str(cwd).encode(errors="surrogateescape")).hexdigest()[:10]
    return f"{readable}-{digest}"


def new_session_id() -> str:
    """Sorts by time: date and time in UTC, then a few random characters."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


class Transcript:
    """One session's file. It is made with the first message: an unused session leaves nothing.

    Disk trouble is logged once and the conversation goes on without its transcript.
    """

    def __init__(self, sessions: Path, cwd: Path, session_id: str | None = None) -> None:
        self.id = session_id or new_session_id()
        self.path = sessions / project_folder_name(cwd) / f"{self.id}.jsonl"
        self._cwd = cwd
        self._is_begun = False
        self._is_broken = False

    @property
    def results_folder(self) -> Path:
        """Where results that are too long for the model are kept whole."""
        return self.path.with_name(f"{self.id}-results")

    def append(self, message: ChatMessage) -> None:
        """Write one message as one line."""
        if self._is_broken:
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        lines = [{"at": now, **message_to_json(message)}]
        if not self._is_begun:
            head = {"type": "session", "version": FORMAT_VERSION, "id": self.id}
            lines.insert(0, {**head, "cwd": str(self._cwd), "at": now})
        text = "".join(json.dumps(valid_value(line), ensure_ascii=False) + "\n" for line in lines)
        try:
            if not self._is_begun:
                self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                self.path.touch(mode=0o600)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            self._is_broken = True
            _log.warning("the transcript can't be written: %s", error)
        self._is_begun = True


def read_transcript(path: Path) -> TranscriptContent:
    """Read a session back. Lines that can't be read are counted and left out.

    A tool call whose result is missing, since the program was killed, gets an aborted one, so that
    the history is valid for the next request. Raises OSError.
    """
    session_id, cwd, bad_lines = path.stem, "", 0
    messages: list[ChatMessage] = []
    for line in path.read_bytes().split(b"\n"):
        if not line.strip():
            continue
        try:
            entry = as_object(json.loads(line))
        except (ValueError, RecursionError):
            entry = None
        if entry is not None and entry.get("type") == "session":
            session_id = as_string(entry.get("id")) or session_id
            cwd = as_string(entry.get("cwd")) or ""
            continue
        message = message_from_json(entry) if entry is not None else None
        if message is None:
            bad_lines += 1
        else:
            messages.append(message)
    return TranscriptContent(
        id=session_id, cwd=cwd, messages=tuple(with_every_result(messages)), bad_lines=bad_lines
    )


def with_every_result(messages: list[ChatMessage]) -> list[ChatMessage]:
    """The messages with exactly one result right after each tool call, and no stray ones."""
    valid: list[ChatMessage] = []
    for place, message in enumerate(messages):
        if isinstance(message, ToolResultMessage):
            continue
        valid.append(message)
        if not isinstance(message, AssistantMessage):
            continue
        found: dict[str, ToolResultMessage] = {}
        for later in messages[place + 1 :]:
            if not isinstance(later, ToolResultMessage):
                break
            found.setdefault(later.call_id, later)
        aborted = (TextContent(text=ABORTED),)
        for call in message.tool_calls:
            missing = ToolResultMessage(
                call_id=call.id, tool_name=call.name, content=aborted, is_error=True
            )
            valid.append(found.get(call.id, missing))
    return valid


def message_to_json(message: ChatMessage) -> dict[str, object]:
    """One message as the JSON of its line."""
    if isinstance(message, UserMessage):
        return {"type": "user", "content": _content_to_json(message.content)}
    if isinstance(message, ToolResultMessage):
        return {
            "type": "tool_result",
            "call_id": message.call_id,
            "tool": message.tool_name,
            "content": _content_to_json(message.content),
            "is_error": message.is_error,
        }
    wire: dict[str, object] = {"type": "assistant", "text": message.text}
    if message.reasoning:
        wire |= {"reasoning": message.reasoning, "reasoning_field": message.reasoning_field}
    if message.tool_calls:
        wire["tool_calls"] = [_call_to_json(call) for call in message.tool_calls]
    if message.provider_data:
        wire["provider_data"] = message.provider_data
    if message.is_partial:
        wire["is_partial"] = True
    return wire


def message_from_json(entry: JSONObject) -> ChatMessage | None:
    """The message of one line, or None if it is none."""
    match entry.get("type"):
        case "user":
            return UserMessage(content=_content_from_json(entry.get("content")))
        case "tool_result":
            return ToolResultMessage(
                call_id=as_string(entry.get("call_id")) or "",
                tool_name=as_string(entry.get("tool")) or "",
                content=_content_from_json(entry.get("content")),
                is_error=entry.get("is_error") is True,
            )
        case "assistant":
            calls = [as_object(value) for value in as_array(entry.get("tool_calls")) or ()]
            return AssistantMessage(
                text=as_string(entry.get("text")) or "",
                reasoning=as_string(entry.get("reasoning")) or "",
                reasoning_field=as_string(entry.get("reasoning_field")),
                tool_calls=tuple(_call_from_json(call) for call in calls if call is not None),
                provider_data=as_object(entry.get("provider_data")),
                is_partial=entry.get("is_partial") is True,
            )
        case _:
            return None


def _content_to_json(content: tuple[Content, ...]) -> list[Mapping[str, str]]:
    return [
        {"text": part.text}
        if isinstance(part, TextContent)
        else {"image": part.data, "mime_type": part.mime_type}
        for part in content
    ]


def _content_from_json(value: object) -> tuple[Content, ...]:
    parts: list[Content] = []
    for item in as_array(value) or ():
        part = as_object(item) or {}
        if (text := as_string(part.get("text"))) is not None:
            parts.append(TextContent(text=text))
        elif (image := as_string(part.get("image"))) is not None:
            kind = as_string(part.get("mime_type")) or ""
            parts.append(ImageContent(data=image, mime_type=kind))
    return tuple(parts)


def _call_to_json(call: ToolCall) -> dict[str, object]:
    return {
        "id": call.id,
        "name": call.name,
        "arguments": call.arguments,
        "arguments_text": call.arguments_text,
        "provider_data": call.provider_data,
    }


def _call_from_json(entry: JSONObject) -> ToolCall:
    return ToolCall(
        id=as_string(entry.get("id")) or "",
        name=as_string(entry.get("name")) or "",
        arguments=as_object(entry.get("arguments")),
        arguments_text=as_string(entry.get("arguments_text")) or "",
        provider_data=as_object(entry.get("provider_data")),
    )
