"""Delete: archive plus the removal of what the user was shown and confirmed (invariant 6)."""

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass, replace

from agent_board.errors import BoardError
from agent_board.git.removal import RemovalPlan, Standing, plan_removal, remove
from agent_board.runs.life import not_running
from agent_board.store import plain
from agent_board.store.files import disk_errors, sync_dir
from agent_board.store.paths import StorePaths
from agent_board.store.records import Meta
from agent_board.store.views import list_in_roster, refuse_newer

_LEAVING = ".deleted-"
"""How the directory of a view is called while it is removed."""
_REMOVABLE = (Standing.THERE, Standing.UNFINISHED, Standing.MISSING)


@dataclass(frozen=True, slots=True)
class DeletePlan:
    """What goes and what stays when a view is deleted."""

    view_id: str
    name: str
    goes: tuple[str, ...]
    """Paths that are removed."""
    stays: tuple[str, ...] = ()
    """Paths that belong to the task and are left alone, because the board did not make them."""
    notes: tuple[str, ...] = ()
    """Sentences on what outlives the worktree."""
    bytes: int = 0
    """Size of what goes, without the worktree."""
    worktree: RemovalPlan | None = None
    """How its worktree would be removed; None when there is none that may be."""

    @property
    def loses(self) -> tuple[str, ...]:
        """What exists nowhere else and would be lost, in words; never without the user's explicit consent."""
        return tuple(loss.what for loss in self.worktree.lost) if self.worktree is not None else ()

    @property
    def obstacle(self) -> str | None:
        """Why the worktree can't be removed now, whatever the user agrees to."""
        return self.worktree.obstacle if self.worktree is not None else None


def plan_delete(paths: StorePaths, view_id: str) -> DeletePlan:
    """What deleting this view would remove. Reads only. Raises BoardError when there is no such view."""
    view = paths.view(view_id)
    if not os.path.isdir(view.dir):
        raise BoardError(f"There is no task {view_id} any more.")
    meta = plain.read_or_none(Meta, view.meta)
    transcript = meta.session_file if meta is not None else paths.session(view_id)
    goes = [view.dir]
    stays: list[str] = []
    if transcript and os.path.lexists(transcript):
        (goes if transcript == paths.session(view_id) else stays).append(transcript)
    size = sum(map(_size, goes))
    removal: RemovalPlan | None = None
    notes: tuple[str, ...] = ()
    if meta is not None and meta.worktree_path:
        removal, notes = _plan_worktree(meta.worktree_path, meta)
        goes += [meta.worktree_path] if removal is not None and removal.standing in _REMOVABLE else []
    return DeletePlan(
        view_id, meta.name if meta else view_id, tuple(goes), tuple(stays), notes=notes, bytes=size, worktree=removal
    )


def _plan_worktree(path: str, meta: Meta) -> tuple[RemovalPlan | None, tuple[str, ...]]:
    """How the worktree would go. One that git doesn't know, or that isn't ours, keeps no row from being deleted."""
    try:
        plan = plan_removal(path, repository=meta.repo_root)
    except BoardError as error:
        return None, (f"{path} stays: {error}",)
    if plan.standing is Standing.UNKNOWN or not plan.ours:
        return None, (plan.obstacle or path,) if os.path.lexists(path) else ()
    return plan, plan.stays


def delete(
    paths: StorePaths, view_id: str, *, shown: DeletePlan | None = None, discard_work: bool = False
) -> DeletePlan:
    """Remove a view's data for good; returns what went, with notes on its worktree. Raises BoardError on a living view.

    Refuses where work would be lost, unless `discard_work`; then worktree and branch go, if they still are as `shown`.
    Never follows a symbolic link, never removes what the board did not make.
    """
    refuse_newer(paths)
    view = paths.view(view_id)
    with not_running(paths, view_id, "delete it"), disk_errors("delete the task"):
        plan = plan_delete(paths, view_id)
        agreed = plan if shown is None else shown
        if plan.worktree is None or agreed.worktree is None:  # what was not shown stays
            plan = replace(plan, worktree=None, goes=tuple(path for path in plan.goes if path in agreed.goes))
        else:
            plan = replace(plan, notes=tuple(remove(agreed.worktree, discard_work)))
        _finish_interrupted(paths)
        os.rename(view.dir, f"{paths.views}/{_LEAVING}{view_id}")
        sync_dir(paths.views)
        _erase(paths, view_id)
        with suppress(BoardError):  # an id without a directory does no harm
            list_in_roster(paths, view_id, None)  # last: on a full disk there is room for it only now
        return plan


def _finish_interrupted(paths: StorePaths) -> None:
    """Remove what deletes that died in the middle have left."""
    for name in os.listdir(paths.views):
        if name.startswith(_LEAVING):
            with suppress(OSError):  # that one can't be removed keeps no other from going
                _erase(paths, name.removeprefix(_LEAVING))


def _erase(paths: StorePaths, view_id: str) -> None:
    """Remove a view that has left the store. Another delete may be at the same one: what is gone is nobody's error."""
    if not os.path.lexists(paths.view(view_id).dir):
        with suppress(FileNotFoundError):
            os.unlink(paths.session(view_id))
    leaving = f"{paths.views}/{_LEAVING}{view_id}"
    while os.path.lexists(leaving):
        with suppress(FileNotFoundError):
            shutil.rmtree(leaving)


def _size(path: str) -> int:
    if not os.path.isdir(path) or os.path.islink(path):
        return os.lstat(path).st_size
    return sum(
        os.lstat(os.path.join(folder, name)).st_size
        for folder, _, files in os.walk(path)
        for name in files
        if os.path.lexists(os.path.join(folder, name))
    )
