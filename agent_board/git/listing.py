"""Which worktrees a repository has, where new ones go, and the locks that keep git's own hands off them."""

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

from agent_board.errors import BoardError
from agent_board.git.admin import (
    Phase,
    admin_dirs,
    admin_of,
    canonical,
    is_unfinished,
    is_worked_on,
    lock_admin,
    locked_reason,
    points_to,
    read_marker,
    unlock_admin,
    worktree_of,
)
from agent_board.git.call import git
from agent_board.git.repository import Kind, Place, home_of, identify

ROOT = ".worktrees"
_UNDER_WAY = ("rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START")
"""Files in which git keeps the branch that it will put back."""
_OWN_ROOT = re.compile(r".+-[0-9a-f]{6}", re.DOTALL)


class Condition(StrEnum):
    """How a registered worktree stands on disk."""

    OK = "ok"
    MISSING = "missing"
    """Its directory is gone."""
    REPLACED = "replaced"
    """Something else is at its place: a file, a link, another directory."""
    INTERRUPTED = "interrupted"
    """It was being made or removed, and whoever did that is gone."""
    BUSY = "busy"
    """It is being made or removed right now."""


@dataclass(frozen=True, slots=True)
class Worktree:
    """One worktree as git lists it, and what the board knows of it."""

    path: str
    kind: Kind
    """main, linked or bare."""
    head: str | None
    branch: str | None
    condition: Condition = Condition.OK
    ours: bool = False
    view: str | None = None
    base: str | None = None
    locked: str | None = None
    """The reason of git's lock; empty when none was given."""
    admin: str | None = None


def worktree_root(place: Place, configured: str | None = None) -> str:
    """The directory that holds a repository's new worktrees.

    `<main>/.worktrees`; for a bare repository beside its git directory. A configured root gets a directory for each
    repository, since two may have branches of one name; a relative one counts from the main checkout.
    """
    home = home_of(place)
    main = place.main or os.path.dirname(home)
    if not configured:
        return os.path.join(main, ROOT)
    configured = os.path.expanduser(configured)
    if not os.path.isabs(configured):
        return os.path.normpath(os.path.join(main, configured))
    name = os.path.basename(place.main or home.removesuffix("/.git").removesuffix(".git")) or "repository"
    return os.path.join(os.path.realpath(configured), f"{name}-{_short_hash(home)}")


def _short_hash(text: str) -> str:
    import hashlib  # the runner, which loads this, has no use for it

    return hashlib.sha256(os.fsencode(text)).hexdigest()[:6]


def drop_empty_root(path: str) -> None:
    """Remove the directory that held the worktree at `path` if it was the last, and if we gave it its name."""
    root = os.path.dirname(path)
    name = os.path.basename(root)
    if name == ROOT or _OWN_ROOT.fullmatch(name):
        with suppress(OSError):
            os.rmdir(root)


def list_worktrees(place: Place) -> list[Worktree]:
    """The main checkout (or the bare repository) and all linked worktrees, stale and unfinished ones included."""
    home = home_of(place)
    dirs = {canonical(path): admin for path, admin in admin_dirs(home).items()}
    found = []
    for number, entry in enumerate(_entries(home)):
        if number == 0:
            found.append(_first(place, entry))
        else:
            found.append(_linked(home, entry, dirs.get(canonical(entry["worktree"]))))
    return found


def _entries(home: str) -> list[dict[str, str]]:
    blocks = git(home, "worktree", "list", "--porcelain", "-z").text.split("\0\0")
    entries = []
    for block in blocks:
        pairs = (line.partition(" ") for line in block.strip("\0").split("\0") if line)
        entry = {key: value for key, _, value in pairs}
        if "worktree" in entry:
            entries.append(entry)
    return entries


def _first(place: Place, entry: dict[str, str]) -> Worktree:
    if "bare" in entry:
        return Worktree(place.common_dir or entry["worktree"], Kind.BARE, None, None)
    return Worktree(place.main or entry["worktree"], Kind.MAIN, _head(entry), _branch(entry))


