"""Making rows true again after a shim died (DESIGN 5): probe first, lock only then, settle from files."""

from __future__ import annotations

import dataclasses
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from agent_board.agents.registry import agent as agent_named
from agent_board.errors import BoardError
from agent_board.runs import worktree
from agent_board.runs.attached import settle_attach
from agent_board.runs.claim import last_worker, run_ids
from agent_board.runs.followups import listed
from agent_board.runs.processes import Liveness, identify, marked, probe
from agent_board.runs.recorder import settle, with_evidence
from agent_board.runs.sessions import keep_session, unnamed_session
from agent_board.runs.status import first_status, job_of
from agent_board.states.observe import replay
from agent_board.store import locks, plain
from agent_board.store.files import Missing, Unreadable, now_ms
from agent_board.store.paths import RunPaths, StorePaths, ViewPaths
from agent_board.store.records import (
    VERSION,
    ProcessState,
    RunRequest,
    RunStatus,
    ShimPid,
    State,
    Stop,
)

if TYPE_CHECKING:  # pydantic is for readers; settling needs none
    from collections.abc import Iterable

    from agent_board.store.load import ViewRecord

# Long enough to get past somebody's bare probe, short enough for a row that is simply owned.
_PATIENCE_S = 0.05


def claims_a_process(state: State | Missing | Unreadable) -> bool:
    """Whether a row says that something runs or will run, or says nothing yet."""
    if isinstance(state, State):
        return state.process_state is ProcessState.ALIVE or not state.semantic_state.settled
    return isinstance(state, Missing)


def needs_a_look(state: State | Missing | Unreadable) -> bool:
    """Whether reconciling could find something to make true."""
    return claims_a_process(state) or (isinstance(state, State) and state.held_prompts > 0)


def reconcile_claims(paths: StorePaths, records: Iterable[ViewRecord]) -> list[str]:
    """Reconcile the rows that claim a live process; returns the ids of those that were written anew."""
    return [record.id for record in records if needs_a_look(record.state) and reconcile(paths, record.id)]


def reconcile(paths: StorePaths, view_id: str) -> bool:
    """Settle a view whose shim and worker are gone; True when something was written.

    Nothing happens while the shim lives or can't be told, or while anybody holds the view lock. A disk that
    refuses changes nothing either: the next time will do.
    """
    view = paths.view(view_id)
    runs = run_ids(view)
    if not runs or not _shim_gone(view.run(runs[-1])):
        return False
    if _at_rest(view, runs[-1]):
        return False
    try:
        with locks.held(view.lock, patience=_PATIENCE_S, what="the task"):
            return settle_under_lock(paths, view)
    except (BoardError, OSError):
        return False


def _at_rest(view: ViewPaths, run_id: str) -> bool:
    """The view says all that its last run says, and nothing waits that nobody will deliver."""
    state, status = plain.read(State, view.state), plain.read(RunStatus, view.run(run_id).status)
    if not isinstance(state, State) or not isinstance(status, RunStatus) or claims_a_process(state):
        return False
    return status.ended_at is not None and all(prompt.state != "waiting" for prompt in listed(view))


def _shim_gone(run: RunPaths) -> bool:
    """No shim, or one that is provably gone."""
    owner = plain.read(ShimPid, run.pid)
    if isinstance(owner, Unreadable):
        return True  # nobody to ask; the lock decides
    return isinstance(owner, Missing) or probe(owner.identity) is Liveness.GONE


def settle_and_free(paths: StorePaths, view: ViewPaths, *, delivering: bool = False) -> bool:
    """Settle the last run if it has ended, and tell whether another one may begin (alive and unknown are not free).

    The caller holds the view lock. Liveness is asked first: a worker that ends meanwhile must not be passed over
    unsettled. Raises OSError and BoardError.
    """
    gone = last_worker(view) is Liveness.GONE
    settle_under_lock(paths, view, delivering=delivering)
    runs = run_ids(view)
    status = plain.read_or_none(RunStatus, view.run(runs[-1]).status) if runs else None
    return gone and (not runs or (status is not None and status.ended_at is not None))


