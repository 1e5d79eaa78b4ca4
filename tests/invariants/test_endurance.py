"""Invariants 8 and 11 over a long day: nothing grows that belongs to no row."""

import os
from collections import Counter
from pathlib import Path

import psutil
import pytest

from agent_board.runs.delete import delete
from agent_board.runs.stop import stop
from agent_board.store import locks
from agent_board.store.paths import StorePaths
from agent_board.store.records import SemanticState
from agent_board.store.views import view_ids
from tests.runs.views import own_processes, settled, start, working
from tests.support.wait import wait_for


def standing(store: StorePaths) -> Counter[str]:
    """What this process holds, and the files that belong to the store and to no view."""
    me = psutil.Process()
    files = [name for folder in (store.root, store.locks, store.log, store.views) for name in os.listdir(folder)]
    return Counter(descriptors=me.num_fds(), children=len(me.children()), files=len(files))


@pytest.mark.full
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("cycles", [200])
def test_many_dispatches_and_stops_leave_nothing(
    store: StorePaths, project: Path, monkeypatch: pytest.MonkeyPatch, cycles: int
) -> None:
    """In one process, as a board lives: no descriptor, no child, no zombie, no process, no file."""
    monkeypatch.setenv("AGENT_BOARD_DEMO_SPEED", "100")
    before: Counter[str] | None = None
    for _ in range(cycles):
        task = start(store, project, "say Going.; spawn 61 setsid; hang")
        working(store, task.view_id)
        stop(store, task.view_id)
        assert settled(store, task.view_id).semantic_state is SemanticState.STOPPED
        wait_for(lambda run=task.run_id: not own_processes(run), what="the run's processes to be gone")  # type: ignore[misc]
        locks.release(locks.acquire(store.view(task.view_id).lock, patience=20))
        delete(store, task.view_id)
        before = before or standing(store)
    assert standing(store) == before
    assert view_ids(store) == []
