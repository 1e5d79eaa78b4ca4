"""Small questions that the tests of runs/ ask of a store."""

import json
import os
from pathlib import Path

from agent_board.runs.dispatch import Dispatched, Order, dispatch
from agent_board.runs.processes import MARKER
from agent_board.runs.reconcile import reconcile
from agent_board.store import plain
from agent_board.store.paths import StorePaths
from agent_board.store.records import RunStatus, SemanticState, State
from tests.support.wait import wait_for


def start(store: StorePaths, cwd: Path, script: str) -> Dispatched:
    """Dispatch a demo agent that plays this script."""
    return dispatch(store, Order(f"work\ndemo: {script}".encode(), str(cwd), agent="demo"))


def state_of(store: StorePaths, view_id: str) -> State:
    """The view's state, which must be readable."""
    state = plain.read(State, store.view(view_id).state)
    assert isinstance(state, State)
    return state


def status_of(store: StorePaths, view_id: str, run_id: str) -> RunStatus:
    """The run's status, which must be readable."""
    status = plain.read(RunStatus, store.view(view_id).run(run_id).status)
    assert isinstance(status, RunStatus)
    return status


def working(store: StorePaths, view_id: str) -> State:
    """Wait until the view works."""
    wait_for(lambda: state_of(store, view_id).semantic_state is SemanticState.WORKING, what="it to work")
    return state_of(store, view_id)


def settled(store: StorePaths, view_id: str, timeout: float = 20, run_id: str | None = None) -> State:
    """Wait until the view has settled, reconciling like a board; with `run_id`, on that run."""

    def look() -> State | None:
        reconcile(store, view_id)
        state = state_of(store, view_id)
        right = run_id is None or state.current_run_id == run_id
        return state if right and state.semantic_state.settled else None

    return wait_for(look, timeout, "the view to settle")


def received(store: StorePaths, view_id: str) -> list[str]:
    """The prompts that reached the agent, in order: its transcript's user entries."""
    path = store.session(view_id)
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", newline="\n") as file:
        entries = [json.loads(line) for line in file]
    return [entry["text"] for entry in entries if entry.get("type") == "prompt"]


def own_processes(run_id: str) -> list[int]:
    """Living processes marked as the run's."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            environ = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"{MARKER}={run_id}".encode() in environ:
            found.append(int(pid))
    return found
