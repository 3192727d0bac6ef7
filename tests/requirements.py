"""What the system was promised to do: id → sentence → where it stands.

Three tables: `SEED` is the description the project grew from, one entry for each of its sentences
that says what the system does, in its order; `CASES` are small inputs that broke comparable
programs, and wishes of their users; `BARS` are the measured ones. A test says which of them it
shows with `@requirement("id", …)`; test_requirements.py holds both sides to it.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import pytest

BUILT = "built"

Test = TypeVar("Test", bound="Callable[..., Any] | type")


class Requirement(NamedTuple):
    """One promise. `stands` is "built", or the reason why it is not, or not so."""

    sentence: str
    stands: str = BUILT


def requirement(*ids: str) -> Callable[[Test], Test]:
    """Tie a test to the promises it shows."""

    def mark(test: Test) -> Test:
        return pytest.mark.requirement(*ids)(test)

    return mark


SEED: Mapping[str, Requirement] = {
    # Start-up at a glance
    "sdk:startup-loads-mcp": Requirement(
        "Starting a session discovers and loads MCP tools, unless MCP is off."
    ),
    "sdk:tools-in-registry": Requirement(
        "MCP tools join the session's tool registry beside the others."
    ),
    "manager:parallel": Requirement(
        "Every server connects and lists its tools in parallel with the others."
    ),
    "gate:250ms": Requirement("The start-up gate waits for all servers, at most 250 ms."),
    "gate:returns-mixture": Requirement(
        "The gate returns live tools, failures per server and deferred tools, in any mixture."
    ),
    "session:live-refresh": Requirement(
        "A running session takes over changed MCP tools without a restart."
    ),
    # create_agent_session
    "session:mcp-on-by-default": Requirement("create_agent_session does MCP start-up by default."),
    "session:passes-settings": Requirement(
        "It passes the project folder, the tool cache and mcp.enable_project_config on."
    ),
    "session:passes-auth-storage": Requirement(
        "It passes the store of credentials on.",
        "comes with logging in to servers: nothing stores credentials yet",
    ),
    "session:always-filters-exa": Requirement("It always filters Exa servers."),
    "session:logs-server-errors": Requirement("It logs each server's load or connect error."),
    "session:returns-manager": Requirement("It hands the manager out with the session."),
    "session:mcp-off-skips-discovery": Requirement("With MCP off nothing is discovered at all."),
    # load_all_mcp_configs
    "config:finds-sources": Requirement("Server definitions are collected from all sources."),
    "config:keeps-source": Requirement("Each definition keeps where it came from."),
    "config:project-off": Requirement(
        "enable_project_config = false removes what project files define."
    ),
    "config:disabled-skipped": Requirement("`enabled: false` is never connected to."),
    "config:exa-filtered": Requirement("Exa servers are filtered out by default."),
    "config:exa-keys": Requirement("The API keys of filtered Exa servers are extracted."),
    "config:result-shape": Requirement("The result holds both the configs and their sources."),
    # discover_and_load_mcp_tools
    "loader:discovery-failure": Requirement(
        "When discovery itself fails: no tools and one error with the path .mcp.json."
    ),
    "loader:server-failure": Requirement(
        "When a server fails: its error in the map, and the tools of all others."
    ),
    "loader:session-survives": Requirement("A failing server never fails the session's start."),
    "loader:labels": Requirement(
        "Loaded tools are labelled `mcp:<server> via <provider name>` where the provider is known."
    ),
    # MCPManager's registries
    "registry:connections": Requirement("`connections` holds the connected servers."),
    "registry:pending-connections": Requirement(
        "`pending_connections` holds the servers whose handshake is under way."
    ),
    "registry:pending-tool-loads": Requirement(
        "`pending_tool_loads` holds the servers whose tools are still being listed."
    ),
    "registry:tools": Requirement("`tools` is the view of all MCP tools that callers get."),
    "registry:sources": Requirement("`sources` knows a server's source before it is connected."),
    "status:connected": Requirement("A server is connected when it is in `connections`."),
    "status:connecting": Requirement(
        "A server is connecting when its handshake or its tool load is pending."
    ),
    "status:disconnected": Requirement("A server is disconnected otherwise."),
    # connect_servers
    "connect:stores-source": Requirement("Connecting stores the server's source first."),
    "connect:skips-known": Requirement("A server that is connected or pending is skipped."),
    "connect:validates": Requirement(
        "A server whose transport fields are invalid is skipped with an error entry of its own."
    ),
    "connect:resolves-auth": Requirement(
        "Variables and `!command` values are resolved just before connecting."
    ),
    "connect:lists-tools": Requirement("After connecting, the server's tools are listed."),
    "connect:caches-tools": Requirement("Listed tools are cached; trouble with the cache is not."),
    # connect_to_server
    "client:transports": Requirement("A stdio, HTTP or SSE transport is made as configured."),
    "client:handshake": Requirement("`initialize`, then `notifications/initialized`."),
    "client:timeout": Requirement("The server's timeout bounds the handshake; 30 s by default."),
    "client:closes-on-failure": Requirement("A failed handshake closes the transport."),
    # The gate
    "gate:all-settled": Requirement("The gate opens early once every server has settled."),
    "gate:fulfilled-is-live": Requirement("A server that is ready gives live tools."),
    "gate:rejected-is-error": Requirement("A server that failed gives its error."),
    "gate:cache-hit-is-deferred": Requirement(
        "A pending server with cached tools gives deferred tools at once."
    ),
    "gate:no-cache-waits": Requirement(
        "A pending server without cached tools is waited for, beyond the gate."
    ),
    # The background continuation
    "late:replaces-slice": Requirement(
        "A late server's tools replace its own slice of the tools and nothing else."
    ),
    "late:writes-cache": Requirement("A late server's tools reach the cache too."),
    "late:logs-after-startup": Requirement("Late failures are logged only after start-up."),
    # Tools
    "tools:name-form": Requirement("Tools are named mcp_<server>_<tool>."),
    "bridge:live": Requirement("MCPTool calls through an open connection."),
    "bridge:deferred": Requirement("DeferredMCPTool waits for the connection, then calls."),
    "bridge:structured": Requirement("Both return structured output."),
    "bridge:errors": Requirement("Errors of transport and tool become `MCP error: …` content."),
    "bridge:abort": Requirement("An abort stays an abort and is never turned into a result."),
    # Reload
    "reload:three-steps": Requirement(
        "/mcp reload: disconnect all, discover and connect again, refresh the session's tools."
    ),
    "refresh:replaces-mcp-tools": Requirement(
        "refresh_mcp_tools removes every mcp_ tool, wraps the latest, activates them again."
    ),
    "refresh:late-connection": Requirement(
        "A connection that comes late refreshes the session's tools again."
    ),
    # Runtime
    "runtime:no-health-monitor": Requirement("No health monitor runs by itself."),
    "runtime:no-reconnect": Requirement(
        "A dropped transport is not reconnected by itself: calls fail until the user reconnects."
    ),
    "runtime:no-close-subscription": Requirement(
        "The manager does not listen to a transport's closing; status is read off the registries.",
        "half kept: status is read off the registries, but a server's owner task sees its "
        "connection end and takes it out of them, so that no dead server is shown as connected",
    ),
    "runtime:explicit-reconnect": Requirement(
        "Reconnecting is explicit: by reload, or by connecting this server."
    ),
    "isolation:tools-stay": Requirement("One server's failure removes no healthy server's tools."),
    "isolation:connect-and-list": Requirement(
        "Failures to connect and to list stay by themselves."
    ),
    "isolation:cache-best-effort": Requirement(
        "Cache and background updates are best effort: logged, never a hard stop."
    ),
    # Teardown
    "disconnect:forgets-pending": Requirement(
        "disconnect_server removes what is pending for the server, and its source."
    ),
    "disconnect:closes": Requirement("disconnect_server closes an open transport."),
    "disconnect:removes-tools": Requirement("disconnect_server removes the server's mcp_ tools."),
    "disconnect-all:closes-all": Requirement(
        "disconnect_all closes every transport, whatever becomes of the others."
    ),
    "disconnect-all:clears": Requirement(
        "disconnect_all clears what is pending, sources, connections and tools."
    ),
    "teardown:callers-dispose": Requirement(
        "No hook disposes of the manager: callers disconnect when they need it.",
        "better here: the manager is an async context that closes every server when it is left",
    ),
    # Outside callers
    "exports:mcp-package": Requirement("The mcp package re-exports loader, manager and client."),
    "exports:discover": Requirement(
        "discover_mcp_servers is a convenience that returns the loader's own result shape."
    ),
    "subagent:shares-connections": Requirement(
        "A subagent's MCP calls go through its parent's connections.",
        "comes with subagents",
    ),
}


CASES: Mapping[str, Requirement] = {
    "A1": Requirement("A byte-order mark changes nothing, in JSON and in TOML files."),
    "A2": Requirement(
        "A settings file that can't be parsed is named, kept as it is, done without."
    ),
    "A3": Requirement("Comments are read; what only looks like one inside a string is text."),
    "A5": Requirement("An unknown top key is named with the one that was expected."),
    "A6": Requirement("An empty file means no servers here; the user's are still listed."),
    "A8": Requirement("${VAR} in a header reaches the server expanded, and so everywhere else."),
    "A10": Requirement("${A:-${B}/x} nests."),
    "A11": Requirement("An unset variable costs its entry, is named, and nothing is started."),
    "B1": Requirement("Junk lines on a server's standard output are skipped and logged."),
    "B3": Requirement("A server's standard error never reaches the terminal; its log has it."),
    "B4": Requirement("A server that dies at start fails with exit code and last words."),
    "B5": Requirement("A server that dies in a call ends the call at once with an error."),
    "B6": Requirement("A server that ignores end of file and SIGTERM is killed within the bound."),
    "B7": Requirement("Grandchildren behind a shell die with their server, however we leave."),
    "B9": Requirement("Long lines arrive whole, at the buffer's exact limit too."),
    "B11": Requirement("Invalid UTF-8 costs its line or its character, never the connection."),
    "B12": Requirement("Only LF ends a message; CR LF is read; other line separators are text."),
    "B13": Requirement("`env` adds to PATH and HOME and does not replace them."),
    "B15": Requirement("Good servers connect while bad ones still fail or hang."),
    "C1": Requirement("A lost HTTP session is opened anew once, and the request repeated once."),
    "C3": Requirement("A server without a GET stream gets at most one GET."),
    "C4": Requirement("A refused GET is no error; a refused POST is."),
    "C6": Requirement("307 and 308 are followed with method, body and same-origin credentials."),
    "C8": Requirement("Any 2xx accepts a notification, whatever its body."),
    "E7": Requirement("Long names become unique, stable names of at most 64 characters."),
    "E8": Requirement("Names that differ only in forbidden characters stay distinct."),
    "E10": Requirement("All pages of a listing are read, in order."),
    "E11": Requirement("A repeated cursor ends the listing with one warning."),
    "E13": Requirement("Two servers may have a tool of the same name."),
    "F1": Requirement("Structured content without text reaches the model as JSON."),
    "F3": Requirement("Links and unknown blocks of a result become short notes."),
    "F4": Requirement("Embedded text is shown in order; an embedded blob becomes a note."),
    "F5": Requirement("A picture no model can read becomes a note before it is sent."),
    "F9": Requirement("A huge result is cut with a notice that says where the rest is."),
    "F10": Requirement("A JSON-RPC error of a call is a tool error the model can read."),
    "G1": Requirement("Cancellation and time-out tell the server which request; not initialize."),
    "G3": Requirement("Servers can be closed in any order without a trace in the others."),
    "G4": Requirement("A server that never answers fails at its limit and leaves no process."),
    "G5": Requirement("A call that is never answered ends at its limit, or at the server's death."),
    "G8": Requirement("After an interrupt every stored call has exactly one result."),
    "H1": Requirement("A tool that a server adds is offered in the next request."),
    "H3": Requirement("Connecting an unknown name names the known ones, at once."),
    "H5": Requirement("A disabled server is never started; disabling ends its process."),
    "H7": Requirement("After an edit and a reload the new entry connects, a deleted one is gone."),
    "H8": Requirement("A killed server gives a clear error, and connects again when asked."),
    "I1": Requirement("A paste with line feeds becomes one draft and is not submitted."),
    "I2": Requirement("A paste never answers an approval question."),
    "I6": Requirement("Markup in foreign text is shown as it is."),
    "I8": Requirement("Ctrl-C keeps the partial answer and the session."),
    "I9": Requirement("Lone surrogates and invalid bytes never crash; requests stay UTF-8."),
    "I10": Requirement("The terminal is as it was, by whatever way we leave."),
    "L1": Requirement("With a prompt argument, an open standard input does not hold the run up."),
    "L3": Requirement("A model's error ends a headless run non-zero, said on standard error."),
    "L4": Requirement("JSON output is JSON and nothing else, at shutdown too."),
    "L5": Requirement("Headless, a call that needs leave is refused at once: exit code 3."),
    # What users of comparable programs asked for: start-up
    "Z1": Requirement("Servers connect beside the prompt; none may block it."),
    "Z2": Requirement("Every phase of a start has its own deadline."),
    "Z3": Requirement("30 s by default, and a setting per server."),
    "Z4": Requirement("An unreachable server never stands on the way of a turn."),
    "Z5": Requirement("`mcp list` answers from the files at once; probing is parallel."),
    "Z6": Requirement("While something is waited for, it is named."),
    "Z7": Requirement("Commands never wait for servers."),
    "Z8": Requirement("A broken server freezes nothing else."),
    "Z9": Requirement(
        "Time-outs: the environment beats the server's own, which beats the default."
    ),
    "Z10": Requirement("The first turn waits 250 ms at most where tools are cached."),
    "Z11": Requirement("A failure is one visible line with the server and the cause."),
    "Z12": Requirement("The first turn has its tools: live, deferred, or waited for."),
    "Z13": Requirement("A long time-out is honoured as it was written."),
    "Z14": Requirement("A server is started once, however often it is asked for."),
    # Reload and reconnect
    "Z15": Requirement(
        "A crashed server is started again, with back-off.",
        "the seed holds: no automatic reconnect; the failure names /mcp connect",
    ),
    "Z16": Requirement(
        "A server that comes up later is tried again in the background.",
        "the seed holds: reconnecting is explicit",
    ),
    "Z17": Requirement(
        "A changed file is noticed, and only what changed is restarted.",
        "watching files comes later; /mcp reload is the seed's three steps, on every server",
    ),
    "Z18": Requirement("One command reconnects everything."),
    "Z19": Requirement("A reload reads the files anew."),
    "Z20": Requirement("A reconnect starts the new process only after the old group is gone."),
    "Z21": Requirement("A lost session id is dropped and the handshake made once more."),
    "Z22": Requirement("A server that always dies is not started in a storm."),
    "Z23": Requirement("After a reload the tools are there before the next turn."),
    "Z24": Requirement("A server's tools are replaced in one step."),
    "Z25": Requirement("A resumed session has its MCP servers.", "comes with resuming sessions"),
    # Leaks and orphans
    "Z36": Requirement("No server outlives the program, headless runs included."),
    "Z37": Requirement("Every failed start kills its group; `mcp status` leaves no server."),
    "Z38": Requirement("Restarts and reloads leave no process."),
    "Z39": Requirement("When the terminal is gone the program ends."),
    # Status
    "Z54": Requirement(
        "Status counts only what is live; disabled is not failed; reasons are shown."
    ),
    "Z55": Requirement("A server that does not know ping is alive all the same."),
    "Z56": Requirement("list_changed is heard, and all pages listed again."),
    # From users of Python shells
    "Y1": Requirement("One unreachable server costs the turn nothing."),
    "Y3": Requirement("The state on the screen follows every change."),
    "Y5": Requirement("Many servers connect in the background."),
    "Y7": Requirement("Nothing of MCP stands on the way to the prompt."),
    "Y9": Requirement("The gate is not the time-out: a slow server joins when it is ready."),
    "Y11": Requirement("Errors are the leaf's words: command, exit code, last lines."),
    "Y13": Requirement("A bad entry is an error with file and line."),
    "Y23": Requirement("A session that ended is opened anew once, else the user is told."),
    "Y25": Requirement("Ctrl-C in a call cancels it, and keeps the server."),
    "Y27": Requirement("Leaving is bounded and parallel; a second Ctrl-C means now."),
    "Y29": Requirement("Progress keeps a call alive past its idle limit."),
    "Y37": Requirement("A missing variable disables that server only, and is named."),
    "Y39": Requirement("Standard error of servers goes to their log, never to the screen."),
    "Y41": Requirement("Nothing touches the network before the prompt stands."),
    "Y43": Requirement("An idle prompt writes nothing to the terminal."),
}


BARS: Mapping[str, Requirement] = {
    "speed:prompt": Requirement(
        "From exec until the prompt takes a key: at most 1.5 times a ten-line program's."
    ),
    "speed:prompt-with-servers": Requirement(
        "The same within 10 % with 20 servers, five of them dead and five hanging."
    ),
    "speed:first-paint": Requirement(
        "The prompt line is painted within 3 times `python -c pass`, before the heavy imports."
    ),
    "speed:early-keys": Requirement("What is typed before that lands in the draft once and whole."),
    "speed:version-and-help": Requirement(
        "--version within 2 times and --help within 4 times `python -c pass`."
    ),
    "speed:memory": Requirement("At most 45 MB at the idle prompt."),
    "speed:first-request": Requirement(
        "With cached tools the first request leaves within the gate + 50 ms, whoever hangs."
    ),
    "speed:reload": Requirement(
        "/mcp reload of 20 live servers takes the slowest one's connect + 50 ms."
    ),
    "speed:imports": Requirement(
        "No network library, schema checker or provider is imported before the prompt stands."
    ),
    "end:every-way": Requirement(
        "Whatever ends the program, in whatever phase, no server's process is left."
    ),
    "end:terminal": Requirement("Whatever ends the program, the terminal is as it was."),
    "end:bounded": Requirement("Ending takes at most 3 s for any number of servers."),
    "end:second-interrupt": Requirement("A second Ctrl-C ends it now."),
    "end:kill-9": Requirement("After kill -9 no server's group is left two seconds later."),
    "leak:reload": Requirement(
        "200 reloads with five servers leave files, processes, tasks and memory as they were."
    ),
    "isolation:dead-command": Requirement("A dead command changes no other server."),
    "isolation:exit-after-handshake": Requirement("An early exit changes no other server."),
    "isolation:garbage": Requirement("Garbage changes no other server."),
    "isolation:silence": Requirement("Silence changes no other server."),
    "isolation:killed-in-call": Requirement("A kill in mid-call changes no other server."),
    "stdio:50-mb-line": Requirement("A line of 50 MB works, in at most three times its memory."),
    "trust:nothing-before-consent": Requirement(
        "No server of a project file starts before the user agreed to that entry or folder."
    ),
    "trust:changed-entry-asks": Requirement("A changed entry asks again."),
    "trust:question-shows-command": Requirement(
        "The question shows the true command, its default is no, it never holds up the prompt."
    ),
    "trust:headless": Requirement("Headless runs start none of them without --trust-project."),
    "peer:real-servers": Requirement("Servers that nobody here wrote work over every transport."),
    "terminal:reload": Requirement(
        "On a real terminal: edit .mcp.json, /mcp reload, the panel shows every state."
    ),
    "terminal:enable-disable": Requirement(
        "/mcp disable and enable act on their server alone; others keep their process."
    ),
    "terminal:call-and-cancel": Requirement("/call works, and Ctrl-C cancels it on the wire."),
    "turn:mcp-tool": Requirement("A model's turn calls an MCP tool."),
    "turn:deferred-tool": Requirement("A model's turn calls a tool whose server still connects."),
    "turn:builtin-tool": Requirement("A model's turn calls a built-in tool."),
    "local-model:found": Requirement("A local model server is found without configuration."),
    "no-mcp:touches-nothing": Requirement("--no-mcp reads and starts nothing."),
}


REQUIREMENTS: Mapping[str, Requirement] = {**SEED, **CASES, **BARS}
