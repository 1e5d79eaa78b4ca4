"""What an attach does to a view's state: a mark while it lasts; afterwards what the transcript says, if it grew."""

import dataclasses
from contextlib import suppress

from agent_board.agents.events import Event
from agent_board.agents.registry import agent as agent_named
from agent_board.errors import BoardError
from agent_board.runs import worktree
from agent_board.runs.followups import hold_behind
from agent_board.runs.recorder import settle, with_evidence
from agent_board.runs.status import job_of
from agent_board.states.observe import replay
from agent_board.store import plain
from agent_board.store.files import now_ms
from agent_board.store.paths import RunPaths, StorePaths
from agent_board.store.records import VERSION, ProcessState, RunRequest, RunStatus, SemanticState, State


def attached_state(request: RunRequest, before: State | None) -> State:
    """The view while somebody is in it: what it meant before, with the mark, and alive."""
    now = now_ms()
    known = before or State(VERSION, request.view_id, SemanticState.IDLE, ProcessState.ALIVE, now, now)
    return dataclasses.replace(known, attached=True, process_state=ProcessState.ALIVE, updated_at=now)


def settle_attach(
    paths: StorePaths, run: RunPaths, request: RunRequest, status: RunStatus, exit_code: int | None
) -> bool:
    """The end of an attach; True when the session grew. The caller holds the view lock.

    A session that was only looked at leaves state and verdict as they were.
    """
    if request.worktree:
        worktree.release(paths.view(request.view_id))
    events = _said_since(request, status)
    ended = dataclasses.replace(
        status, ended_at=now_ms(), exit_code=exit_code, process_state=ProcessState.EXITED, current_tool=None
    )
    if events:
        ended = replay(with_evidence(ended, exited=True, orphan=False), events, now_ms())
        # Left in the middle is not broken: the user was there and knows.
        open_ended = ended.evidence.last_stop != "stop"
        settle(paths, run, with_evidence(ended, exited=True, exit_code=0, open_ended=open_ended))
        return True
    settled = with_evidence(ended, exited=True, exit_code=exit_code, open_ended=True)
    plain.write(run.status, dataclasses.replace(settled, semantic_state=SemanticState.IDLE, reason="idle"), sync=True)
    view = paths.view(request.view_id)
    state = plain.read_or_none(State, view.state)
    if state is not None:
        held = hold_behind(paths, run, settled, goes_on=False)
        left = dataclasses.replace(
            state, attached=False, process_state=ProcessState.EXITED, updated_at=now_ms(), held_prompts=held
        )
        plain.write(view.state, left, sync=True)
    return False


def _said_since(request: RunRequest, status: RunStatus) -> list[Event]:
    if status.transcript_mark is None:
        return []
    with suppress(OSError, BoardError):
        return agent_named(request.agent).transcript_events(job_of(request), status.transcript_mark)
    return []
