"""Delete: archive plus the removal of what the user was shown and confirmed (invariant 6)."""

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass

from agent_board.errors import BoardError
from agent_board.runs.life import not_running
from agent_board.store import plain
from agent_board.store.files import disk_errors, sync_dir
from agent_board.store.paths import StorePaths
from agent_board.store.records import Meta
from agent_board.store.views import list_in_roster, refuse_newer


@dataclass(frozen=True, slots=True)
class DeletePlan:
    """What goes and what stays when a view is deleted."""

    view_id: str
    name: str
    goes: tuple[str, ...]
    """Paths that are removed."""
    stays: tuple[str, ...] = ()
    """Paths that belong to the task and are left alone, because the board did not make them."""
    bytes: int = 0
    """Size of what goes."""


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
    return DeletePlan(view_id, meta.name if meta else view_id, tuple(goes), tuple(stays), sum(map(_size, goes)))


def delete(paths: StorePaths, view_id: str) -> DeletePlan:
    """Remove a view's data for good; returns what went. Raises BoardError on a living view.

    Never follows a symbolic link, never removes what the board did not make.
    """
    refuse_newer(paths)
    view = paths.view(view_id)
    with not_running(paths, view_id, "delete it"), disk_errors("delete the task"):
        plan = plan_delete(paths, view_id)
        leaving = f"{paths.views}/.deleted-{view_id}"
        with suppress(FileNotFoundError):
            shutil.rmtree(leaving)  # of a delete that was interrupted
        os.rename(view.dir, leaving)
        sync_dir(paths.views)
        list_in_roster(paths, view_id, None)
        for path in plan.goes[1:]:
            with suppress(FileNotFoundError):
                os.unlink(path)
        shutil.rmtree(leaving)
        return plan


def _size(path: str) -> int:
    if not os.path.isdir(path) or os.path.islink(path):
        return os.lstat(path).st_size
    return sum(
        os.lstat(os.path.join(folder, name)).st_size
        for folder, _, files in os.walk(path)
        for name in files
        if os.path.lexists(os.path.join(folder, name))
    )
