"""Work that an agent starts inside of a run: never a second row of its own kind, never the outer run's (issue 5, 7)."""

import json
import os
import sys
from pathlib import Path

import pytest

from agent_board.agents.registry import agent
from agent_board.errors import BoardError
from agent_board.runs.dispatch import Dispatched, Order, dispatch
from agent_board.runs.processes import MARKER
from agent_board.runs.stop import stop
from agent_board.store.paths import StorePaths
from agent_board.store.records import SemanticState
from agent_board.store.views import view_ids
from tests.runs.views import own_processes, settled, start, state_of, status_of
from tests.support import fake_claude
from tests.support.wait import wait_for


@pytest.fixture(autouse=True)
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_BOARD_DEMO_SPEED", "100")
    folder = fake_claude.install(tmp_path / "fake-bin")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def environ_of(pid: int) -> dict[str, str]:
    raw = Path(f"/proc/{pid}/environ").read_text().split("\0")
    return {name: value for name, _, value in (entry.partition("=") for entry in raw if entry)}


def asking(store: StorePaths, view_id: str) -> None:
    wait_for(lambda: state_of(store, view_id).needs_input, 20, "the question")


def nothing_of(task: Dispatched) -> None:
    wait_for(lambda: not own_processes(task.run_id), what="the run's last process to be gone")


def test_a_run_is_nobodys_child_whoever_started_it(
    store: StorePaths, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Measured with Claude Code 2.1.332: by such a mark it keeps no transcript of what is said on a terminal."""
    marks = agent("claude").child_marks
    assert {"CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION"} <= marks
    for name in (*marks, MARKER, "KEPT"):
        monkeypatch.setenv(name, "outer")
    task = dispatch(store, Order(b"fake: ask Write x", str(project), agent="claude"))
    asking(store, task.view_id)
    found = environ_of(status_of(store, task.view_id, task.run_id).pid or 0)
    assert not marks & found.keys()
    assert (found[MARKER], found["KEPT"]) == (task.run_id, "outer")
    stop(store, task.view_id)


def test_the_end_of_a_run_leaves_what_it_dispatched_to_itself(store: StorePaths, project: Path) -> None:
    """FIELD-FAULTS 7: the inner run is neither left over by the outer one nor ended with it."""
    (project / "inner.sh").write_text(
        f"{sys.executable} -m agent_board dispatch --agent claude --read-only --json 'fake: ask Write x' > inner.json\n"
    )
    outer = start(store, project, "say Going.; run sh inner.sh; say Dispatched.")
    assert settled(store, outer.view_id).summary == "Dispatched."
    told = json.loads((project / "inner.json").read_text())
    inner = Dispatched(told["viewId"], told["runId"], "")
    asking(store, inner.view_id)
    assert status_of(store, outer.view_id, outer.run_id).leftovers == []
    with pytest.raises(BoardError, match="not running"):
        stop(store, outer.view_id)
    assert state_of(store, inner.view_id).needs_input
    assert own_processes(inner.run_id)
    nothing_of(outer)
    stop(store, inner.view_id)
    wait_for(lambda: state_of(store, inner.view_id).semantic_state is SemanticState.STOPPED, what="the inner stop")


def test_an_agent_as_a_child_is_a_tool_like_any_other(store: StorePaths, project: Path) -> None:
    """What it prints is no event of the run, and a stop ends it with the run."""
    line = json.dumps({"type": "user", "message": {"role": "user", "content": "fake: hang"}})
    (project / "child.sh").write_text(f"echo '{line}' | claude -p > child.jsonl; echo never\n")
    outer = start(store, project, "say Going.; run sh child.sh; say Never said.")
    child = project / "child.jsonl"
    wait_for(lambda: child.exists() and "isReplay" in child.read_text(), 20, "the child at work")
    assert view_ids(store) == [outer.view_id]
    assert state_of(store, outer.view_id).semantic_state is SemanticState.WORKING
    stop(store, outer.view_id)
    assert settled(store, outer.view_id).semantic_state is SemanticState.STOPPED
    nothing_of(outer)


def test_a_run_may_ask_for_its_own_stop(store: StorePaths, project: Path) -> None:
    """An agent that uses the command on itself: the words of a run like any other's."""
    (project / "self.sh").write_text(f"{sys.executable} -m agent_board stop $(cat view)\n")
    outer = start(store, project, f"until {project / 'view'}; run sh self.sh; say Never said.")
    (project / "view").write_text(outer.view_id)
    assert settled(store, outer.view_id).semantic_state is SemanticState.STOPPED
    nothing_of(outer)
