"""Removing a worktree: planned, shown, and done so that neither a change of mind nor a crash costs work (invariant 6).

The directory is first moved aside as a whole. What stands there then can't change by its path any more, so it is looked
at once more, and put back if something new has come. Only behind that point is anything deleted; the marker in git's
directory of the worktree says how far it has come, and goes last.
"""

import os
import stat
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum

from agent_board.errors import BoardError
from agent_board.git.admin import (
    OURS,
    Marker,
    Phase,
    admin_dirs,
    admin_of,
    advance,
    canonical,
    drop_admin,
    is_unfinished,
    is_worked_on,
    lock_for_removal,
    locked_reason,
    points_to,
    read_marker,
    unlock_admin,
    working_on,
    worktree_of,
)
from agent_board.git.call import GitError, git
from agent_board.git.create import discard_unfinished
from agent_board.git.erase import erase
from agent_board.git.listing import drop_empty_root
from agent_board.git.losses import Checkout, Found, Loss, LossKind, look, look_unfinished
from agent_board.git.merged import is_merged
from agent_board.git.processes import Inside, mounts_in, processes_in
from agent_board.git.repository import Kind, Place, identify
from agent_board.store.files import disk_errors, write_bytes

_SETTLE_S = 0.5


class Standing(StrEnum):
    """What there is to remove."""

    THERE = "there"
    UNFINISHED = "unfinished"
    """Its making was interrupted."""
    MISSING = "missing"
    """The directory is gone; git still knows it."""
    REPLACED = "replaced"
    """Something else is at its place, which is left alone."""
    UNKNOWN = "unknown"
    """git knows no worktree there: it was removed, or its repository was."""


class WorkAtRiskError(BoardError):
    """Removal would lose something, or has to wait; `plan` is how it stands now."""

    def __init__(self, sentence: str, plan: "RemovalPlan") -> None:
        super().__init__(sentence)
        self.plan = plan


@dataclass(frozen=True, slots=True)
class RemovalPlan:
    """What removing a worktree would do, found by reading only."""

    path: str
    standing: Standing
    common_dir: str | None = None
    admin: str | None = None
    """Git's own directory of the worktree."""
    main: str | None = None
    branch: str | None = None
    """The branch that was made with it; None when there was one before, or it is gone."""
    current_branch: str | None = None
    head: str | None = None
    base: str | None = None
    view: str | None = None
    ours: bool = False
    losses: tuple[Loss, ...] = ()
    """What would be lost, with the branch too."""
    processes: tuple[Inside, ...] = ()
    mounts: tuple[str, ...] = ()
    """Where something is mounted in it."""
    locked: str | None = None
    """The reason of the lock on it."""
    busy: bool = False
    stays: tuple[str, ...] = ()
    """Sentences on what outlives the worktree."""
    digest: str = ""
    """Tells whether anything has changed since."""

    @property
    def lost(self) -> tuple[Loss, ...]:
        """What would be lost though the branch stays."""
        return tuple(loss for loss in self.losses if loss.kind is not LossKind.BRANCH)

    @property
    def lost_with_branch(self) -> tuple[Loss, ...]:
        """What only the branch holds."""
        return tuple(loss for loss in self.losses if loss.kind is LossKind.BRANCH)

    @property
    def obstacle(self) -> str | None:
        """Why it can't be removed now, whatever anybody agrees to; None when it can."""
        if self.standing is Standing.UNKNOWN or self.admin is None:
            return f"git knows no worktree at {self.path}, so nothing there is touched."
        if not self.ours:
            return f"The worktree {self.path} was not made by agent-board; remove it with: git worktree remove"
        if self.busy:
            return f"The worktree {self.path} is being made or removed just now."
        if self.locked is not None and not self.locked.startswith((f"{OURS}being ",)):
            return f"The worktree {self.path} is locked ({self.locked.removeprefix(OURS) or 'no reason given'})."
        if self.processes:
            named = ", ".join(f"{process.name} (pid {process.pid})" for process in self.processes[:5])
            return f"Something still works in {self.path}: {named}; end it or let it leave the directory."
        if self.mounts:
            return f"Something is mounted at {self.mounts[0]}; unmount it first."
        return None

    def summary(self, *, with_branch: bool = False) -> str:
        """What would be lost, as one phrase; empty when nothing would."""
        return ", ".join(loss.what for loss in (self.losses if with_branch else self.lost))


