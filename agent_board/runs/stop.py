"""Stop: an intent on disk first, a signal second (invariant 8)."""

import signal
import time
from contextlib import suppress

from agent_board.agents.registry import agent as agent_named
from agent_board.errors import BoardError, BusyError
from agent_board.runs.claim import run_ids
from agent_board.runs.processes import Liveness, probe, signal_process
from agent_board.runs.reconcile import reconcile
from agent_board.runs.worker import Ending
from agent_board.store import locks, plain
from agent_board.store.files import disk_errors, now_ms, write_json
from agent_board.store.paths import RunPaths, StorePaths
from agent_board.store.records import VERSION, Identity, RunRequest, RunStatus, ShimPid, Stop, encode

_POLL_S = 0.02


def stop(paths: StorePaths, view_id: str) -> str:
    """Stop a view's run; returns a sentence on what happens.

    With a living shim it returns at once and the shim does the work, within 6 s. Without one the run's processes
    are ended from here, which takes as long. Raises BoardError when there is nothing to stop or it can't be done.
    """
    view = paths.view(view_id)
    runs = run_ids(view)
    if not runs:
        raise BoardError("Nothing runs here; there is nothing to stop.")
    run = view.run(runs[-1])
    status = plain.read_or_none(RunStatus, run.status)
    if status is not None and status.ended_at is not None:
        return _end_leftovers(status)
    owner = plain.read(ShimPid, run.pid)
    liveness = probe(owner.identity) if isinstance(owner, ShimPid) else Liveness.GONE
    if liveness is Liveness.UNKNOWN:
        raise BoardError("This task's runner is on another machine or in another container; stop it from there.")
    _write_intent(run)
    with suppress(BusyError, OSError), locks.held(paths.store_lock):
        pass  # whoever claims the next prompt has done so by now, or sees the intent
    if run_ids(view)[-1] != run.run_id:
        return stop(paths, view_id)
    if isinstance(owner, ShimPid) and liveness is Liveness.ALIVE:
        if (
            status is None or status.kind != "attach"
        ):  # its owner may be a board, which is not to end; it looks by itself
            signal_process(owner.identity, signal.SIGTERM)
        return "Stopping."
    if status is None or status.worker_identity is None:
        reconcile(paths, view_id)  # a launcher may still hold the lock; its shim will find the intent
        return "Stopping."
    _end_orphan(view.lock, run, status.worker_identity)
    reconcile(paths, view_id)
    return "Stopped."


def _write_intent(run: RunPaths) -> None:
    """Put stop.json on disk; the first intent stays."""
    if not isinstance(plain.read(Stop, run.stop), Stop):
        with disk_errors("write the stop"):
            write_json(run.stop, encode(Stop(VERSION, now_ms())), sync=True)


def _end_orphan(lock: str, run: RunPaths, worker: Identity) -> None:
    """End a worker that outlived its shim; the view lock is held so that nobody starts another meanwhile."""
    request = plain.read(RunRequest, run.request)
    if not isinstance(request, RunRequest):
        raise BoardError(f"{run.request} can't be read, so the agent's processes are not known.")
    first = agent_named(request.agent).first_signal
    with locks.held(lock, what="the task"):
        ending = Ending(run.run_id, worker, first, root=worker, now=time.monotonic())
        while not ending.done:
            time.sleep(min(_POLL_S, ending.step(time.monotonic())))


def _end_leftovers(status: RunStatus) -> str:
    """What a normally ended run left running is ended when the user says stop."""
    living = _alive(status.leftovers)
    if not living:
        raise BoardError("This task is not running; there is nothing to stop.")
    for number in (signal.SIGTERM, signal.SIGKILL):
        for identity in living:
            signal_process(identity, number)
        deadline = time.monotonic() + Ending.ASK_S
        while living and time.monotonic() < deadline:
            time.sleep(_POLL_S)
            living = _alive(living)
    if living:
        raise BoardError(f"Process {living[0].pid} does not end, not even by KILL.")
    return "Ended what the task had left running."


def _alive(identities: list[Identity]) -> list[Identity]:
    return [identity for identity in identities if probe(identity) is Liveness.ALIVE]
