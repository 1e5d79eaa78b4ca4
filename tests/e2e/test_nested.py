"""Real agents within real agents: the child is a tool of its parent, and what is dispatched is a row of its own."""

import json
import sys
from pathlib import Path

import pytest

from tests.conftest import PiHome
from tests.e2e.conftest import RealAgents
from tests.support import acts, command, processes
from tests.support.model_server import ModelServer, say, use

pytestmark = [pytest.mark.full, pytest.mark.timeout(300)]
PATIENCE = 120.0
CHILDREN = {
    "claude": "claude -p --output-format stream-json --verbose",
    "codex": "codex exec --json --skip-git-repo-check -",
    "opencode": "opencode run --format json",
}


@pytest.fixture(autouse=True)
def all_three(real_agents: RealAgents) -> None:
    real_agents("claude", "codex", "opencode")


@pytest.mark.parametrize("child", CHILDREN)
def test_a_child_of_pi_is_no_row_and_disturbs_none(
    child: str, pi_home: PiHome, project: Path, model_server: ModelServer
) -> None:
    """Issue 5, 7: its stream goes where the tool sends it, its settled and failed events are not the run's."""
    model_server.script(say("Said by the child."), when="inner", forever=True)
    line = f"echo 'the inner one speaks' | {CHILDREN[child]} | tee child.jsonl; exit 0"
    model_server.script(use("bash", command=line), say("The parent is done."), when="parent")
    task = acts.dispatch("Be the parent", cwd=project)
    shown = acts.settled(task.view, PATIENCE)
    assert (shown["semanticState"], shown["summary"]) == ("completed", "The parent is done.")
    assert list(acts.listed()) == [task.view]
    assert "Said by the child." in (project / "child.jsonl").read_text()
    assert not shown["sessionId"] or shown["sessionId"] not in (project / "child.jsonl").read_text()
    assert not processes.marked(task.run, "AGENT_BOARD_RUN")


def test_what_claude_dispatches_is_a_task_of_its_own(project: Path, model_server: ModelServer) -> None:
    """The inner run outlives the stop of the outer one, and its session is its own."""
    dispatching = f"{sys.executable} -m agent_board dispatch --json --agent claude --read-only 'Be inside' > inner.json"
    model_server.script(
        use("Bash", command=f"{dispatching}; sleep 300", description="dispatch", timeout=400_000), when="outside"
    )
    options = [{"label": name, "description": name} for name in ("SQLite", "Postgres")]
    question = {"question": "Which database?", "header": "Database", "options": options, "multiSelect": False}
    model_server.script(use("AskUserQuestion", questions=[question]), say("Done inside."), when="inside")
    outer = acts.dispatch("Be outside", cwd=project, agent="claude")
    acts.until(outer.view, lambda shown: shown["semanticState"] == "needs_input")
    command.ok("answer", outer.view, "--allow")
    told = project / "inner.json"
    acts.until(outer.view, lambda _: told.exists() and told.read_text().strip())
    inner = json.loads(told.read_text())["viewId"]
    acts.until(inner, lambda shown: shown["question"] == "Which database?", PATIENCE)
    acts.stop(outer.view)
    assert acts.show(outer.view)["semanticState"] == "stopped"
    assert acts.show(inner)["processState"] == "alive"
    command.ok("answer", inner, "--choice", "1")
    shown = acts.until(inner, lambda shown: shown["processState"] == "exited", PATIENCE)
    assert (shown["semanticState"], shown["summary"]) == ("completed", "Done inside.")
    assert Path(shown["sessionFile"]).stat().st_size > 0