def plan_removal(target: Place | str, *, repository: str | None = None) -> RemovalPlan:
    """What removing the worktree at `target` would lose, what would stay, and what is in the way.

    `repository` helps when the worktree's own directory can't lead there any more: its main checkout or git directory.
    Raises BoardError for a main checkout, and when git can't tell.
    """
    if isinstance(target, Place):
        if target.kind is not Kind.LINKED or target.top is None:
            raise BoardError(f"{target.path} is not a linked worktree; nothing of it is removed.")
        path, common_dir = canonical(target.top), target.common_dir
    else:
        path = canonical(target)
        common_dir = _repository_of(path, repository)
    admin = _find_admin(common_dir, path) if common_dir is not None else None
    if common_dir is None or admin is None:
        return RemovalPlan(path, Standing.UNKNOWN, common_dir)
    return plan_registered(common_dir, admin, path)


def _repository_of(path: str, repository: str | None) -> str | None:
    """The repository that the worktree belongs to, None when it is gone."""
    with suppress(OSError):
        if not os.path.islink(path) and os.path.isfile(f"{path}/.git"):
            with open(f"{path}/.git", "rb") as file:
                admin = os.fsdecode(file.read(8192)).rstrip("\n").removeprefix("gitdir: ")
            common_dir = os.path.dirname(os.path.dirname(os.path.join(path, admin)))
            if os.path.isdir(f"{common_dir}/worktrees"):
                return os.path.realpath(common_dir)
    for start in (repository, os.path.dirname(path)):
        if start:
            with suppress(BoardError):
                place = identify(_existing(start))
                if place.common_dir is not None:
                    return place.common_dir
    return None


def _existing(path: str) -> str:
    while not os.path.isdir(path) and os.path.dirname(path) != path:
        path = os.path.dirname(path)
    return path


def _find_admin(common_dir: str, path: str) -> str | None:
    admin = admin_of(common_dir, path)
    if admin is not None:
        return admin
    for each in admin_dirs(common_dir).values():  # git may have followed it to where it was moved aside
        marker = read_marker(each)
        if marker is not None and marker.aside is not None and canonical(marker.path) == path:
            return each
    return None


def plan_registered(common_dir: str, admin: str, path: str, top: str | None = None) -> RemovalPlan:
    """The plan for a registered worktree; `top` is where its files are while it is moved aside."""
    marker = read_marker(admin)
    standing = _standing(path, admin, marker) if top is None else Standing.THERE
    if standing is Standing.THERE or (standing is Standing.UNFINISHED and points_to(path, admin)):
        top = top or path
    head = git(common_dir, f"--git-dir={admin}", "rev-parse", "-q", "--verify", "HEAD", ok=(0, 1, 128)).text or None
    current = (
        git(common_dir, f"--git-dir={admin}", "symbolic-ref", "-q", "--short", "HEAD", ok=(0, 1, 128)).text or None
    )
    made = marker.branch if marker is not None and marker.made_branch else None
    if made is not None and not _has_branch(common_dir, made):
        made = None
    main = _main(common_dir)
    checkout = Checkout(top, admin, common_dir, main, current, head, made)
    found = _look(checkout, marker, standing)
    return RemovalPlan(
        path,
        standing,
        common_dir,
        admin,
        main,
        branch=made,
        current_branch=current,
        head=head,
        base=marker.base if marker else None,
        view=marker.view if marker else None,
        ours=marker is not None or is_unfinished(admin, marker),
        losses=tuple(found.losses),
        processes=tuple(_settled_processes(top)) if top is not None else (),
        mounts=tuple(mounts_in(top)) if top is not None else (),
        locked=locked_reason(admin),
        busy=is_worked_on(common_dir, path),
        stays=_stays(common_dir, path, standing, current or made),
        digest=found.digest,
    )


def _look(checkout: Checkout, marker: Marker | None, standing: Standing) -> Found:
    if standing is not Standing.UNFINISHED:
        return look(checkout)
    base = marker.base if marker is not None else checkout.head
    return look_unfinished(checkout, base) if base else Found()


def _standing(path: str, admin: str, marker: Marker | None) -> Standing:
    if is_unfinished(admin, marker):
        return Standing.UNFINISHED
    if points_to(path, admin):
        return Standing.THERE
    return Standing.REPLACED if os.path.lexists(path) else Standing.MISSING


def _main(common_dir: str) -> str | None:
    with suppress(BoardError):
        place = identify(os.path.dirname(common_dir) if common_dir.endswith("/.git") else common_dir)
        return place.main if place.common_dir == common_dir else None
    return None


