"""A small MCP server on standard input and output, well-behaved or not, as its options say.

Standard library only, so that `python -S -E stdio_server.py` starts in a few milliseconds.

    --behave NAME      good (the default) or one of:
                       silent            never answers anything
                       silent-init       never answers initialize
                       silent-list       answers initialize, never tools/list
                       garbage           junk lines before, between and after valid replies
                       badbytes          invalid UTF-8 before each reply
                       separators        raw U+2028, U+2029, U+0085 in texts, lines end in CR LF
                       stubborn          ignores end of input and SIGTERM (and speaks well before)
                       exit-after-init   exits with status 7 after the handshake
                       exit-at-once      prints "no key" on standard error, exits with status 3
                       pages             tools/list in pages of two (see --tools)
                       repeated-cursor   tools/list always answers the same page and cursor
                       bad-tools         some entries of tools/list make no sense
                       old-version       answers initialize with 2024-11-05
                       unknown-version   answers initialize with 1999-01-01
                       noisy             floods standard error all the time
                       deaf              reads nothing after the handshake, writes 1 MiB of logs
                       batch             answers in JSON arrays
                       odd-errors        errors without a code, ids as strings, null ids
                       asks              asks for roots/list, ping, sampling after the handshake
                       no-tools          offers no tools capability (resources only)
    --name NAME        the server's name (default: fake)
    --record FILE      append every received line to FILE
    --pid-file FILE    write the process id there, once running
    --tools N          N more tools, named extra_1 ... extra_N
    --delay S          wait before answering initialize
    --list-delay S     wait before answering tools/list
    --child            start a grandchild that sleeps and holds the pipes; its pid is written to
                       PID_FILE.child
    --instructions T   the instructions of the handshake

Tools: echo(text) add(a, b) sleep(seconds) crash(status) env(name?) big(size) add_tool(name)
fail(text) progress(steps, seconds) ask_roots() stderr(text) cwd()
"""

# ruff: noqa: PTH105, PTH109, PTH123, SIM115 (pathlib would double the time to start)
from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time

TYPE_CHECKING = False  # importing typing would cost a third of the start
if TYPE_CHECKING:
    from typing import Any

    JSON = dict[str, Any]

INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}
STRING = {"type": "string"}


def tool(name: str, description: str, /, **properties: JSON) -> JSON:
    return {
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties},
    }


TOOLS: list[JSON] = [
    {**tool("echo", "Say it back.", text=STRING), "annotations": {"readOnlyHint": True}},
    tool("add", "Add two numbers.", a=NUMBER, b=NUMBER),
    tool("sleep", "Answer later.", seconds=NUMBER),
    tool("crash", "End this process at once.", status=INTEGER),
    tool("env", "The environment as JSON, or one variable.", name=STRING),
    tool("big", "A text of that many characters.", size=INTEGER),
    tool("add_tool", "Offer one more tool from now on.", name=STRING),
    tool("fail", "Answer with isError.", text=STRING),
    tool("progress", "Report progress, then answer.", steps=INTEGER, seconds=NUMBER),
    tool("ask_roots", "Ask the client for its roots."),
    tool("stderr", "Write a line to standard error.", text=STRING),
    tool("cwd", "The working directory."),
]


def parse(argv: list[str]) -> dict[str, str]:
    options = {
        "behave": "good",
        "name": "fake",
        "record": "",
        "pid-file": "",
        "tools": "0",
        "delay": "0",
        "list-delay": "0",
        "instructions": "",
        "child": "",
    }
    at = 0
    while at < len(argv):
        key = argv[at].removeprefix("--")
        if key not in options:
            sys.exit(f"unknown option {argv[at]}")
        if key == "child":
            options[key] = "yes"
            at += 1
        else:
            options[key] = argv[at + 1]
            at += 2
    return options


