"""A view's own worktree around its runs: made before the first, locked against removal while one goes on."""

import os
from collections.abc import Callable
from contextlib import suppress

from agent_board.errors import BoardError
from agent_board.git.ensure import ensure
from agent_board.git.listing import is_ready, lock, unlock
from agent_board.git.repository import identify
from agent_board.store import plain
from agent_board.store.paths import ViewPaths
from agent_board.store.records import Meta, RunRequest

LEAVE_WORKTREES = (
    "Other agents work in worktrees below the .worktrees directory of this repository: "
    "never read, change, move or delete anything in there, and never run `git clean -ff` or `git worktree` commands."
)
"""What an agent is told that works in a user's own checkout."""


def prepare(
    view: ViewPaths,
    request: RunRequest,
    *,
    cancelled: Callable[[], bool] = lambda: False,
    progress: Callable[[str], None] = lambda _: None,
) -> list[str]:
    """Have the worktree ready, whatever has become of it, and lock it for the run; returns warnings.

    Raises BoardError with one sentence; of a worktree that could not be made nothing is left.
    """
    meta = plain.read(Meta, view.meta)
    if not isinstance(meta, Meta) or not meta.worktree_path or not meta.branch or not meta.base_ref:
        raise BoardError(f"{view.meta} does not say which worktree the task has.")
    warnings: list[str] = []
    if not is_ready(meta.worktree_path):
        warnings = ensure(
            identify(meta.cwd),
            path=meta.worktree_path,
            branch=meta.branch,
            base=meta.base_ref,
            cancelled=cancelled,
            progress=progress,
            setup=request.setup or None,
            view=meta.id,
        )
    if not lock(meta.worktree_path, f"agent-board run {request.run_id}"):
        warnings.append(f"{meta.worktree_path} is locked by somebody else and may be removed during the run.")
    warnings += _directory(meta.worktree_path, request.cwd)
    return warnings


def _directory(worktree: str, cwd: str) -> list[str]:
    """Have the agent's directory: one that holds nothing committed is in no new worktree. Returns warnings."""
    if os.path.lexists(cwd):
        return []
    above = os.path.dirname(cwd)
    while not os.path.lexists(above):
        above = os.path.dirname(above)
    root = os.path.realpath(worktree)
    if os.path.commonpath([root, os.path.realpath(above)]) != root:
        raise BoardError(f"{above} leads out of the worktree {worktree}; dispatch from another directory.")
    os.makedirs(cwd)
    return [f"{cwd} is empty: nothing in it is committed where the task was dispatched."]


def release(view: ViewPaths) -> None:
    """The run has ended: the worktree may be removed again. Never raises; what is gone needs no unlocking."""
    meta = plain.read_or_none(Meta, view.meta)
    if meta is not None and meta.worktree_path:
        with suppress(BoardError, OSError):
            unlock(meta.worktree_path, repository=meta.repo_root)
