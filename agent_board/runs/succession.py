"""The next run of a view that has had one: its request, its claim, its shim. The caller holds the view lock."""

import dataclasses
import os
from contextlib import suppress

from agent_board.agents.registry import agent as agent_named
from agent_board.errors import BoardError
from agent_board.runs.claim import claim, new_run_id, next_seq, queued_state
from agent_board.runs.followups import forget, item_of, listed
from agent_board.runs.launch import launch
from agent_board.runs.recorder import settle, with_evidence
from agent_board.runs.status import first_status
from agent_board.runs.worktree import LEAVE_WORKTREES
from agent_board.store import locks, plain
from agent_board.store.files import disk_errors, now_ms
from agent_board.store.paths import StorePaths, ViewPaths
from agent_board.store.records import Meta, RunRequest, State
from agent_board.text import preview

_PATIENCE_S = 5.0


def next_request(
    view: ViewPaths, last: RunRequest | None, meta: Meta, *, prompt_id: str, kind: str, text: str
) -> RunRequest:
    """What the next run is asked to do: as the last one where that says nothing else."""
    seq = next_seq(view)
    fresh = RunRequest(
        version=meta.version,
        run_id=new_run_id(seq),
        view_id=meta.id,
        prompt_id=prompt_id,
        seq=seq,
        created_at=now_ms(),
        agent=meta.agent,
        cwd=meta.worktree_path or meta.cwd,
        kind=kind,
        resume=True,
        session_file=meta.session_file,
        session_id=meta.session_id,
        model=meta.default_model,
        mode=meta.mode,
        read_only=meta.read_only,
        checkout=None if meta.read_only else meta.checkout,
        worktree=meta.worktree_path is not None,
        rules=[LEAVE_WORKTREES] if meta.repo_root and not meta.worktree_path and not meta.read_only else [],
        prompt_preview=preview(text),
        prompt_bytes=len(text.encode("utf-8", "surrogatepass")),
    )
    if last is None:
        return fresh
    return dataclasses.replace(
        fresh,
        cwd=last.cwd,
        mode=meta.mode or last.mode,
        checkout=last.checkout,
        worktree=last.worktree,
        rules=last.rules,
        setup=last.setup,
        wrap=last.wrap,
        args=last.args,
        stall_after_ms=last.stall_after_ms,
        notify=last.notify,
    )


def begin(
    paths: StorePaths,
    request: RunRequest,
    prompt: bytes,
    lock_fd: int,
    *,
    lease_fd: int | None = None,
    unless: str | None = None,
) -> None:
    """Claim the prompt, say queued, start the shim with the lock; returns once the shim owns the run.

    A follow-up is claimed only while it waits with just this text, and nothing is while the file `unless`, the stop
    of the run before, exists: whoever changes what waits, or stops, takes the store lock, too. Raises BoardError.
    Before the claim nothing has changed; behind it the run is settled as not sent and its prompt waits, held.
    """
    view = paths.view(request.view_id)
    with disk_errors("accept the prompt"), locks.held(paths.store_lock, patience=_PATIENCE_S):
        if request.kind == "followup" and item_of(view, request.prompt_id).text.encode() != prompt:
            raise BoardError(f"The prompt {request.prompt_id} was changed meanwhile; it was not sent.")
        if unless is not None and os.path.exists(unless):
            raise BoardError("The task was stopped; what waits is held.")
        claim(view, request, prompt)
    with suppress(OSError, BoardError):  # the run is claimed: what follows only says so, and its shim says it again
        forget(paths, view, request.prompt_id)
        state = queued_state(request, plain.read_or_none(State, view.state))
        state.held_prompts = len(listed(view))
        plain.write(view.state, state, sync=True)
    start_claimed(paths, request, lock_fd, lease_fd=lease_fd)


def start_claimed(paths: StorePaths, request: RunRequest, lock_fd: int, *, lease_fd: int | None = None) -> None:
    """Start the shim of a claimed run; when it can't be started the run says so. Raises BoardError."""
    try:
        launch(paths, request.view_id, request.run_id, lock_fd, lease_fd=lease_fd)
    except BoardError as error:
        run = paths.view(request.view_id).run(request.run_id)
        status = dataclasses.replace(first_status(request, agent_named(request.agent), run), ended_at=now_ms())
        settle(paths, run, with_evidence(status, started=False, exited=True, startup_error=str(error)))
        raise
