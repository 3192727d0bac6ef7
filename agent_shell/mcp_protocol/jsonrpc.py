"""JSON-RPC 2.0 messages: parse and encode; no I/O and no MCP."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

import msgspec

from agent_shell.errors import MCPError
from agent_shell.json_types import JSONObject, JSONValue, as_array, as_object

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

RequestId: TypeAlias = int | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A call that wants an answer with the same id."""

    id: RequestId
    method: str
    params: JSONObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """A message that gets no answer."""

    method: str
    params: JSONObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A request's successful answer."""

    id: RequestId
    result: JSONValue


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorResponse:
    """A request's error answer. `id` is None where the other side could not read the request."""

    id: RequestId | None
    code: int
    message: str
    data: JSONValue = None


Message: TypeAlias = Request | Notification | Response | ErrorResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFailed:
    """Not on the wire: a transport's word that one request's answer will never come.

    HTTP needs it: there one exchange can fail while the connection lives on. `id` is None where
    an answer came that can't be read, and whose it was can't be told.
    """

    id: RequestId | None
    error: MCPError


Incoming: TypeAlias = Message | RequestFailed


class RpcError(Exception):
    """What a request handler raises to answer with an error object (JSON-RPC 2.0, section 5.1)."""

    def __init__(self, code: int, message: str, data: JSONValue = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """What a piece of the wire held: messages in order, and what could not be used of it."""

    messages: tuple[Message, ...] = ()
    problems: tuple[str, ...] = ()


def encode(message: Message) -> bytes:
    """One message as UTF-8 JSON without line feeds. Lone surrogates become U+FFFD.

    Raises TypeError for values that JSON does not know.
    """
    envelope: dict[str, JSONValue] = {"jsonrpc": "2.0"}
    match message:
        case Request(id=identifier, method=method, params=params):
            envelope |= {"id": identifier, "method": method}
            if params is not None:
                envelope["params"] = params
        case Notification(method=method, params=params):
            envelope["method"] = method
            if params is not None:
                envelope["params"] = params
        case Response(id=identifier, result=result):
            envelope |= {"id": identifier, "result": result}
        case ErrorResponse(id=identifier, code=code, message=text, data=extra):
            error: dict[str, JSONValue] = {"code": code, "message": text}
            if extra is not None:
                error["data"] = extra
            envelope |= {"id": identifier, "error": error}
    try:
        return msgspec.json.encode(envelope, enc_hook=_plain)
    except UnicodeEncodeError:
        return msgspec.json.encode(_without_surrogates(envelope), enc_hook=_plain)


def decode(data: bytes | bytearray | memoryview | str) -> Decoded:
    """The messages of one line, frame or body. Never raises.

    An array (a batch, until revision 2025-03-26) gives several. What is no message is a problem,
    told in one line; bytes that are no UTF-8 are read as U+FFFD, and told.
    """
    problems: list[str] = []
    try:
        value = cast("JSONValue", msgspec.json.decode(data))
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        try:
            value = _decode_slowly(data, problems)
        except (ValueError, RecursionError) as error:
            reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            return Decoded(problems=(*problems, f"not JSON ({reason})"))
    items = as_array(value)
    messages: list[Message] = []
    for item in (value,) if items is None else items:
        message = _read(item)
        if isinstance(message, str):
            problems.append(message)
        else:
            messages.append(message)
    return Decoded(messages=tuple(messages), problems=tuple(problems))


def same_id(left: RequestId, right: RequestId) -> bool:
    """Whether two ids mean the same request: some servers turn 1 into "1"."""
    return str(left) == str(right)


def _decode_slowly(data: bytes | bytearray | memoryview | str, problems: list[str]) -> JSONValue:
    """JSON that msgspec refuses: a byte-order mark, lone surrogates, numbers out of range."""
    if isinstance(data, str):
        text = data
    else:
        raw = bytes(data)
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            problems.append(f"not UTF-8 ({error.reason} at byte {error.start})")
            text = raw.decode("utf-8", "replace")
    value = cast("JSONValue", json.loads(text.removeprefix("\ufeff"), parse_constant=_refuse))
    return _without_surrogates(value)


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")


def _without_surrogates(value: JSONValue) -> JSONValue:
    """The same value in strings that UTF-8 can hold: pairs are joined, lone halves replaced."""
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return value
    if isinstance(value, Mapping):
        return {
            str(_without_surrogates(key)): _without_surrogates(item) for key, item in value.items()
        }
    items = as_array(value)
    return value if items is None else [_without_surrogates(item) for item in items]


def _plain(value: object) -> object:
    """Mappings that are no dict, such as MappingProxyType."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, JSONValue]", value))
    raise TypeError(f"JSON has no {type(value).__name__}")


def _read(value: JSONValue) -> Message | str:
    """One message, or what is wrong with it. Unknown fields and a missing version are let pass."""
    fields = as_object(value)
    if fields is None:
        return "not a JSON object"
    has_id = fields.get("id") is not None
    identifier = _read_id(fields.get("id"))
    if has_id and identifier is None:
        return "an id that is neither a string nor an integer"
    method = fields.get("method")
    if isinstance(method, str):
        params = as_object(fields.get("params"))
        if identifier is not None:
            return Request(id=identifier, method=method, params=params)
        return Notification(method=method, params=params)
    if fields.get("error") is not None:
        return _read_error(identifier, fields["error"])
    if identifier is None:
        return "neither a method nor an id"
    if "result" in fields or "jsonrpc" in fields:
        # Some servers leave out an empty result; waiting for another answer would be worse.
        return Response(id=identifier, result=fields.get("result"))
    return "neither a method nor a result"


def _read_id(value: JSONValue) -> RequestId | None:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    return value


def _read_error(identifier: RequestId | None, value: JSONValue) -> ErrorResponse:
    """An error object as far as it is one: a missing code counts as an internal error."""
    fields = as_object(value)
    if fields is None:
        text = value if isinstance(value, str) else "an error that is not an object"
        return ErrorResponse(id=identifier, code=INTERNAL_ERROR, message=text)
    code = fields.get("code")
    if isinstance(code, float) and code.is_integer():
        code = int(code)
    if isinstance(code, bool) or not isinstance(code, int):
        code = INTERNAL_ERROR
    message = fields.get("message")
    return ErrorResponse(
        id=identifier,
        code=code,
        message=message if isinstance(message, str) and message else "no message given",
        data=fields.get("data"),
    )
