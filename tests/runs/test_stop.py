"""Stop means stopped, on all that is provably the run's own and on nothing else (invariant 8; FIELD-FAULTS 10, 30)."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_board.errors import BoardError
from agent_board.runs.dispatch import Dispatched, Order, dispatch
from agent_board.runs.processes import MARKER
from agent_board.runs.reconcile import reconcile
from agent_board.runs.stop import stop
from agent_board.store import plain
from agent_board.store.paths import StorePaths
from agent_board.store.records import ProcessState, RunStatus, SemanticState, ShimPid, State
from tests.support.wait import wait_for

AT_MOST_S = 6.0


def start(store: StorePaths, cwd: Path, script: str) -> Dispatched:
    return dispatch(store, Order(f"work\ndemo: {script}".encode(), str(cwd), agent="demo"))


def state_of(store: StorePaths, done: Dispatched) -> State:
    state = plain.read(State, store.view(done.view_id).state)
    assert isinstance(state, State)
    return state


def status_of(store: StorePaths, done: Dispatched) -> RunStatus:
    status = plain.read(RunStatus, store.view(done.view_id).run(done.run_id).status)
    assert isinstance(status, RunStatus)
    return status


def working(store: StorePaths, done: Dispatched) -> RunStatus:
    wait_for(lambda: state_of(store, done).semantic_state is SemanticState.WORKING, what="it to work")
    return status_of(store, done)


def settled(store: StorePaths, done: Dispatched, timeout: float = 15) -> State:
    wait_for(lambda: state_of(store, done).semantic_state.settled, timeout, "it to settle")
    return state_of(store, done)


def own_processes(done: Dispatched) -> list[int]:
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            environ = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"{MARKER}={done.run_id}".encode() in environ:
            found.append(int(pid))
    return found


@pytest.fixture
def decoy() -> Iterator[subprocess.Popen[bytes]]:
    """The user's own process with the same command line as a child of the run."""
    process = subprocess.Popen(["sleep", "61"])
    yield process
    process.kill()
    process.wait()


@pytest.mark.parametrize(
    "script",
    [
        "work 60",
        "stubborn; say Starting.; work 60",
        "say Starting.; spawn 61; spawn 61 setsid; work 60",
        "say Starting.; run sh -c 'setsid sh -c \"sleep 61 & sleep 61\" & sleep 61'",
    ],
    ids=["plain", "ignores TERM", "children of all kinds", "double fork"],
)
def test_stop_ends_all_of_the_run_and_nothing_else(
    store: StorePaths, project: Path, decoy: subprocess.Popen[bytes], script: str
) -> None:
    done = start(store, project, script)
    working(store, done)
    begun = time.monotonic()
    stop(store, done.view_id)
    state = settled(store, done, AT_MOST_S)
    assert time.monotonic() - begun <= AT_MOST_S
    assert (state.semantic_state, state.reason, state.error) == (SemanticState.STOPPED, "stop", None)
    assert state.process_state is ProcessState.EXITED
    wait_for(lambda: not own_processes(done), what="the run's processes to be gone")
    assert decoy.poll() is None
    for _ in range(10):
        assert not reconcile(store, done.view_id)
    assert state_of(store, done) == state
    assert own_processes(done) == []


def test_a_stop_that_is_only_on_disk_is_carried_out(store: StorePaths, project: Path) -> None:
    """The stopper died between the intent and the signal."""
    done = start(store, project, "work 60")
    working(store, done)
    run = store.view(done.view_id).run(done.run_id)
    Path(run.stop).write_text('{"version": 1, "at": 1, "by": "user"}')
    assert settled(store, done).semantic_state is SemanticState.STOPPED


def test_a_run_that_reported_before_the_stop_is_what_it_reported(store: StorePaths, project: Path) -> None:
    """DESIGN 5: stopped only if no valid report or settled event came before."""
    done = start(store, project, "say Working.; report completed All is done.; settle; hang")
    working(store, done)
    wait_for(lambda: status_of(store, done).evidence.settled, what="the report")
    stop(store, done.view_id)
    state = settled(store, done)
    assert (state.semantic_state, state.reason) == (SemanticState.COMPLETED, "report")


def test_a_shim_ended_from_outside_ends_its_worker_and_says_so(store: StorePaths, project: Path) -> None:
    done = start(store, project, "work 60")
    working(store, done)
    owner = plain.read(ShimPid, store.view(done.view_id).run(done.run_id).pid)
    assert isinstance(owner, ShimPid)
    os.kill(owner.identity.pid, signal.SIGTERM)
    state = settled(store, done)
    assert state.semantic_state is SemanticState.FAILED
    assert state.error == "ended from outside (shutdown or logout?)"
    wait_for(lambda: not own_processes(done), what="the run's processes to be gone")


def test_a_hangup_is_ignored(store: StorePaths, project: Path) -> None:
    """Closing the terminal or losing the SSH line changes nothing."""
    done = start(store, project, "work 1; say Done with it.")
    working(store, done)
    owner = plain.read(ShimPid, store.view(done.view_id).run(done.run_id).pid)
    assert isinstance(owner, ShimPid)
    os.kill(owner.identity.pid, signal.SIGHUP)
    assert settled(store, done).semantic_state is SemanticState.COMPLETED


def test_a_worker_killed_by_somebody_fails_with_the_signal(store: StorePaths, project: Path) -> None:
    done = start(store, project, "work 60")
    status = working(store, done)
    os.kill(status.pid or 0, signal.SIGKILL)
    state = settled(store, done)
    assert (state.semantic_state, state.reason) == (SemanticState.FAILED, "signal")
    assert "KILL" in (state.error or "")
    assert status_of(store, done).exit_code == -9


def test_what_a_normal_end_leaves_running_is_named_and_ended_by_stop(store: StorePaths, project: Path) -> None:
    """FIELD-FAULTS 32: a dev server survives the end of its run, and the user can still end it."""
    done = start(store, project, "spawn 61 setsid; say The server is up.")
    state = settled(store, done)
    assert state.semantic_state is SemanticState.COMPLETED
    [leftover] = status_of(store, done).leftovers
    assert leftover.pid in own_processes(done)
    assert stop(store, done.view_id) == "Ended what the task had left running."
    wait_for(lambda: not own_processes(done), what="the leftover to be gone")
    assert state_of(store, done) == state
    with pytest.raises(BoardError, match="not running"):
        stop(store, done.view_id)


def test_work_that_a_run_dispatched_is_not_its_own(store: StorePaths, project: Path) -> None:
    """FIELD-FAULTS 7: stopping the outer run leaves the inner one, and its shim, alone."""
    (project / "inner.sh").write_text(
        f"{sys.executable} -m agent_board dispatch --agent demo --read-only --json"
        " 'demo: say Inner.; work 60' > inner.json\n"
    )
    done = start(store, project, "say Going.; run sh inner.sh; work 60")
    told = project / "inner.json"
    names = json.loads(wait_for(lambda: told.read_text().strip() if told.exists() else None, what="the inner dispatch"))
    inner = Dispatched(names["viewId"], names["runId"], "")
    working(store, inner)
    stop(store, done.view_id)
    assert settled(store, done).semantic_state is SemanticState.STOPPED
    assert state_of(store, inner).semantic_state is SemanticState.WORKING
    assert own_processes(inner)
    stop(store, inner.view_id)
    assert settled(store, inner).semantic_state is SemanticState.STOPPED


def test_a_living_starter_has_no_zombies(store: StorePaths, project: Path) -> None:
    """AB-019: the board may live for weeks."""
    for _ in range(3):
        settled(store, start(store, project, "say Done."))
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