class Server:
    def __init__(self, options: dict[str, str]) -> None:
        self.behave = options["behave"]
        self.name = options["name"]
        self.delay = float(options["delay"])
        self.list_delay = float(options["list-delay"])
        self.instructions = options["instructions"]
        self.tools = list(TOOLS)
        for number in range(1, int(options["tools"]) + 1):
            self.tools.append(tool(f"extra_{number}", f"Extra tool {number}."))
        self.record = open(options["record"], "ab", buffering=0) if options["record"] else None
        self.lock = threading.Lock()
        self.cancelled: set[int] = set()
        self.answers: dict[str, tuple[threading.Event, list[JSON]]] = {}
        self.asked = 0
        self.out = sys.stdout.buffer
        self.is_deaf = False

    # --- writing

    def write(self, line: bytes) -> None:
        with self.lock:
            self.out.write(line)
            self.out.flush()

    def send(self, message: JSON) -> None:
        text = json.dumps(message, ensure_ascii=self.behave != "separators")
        line = text.encode("utf-8")
        if self.behave == "batch":
            line = b"[" + line + b"]"
        if self.behave == "garbage":
            line = b"hello\n\n[1]\n" + line + b"\n{oops\n"
        elif self.behave == "badbytes":
            line = b"\xff\xfe\n" + line + b"\n"
        elif self.behave == "separators":
            line += b"\r\n"
        else:
            line += b"\n"
        self.write(line)

    def reply(self, request: JSON, result: JSON) -> None:
        if request["id"] in self.cancelled:
            return
        identifier = request["id"]
        if self.behave == "odd-errors":
            identifier = str(identifier)
        self.send({"jsonrpc": "2.0", "id": identifier, "result": result})

    def error(self, request: JSON, code: int, message: str) -> None:
        self.send(
            {"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}}
        )

    def notify(self, method: str, **params: object) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, **params: object) -> JSON:
        """Ask the client and wait for its answer (only outside the reading thread)."""
        self.asked += 1
        identifier = f"s{self.asked}"
        done = threading.Event()
        answer: list[JSON] = []
        self.answers[identifier] = (done, answer)
        self.send({"jsonrpc": "2.0", "id": identifier, "method": method, "params": params})
        done.wait(10)
        return answer[0] if answer else {}

    # --- reading

    def serve(self) -> None:
        if self.behave == "garbage":
            self.write(b"starting up...\n\n")
        for line in sys.stdin.buffer:
            if self.record:
                self.record.write(line)
            if self.behave == "silent":
                continue
            message = json.loads(line)
            if "method" not in message:
                waiting = self.answers.pop(str(message.get("id")), None)
                if waiting:
                    waiting[1].append(message)
                    waiting[0].set()
            elif "id" in message:
                self.on_request(message)
            else:
                self.on_notification(message)
            if self.is_deaf:
                while True:
                    time.sleep(60)

    def on_notification(self, message: JSON) -> None:
        method = message["method"]
        if method == "notifications/cancelled":
            self.cancelled.add(message["params"]["requestId"])
        elif method == "notifications/initialized":
            if self.behave == "exit-after-init":
                sys.stderr.write("leaving\n")
                sys.stderr.flush()
                os._exit(7)
            if self.behave == "deaf":
                self.is_deaf = True
                for _ in range(1024):
                    self.notify("notifications/message", level="info", data="x" * 1000)
            if self.behave == "asks":
                threading.Thread(target=self.ask_everything, daemon=True).start()

    def ask_everything(self) -> None:
        answers = [
            self.ask("roots/list"),
            self.ask("ping"),
            self.ask("sampling/createMessage", messages=[], maxTokens=1),
            self.ask("elicitation/create", message="?", requestedSchema={"type": "object"}),
            self.ask("no/such/method"),
        ]
        self.notify("notifications/message", level="info", data=answers)

    def on_request(self, request: JSON) -> None:
        method = request["method"]
        params: JSON = request.get("params") or {}
        if method == "initialize":
            self.initialize(request, params)
        elif method == "ping":
            self.reply(request, {})
        elif method == "tools/list":
            self.list_tools(request, params)
        elif method == "tools/call":
            self.call(request)
        elif method == "resources/list":
            self.reply(request, {"resources": [{"uri": "fake:///one", "name": "one"}]})
        elif method == "resources/templates/list":
            self.reply(
                request, {"resourceTemplates": [{"uriTemplate": "fake:///{x}", "name": "x"}]}
            )
        elif method == "resources/read":
            text = f"the text of {params.get('uri')}"
            self.reply(request, {"contents": [{"uri": params.get("uri"), "text": text}]})
        elif method == "prompts/list":
            self.reply(request, {"prompts": [{"name": "greet", "description": "Say hello."}]})
        else:
            self.error(request, -32601, f"unknown method {method}")

    def initialize(self, request: JSON, params: JSON) -> None:
        if self.behave == "silent-init":
            return
        time.sleep(self.delay)
        version = params.get("protocolVersion", "2025-11-25")
        if self.behave == "old-version":
            version = "2024-11-05"
        if self.behave == "unknown-version":
            version = "1999-01-01"
        capabilities: JSON = {"tools": {"listChanged": True}, "resources": {}, "prompts": {}}
        if self.behave == "no-tools":
            capabilities = {"resources": {}}
        result: JSON = {
            "protocolVersion": version,
            "capabilities": capabilities,
            "serverInfo": {"name": self.name, "version": "1.0"},
        }
        if self.instructions:
            result["instructions"] = self.instructions
        self.reply(request, result)

    def list_tools(self, request: JSON, params: JSON) -> None:
        if self.behave == "silent-list":
            return
        if self.list_delay:
            time.sleep(self.list_delay)
        cursor = params.get("cursor")
        if self.behave == "pages":
            start = int(cursor or 0)
            page: JSON = {"tools": self.tools[start : start + 2]}
            if start + 2 < len(self.tools):
                page["nextCursor"] = str(start + 2)
            self.reply(request, page)
        elif self.behave == "repeated-cursor":
            self.reply(request, {"tools": self.tools[:8], "nextCursor": "again"})
        elif self.behave == "bad-tools":
            self.reply(
                request,
                {
                    "tools": [
                        self.tools[0],
                        {"name": "bare"},
                        {"description": "no name"},
                        "not an object",
                        {"name": "wrong", "inputSchema": "a string"},
                    ]
                },
            )
        else:
            self.reply(request, {"tools": self.tools})

    # --- tools

    def call(self, request: JSON) -> None:
        params: JSON = request.get("params") or {}
        name = str(params.get("name"))
        arguments: JSON = params.get("arguments") or {}
        if name in ("sleep", "progress", "ask_roots"):
            # In a thread of its own, so that the server goes on reading meanwhile.
            threading.Thread(
                target=self.call_slowly, args=(request, name, arguments), daemon=True
            ).start()
        elif name == "echo":
            text = arguments.get("text", "")
            if self.behave == "separators":
                text = "a\u2028b\u2029c\u0085d"
            self.text(request, text)
        elif name == "add":
            total = arguments["a"] + arguments["b"]
            self.reply(
                request,
                {
                    "content": [{"type": "text", "text": str(total)}],
                    "structuredContent": {"sum": total},
                },
            )
        elif name == "crash":
            sys.stderr.write("crashing\n")
            sys.stderr.flush()
            os._exit(int(arguments.get("status", 1)))
        elif name == "env":
            if "name" in arguments:
                self.text(request, os.environ.get(arguments["name"], "(unset)"))
            else:
                self.text(request, json.dumps(dict(os.environ)))
        elif name == "big":
            self.text(request, "x" * int(arguments["size"]))
        elif name == "add_tool":
            self.tools.append(tool(arguments["name"], "Added later."))
            self.notify("notifications/tools/list_changed")
            self.text(request, "added")
        elif name == "fail":
            content = [{"type": "text", "text": arguments.get("text", "failed")}]
            self.reply(request, {"content": content, "isError": True})
        elif name == "stderr":
            sys.stderr.write(arguments["text"] + "\n")
            sys.stderr.flush()
            self.text(request, "written")
        elif name == "cwd":
            self.text(request, os.getcwd())
        elif self.behave == "odd-errors" and name == "null-id":
            self.send({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "odd"}})
        elif self.behave == "odd-errors" and name == "no-code":
            self.send({"jsonrpc": "2.0", "id": request["id"], "error": {"message": "no code"}})
        elif any(known["name"] == name for known in self.tools):
            self.text(request, f"{name} called")
        else:
            self.error(request, -32602, f"unknown tool {name}")

    def call_slowly(self, request: JSON, name: str, arguments: JSON) -> None:
        if name == "sleep":
            time.sleep(float(arguments["seconds"]))
            self.text(request, "slept")
        elif name == "progress":
            steps = int(arguments["steps"])
            meta: JSON = request["params"].get("_meta") or {}
            token = meta.get("progressToken")
            for step in range(1, steps + 1):
                time.sleep(float(arguments["seconds"]))
                if token is not None:
                    self.notify(
                        "notifications/progress",
                        progressToken=token,
                        progress=step,
                        total=steps,
                        message=f"step {step}",
                    )
            self.text(request, "done")
        else:
            self.text(request, json.dumps(self.ask("roots/list").get("result")))

    def text(self, request: JSON, text: str) -> None:
        self.reply(request, {"content": [{"type": "text", "text": text}]})


def make_noise() -> None:
    while True:
        sys.stderr.write("noise " * 1000 + "\n")
        sys.stderr.flush()


def write_whole(path: str, text: str) -> None:
    """All of it or nothing: this process may be killed at any moment."""
    with open(path + ".new", "w", encoding="ascii") as file:
        file.write(text)
    os.replace(path + ".new", path)


def main() -> None:
    options = parse(sys.argv[1:])
    behave = options["behave"]
    if behave == "exit-at-once":
        sys.stderr.write("no key\n")
        sys.exit(3)
    if behave == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if behave == "noisy":
        threading.Thread(target=make_noise, daemon=True).start()
    if options["child"]:
        child = os.fork()
        if child == 0:
            time.sleep(600)
            os._exit(0)
        write_whole(options["pid-file"] + ".child", str(child))
    if options["pid-file"]:
        write_whole(options["pid-file"], str(os.getpid()))
    server = Server(options)
    server.serve()
    while behave == "stubborn":
        time.sleep(60)


main()