def settle_under_lock(paths: StorePaths, view: ViewPaths, *, delivering: bool = False) -> bool:
    """Make the row true; the caller holds the view lock. True when something was written.

    With `delivering` the caller is about to send what waits, so a waiting prompt is nobody's fault.
    """
    runs = run_ids(view)
    if not runs:
        return False
    run = view.run(runs[-1])
    found = plain.read(RunStatus, run.status)
    if not _shim_gone(run) or (isinstance(found, Unreadable) and found.newer):
        return False
    request = plain.read_or_none(RunRequest, run.request)
    status = found if isinstance(found, RunStatus) else _blank_status(view, run, request)
    if status.ended_at is not None:
        return not delivering and _state_caught_up(paths, view, run, status)
    worker = status.worker_identity
    liveness = probe(worker) if worker is not None else Liveness.GONE
    if liveness is Liveness.UNKNOWN:
        return False
    if request is not None and request.kind == "attach":
        if liveness is Liveness.ALIVE:
            return False  # the mark says what there is to say
        settle_attach(paths, run, request, status, None)
        return True
    if liveness is Liveness.ALIVE:
        return _mark_orphan(paths, run, status)
    if request is None or request.worktree:
        worktree.release(view)
    settled = settled_from_files(run, request, status)
    if request is not None:
        keep_session(paths, request, settled.session_id)
    settle(paths, run, settled)
    return True


def _blank_status(view: ViewPaths, run: RunPaths, request: RunRequest | None) -> RunStatus:
    """What is known of a run whose status.json is missing or torn: its worker may live, but not unrecorded again."""
    if request is not None:
        status = first_status(request, agent_named(request.agent), run)
    else:
        status = RunStatus(version=VERSION, run_id=run.run_id, view_id=view.view_id, started_at=now_ms())
    living = marked(run.run_id) if os.path.exists(run.started) else []
    if living:
        status.worker_identity, status.pid = living[0], living[0].pid
        status.process_state = ProcessState.ALIVE
    return status


def _state_caught_up(paths: StorePaths, view: ViewPaths, run: RunPaths, status: RunStatus) -> bool:
    """The run ended and said so, but its shim died before the view did, or before the next prompt was sent."""
    if isinstance(plain.read(State, view.state), Unreadable) or _at_rest(view, run.run_id):
        return False
    settle(paths, run, status)
    return True


def _mark_orphan(paths: StorePaths, run: RunPaths, status: RunStatus) -> bool:
    """The worker runs on without its runner: say so, once."""
    if status.evidence.orphan:
        return False
    settle(paths, run, with_evidence(status, orphan=True))
    return True


def settled_from_files(run: RunPaths, request: RunRequest | None, status: RunStatus) -> RunStatus:
    """The end of a run that nobody watched: from `started`, stop.json and what the transcript holds behind the mark."""
    started = os.path.exists(run.started) or _gate_may_have_opened(run, status)
    ended = dataclasses.replace(status, ended_at=now_ms(), process_state=ProcessState.EXITED, current_tool=None)
    events = []
    if started and request is not None and status.transcript_mark is not None:
        session_id = status.session_id or unnamed_session(request)
        ended = dataclasses.replace(ended, session_id=session_id)
        with suppress(OSError, BoardError):
            job = job_of(request, session_id)
            events = agent_named(request.agent).transcript_events(job, status.transcript_mark)
    if events:  # else nothing more is known than what the stream brought
        ended = replay(ended, events, status.last_activity_at or status.started_at)
    evidence = ended.evidence
    stop = plain.read(Stop, run.stop)
    return with_evidence(
        ended,
        started=started,
        exited=True,
        orphan=True,
        stop_requested=not isinstance(stop, Missing) and evidence.report is None and not evidence.settled,
    )


def _gate_may_have_opened(run: RunPaths, status: RunStatus) -> bool:
    """After a power cut `started`, which the gate's shell can't sync, may be lost though the agent had begun."""
    worker, me = status.worker_identity, identify(os.getpid())
    return worker is not None and me is not None and worker.boot_id != me.boot_id
