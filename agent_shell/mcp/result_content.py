"""A `tools/call` result as text and pictures that any model can be given."""

import json
from typing import cast

from agent_shell.json_types import JSONObject, JSONValue, as_object, as_string
from agent_shell.mcp_protocol.messages import CallToolResult, ContentBlock
from agent_shell.tools.content import Content, ImageContent, TextContent
from agent_shell.tools.tool import ToolResult

SHOWABLE_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Media types that the model services take; others become a note (CASES F5)."""


def tool_result_of(result: CallToolResult) -> ToolResult:
    """Translate block by block, in order; nothing is dropped silently (CASES F1, F3, F4)."""
    content = [_content_of(block) for block in result.content]
    structured = as_object(result.structured_content)
    if not content and result.structured_content is not None:
        content.append(TextContent(text=json.dumps(result.structured_content, ensure_ascii=False)))
    if not content:
        content.append(TextContent(text="(the tool returned nothing)"))
    return ToolResult(content=tuple(content), is_error=result.is_error, structured=structured)


def _content_of(block: ContentBlock) -> Content:
    kind = as_string(block.get("type"))
    match kind:
        case "text":
            return TextContent(text=_text_of(block.get("text")))
        case "image":
            return _image_of(block)
        case "audio":
            return _note("audio", as_string(block.get("mimeType")), block.get("data"))
        case "resource_link":
            return TextContent(text=_link_note(block))
        case "resource":
            return _resource_of(as_object(block.get("resource")) or {})
        case _:
            return TextContent(text=f"[unknown content block: {kind or 'without a type'}]")


def _text_of(value: JSONValue) -> str:
    """A text that is none, such as a number, is shown as its JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def _image_of(block: ContentBlock) -> Content:
    mime_type = (as_string(block.get("mimeType")) or "").lower()
    data = as_string(block.get("data"))
    if mime_type in SHOWABLE_IMAGES and data:
        return ImageContent(data=data, mime_type=mime_type)
    return _note("image", mime_type, data)


def _note(what: str, mime_type: str | None, data: object, uri: str | None = None) -> TextContent:
    """Say that something is there which can't be shown, instead of its base64."""
    parts = [mime_type or "unknown type"]
    if isinstance(data, str):
        parts.append(f"about {len(data) * 3 // 4} bytes")
    name = f" {uri}" if uri else ""
    return TextContent(text=f"[{what}{name}: {', '.join(parts)}; not shown]")


def _link_note(block: ContentBlock) -> str:
    words = [as_string(block.get(key)) for key in ("name", "uri", "mimeType", "description")]
    return "[resource link: " + " · ".join(word for word in words if word) + "]"


def _resource_of(resource: JSONObject) -> Content:
    uri = as_string(resource.get("uri")) or "resource"
    text = as_string(resource.get("text"))
    if text is not None:
        return TextContent(text=f"[resource {uri}]\n{text}")
    mime_type = as_string(resource.get("mimeType"))
    return _note("resource", mime_type, cast("object", resource.get("blob")), uri)
