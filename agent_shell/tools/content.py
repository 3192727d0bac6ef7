"""What a tool result is made of."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class TextContent:
    """Text for the model to read."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageContent:
    """A picture the model may look at: base64 data and its media type (png, jpeg, gif, webp)."""

    data: str
    mime_type: str


Content: TypeAlias = TextContent | ImageContent
