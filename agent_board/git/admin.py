"""What git and we keep about each linked worktree: its directory in the repository, our marker and lock in it.

The marker proves that the board made a worktree. It lies in git's own directory of that worktree, so it moves with it,
goes with it, and is never in anybody's way. While one is made or removed, git's lock on it says so in words; the flock
beside it is held by whoever works on it and by the git processes that it started.
"""

import binascii
import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from agent_board.errors import BoardError, BusyError
from agent_board.git.erase import erase
from agent_board.store.files import FILE_MODE, Raw, make_dir, now_ms, read_json, write_bytes, write_json
from agent_board.store.records import VERSION

OURS = "agent-board: "
"""How the reason of each of our locks begins."""
_CREATING = OURS + "being created"
_REMOVING = OURS + "being removed"
_MARKER = "agent-board.json"
_PATIENCE_S = 1.0
_REGISTER_S = 60.0
_STILLBORN_S = 600.0
_DROPPED = "dropped-"


class Phase(StrEnum):
    """How far the life of a worktree has come."""

    CREATING = "creating"
    READY = "ready"
    REMOVING = "removing"
    """It may have been moved aside, all of it; it can be put back."""
    GONE = "gone"
    """What is left of it is rubbish."""


@dataclass(frozen=True, slots=True)
class Marker:
    """That the board made this worktree, from what, and for which view."""

    path: str
    base: str
    phase: Phase
    branch: str | None
    made_branch: bool
    """Whether the branch was made with it, and not there before."""
    view: str | None = None
    created_at: int = 0
    aside: str | None = None
    """Where the directory is while it is being removed."""


def canonical(path: str) -> str:
    """A path with all symbolic links resolved but its last part: what stands there is looked at, not followed."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(folder), name)


def admin_dirs(common_dir: str) -> dict[str, str]:
    """Git's own directory of each linked worktree, by the worktree's path as git knows it."""
    found = {}
    with contextlib.suppress(OSError), os.scandir(f"{common_dir}/worktrees") as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            path = worktree_of(entry.path)
            if path is not None:
                found[path] = entry.path
    return found


def worktree_of(admin: str) -> str | None:
    """Where git believes the worktree of this directory of its own to be."""
    try:
        with open(f"{admin}/gitdir", "rb") as file:
            written = os.fsdecode(file.read()).rstrip("\n")
    except OSError:
        return None
    return os.path.dirname(os.path.join(admin, written)) if written else None


def admin_of(common_dir: str, path: str) -> str | None:
    """Git's own directory of the worktree at `path`, which need not be there any more."""
    dirs = admin_dirs(common_dir)
    wanted = canonical(path)
    return dirs.get(wanted) or next((admin for known, admin in dirs.items() if canonical(known) == wanted), None)


def points_to(path: str, admin: str) -> bool:
    """Whether the directory at `path` is the worktree that `admin` belongs to: no link, with the right `.git` file."""
    try:
        if os.path.islink(path):
            return False
        with open(f"{path}/.git", "rb") as file:
            said = os.fsdecode(file.read(8192)).rstrip("\n")
    except OSError:
        return False
    target = said.removeprefix("gitdir: ")
    return said != target and os.path.realpath(os.path.join(path, target)) == os.path.realpath(admin)


def read_marker(admin: str) -> Marker | None:
    """Our marker, or None where there is none that can be understood."""
    raw = read_json(f"{admin}/{_MARKER}")
    return _marker(raw) if isinstance(raw, dict) else None


def _marker(raw: Raw) -> Marker | None:
    try:
        return Marker(
            path=str(raw["path"]),
            base=str(raw["base"]),
            phase=Phase(raw["phase"]),
            branch=_text(raw.get("branch")),
            made_branch=bool(raw["madeBranch"]),
            view=_text(raw.get("view")),
            created_at=int(raw.get("createdAt", 0)),
            aside=_text(raw.get("aside")),
        )
    except (KeyError, ValueError, TypeError):
        return None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def write_marker(admin: str, marker: Marker) -> None:
    """Put our marker into git's directory of a worktree, durably."""
    raw = {
        "version": VERSION,
        "path": marker.path,
        "base": marker.base,
        "phase": marker.phase,
        "branch": marker.branch,
        "madeBranch": marker.made_branch,
        "view": marker.view,
        "createdAt": marker.created_at or now_ms(),
        "aside": marker.aside,
    }
    write_json(f"{admin}/{_MARKER}", raw, sync=True)


def advance(admin: str, marker: Marker, phase: Phase, aside: str | None = None) -> Marker:
    """The marker one phase on, written."""
    marker = replace(marker, phase=phase, aside=aside)
    write_marker(admin, marker)
    return marker


def creating_reason(view: str | None) -> str:
    """The reason of git's lock on a worktree that is being made."""
    return f"{_CREATING} for {view}" if view else _CREATING


def is_unfinished(admin: str, marker: Marker | None) -> bool:
    """Whether the making of this worktree began and did not come to its end."""
    if marker is not None:
        return marker.phase is Phase.CREATING
    return (locked_reason(admin) or "").startswith(_CREATING)


