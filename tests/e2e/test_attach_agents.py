"""OpenCode, Gemini CLI and Copilot CLI on the user's terminal: the same session, left well, and a reply after it."""

from pathlib import Path

import pytest

from tests.e2e.conftest import RealAgents
from tests.support import acts, command
from tests.support.model_server import ModelServer, say
from tests.support.terminal import Terminal

pytestmark = [pytest.mark.full, pytest.mark.timeout(300)]
PATIENCE = 120.0
MODEL = {"gemini": ("--model", "gemini-2.5-pro")}
ASKED_FIRST = {"copilot": ("Do you trust the files in this folder?", "1")}


@pytest.fixture(autouse=True)
def all_three(real_agents: RealAgents) -> None:
    real_agents("opencode", "gemini")


def answer_what_is_asked_first(terminal: Terminal, agent: str) -> None:
    """Whether the user trusts the folder, say; a key that comes too early is lost."""
    question, key = ASKED_FIRST.get(agent, ("", ""))
    if not question:
        return
    terminal.wait_for(question, PATIENCE)
    terminal.press_until(key, lambda: question not in terminal.text, PATIENCE)


@pytest.mark.parametrize("agent", ["opencode", "gemini", "copilot"])
def test_the_terminal_goes_on_in_the_session_and_leaves_it_to_replies(
    agent: str, project: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")  # whoever attaches is there, whatever the board's environment says
    model_server.script(say("The cache was stale."), when="old", forever=True)
    model_server.script(say("Second, by hand."), when="hand", forever=True)
    model_server.script(say("Cleared."), when="Clear", forever=True)
    task = acts.dispatch("Why is the page old?", *MODEL.get(agent, ()), cwd=project, agent=agent)
    session = acts.settled(task.view, PATIENCE)["sessionId"]
    with Terminal([*command.AGENT_BOARD, "attach", task.view], cwd=project) as terminal:
        answer_what_is_asked_first(terminal, agent)
        terminal.wait_for("The cache was stale.", PATIENCE)
        assert acts.show(task.view)["attached"] is True
        terminal.send("now by hand")
        terminal.wait_for("now by hand", PATIENCE)
        # behind other keys it is a line's end
        terminal.press_until("enter", lambda: "Second, by hand." in terminal.text, PATIENCE)
        # Copilot leaves by a second one that comes soon after the first; 3 s are too long for it.
        assert terminal.leave("ctrl+c", PATIENCE, moment=0.5) == 0
    shown = acts.show(task.view)
    assert (shown["semanticState"], shown["processState"], shown["attached"]) == ("completed", "exited", False)
    assert (shown["runs"][-1]["kind"], shown["latestAssistantPreview"]) == ("attach", "Second, by hand.")
    command.ok("reply", task.view, "Clear it")
    shown = acts.settled(task.view, PATIENCE)
    assert (shown["semanticState"], shown["summary"], shown["sessionId"]) == ("completed", "Cleared.", session)
    last = str(model_server.requests[-1].body)
    assert "The cache was stale." in last
    assert "Second, by hand." in last
