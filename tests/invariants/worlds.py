"""Runs in the states that the tests of the invariants begin with."""

import os
import signal
from contextlib import suppress
from pathlib import Path

from agent_board.runs.dispatch import Dispatched
from agent_board.runs.processes import Liveness, probe
from agent_board.store import plain
from agent_board.store.paths import StorePaths
from agent_board.store.records import Identity, RunRequest, ShimPid
from tests.runs.views import start, status_of, working
from tests.support.wait import wait_for


def shim_of(store: StorePaths, task: Dispatched) -> Identity:
    """The runner of a task's first run."""
    owner = plain.read(ShimPid, store.view(task.view_id).run(task.run_id).pid)
    assert isinstance(owner, ShimPid)
    return owner.identity


def worker_of(store: StorePaths, task: Dispatched) -> Identity:
    """The agent of a task's first run."""
    identity = status_of(store, task.view_id, task.run_id).worker_identity
    assert identity is not None
    return identity


def kill(*identities: Identity) -> None:
    """As `kill -9` does, and until they are gone."""
    for identity in identities:
        with suppress(ProcessLookupError):
            os.kill(identity.pid, signal.SIGKILL)
    wait_for(lambda: all(probe(identity) is Liveness.GONE for identity in identities), what="them to be gone")


def orphaned(store: StorePaths, project: Path) -> Dispatched:
    """A task whose runner was killed while its agent goes on."""
    task = start(store, project, "say Going.; hang")
    working(store, task.view_id)
    kill(shim_of(store, task))
    return task


def dead(store: StorePaths, project: Path) -> Dispatched:
    """A task whose runner and agent were killed; its row still says that it works."""
    task = start(store, project, "say Going.; hang")
    working(store, task.view_id)
    kill(shim_of(store, task), worker_of(store, task))
    return task


def request_of(store: StorePaths, view_id: str, run_id: str) -> RunRequest:
    """What a run was asked to do."""
    request = plain.read(RunRequest, store.view(view_id).run(run_id).request)
    assert isinstance(request, RunRequest)
    return request