def _linked(home: str, entry: dict[str, str], admin: str | None) -> Worktree:
    path = entry["worktree"]
    if admin is None:
        return Worktree(path, Kind.LINKED, _head(entry), _branch(entry), Condition.MISSING)
    marker = read_marker(admin)
    unfinished = is_unfinished(admin, marker)
    return Worktree(
        path,
        Kind.LINKED,
        _head(entry),
        _branch(entry),
        _condition(home, path, admin),
        ours=marker is not None or unfinished,
        view=marker.view if marker else None,
        base=marker.base if marker else None,
        locked=locked_reason(admin),
        admin=admin,
    )


def _condition(home: str, path: str, admin: str) -> Condition:
    marker = read_marker(admin)
    if is_unfinished(admin, marker) or (marker is not None and marker.aside is not None):
        return Condition.BUSY if is_worked_on(home, path) else Condition.INTERRUPTED
    if points_to(path, admin):
        return Condition.OK
    return Condition.REPLACED if os.path.lexists(path) else Condition.MISSING


def _head(entry: dict[str, str]) -> str | None:
    head = entry.get("HEAD", "")
    return head if head.strip("0") else None


def _branch(entry: dict[str, str]) -> str | None:
    return entry["branch"].removeprefix("refs/heads/") if "branch" in entry else None


def checked_out_at(home: str, branch: str) -> str | None:
    """Where a branch is checked out, or is being rebased or bisected; two checkouts of one would undo each other."""
    for entry in _entries(home):
        if _branch(entry) == branch:
            return entry["worktree"]
    for git_dir in (home, *admin_dirs(home).values()):
        if any(_first_line(f"{git_dir}/{name}").removeprefix("refs/heads/") == branch for name in _UNDER_WAY):
            return worktree_of(git_dir) or git_dir
    return None


def _first_line(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.read(4096)).split("\n")[0]
    except OSError:
        return ""


def registered(place: Place, path: str) -> Worktree | None:
    """The linked worktree that git knows at `path`."""
    wanted = canonical(path)
    return next(
        (tree for tree in list_worktrees(place) if tree.kind is Kind.LINKED and canonical(tree.path) == wanted), None
    )


def is_ready(path: str) -> bool:
    """Whether the board's worktree at `path` is there and its making was finished. No process is started for it."""
    admin = _admin_by_link(path)
    marker = read_marker(admin) if admin is not None else None
    return marker is not None and marker.phase is Phase.READY


def stands(path: str) -> bool:
    """Whether a linked worktree is at `path`, and nothing else in its place. No process is started for it."""
    return _admin_by_link(path) is not None


def lock(path: str, reason: str) -> bool:
    """Lock the worktree at `path` against removal by anybody, saying why; our own earlier lock is replaced.

    Returns False when somebody else has locked it. Raises BoardError when it is no linked worktree.
    """
    return lock_admin(_admin(path), reason)


def unlock(path: str, *, repository: str | None = None) -> bool:
    """Take our lock away, with `repository` also where the directory itself can't lead to it any more.

    A worktree or repository that is gone, or somebody else's lock, is no error: False.
    """
    try:
        return unlock_admin(_admin(path, repository))
    except (BoardError, OSError):
        return False


def _admin(path: str, repository: str | None = None) -> str:
    admin = _admin_by_link(path)
    if admin is None and repository is not None:
        admin = admin_of(home_of(identify(repository)), path)
    if admin is None:
        raise BoardError(f"{path} is not a worktree of a repository.")
    return admin


def _admin_by_link(path: str) -> str | None:
    """Git's directory of a worktree, read from its `.git` file: no process, for the runner's start."""
    try:
        with open(f"{path}/.git", "rb") as file:
            said = os.fsdecode(file.read(8192)).rstrip("\n")
    except OSError:
        return None
    admin = os.path.realpath(os.path.join(path, said.removeprefix("gitdir: ")))
    return admin if os.path.isfile(f"{admin}/gitdir") and points_to(path, admin) else None
