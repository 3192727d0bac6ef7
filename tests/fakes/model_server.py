"""A model service on loopback that plays a script: OpenAI chat completions over SSE, byte for byte.

In a test it runs on threads of its own:

    with ModelServer([{"text": "hello"}, {"status": 429}]) as server:
        ...  # server.base_url, server.requests, server.open_gate("name")

and beside a test as a program, for the real shell on a pseudo-terminal:

    python tests/fakes/model_server.py --script FILE.json --port-file F --journal F

The script is a list of answers, one for each POST to `/v1/chat/completions`, in order. Past its end
every request is answered by status 400. An answer is an object:

    text           str, or a list of pieces: str, or {"gate": NAME} which waits until it is opened
    reasoning      the same, sent before the text as `reasoning_content`
    tool_calls     [{"id", "name", "arguments": object or str, "gate": NAME before its last piece}]
    finish_reason  default: `tool_calls` where there are calls, else `stop`; null leaves it out
    usage          an object; default counts something plausible
    piece_length   characters in one piece of tool arguments (default 8)
    raw            instead of all these, the exact bytes: list of str, {"base64": …}, {"gate": …}
    cut            true: the connection ends after what was sent, without a proper end
    close          true: a proper end, then the connection is closed though nothing announced it
    status, headers, body   an HTTP answer that is no stream; body is JSON or a str
    gate           NAME to wait for before anything is sent

Gates are opened by `open_gate`, or by POST /control/open/NAME where the server is a program.
GET /v1/models lists `models`. Standard library only, so that any Python can run it.
"""

import argparse
import base64
import contextlib
import json
import select
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, cast

Answer = Mapping[str, Any]


@dataclass
class RecordedRequest:
    """One request as it arrived. `client_left` is set when its client went away too early."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any
    raw: bytes
    at: float
    """time.monotonic() at its arrival."""
    client_left: threading.Event = field(default_factory=threading.Event)
    finished: threading.Event = field(default_factory=threading.Event)


class ClientLeftError(Exception):
    """The other side closed the connection before the answer's end."""


def chat_chunk(delta: Mapping[str, Any], *, finish_reason: str | None = None) -> str:
    """One `data:` event of a chat completion."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return data_event({"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [choice]})


def data_event(payload: object) -> str:
    """One SSE event whose data is this JSON."""
    return f"data: {json.dumps(payload)}\n\n"


def stream_steps(
    answer: Answer, *, include_usage: bool
) -> Iterator[str | bytes | Mapping[str, Any]]:
    """The bytes and gates of one streamed answer, in order."""
    if "raw" in answer:
        yield from cast("list[str | Mapping[str, Any]]", answer["raw"])
        return
    yield chat_chunk({"role": "assistant", "content": ""})
    for key, wire_field in (("reasoning", "reasoning_content"), ("text", "content")):
        pieces = answer.get(key, [])
        for piece in [pieces] if isinstance(pieces, str) else pieces:
            yield chat_chunk({wire_field: piece}) if isinstance(piece, str) else piece
    calls = cast("list[Mapping[str, Any]]", answer.get("tool_calls", []))
    length = int(answer.get("piece_length", 8))
    for index, call in enumerate(calls):
        arguments = call.get("arguments", {})
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        function = {"name": call["name"], "arguments": ""}
        head = {"index": index, "id": call.get("id", f"call_{index}"), "type": "function"}
        yield chat_chunk({"tool_calls": [{**head, "function": function}]})
        parts = [text[at : at + length] for at in range(0, len(text), length)]
        for number, part in enumerate(parts):
            if "gate" in call and number == len(parts) - 1:
                yield {"gate": call["gate"]}
            yield chat_chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
    finish = answer.get("finish_reason", "tool_calls" if calls else "stop")
    if answer.get("cut"):
        return
    if finish is not None:
        yield chat_chunk({}, finish_reason=finish)
    if include_usage:
        usage = answer.get("usage", {"prompt_tokens": 10, "completion_tokens": 5})
        yield data_event({"id": "chatcmpl-1", "choices": [], "usage": usage})
    yield "data: [DONE]\n\n"


class _Handler(BaseHTTPRequestHandler):
    """One connection of one client."""

    protocol_version = "HTTP/1.1"
    owner: "ModelServer"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: a pty test reads the same terminal."""

    def do_GET(self) -> None:
        """The list of models."""
        request = self._record(b"")
        if self.path.split("?")[0].endswith("/models"):
            models = [{"id": name, "object": "model"} for name in self.owner.models]
            self._send_json(200, {"object": "list", "data": models})
        else:
            self._send_json(404, {"error": {"message": f"no such path: {self.path}"}})
        request.finished.set()

    def do_POST(self) -> None:
        """The next answer of the script, or a control request."""
        raw = self.rfile.read(int(self.headers.get("content-length", "0")))
        if self.path.startswith("/control/open/"):
            self.owner.open_gate(self.path.removeprefix("/control/open/"))
            self._send_json(200, {})
            return
        request = self._record(raw)
        answer = self.owner.next_answer()
        try:
            self._play(answer, request)
        except (ClientLeftError, OSError):
            request.client_left.set()
            self.close_connection = True
        finally:
            request.finished.set()

    def _record(self, raw: bytes) -> RecordedRequest:
        try:
            body: Any = json.loads(raw) if raw else None
        except ValueError:
            body = None
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = RecordedRequest(
            method=self.command,
            path=self.path,
            headers=headers,
            body=body,
            raw=raw,
            at=time.monotonic(),
        )
        self.owner.record(request)
        return request

    def _play(self, answer: Answer, request: RecordedRequest) -> None:
        if "gate" in answer:
            self._wait_for_gate(str(answer["gate"]))
        if "status" in answer:
            self._send_json(int(answer["status"]), answer.get("body"), answer.get("headers", {}))
            return
        self.send_response(200)
        headers = {"content-type": "text/event-stream; charset=utf-8"}
        headers |= cast("dict[str, str]", answer.get("headers", {}))
        self.send_header("transfer-encoding", "chunked")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        body = cast("Mapping[str, Any]", request.body or {})
        options = cast("Mapping[str, Any]", body.get("stream_options") or {})
        include_usage = bool(options.get("include_usage"))
        for step in stream_steps(answer, include_usage=include_usage):
            if isinstance(step, Mapping) and "gate" in step:
                self._wait_for_gate(str(step["gate"]))
            elif isinstance(step, Mapping):
                self._send_chunk(base64.b64decode(str(step["base64"])))
            else:
                self._send_chunk(step if isinstance(step, bytes) else step.encode())
        if answer.get("cut"):
            self.close_connection = True
            return
        self.wfile.write(b"0\r\n\r\n")
        if answer.get("close"):
            self.close_connection = True

    def _send_chunk(self, data: bytes) -> None:
        if data:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _wait_for_gate(self, name: str) -> None:
        """Wait, but notice a client that goes away meanwhile (readable and empty: it closed)."""
        gate = self.owner.gate(name)
        while not gate.wait(0.02):
            readable = select.select([self.connection], [], [], 0)[0]
            if self.owner.stopping or (
                readable and not self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
            ):
                raise ClientLeftError

    def _send_json(
        self, status: int, body: object, headers: Mapping[str, str] | None = None
    ) -> None:
        content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


