"""A prompt becomes a run exactly once, whoever dies when (DESIGN 5; invariants 1, 4, 5; AB-028, AB-101, AB-103)."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_board.runs.dispatch import Order, dispatch
from agent_board.runs.processes import Liveness, probe
from agent_board.runs.reconcile import reconcile
from agent_board.runs.stop import stop
from agent_board.store import plain
from agent_board.store.load import ViewRecord, load_view
from agent_board.store.paths import StorePaths
from agent_board.store.records import ProcessState, RunStatus, SemanticState, ShimPid, State
from agent_board.store.views import view_ids
from tests.support.wait import wait_for

PROMPT = "please do it\ndemo: work 2; say All done."


@dataclass
class Crashed:
    """A dispatch whose launcher or shim died on the way."""

    paths: StorePaths
    launcher_code: int
    view_id: str | None

    def record(self) -> ViewRecord:
        assert self.view_id
        found = load_view(self.paths, self.view_id)
        assert isinstance(found, ViewRecord)
        return found

    def state(self) -> State:
        state = self.record().state
        assert isinstance(state, State)
        return state

    def settled(self) -> State:
        """The view's state once reconciling has nothing left to do."""
        assert self.view_id

        def done() -> State | None:
            reconcile(self.paths, self.view_id or "")
            state = self.record().state
            return state if isinstance(state, State) and state.semantic_state.settled else None

        return wait_for(done, 15, "the row to settle")

    def prompts_received(self) -> int:
        """User entries in the transcript: what the agent took."""
        path = self.paths.session(self.view_id or "")
        if not os.path.exists(path):
            return 0
        with open(path, encoding="utf-8") as file:
            return sum(json.loads(line).get("type") == "prompt" for line in file)


def crash(store: StorePaths, cwd: Path, *, launcher: str = "-", shim: str = "-", prompt: str = PROMPT) -> Crashed:
    done = subprocess.run(
        [sys.executable, "-m", "tests.runs.crash", launcher, shim, prompt, str(cwd)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "AGENT_BOARD_DEMO_SPEED": "20"},
    )
    assert done.returncode in (0, -9) or "The prompt was not sent." in done.stderr, done.stderr
    ids = view_ids(store)
    return Crashed(store, done.returncode, ids[0] if ids else None)


@pytest.mark.parametrize("step", ["prompt written", "run built", "view built"])
def test_a_launcher_that_dies_before_the_view_is_there_leaves_none(store: StorePaths, project: Path, step: str) -> None:
    crashed = crash(store, project, launcher=step)
    assert crashed.launcher_code == -9
    assert crashed.view_id is None
    assert dispatch(store, Order(b"demo: say ok", str(project), agent="demo")).name == "demo-say-ok"


def test_a_launcher_that_dies_before_its_shim_leaves_the_prompt_unsent(store: StorePaths, project: Path) -> None:
    crashed = crash(store, project, launcher="view there")
    state = crashed.settled()
    assert (state.semantic_state, state.reason) == (SemanticState.FAILED, "not-sent")
    assert state.error
    assert crashed.prompts_received() == 0
    run = store.view(crashed.view_id or "").run(state.current_run_id or "")
    assert Path(run.prompt).read_text() == PROMPT


def test_a_launcher_that_dies_behind_its_shim_changes_nothing(store: StorePaths, project: Path) -> None:
    """Invariant 11, AB-014: the run goes on and is found again."""
    crashed = crash(store, project, launcher="shim started")
    assert crashed.launcher_code == -9
    state = crashed.settled()
    assert (state.semantic_state, state.reason) == (SemanticState.COMPLETED, "success")
    assert crashed.prompts_received() == 1


@pytest.mark.parametrize(
    ("step", "reason", "received"),
    [
        ("started", "not-sent", 0),
        ("owner recorded", "not-sent", 0),
        ("gate started", "not-sent", 0),
        ("worker recorded", "not-sent", 0),
        ("accepted", None, 1),
        ("in a tool", None, 1),
        ("settled", None, 1),
        ("ended", None, 1),
        ("status written", "success", 1),
        ("all written", "success", 1),
    ],
)
def test_a_shim_that_dies_at_any_step(
    store: StorePaths, project: Path, step: str, reason: str | None, received: int
) -> None:
    """The row becomes true within one reconcile, the prompt is never sent twice and never lost from sight."""
    crashed = crash(store, project, shim=step)
    # A shim that never said that it owned the run is noticed by the launcher, which says so and settles the row.
    assert crashed.launcher_code == (1 if step == "started" else 0)
    state = crashed.settled()
    assert state.process_state is ProcessState.EXITED
    assert reason is None or state.reason == reason
    assert (state.semantic_state is SemanticState.FAILED) == (state.error is not None)
    assert crashed.prompts_received() == received
    for _ in range(10):
        assert not reconcile(store, crashed.view_id or "")
    assert crashed.state() == state


def test_death_behind_the_commit_point_is_delivered_or_may_have_been_received(store: StorePaths, project: Path) -> None:
    """The gate is open and the shim is gone: nobody sends it again; the transcript tells what became of it."""
    crashed = crash(store, project, shim="gate open")
    state = crashed.settled()
    if crashed.prompts_received():
        assert state.reason != "maybe-received"
    else:
        assert (state.semantic_state, state.reason) == (SemanticState.FAILED, "maybe-received")


def test_a_worker_that_outlives_its_shim_is_shown_and_never_doubled(store: StorePaths, project: Path) -> None:
    """Invariant 1: alive is not free; the row keeps its state and says that it runs on without its runner."""
    crashed = crash(store, project, shim="accepted", prompt="demo: wait 30; hang")
    view_id = crashed.view_id or ""
    wait_for(lambda: reconcile(store, view_id), what="the shim's death to be noticed")
    state = crashed.state()
    assert (state.process_state, state.reason) == (ProcessState.ALIVE, "orphan")
    assert state.summary == "runs on without its runner"
    assert not reconcile(store, view_id)
    status = plain.read_or_none(RunStatus, store.view(view_id).run(state.current_run_id or "").status)
    assert status is not None
    assert status.worker_identity is not None
    assert probe(status.worker_identity) is Liveness.ALIVE
    stop(store, view_id)
    state = crashed.settled()
    assert (state.semantic_state, state.reason) == (SemanticState.STOPPED, "stop")
    assert probe(status.worker_identity) is Liveness.GONE


def test_nobody_settles_a_row_whose_shim_lives(store: StorePaths, project: Path) -> None:
    """Invariant 4: board and command line may reconcile as often as they like."""
    done = dispatch(store, Order(b"demo: work 60", str(project), agent="demo"))
    crashed = Crashed(store, 0, done.view_id)
    wait_for(lambda: crashed.state().semantic_state is SemanticState.WORKING, what="it to work")
    for _ in range(20):
        assert not reconcile(store, done.view_id)
    owner = plain.read_or_none(ShimPid, store.view(done.view_id).run(done.run_id).pid)
    assert owner is not None
    assert probe(owner.identity) is Liveness.ALIVE
    stop(store, done.view_id)
    assert crashed.settled().semantic_state is SemanticState.STOPPED
