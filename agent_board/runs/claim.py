"""Claiming a prompt: from here on it belongs to exactly one run (DESIGN 5, step 2). Called under the view lock."""

import os
import shutil
from contextlib import suppress

from agent_board.runs.processes import Liveness, probe
from agent_board.store.files import (
    DIR_MODE,
    Unreadable,
    keep_unreadable,
    now_ms,
    read_json,
    sync_dir,
    write_bytes,
    write_json,
)
from agent_board.store.paths import RunPaths, ViewPaths
from agent_board.store.plain import read
from agent_board.store.records import (
    VERSION,
    ProcessState,
    RunRequest,
    RunStatus,
    SemanticState,
    ShimPid,
    State,
    encode,
)


def run_ids(view: ViewPaths) -> list[str]:
    """The runs of a view in their order: ids begin with the run's number, so no clock is asked."""
    with suppress(FileNotFoundError), os.scandir(view.runs) as entries:
        names = [entry.name for entry in entries if not entry.name.startswith(".")]
        return sorted(names, key=_number)
    return []


def _number(run_id: str) -> tuple[int, str]:
    head = run_id.partition("-")[0]
    return (int(head) if head.isdecimal() else 0, run_id)


def new_run_id(seq: int) -> str:
    """`0003-9f2c…`: the run's number within its view, then chance, unique over all views."""
    return f"{seq:04d}-{os.urandom(6).hex()}"


def next_seq(view: ViewPaths) -> int:
    """The number of the view's next run."""
    runs = run_ids(view)
    return _number(runs[-1])[0] + 1 if runs else 1


def claim(view: ViewPaths, request: RunRequest, prompt: bytes) -> RunPaths:
    """Make the run's directory, complete or absent, on disk when this returns.

    The caller holds the view lock and has found under it that the last run's worker is gone (`last_worker`).
    Raises OSError; then nothing is left.
    """
    building = f"{view.runs}/.{request.run_id}"
    os.mkdir(building, DIR_MODE)
    try:
        write_bytes(f"{building}/prompt", prompt, sync=True)
        write_json(f"{building}/request.json", encode(request), sync=True)
        os.mkdir(f"{building}/inbox", DIR_MODE)
        os.rename(building, f"{view.runs}/{request.run_id}")
    except OSError:
        shutil.rmtree(building, ignore_errors=True)
        raise
    sync_dir(view.runs)
    return view.run(request.run_id)


def queued_state(request: RunRequest, previous: State | None) -> State:
    """How a view stands once a prompt has been claimed for it."""
    now = now_ms()
    return State(
        version=VERSION,
        view_id=request.view_id,
        semantic_state=SemanticState.QUEUED,
        process_state=ProcessState.EXITED,
        updated_at=now,
        state_since=now,
        current_run_id=request.run_id,
        summary="Queued",
        last_activity_at=now,
        reason="claimed",
        queue_reason="starting",
        prompt_preview=request.prompt_preview,
        change_seq=previous.change_seq if previous else 0,
        held_prompts=previous.held_prompts if previous else 0,
        latest_assistant_preview=previous.latest_assistant_preview if previous else None,
    )


def last_worker(view: ViewPaths) -> Liveness:
    """Whether the worker recorded in the view's last run lives. Alive or unknown is not free (invariant 1).

    Of a run whose end is written it is gone, wherever that was: the end is written by who has found out.
    """
    for run_id in reversed(run_ids(view)):
        run = view.run(run_id)
        status, owner = read(RunStatus, run.status), read(ShimPid, run.pid)
        if isinstance(status, Unreadable):
            return Liveness.UNKNOWN
        if isinstance(status, RunStatus) and status.ended_at is not None:
            return Liveness.GONE
        if isinstance(owner, ShimPid) and probe(owner.identity) is Liveness.UNKNOWN:
            return Liveness.UNKNOWN
        if isinstance(status, RunStatus) and status.worker_identity is not None:
            return probe(status.worker_identity)
    return Liveness.GONE


def set_aside_unreadable(path: str) -> None:
    """Before its author writes a file anew: bytes that can't be understood are kept beside, never overwritten."""
    if isinstance(read_json(path), Unreadable):
        keep_unreadable(path)