class _Listener(ThreadingHTTPServer):
    """Remembers its connections, so that stopping does not wait for idle ones."""

    daemon_threads = False
    request_queue_size = 64

    def __init__(self, handler: type[_Handler], port: int) -> None:
        self.open_sockets: set[socket.socket] = set()
        super().__init__(("127.0.0.1", port), handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.open_sockets.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.open_sockets.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that resets its connection is no news."""


class ModelServer:
    """The scripted service; a context manager. `requests` grows as they arrive."""

    def __init__(
        self,
        script: Sequence[Answer] = (),
        *,
        models: Sequence[str] = ("test-model",),
        port: int = 0,
        journal: Path | None = None,
    ) -> None:
        self.models = list(models)
        self.requests: list[RecordedRequest] = []
        self.stopping = False
        self._script = list(script)
        self._journal = journal
        self._gates: dict[str, threading.Event] = {}
        self._changed = threading.Condition()
        handler = type("Handler", (_Handler,), {"owner": self})
        self._listener = _Listener(handler, port)
        self.port: int = self._listener.server_address[1]
        self._thread = threading.Thread(
            target=self._listener.serve_forever, kwargs={"poll_interval": 0.02}
        )

    @property
    def base_url(self) -> str:
        """What a client is configured with."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def chats(self) -> list[RecordedRequest]:
        """The requests for a completion only."""
        return [request for request in self.requests if request.method == "POST"]

    def __enter__(self) -> "ModelServer":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Close the port and every connection; waits for the threads. Safe to call again."""
        if self.stopping:
            return
        self.stopping = True
        self._listener.shutdown()
        self._thread.join()
        for connection in list(self._listener.open_sockets):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._listener.server_close()

    def add(self, *answers: Answer) -> None:
        """Append to the script."""
        with self._changed:
            self._script.extend(answers)

    def next_answer(self) -> Answer:
        """Take the next answer off the script."""
        with self._changed:
            if self._script:
                return self._script.pop(0)
        return {"status": 400, "body": {"error": {"message": "the script is at its end"}}}

    def record(self, request: RecordedRequest) -> None:
        """Remember a request, in the journal too, and wake who waits for it."""
        with self._changed:
            self.requests.append(request)
            if self._journal is not None:
                line = {
                    "method": request.method,
                    "path": request.path,
                    "headers": request.headers,
                    "body": request.body,
                    "at": request.at,
                }
                with self._journal.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
            self._changed.notify_all()

    def wait_for_chats(self, count: int, timeout_s: float = 5) -> list[RecordedRequest]:
        """Block until that many completions were asked for; an async test calls it in a thread."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.chats) >= count, timeout_s):
                raise TimeoutError(f"{len(self.chats)} of {count} requests came")
            return self.chats

    def gate(self, name: str) -> threading.Event:
        """The gate of this name, closed at first."""
        with self._changed:
            return self._gates.setdefault(name, threading.Event())

    def open_gate(self, name: str) -> None:
        """Let the answers that wait at this gate go on."""
        self.gate(name).set()


def main() -> None:
    """Serve a script from a file until the process is ended."""
    parser = argparse.ArgumentParser(description="a model service that plays a script")
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--port-file", type=Path, required=True, help="the port is written here")
    parser.add_argument("--journal", type=Path, help="one JSON line for each request")
    parser.add_argument("--models", default="test-model", help="names, separated by commas")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    script = json.loads(options.script.read_text(encoding="utf-8"))
    with ModelServer(
        script, models=options.models.split(","), port=options.port, journal=options.journal
    ) as server:
        # Renamed into place: whoever waits for the file never reads half a number.
        beside = options.port_file.with_name(options.port_file.name + ".new")
        beside.write_text(str(server.port), encoding="utf-8")
        beside.replace(options.port_file)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
