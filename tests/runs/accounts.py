"""What must be true of a store at any moment, and what became of each prompt: the invariants as one function."""

import time
from collections import Counter

from agent_board.errors import BusyError
from agent_board.runs.claim import run_ids
from agent_board.runs.followups import listed
from agent_board.runs.processes import Liveness, probe
from agent_board.runs.reconcile import reconcile
from agent_board.store import locks, plain
from agent_board.store.paths import StorePaths
from agent_board.store.records import ProcessState, RunStatus, ShimPid, State
from agent_board.store.views import view_ids
from tests.runs.views import received

_TRUE_WITHIN_S = 5.0


def lies(store: StorePaths, view_id: str) -> list[str]:
    """Each thing that a row says and that isn't so; reconciled first, as everything that reads rows does."""
    deadline = time.monotonic() + _TRUE_WITHIN_S
    while True:
        reconcile(store, view_id)
        state = plain.read(State, store.view(view_id).state)
        if not isinstance(state, State):
            return [f"{view_id}: state.json is {state}"]
        living = not state.semantic_state.settled or state.process_state is ProcessState.ALIVE
        ghost = living and not someone_lives(store, view_id)
        if not ghost or time.monotonic() > deadline:
            break
        time.sleep(0.01)  # it may have ended just now, or somebody else is about to write it down
    found = [f"says {state.semantic_state}, {state.process_state}, with nobody alive"] if ghost else []
    writers = living_workers(store, view_id)
    if len(writers) > 1:
        found.append(f"has the writers {writers} at once")
    if (state.semantic_state == "failed") != (state.error is not None) or state.error == "":
        found.append(f"{state.semantic_state} with the error {state.error!r}")
    if (state.semantic_state == "needs_input") != bool(state.question):
        found.append(f"{state.semantic_state} with the question {state.question!r}")
    if state.needs_input != (state.semantic_state == "needs_input") or state.has_error != (state.error is not None):
        found.append(f"{state.semantic_state} with needsInput {state.needs_input}, hasError {state.has_error}")
    return [f"{view_id} {state.current_run_id}: {what}" for what in found]


def living_workers(store: StorePaths, view_id: str) -> list[int]:
    """The workers of all its runs that live: never more than one (invariant 1)."""
    view = store.view(view_id)
    statuses = (plain.read_or_none(RunStatus, view.run(run_id).status) for run_id in run_ids(view))
    workers = (status.worker_identity for status in statuses if status is not None)
    return [worker.pid for worker in workers if worker is not None and probe(worker) is Liveness.ALIVE]


def someone_lives(store: StorePaths, view_id: str) -> bool:
    """Whether the last run's shim or worker is alive, or may be, or its launcher still holds the lock."""
    view = store.view(view_id)
    runs = run_ids(view)
    try:
        locks.release(locks.acquire(view.lock, patience=0))
    except BusyError:
        return True
    run = view.run(runs[-1])
    owner, status = plain.read_or_none(ShimPid, run.pid), plain.read_or_none(RunStatus, run.status)
    identities = [owner.identity if owner else None, status.worker_identity if status else None]
    return any(who is not None and probe(who) is not Liveness.GONE for who in identities)


def unaccounted(store: StorePaths, view_id: str, accepted: list[str]) -> list[str]:
    """Of a settled view: prompts that reached the agent more than once, or neither reached it nor wait visibly."""
    arrived = Counter(received(store, view_id))
    waiting = Counter(prompt.text for prompt in listed(store.view(view_id)))
    wrong = [f"{arrived[text]} times received: {text[:60]!r}" for text in arrived if arrived[text] > 1]
    wrong += [f"never sent by the user: {text[:60]!r}" for text in (arrived | waiting) - Counter(accepted)]
    for text in accepted:
        if arrived[text] + waiting[text] != 1:
            wrong.append(f"received {arrived[text]} and waiting {waiting[text]}: {text[:60]!r}")
    return [f"{view_id}: {what}" for what in dict.fromkeys(wrong)]


def all_lies(store: StorePaths) -> list[str]:
    """`lies` of every view."""
    return [lie for view_id in view_ids(store) for lie in lies(store, view_id)]
