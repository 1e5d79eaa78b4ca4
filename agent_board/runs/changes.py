"""What a task changed, and taking it over: for the board and the command line alike."""

from agent_board.errors import BoardError
from agent_board.git.changes import PATCH_BYTES, Changes, branch_changes, changes, is_behind
from agent_board.git.listing import stands
from agent_board.git.merge import Merged, MergePlan, merge, plan_merge
from agent_board.git.repository import identify
from agent_board.runs.lease import Lease
from agent_board.runs.life import not_running
from agent_board.store import locks, plain
from agent_board.store.paths import StorePaths
from agent_board.store.records import Meta

_PATIENCE_S = 1.0


def view_changes(paths: StorePaths, view_id: str, *, patch_bytes: int = PATCH_BYTES) -> Changes:
    """What differs between a view's base and where it works; of a lost worktree, what its branch holds.

    A view that works in place is compared with the commit that was checked out at its dispatch, or with today's once
    the user has gone to another branch. Raises BoardError where there is no git.
    """
    meta = _meta(paths, view_id)
    if meta.worktree_path is None:
        base = meta.base_ref if meta.base_ref and is_behind(meta.cwd, meta.base_ref) else None
        return changes(meta.cwd, base, patch_bytes=patch_bytes)
    if not stands(meta.worktree_path) and meta.branch and meta.base_ref and meta.repo_root:
        return branch_changes(meta.repo_root, meta.base_ref, meta.branch, patch_bytes=patch_bytes)
    return changes(meta.worktree_path, meta.base_ref, patch_bytes=patch_bytes)


def plan_view_merge(paths: StorePaths, view_id: str, message: str | None = None) -> MergePlan:
    """What merging a view's branch into the main checkout takes; reads only. Raises BoardError when it can't be."""
    meta = _meta(paths, view_id)
    if meta.worktree_path is None:
        raise BoardError(f"“{meta.name}” works in {meta.cwd} itself; its changes are there already.")
    there = stands(meta.worktree_path)
    place = identify(meta.worktree_path if there else meta.repo_root or meta.cwd)
    if place.main is None:
        raise BoardError(f"The repository of {meta.worktree_path} has no main checkout to merge into.")
    return plan_merge(meta.worktree_path, identify(place.main), title=message or meta.name, branch=meta.branch)


def merge_view(paths: StorePaths, view_id: str, plan: MergePlan, message: str | None = None) -> Merged:
    """Do what was planned and shown, while nothing runs in the view and nobody else writes in the target.

    Raises BoardError; the target is then as it was.
    """
    with not_running(paths, view_id, "merge it"):
        lease = Lease(paths, plan.target)
        lock = lease.try_take(view_id, "merge", patience=_PATIENCE_S)
        if lock is None:
            raise BoardError(f"{lease.held_by()} is at work; merge when that has ended.")
        try:
            return merge(plan, message)
        finally:
            locks.release(lock)


def _meta(paths: StorePaths, view_id: str) -> Meta:
    meta = plain.read(Meta, paths.view(view_id).meta)
    if not isinstance(meta, Meta):
        raise BoardError(f"{paths.view(view_id).meta} can't be read, so nobody knows where the task works.")
    return meta
