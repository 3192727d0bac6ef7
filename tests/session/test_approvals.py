"""Which calls need leave, and what "always" covers."""

from pathlib import Path
from typing import Any

import pytest

from agent_shell.agent.tool_calls import Refusal
from agent_shell.builtin_tools.workspace import Workspace
from agent_shell.llm.messages import ToolCall
from agent_shell.session.approvals import ApprovalAnswer, ApprovalRequest, Approvals, summary_of
from agent_shell.settings.settings import ApprovalMode
from agent_shell.tools.tool import ToolEffect
from tests.fakes.tools import FakeTool
from tests.requirements import requirement

READ = FakeTool(name="read_file", effect="read")
EDIT = FakeTool(name="write_file", effect="edit")
RUN = FakeTool(name="run_command", effect="other")
MCP = FakeTool(name="mcp_x_do", effect="other", origin="mcp:x")


class Person:
    """Answers every question the same, and remembers them."""

    def __init__(self, answer: ApprovalAnswer = "once") -> None:
        self.answer: ApprovalAnswer = answer
        self.asked: list[ApprovalRequest] = []

    async def approve(self, request: ApprovalRequest) -> ApprovalAnswer:
        self.asked.append(request)
        return self.answer


def approvals(mode: ApprovalMode, person: Person | None, root: Path) -> Approvals:
    approve = person.approve if person is not None else None
    return Approvals(mode, workspace=Workspace(root=root), approve=approve)


def calling(tool: FakeTool, **arguments: Any) -> ToolCall:
    return ToolCall(id="c", name=tool.name, arguments=arguments)


@pytest.mark.parametrize(
    ("mode", "unasked"),
    [("ask", {"read"}), ("edits", {"read", "edit"}), ("all", {"read", "edit", "other"})],
)
async def test_the_mode_says_what_runs_unasked(
    mode: ApprovalMode, unasked: set[ToolEffect], tmp_path: Path
) -> None:
    person = Person()
    decided = approvals(mode, person, tmp_path)
    for tool in (READ, EDIT, RUN, MCP):
        assert await decided.permit(calling(tool, path="a", command="ls"), tool) is None
    asked = {request.effect for request in person.asked}
    assert asked == {"read", "edit", "other"} - unasked


@requirement("L5")
async def test_where_nobody_can_be_asked_the_call_is_refused_at_once(tmp_path: Path) -> None:
    refusal = await approvals("ask", None, tmp_path).permit(calling(RUN, command="ls"), RUN)
    assert isinstance(refusal, Refusal)
    assert refusal.needs_approval


async def test_no_means_no(tmp_path: Path) -> None:
    refusal = await approvals("ask", Person("no"), tmp_path).permit(calling(MCP), MCP)
    assert refusal == Refusal(reason="the user did not allow this call")


async def test_always_covers_exactly_this_command(tmp_path: Path) -> None:
    """(CASES N3)"""
    person = Person("always")
    decided = approvals("ask", person, tmp_path)
    for command in ("git status", "git status", "git status && touch m", "git status"):
        await decided.permit(calling(RUN, command=command), RUN)
    assert [request.summary for request in person.asked] == ["git status", "git status && touch m"]


async def test_always_covers_one_mcp_tool_until_its_definition_changes(tmp_path: Path) -> None:
    person = Person("always")
    decided = approvals("ask", person, tmp_path)
    other = FakeTool(name="mcp_x_other", effect="other", origin="mcp:x")
    changed = FakeTool(name=MCP.name, effect="other", origin="mcp:x", description="now evil")
    for tool in (MCP, MCP, other, changed):
        await decided.permit(calling(tool, a=1), tool)
    assert [request.tool_name for request in person.asked] == [
        "mcp_x_do",
        "mcp_x_other",
        "mcp_x_do",
    ]


async def test_always_covers_all_edits(tmp_path: Path) -> None:
    person = Person("always")
    decided = approvals("ask", person, tmp_path)
    for path in ("a", "b"):
        await decided.permit(calling(EDIT, path=path), EDIT)
    assert len(person.asked) == 1


@pytest.mark.parametrize(
    "path", [".mcp.json", "./.MCP.json", ".agent-shell/settings.toml", ".git/hooks/x", "link.txt"]
)
@pytest.mark.parametrize("mode", ["ask", "edits", "all"])
async def test_files_that_decide_what_starts_are_asked_about_every_time(
    path: str, mode: ApprovalMode, tmp_path: Path
) -> None:
    (tmp_path / "link.txt").symlink_to(tmp_path / ".mcp.json")
    person = Person("always")
    decided = approvals(mode, person, tmp_path)
    for _ in range(2):
        await decided.permit(calling(EDIT, path=path), EDIT)
    assert [request.can_remember for request in person.asked] == [False, False]
    assert person.asked[0].warning is not None


async def test_a_command_that_names_such_a_file_is_asked_about(tmp_path: Path) -> None:
    person = Person("always")
    decided = approvals("all", person, tmp_path)
    await decided.permit(calling(RUN, command="cp x .mcp.json"), RUN)
    assert len(person.asked) == 1


def test_the_summary_shows_the_true_arguments() -> None:
    """(CASES N5)"""
    hostile = calling(MCP, text="a\x1b[2Kb\u202e", number=3, nested={"k": "\u200b"})
    assert summary_of(hostile) == ('text: a\\x1b[2Kb\\u202e\nnumber: 3\nnested: {"k": "\\u200b"}')
    assert summary_of(calling(RUN, command="ls\r\n[red]x[/red]", timeout_s=5)) == (
        "ls\\r\n[red]x[/red]\ntimeout_s: 5"
    )
