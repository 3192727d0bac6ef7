"""Which models a service offers, as its own list says."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent_shell.json_types import JSONObject, JSONValue, as_array, as_integer, as_object, as_string

_CONTEXT_FIELDS = ("max_model_len", "context_window", "max_context_length", "context_length")
_NOT_FOR_CHAT = re.compile(
    r"embed|rerank|whisper|tts|dall-e|moderation|transcribe|realtime|audio|image|sora|video|search"
    r"|instruct-\d|davinci|babbage|deep-research|computer-use",
    re.IGNORECASE,
)
_SPECIAL = re.compile(r"-(pro|nano|chat-latest|codex|preview)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """One model. `context_window` is in tokens, `created` in seconds since 1970, where known."""

    id: str
    context_window: int | None = None
    created: int = 0


def models_from(listing: JSONValue) -> tuple[ModelInfo, ...]:
    """The models of a `GET /models` answer, in its order; what is no model is left out."""
    listed = as_array((as_object(listing) or {}).get("data"))
    if listed is None:
        listed = as_array(listing) or ()
    models: list[ModelInfo] = []
    for value in listed:
        entry = as_object(value)
        model_id = as_string(entry.get("id")) if entry is not None else None
        if entry is not None and model_id:
            models.append(
                ModelInfo(
                    id=model_id,
                    context_window=_context_window(entry),
                    created=as_integer(entry.get("created")) or 0,
                )
            )
    return tuple(models)


def _context_window(entry: JSONObject) -> int | None:
    """The field differs by service (MODELS.md 2.1); llama.cpp keeps it in `meta`."""
    for field in _CONTEXT_FIELDS:
        if (tokens := as_integer(entry.get(field))) is not None:
            return tokens
    return as_integer((as_object(entry.get("meta")) or {}).get("n_ctx_train"))


def first_for_chat(models: Sequence[ModelInfo], *, prefers_newest: bool) -> ModelInfo | None:
    """The model to take when nobody chose: the first one listed that can hold a conversation.

    OpenAI's own list has no order and every kind of model in it: there the newest plain one.
    """
    chat = [model for model in models if not _NOT_FOR_CHAT.search(model.id)]
    if prefers_newest:
        plain = [model for model in chat if not _SPECIAL.search(model.id)]
        return max(plain or chat, key=lambda model: model.created, default=None)
    return chat[0] if chat else None
