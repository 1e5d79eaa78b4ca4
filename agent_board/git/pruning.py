"""Dropping what is stale among worktrees: lost directories' registrations, and what interrupted work left."""

import os
from contextlib import suppress

from agent_board.errors import BoardError
from agent_board.git.admin import (
    OURS,
    admin_dirs,
    canonical,
    is_unfinished,
    is_worked_on,
    locked_reason,
    points_to,
    read_marker,
    sweep_dropped,
    sweep_stillborn,
    unlock_admin,
    working_on,
)
from agent_board.git.create import discard_unfinished
from agent_board.git.listing import drop_empty_root, worktree_root
from agent_board.git.removal import Standing, finish, plan_registered, recover
from agent_board.git.repository import Place, home_of
from agent_board.store.files import disk_errors


def prune(place: Place) -> list[str]:
    """Drop what is stale: registrations whose directory is gone, and what interrupted work left; returns sentences.

    What something would be lost with is kept, and said.
    """
    home = home_of(place)
    said = []
    for known, admin in admin_dirs(home).items():
        marker = read_marker(admin)
        path = marker.path if marker is not None and marker.aside is not None else known
        if points_to(path, admin) and not is_unfinished(admin, marker) and (marker is None or marker.aside is None):
            _drop_old_lock(home, admin, path)
            continue
        said += _prune_one(home, admin, canonical(path))
    sweep_stillborn(home)
    sweep_dropped(home)
    _drop_empty(place)
    return said


def _drop_empty(place: Place) -> None:
    """Empty directories among the worktrees, as a git leaves them that was killed before it had made anything known."""
    home, root = home_of(place), worktree_root(place)
    known = {canonical(path) for path in admin_dirs(home)}
    with suppress(OSError):
        for name in [] if os.path.islink(root) else os.listdir(root):
            path = os.path.join(root, name)
            if canonical(path) not in known and not is_worked_on(home, path):
                with suppress(OSError):
                    os.rmdir(path)
        drop_empty_root(os.path.join(root, "any"))


def _drop_old_lock(home: str, admin: str, path: str) -> None:
    """Whoever made the worktree died between its last two steps."""
    if (locked_reason(admin) or "").startswith(f"{OURS}being ") and not is_worked_on(home, path):
        unlock_admin(admin)


def _prune_one(home: str, admin: str, path: str) -> list[str]:
    try:
        with disk_errors(f"prune {path}"), working_on(home, path, patience=0):
            recover(home, path)
            if not os.path.isdir(admin):
                return [f"Finished removing the worktree {path}."]
            plan = plan_registered(home, admin, path)
            if plan.standing is Standing.THERE:
                return [f"Put the worktree {path} back: its removal had been interrupted."]
            foreign = plan.locked is not None and not plan.locked.startswith(f"{OURS}being ")
            if foreign:
                return [f"Kept {path}: it is locked ({plan.locked})."]
            if plan.lost or plan.processes:
                why = plan.summary() or f"process {plan.processes[0].pid} works there"
                return [f"Kept {path}: {why} would be lost."]
            if plan.standing is Standing.UNFINISHED:
                discard_unfinished(home, path, plan.branch, plan.base)
                return [f"Removed what was left of making the worktree {path}."]
            finish(home, admin, None)
            return [f"git no longer lists the worktree {path}, whose directory is gone.", *plan.stays]
    except BoardError as error:
        return [str(error)]
