"""Invariants 1 and 3: no second worker while the first one lives or can't be told; unknown changes nothing."""

import dataclasses
import json
import os
from pathlib import Path

import pytest

from agent_board.errors import BoardError
from agent_board.runs.processes import Liveness, marked, probe
from agent_board.runs.reconcile import reconcile
from agent_board.runs.reply import reply
from agent_board.runs.stop import stop
from agent_board.store import locks, plain
from agent_board.store.files import now_ms
from agent_board.store.paths import StorePaths
from agent_board.store.records import VERSION, ProcessState, RunStatus, ShimPid
from tests.invariants.worlds import dead, kill, orphaned, shim_of, worker_of
from tests.runs.views import settled, start, state_of, status_of, working


@pytest.mark.parametrize("content", [b"", b"{", None])
def test_a_worker_whose_record_is_torn_is_found_by_its_marker(
    store: StorePaths, project: Path, content: bytes | None
) -> None:
    """Runner killed, status.json torn: the agent lives all the same, so the row says so and a reply waits."""
    task = orphaned(store, project)
    worker = worker_of(store, task)
    path = Path(store.view(task.view_id).run(task.run_id).status)
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    answer = reply(store, task.view_id, b"demo: say Me, too.")
    assert (answer.run_id, marked(task.run_id)) == (None, [worker])
    state = state_of(store, task.view_id)
    assert (state.process_state, state.reason) == (ProcessState.ALIVE, "orphan")
    stop(store, task.view_id)
    assert probe(worker) is Liveness.GONE
    settled(store, task.view_id)


def test_a_record_of_a_newer_version_is_not_free(store: StorePaths, project: Path) -> None:
    """What can't be understood may be a living worker."""
    task = start(store, project, "say Done.")
    settled(store, task.view_id)
    path = Path(store.view(task.view_id).run(task.run_id).status)
    newer = json.dumps({**json.loads(path.read_bytes()), "version": VERSION + 1}).encode()
    path.write_bytes(newer)
    answer = reply(store, task.view_id, b"demo: say Me, too.")
    assert answer.run_id is None
    assert path.read_bytes() == newer


def test_a_worker_holds_nothing_but_its_three_streams(store: StorePaths, project: Path) -> None:
    """No lock, no gate, no pipe of ours: an agent's leftovers must not hold a view or a checkout for ever."""
    task = start(store, project, "say Going.; hang")
    working(store, task.view_id)
    worker = worker_of(store, task)
    held = {name: os.readlink(f"/proc/{worker.pid}/fd/{name}") for name in os.listdir(f"/proc/{worker.pid}/fd")}
    assert not [where for where in held.values() if "/lock" in where], held
    assert set(held) == {"0", "1", "2"}, held
    stop(store, task.view_id)
    settled(store, task.view_id)


def elsewhere(store: StorePaths, view_id: str, run_id: str, *, shim: bool) -> None:
    """Let the record name a process of another machine."""
    run = store.view(view_id).run(run_id)
    status = status_of(store, view_id, run_id)
    assert status.worker_identity is not None
    there = dataclasses.replace(status.worker_identity, machine_id="another machine")
    if shim:
        plain.write(run.pid, ShimPid(VERSION, now_ms(), there))
    else:
        plain.write(run.status, dataclasses.replace(status, worker_identity=there))


@pytest.mark.parametrize("shim", [True, False])
def test_unknown_changes_nothing(store: StorePaths, project: Path, shim: bool) -> None:
    """Of the runner or of the worker: the row stays, a reply waits, and stop says why it can't."""
    task = dead(store, project)
    elsewhere(store, task.view_id, task.run_id, shim=shim)
    before = state_of(store, task.view_id)
    assert not reconcile(store, task.view_id)
    assert reply(store, task.view_id, b"demo: say Me, too.").run_id is None
    if shim:
        with pytest.raises(BoardError, match="another machine"):
            stop(store, task.view_id)
        assert not os.path.exists(store.view(task.view_id).run(task.run_id).stop)
    assert state_of(store, task.view_id) == before


def test_a_run_that_ended_elsewhere_has_ended(store: StorePaths, project: Path) -> None:
    """A container made anew, or another machine with the same home: the row can still be replied to."""
    task = start(store, project, "say Done.")
    settled(store, task.view_id)
    elsewhere(store, task.view_id, task.run_id, shim=False)
    elsewhere(store, task.view_id, task.run_id, shim=True)
    answer = reply(store, task.view_id, b"demo: say Done again.")
    assert answer.run_id is not None
    assert settled(store, task.view_id, run_id=answer.run_id).summary == "Done again."


def test_nobody_settles_a_view_that_somebody_holds(store: StorePaths, project: Path) -> None:
    """Invariant 4, one author at a time: runner and worker are gone, yet the lock says that somebody is at it."""
    task = dead(store, project)
    before = state_of(store, task.view_id)
    with locks.held(store.view(task.view_id).lock):
        assert not reconcile(store, task.view_id)
        assert state_of(store, task.view_id) == before
    assert reconcile(store, task.view_id)
    assert status_of(store, task.view_id, task.run_id).ended_at is not None


def test_killing_the_runner_alone_leaves_its_worker_recorded(store: StorePaths, project: Path) -> None:
    """The gate guarantees it: whatever runs is in a status.json, and marked as started before it is the agent."""
    task = start(store, project, "say Going.; hang")
    working(store, task.view_id)
    worker = worker_of(store, task)
    kill(shim_of(store, task))
    found = plain.read(RunStatus, store.view(task.view_id).run(task.run_id).status)
    assert isinstance(found, RunStatus)
    assert found.worker_identity == worker
    assert os.path.exists(store.view(task.view_id).run(task.run_id).started)
    kill(worker)
