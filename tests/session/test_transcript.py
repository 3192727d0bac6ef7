"""A conversation on disk, and back."""

from pathlib import Path

from agent_shell.llm.messages import (
    AssistantMessage,
    ChatMessage,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agent_shell.session.transcript import Transcript, project_folder_name, read_transcript
from agent_shell.tools.content import ImageContent, TextContent
from tests.requirements import requirement


def user(text: str) -> UserMessage:
    return UserMessage(content=(TextContent(text=text),))


CONVERSATION: tuple[ChatMessage, ...] = (
    user("go\nthere"),
    AssistantMessage(
        text="I look",
        reasoning="why",
        reasoning_field="reasoning",
        tool_calls=(
            ToolCall(id="c1", name="look", arguments={"a": [1, None]}, provider_data={"x": "y"}),
            ToolCall(id="c2", name="look", arguments=None, arguments_text="{"),
        ),
        provider_data={"service": "here"},
    ),
    ToolResultMessage(
        call_id="c1",
        tool_name="look",
        content=(TextContent(text="é"), ImageContent(data="QQ==", mime_type="image/png")),
    ),
    ToolResultMessage(
        call_id="c2", tool_name="look", content=(TextContent(text="no"),), is_error=True
    ),
    AssistantMessage(text="half", is_partial=True),
)


def written(folder: Path, *messages: ChatMessage) -> Transcript:
    transcript = Transcript(folder, Path("/some/project"))
    for message in messages:
        transcript.append(message)
    return transcript


def test_every_message_is_read_back_as_it_was(tmp_path: Path) -> None:
    transcript = written(tmp_path, *CONVERSATION)
    content = read_transcript(transcript.path)
    assert content.messages == CONVERSATION
    assert (content.id, content.cwd, content.bad_lines) == (transcript.id, "/some/project", 0)


def test_nothing_is_written_before_the_first_message(tmp_path: Path) -> None:
    written(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_cut_last_line_costs_only_itself(tmp_path: Path) -> None:
    path = written(tmp_path, user("one"), user("two")).path
    path.write_bytes(path.read_bytes()[:-10])
    content = read_transcript(path)
    assert (content.messages, content.bad_lines) == ((user("one"),), 1)


@requirement("G8")
def test_calls_without_results_get_an_aborted_one(tmp_path: Path) -> None:
    """(CASES G8)"""
    path = written(tmp_path, *CONVERSATION[:3], user("next")).path
    messages = read_transcript(path).messages
    assert messages[3] == ToolResultMessage(
        call_id="c2",
        tool_name="look",
        content=(TextContent(text="aborted by the user"),),
        is_error=True,
    )
    assert messages[4] == user("next")


def test_half_characters_are_written_as_valid_text(tmp_path: Path) -> None:
    """(CASES I9)"""
    path = written(tmp_path, user("a\ud83d b\udcff")).path
    assert path.read_text(encoding="utf-8")
    assert read_transcript(path).messages == (user("a\ufffd b\ufffd"),)


def test_a_disk_that_refuses_costs_only_the_transcript(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    transcript = written(tmp_path / "file", user("one"), user("two"))
    assert not transcript.path.exists()


def test_only_the_user_can_read_it(tmp_path: Path) -> None:
    path = written(tmp_path, user("one")).path
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_projects_have_folders_of_their_own() -> None:
    names = {project_folder_name(Path(path)) for path in ("/a/x", "/b/x", "/", "/a/é ü")}
    assert len(names) == 4
    assert all(name.isascii() and "/" not in name for name in names)
