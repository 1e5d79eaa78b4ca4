"""The board in tmux while the real Codex and OpenCode work; Codex on the user's terminal, and a reply after it."""

from pathlib import Path

import pytest

from tests.e2e.conftest import RealAgents
from tests.e2e.test_tmux import Tmux
from tests.support import acts, command
from tests.support.model_server import ModelServer, say, use
from tests.support.terminal import Terminal

pytestmark = [pytest.mark.full, pytest.mark.timeout(300)]
PATIENCE = 90.0
TOOLS = {"codex": use("exec_command", cmd="true"), "opencode": use("bash", command="true", description="nothing")}


@pytest.fixture
def both(real_agents: RealAgents) -> None:
    real_agents("codex", "opencode")


@pytest.mark.usefixtures("both", "store")
def test_both_are_rows_of_one_board(project: Path, model_server: ModelServer) -> None:
    for agent, tool in TOOLS.items():
        model_server.script(tool, say(f"Which one shall {agent} keep, the old or the new?"), when=f"ask {agent}")
        model_server.script(say(f"Done by {agent}."), when=f"do {agent}")
    tmux = Tmux(project)
    try:
        tmux.wait_for("agent-board")
        for agent in TOOLS:
            acts.dispatch(f"ask {agent}", "--name", f"asking-{agent}", cwd=project, agent=agent)
            acts.dispatch(f"do {agent}", "--name", f"doing-{agent}", cwd=project, agent=agent)
        for agent in TOOLS:
            tmux.wait_for_row(f"asking-{agent}", f"Which one shall {agent} keep", PATIENCE)
            tmux.wait_for_row(f"doing-{agent}", f"Done by {agent}", PATIENCE)
    finally:
        tmux.close()


@pytest.mark.usefixtures("both", "store")
def test_codex_on_the_terminal_leaves_the_thread_free(project: Path, model_server: ModelServer) -> None:
    """What was said is there, and a reply afterwards finds no other writer."""
    model_server.script(say("The cache was stale."), when="old")
    model_server.script(say("Cleared."), when="Clear")
    task = acts.dispatch("Why is the page old?", cwd=project, agent="codex")
    acts.settled(task.view, PATIENCE)
    with Terminal([*command.AGENT_BOARD, "attach", task.view], cwd=project) as terminal:
        terminal.wait_for("The cache was stale", 60)
        assert acts.show(task.view)["attached"] is True
        terminal.send("/quit")
        terminal.wait_for("/quit", 20)
        terminal.wait_quiet(0.5)  # what comes right behind other keys is taken for a pasted line
        terminal.send("\r")
        assert terminal.wait_exit(60) == 0
    command.ok("reply", task.view, "Clear it")
    shown = acts.settled(task.view, PATIENCE)
    assert (shown["semanticState"], shown["summary"]) == ("completed", "Cleared."), shown["error"]