def _has_branch(common_dir: str, branch: str) -> bool:
    return git(common_dir, "rev-parse", "-q", "--verify", f"refs/heads/{branch}", ok=(0, 1)).code == 0


def _settled_processes(top: str) -> list[Inside]:
    """Processes inside that stay: a git that somebody just asked something is gone in a moment."""
    deadline = time.monotonic() + _SETTLE_S
    while (found := processes_in(top)) and all(process.name == "git" for process in found):
        if time.monotonic() > deadline:
            break
        time.sleep(0.05)
    return found


def _stays(common_dir: str, path: str, standing: Standing, branch: str | None) -> tuple[str, ...]:
    said = []
    if branch is not None:
        said.append(f"The branch {branch} stays.")
        stashes = git(common_dir, "reflog", "show", "--format=%gs", "refs/stash", "--", ok=(0, 128)).lines
        count = sum(line.startswith((f"WIP on {branch}:", f"On {branch}:")) for line in stashes)
        if count:
            word = "stash" if count == 1 else "stashes"
            said.append(f"{count} {word} made on {branch} stay in the repository's list (git stash list).")
    if standing is Standing.REPLACED:
        said.append(f"What stands at {path} now is not the worktree and is left alone.")
    return tuple(said)


def remove(plan: RemovalPlan, discard_work: bool = False, *, drop_merged_branch: bool = False) -> list[str]:
    """Remove a worktree as planned; returns sentences on what went and what stays.

    Looks again first and raises WorkAtRiskError, with everything as it was, when something would be lost; with
    `discard_work`, when it has changed since the plan was shown, for then nobody agreed to it. The branch goes, if
    it was made with the worktree, with `discard_work`, and with `drop_merged_branch` if its work is elsewhere.
    Nothing that can't be found any more, or that stands in its place, is an error: it stays as it is.
    """
    if plan.common_dir is None or plan.admin is None or not os.path.isdir(plan.common_dir):
        return [f"git knows no worktree at {plan.path} any more; what may stand there was left alone."]
    with (
        disk_errors(f"remove the worktree {plan.path}"),
        working_on(plan.common_dir, plan.path),
    ):
        recover(plan.common_dir, plan.path)
        admin = _find_admin(plan.common_dir, plan.path)
        if admin is None:
            return [f"git knows no worktree at {plan.path} any more; what may stand there was left alone."]
        now = plan_registered(plan.common_dir, admin, plan.path)
        _refuse(now, plan, discard_work)
        gone_branch = _branch_to_drop(now, discard_work, drop_merged_branch)
        if now.standing is Standing.UNFINISHED:
            discard_unfinished(plan.common_dir, plan.path, now.branch, now.base)
            more = []
        else:
            more = _take_away(now, plan, discard_work, gone_branch)
        return [*_told(now, gone_branch), *more]


def _refuse(now: RemovalPlan, shown: RemovalPlan, discard_work: bool) -> None:
    obstacle = _obstacle_but_us(now)
    if obstacle is not None:
        raise WorkAtRiskError(obstacle, now)
    if not now.lost and not (discard_work and now.lost_with_branch):
        return
    if not discard_work:
        raise WorkAtRiskError(f"Removing {now.path} would lose {now.summary()}; nothing was removed.", now)
    if now.digest != shown.digest:
        raise WorkAtRiskError(f"{now.path} has changed since you were shown what goes; nothing was removed.", now)


def _obstacle_but_us(now: RemovalPlan) -> str | None:
    return replace(now, busy=False).obstacle  # we hold the lock that makes it look busy


def _branch_to_drop(now: RemovalPlan, discard_work: bool, drop_merged: bool) -> tuple[str, str] | None:
    """The branch that goes, and the commit that it must still be at then."""
    if now.branch is None or now.common_dir is None or _is_out_elsewhere(now):
        return None
    if not discard_work and (not drop_merged or (now.lost_with_branch and not is_merged(_place(now), now.branch))):
        return None
    return now.branch, git(now.common_dir, "rev-parse", f"refs/heads/{now.branch}").text


def _place(now: RemovalPlan) -> Place:
    assert now.common_dir is not None
    return Place(now.path, Kind.LINKED, None, now.main, now.common_dir, now.admin)