def is_ours(admin: str) -> bool:
    """Whether the board made this worktree, or began to."""
    marker = read_marker(admin)
    return marker is not None or is_unfinished(admin, marker)


def locked_reason(admin: str) -> str | None:
    """The reason of git's lock on a worktree, None when it is not locked."""
    try:
        with open(f"{admin}/locked", "rb") as file:
            return os.fsdecode(file.read()).strip()
    except OSError:
        return None


def lock_admin(admin: str, reason: str) -> bool:
    """Lock a worktree so that `git worktree remove` and `prune` leave it alone.

    Returns False, and changes nothing, when it is locked by somebody else.
    """
    held = locked_reason(admin)
    if held is not None and not held.startswith(OURS):
        return False
    write_bytes(f"{admin}/locked", os.fsencode(f"{OURS}{reason.removeprefix(OURS)}\n"))
    return True


def lock_for_removal(admin: str) -> None:
    """Keep git's own `prune` away while the directory is moved aside."""
    write_bytes(f"{admin}/locked", os.fsencode(f"{_REMOVING}\n"))


def unlock_admin(admin: str) -> bool:
    """Take our lock away; somebody else's stays. Returns whether the worktree is unlocked now."""
    held = locked_reason(admin)
    if held is not None and not held.startswith(OURS):
        return False
    with contextlib.suppress(FileNotFoundError):
        os.unlink(f"{admin}/locked")
    return True


def drop_admin(common_dir: str, admin: str) -> None:
    """Make git forget a worktree: its directory leaves the list in one step and is deleted then."""
    make_dir(f"{common_dir}/agent-board")
    dropped = f"{common_dir}/agent-board/{_DROPPED}{os.urandom(4).hex()}"
    os.rename(admin, dropped)
    erase(dropped)
    with contextlib.suppress(OSError):
        os.rmdir(os.path.dirname(admin))


def sweep_dropped(common_dir: str) -> None:
    """Delete what `drop_admin` had no time to."""
    with contextlib.suppress(OSError), os.scandir(f"{common_dir}/agent-board") as entries:
        for entry in entries:
            if entry.name.startswith(_DROPPED):
                erase(entry.path)


@contextmanager
def working_on(common_dir: str, path: str, *, patience: float = _PATIENCE_S) -> Iterator[int]:
    """Be the only one who makes or removes the worktree at `path`; yields the descriptor that holds the lock.

    Hand it to git processes (`keep`), so that nobody takes a dead maker's place while its git still writes.
    Raises BusyError, BoardError when the repository can't be written.
    """
    fd = _lock(_lock_file(common_dir, path), patience, f"worktree {path}")
    try:
        yield fd
    finally:
        os.close(fd)


@contextmanager
def registering(common_dir: str, *, patience: float = _REGISTER_S) -> Iterator[int]:
    """Wait for one's turn to register a worktree: git can't stand to read one that another git is just writing."""
    fd = _lock(f"{common_dir}/agent-board/register.lock", patience, f"next worktree of {common_dir}")
    try:
        yield fd
    finally:
        os.close(fd)


def admin_names(common_dir: str) -> set[str]:
    """The names of git's own directories of worktrees, whatever state they are in."""
    try:
        return set(os.listdir(f"{common_dir}/worktrees"))
    except OSError:
        return set()


def drop_stillborn(common_dir: str, names: set[str]) -> None:
    """Delete those of git's directories of worktrees that lead nowhere; the caller has the turn to register."""
    for name in names:
        if worktree_of(f"{common_dir}/worktrees/{name}") is None:
            with contextlib.suppress(OSError):
                drop_admin(common_dir, f"{common_dir}/worktrees/{name}")


def sweep_stillborn(common_dir: str) -> None:
    """Delete what a git that was killed while it registered a worktree for us left behind: locked, leading nowhere."""
    with contextlib.suppress(OSError, BusyError), registering(common_dir, patience=0):
        names = admin_names(common_dir)
        drop_stillborn(common_dir, {name for name in names if _was_for_us(f"{common_dir}/worktrees/{name}")})


def _was_for_us(admin: str) -> bool:
    """Whether the lock is ours, or was still to be written by a git that can't be at it any more."""
    reason = locked_reason(admin)
    old = reason == "" and time.time() - os.stat(admin).st_mtime > _STILLBORN_S
    return old or (reason or "").startswith(_CREATING)


def is_worked_on(common_dir: str, path: str) -> bool:
    """Whether somebody is making or removing the worktree at `path` right now."""
    try:
        with open(_lock_file(common_dir, path), "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _lock_file(common_dir: str, path: str) -> str:
    # Two paths of one sum would only wait for each other, so no digest has to be loaded for it.
    return f"{common_dir}/agent-board/{binascii.crc32(os.fsencode(canonical(path))):08x}.lock"


def _lock(file: str, patience: float, what: str) -> int:
    try:
        make_dir(os.path.dirname(file))
        fd = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
    except OSError as error:
        raise BoardError(f"{file} can't be written ({error.strerror}).") from None
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return fd
        except BlockingIOError:
            if time.monotonic() > deadline:
                os.close(fd)
                raise BusyError(f"The {what} is being made or removed just now; try again.") from None
            time.sleep(0.01)
        except BaseException:
            os.close(fd)
            raise
