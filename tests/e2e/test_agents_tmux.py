"""The board in tmux while the real Codex and OpenCode work; Codex on the user's terminal, and a reply after it."""

import os
from pathlib import Path

import pytest

from tests.e2e.test_tmux import Tmux
from tests.support import acts, agents, command
from tests.support.model_server import ModelServer, say, use
from tests.support.terminal import Terminal

pytestmark = [pytest.mark.full, pytest.mark.timeout(300)]
PATIENCE = 90.0
TOOLS = {"codex": use("exec_command", cmd="true"), "opencode": use("bash", command="true", description="nothing")}


@pytest.fixture
def both(
    tmp_path_factory: pytest.TempPathFactory, home: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("both")
    codex, opencode = agents.make_codex_bin(folder / "codex"), agents.make_opencode_bin(folder / "opencode")
    monkeypatch.setenv("PATH", os.pathsep.join([str(codex), str(opencode), os.environ["PATH"]]))
    monkeypatch.setenv("SCRIPTED_API_KEY", "none")
    for name, value in agents.OPENCODE_QUIET.items():
        monkeypatch.setenv(name, value)
    agents.write_codex_config(home / ".codex", model_server.url)
    agents.write_opencode_config(home / ".config", model_server.url)


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
