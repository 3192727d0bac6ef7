"""The question whether a project's server may start, asked in the middle of a session."""

import json

import pytest

from agent_shell.cli.first_paint import PROMPT
from tests.journeys.conftest import Place, fake
from tests.requirements import requirement
from tests.terminal.pty_program import PtyProgram

pytestmark = pytest.mark.terminal


@pytest.mark.parametrize("earlier", ["typed", "pasted"])
@requirement("trust:changed-entry-asks", "trust:question-shows-command", "I2")
def test_a_question_after_a_reload_is_answered_by_hand_whatever_was_entered_before(
    place: Place, earlier: str
) -> None:
    with PtyProgram.agent_shell(
        home=place.folder,
        cwd=place.project,
        env={"AGENT_SHELL_HOME": place.environ["AGENT_SHELL_HOME"]},
    ) as shell:
        shell.wait_for(PROMPT.rstrip())
        file = place.project / ".mcp.json"
        file.write_text(json.dumps({"mcpServers": {"theirs": fake()}}), "utf-8")
        if earlier == "typed":
            shell.type_slowly("/mcp reload\r")
        else:
            shell.paste("/mcp reload")
            shell.send("\r")
        shell.wait_for("start these servers?")
        shell.type_slowly("y\r")
        shell.wait_for("1 connected")