def _is_out_elsewhere(now: RemovalPlan) -> bool:
    """Whether another worktree, or the main checkout, has the branch checked out."""
    assert now.common_dir is not None
    own = worktree_of(now.admin) if now.admin else None
    for block in git(now.common_dir, "worktree", "list", "--porcelain", "-z").text.split("\0\0"):
        lines = block.strip("\0").split("\0")
        if lines[0] != f"worktree {own}" and f"branch refs/heads/{now.branch}" in lines:
            return True
    return False


def _take_away(now: RemovalPlan, shown: RemovalPlan, discard_work: bool, branch: tuple[str, str] | None) -> list[str]:
    """Step by step; returns what could not be deleted, in words."""
    assert now.admin is not None
    assert now.common_dir is not None
    marker = read_marker(now.admin)
    if marker is None:
        raise BoardError(f"The worktree {now.path} has lost the mark that agent-board made it; it is left alone.")
    lock_for_removal(now.admin)
    aside = None
    if now.standing is Standing.THERE:
        aside = _aside(now.path)
        marker = advance(now.admin, marker, Phase.REMOVING, aside)
        try:
            _move_aside(now, aside)
            _refuse(
                plan_registered(now.common_dir, now.admin, now.path, aside),
                now if discard_work else shown,
                discard_work,
            )
        except BaseException:
            put_back(now.admin, marker)
            raise
    advance(now.admin, marker, Phase.GONE, aside)
    return finish(now.common_dir, now.admin, aside, branch)


def _aside(path: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.going-{os.urandom(4).hex()}")


def _move_aside(now: RemovalPlan, aside: str) -> None:
    os.rename(now.path, aside)
    if not stat.S_ISDIR(os.lstat(aside).st_mode) or now.admin is None or not points_to(aside, now.admin):
        raise WorkAtRiskError(f"{now.path} was replaced by something else just now; nothing was removed.", now)


def finish(common_dir: str, admin: str, aside: str | None, branch: tuple[str, str] | None = None) -> list[str]:
    """Delete what was moved aside, the branch, and last git's knowledge of the worktree.

    Files of another user, as containers leave them, can't keep the rest from going; returns what is left, in words.
    """
    left = []
    if aside is not None:
        try:
            erase(aside)
        except OSError as error:
            left.append(f"Some of it could not be deleted ({error.strerror}: {error.filename}); it is left in {aside}.")
    if branch is not None:
        with suppress(GitError):  # it has moved on meanwhile: it stays
            git(common_dir, "update-ref", "-d", f"refs/heads/{branch[0]}", branch[1], reads=False)
            git(common_dir, "config", "--remove-section", f"branch.{branch[0]}", reads=False, ok=(0, 1, 128))
    path = worktree_of(admin)
    drop_admin(common_dir, admin)
    if path is not None:
        drop_empty_root(path)
    return left


def put_back(admin: str, marker: Marker) -> None:
    """Undo a removal that had only moved the directory aside. Raises BoardError when its place is taken."""
    if marker.aside is not None and os.path.lexists(marker.aside):
        if os.path.lexists(marker.path):
            raise BoardError(f"{marker.path} can't be put back from {marker.aside}, for something else is there now.")
        os.rename(marker.aside, marker.path)
    gitdir = os.fsencode(f"{marker.path}/.git\n")
    with suppress(FileNotFoundError), open(f"{admin}/gitdir", "rb") as file:
        if file.read() != gitdir and marker.aside is not None:
            write_bytes(f"{admin}/gitdir", gitdir)
    advance(admin, marker, Phase.READY)
    unlock_admin(admin)


def recover(common_dir: str, path: str) -> None:
    """Bring a removal that was interrupted to its end, or back to its beginning; the caller works on it alone."""
    admin = _find_admin(common_dir, path)
    marker = read_marker(admin) if admin is not None else None
    if admin is None or marker is None:
        return
    if marker.phase is Phase.GONE:
        finish(common_dir, admin, marker.aside)
    elif marker.phase is Phase.REMOVING:
        put_back(admin, marker)


def _told(now: RemovalPlan, branch: tuple[str, str] | None) -> list[str]:
    said = []
    if now.standing is Standing.THERE:
        said.append(f"Removed the worktree {now.path}.")
    elif now.standing is Standing.UNFINISHED:
        return [f"Removed what was left of making the worktree {now.path}."]
    else:
        said.append(f"The worktree {now.path} was gone already; git no longer lists it.")
    if branch is not None:
        said.append(f"Removed the branch {branch[0]} (it was at {branch[1]}).")
    said += [sentence for sentence in now.stays if branch is None or not sentence.startswith("The branch ")]
    return said
