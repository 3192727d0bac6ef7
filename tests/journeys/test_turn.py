"""A model's turn over the wire: a built-in tool, a live MCP tool, and a deferred one."""

import anyio

from agent_shell.agent.events import AgentEvent, ToolCallFinished, TurnFinished
from agent_shell.json_types import JSONObject
from agent_shell.sdk.create_session import (
    CreateAgentSessionResult,
    SessionOptions,
    create_agent_session,
)
from agent_shell.settings.settings import MCPSettings, Settings
from tests.fakes.model_server import ModelServer
from tests.journeys.conftest import Place, fake, fake_with_options_in
from tests.requirements import requirement


def options(place: Place, model: ModelServer) -> SessionOptions:
    """A session whose model is the scripted service, found as a user's would be."""
    return SessionOptions(
        cwd=place.project,
        paths=place.paths,
        environ={
            **place.environ,
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_API_KEY": "key-of-a-test",
            "AGENT_SHELL_MODEL": "openai/test-model",
        },
        settings=Settings(approval="all", mcp=MCPSettings(startup_timeout_ms=250)),
    )


def call(name: str, arguments: JSONObject) -> dict[str, object]:
    """One call of the model's script."""
    return {"id": f"call-{name}", "name": name, "arguments": arguments}


async def events_of(result: CreateAgentSessionResult, text: str) -> list[AgentEvent]:
    """The whole turn."""
    return [event async for event in result.session.prompt(text)]


def results_in(events: list[AgentEvent]) -> dict[str, tuple[str, bool]]:
    """Tool → (text, whether it is an error)."""
    return {
        event.call.name: (event.result.text, event.result.is_error)
        for event in events
        if isinstance(event, ToolCallFinished)
    }


@requirement("turn:mcp-tool", "turn:builtin-tool", "bridge:live", "tools:name-form")
async def test_a_turn_calls_a_built_in_and_an_mcp_tool_and_the_model_reads_both(
    place: Place,
) -> None:
    (place.project / "note.txt").write_text("the note\n", "utf-8")
    place.define(fake=fake())
    script = [
        {
            "tool_calls": [
                call("read_file", {"path": "note.txt"}),
                call("mcp_fake_add", {"a": 40, "b": 2}),
            ]
        },
        {"text": "both read"},
    ]

    with ModelServer(script) as model, anyio.fail_after(30):
        async with create_agent_session(options(place, model)) as result:
            events = await events_of(result, "go")
        second = model.chats[1].body

    results = results_in(events)
    assert "the note" in results["read_file"][0]
    assert results["mcp_fake_add"] == ("42", False)
    assert isinstance(events[-1], TurnFinished)
    assert events[-1].outcome == "done"
    told = {
        message["tool_call_id"]: message["content"]
        for message in second["messages"]
        if message["role"] == "tool"
    }
    assert told["call-mcp_fake_add"] == "42"
    assert "the note" in told["call-read_file"]


@requirement("turn:deferred-tool", "bridge:deferred", "Z12")
async def test_a_turn_calls_a_tool_whose_server_still_connects(place: Place) -> None:
    options_file = place.folder / "options"
    options_file.write_text("", "ascii")
    place.define(late=fake_with_options_in(options_file))
    async with place.manager(startup_timeout_ms=0) as manager:
        await manager.discover_and_connect()
    options_file.write_text("--delay 1.5", "ascii")
    script = [
        {"tool_calls": [call("mcp_late_echo", {"text": "deferred"})]},
        {"text": "heard"},
    ]

    with ModelServer(script) as model, anyio.fail_after(30):
        async with create_agent_session(options(place, model)) as result:
            assert result.mcp_manager is not None
            assert result.mcp_manager.get_connection_status("late") == "connecting"
            events = await events_of(result, "go")
            assert result.mcp_manager.get_connection_status("late") == "connected"
        offered = {tool["function"]["name"] for tool in model.chats[0].body["tools"]}

    assert "mcp_late_echo" in offered
    assert results_in(events) == {"mcp_late_echo": ("deferred", False)}


@requirement("Y1", "Z4", "loader:session-survives")
async def test_dead_servers_cost_the_turn_nothing(place: Place) -> None:
    place.define(
        good=fake(),
        dead={"command": "/nonexistent/x"},
        early=fake("--behave", "exit-at-once"),
        silent={**fake("--behave", "silent"), "timeout": 1000},
    )
    script = [{"tool_calls": [call("mcp_good_echo", {"text": "hi"})]}, {"text": "done"}]

    with ModelServer(script) as model, anyio.fail_after(30):
        async with create_agent_session(options(place, model)) as result:
            events = await events_of(result, "go")

    assert results_in(events) == {"mcp_good_echo": ("hi", False)}
    assert isinstance(events[-1], TurnFinished)
    assert events[-1].outcome == "done"
