"""A worktree by its name, for the command line: made, attached, used again, looked at (WT-001 … WT-028)."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from agent_board.errors import BoardError
from agent_board.git.admin import canonical
from agent_board.git.call import git
from agent_board.git.changes import Commit
from agent_board.git.create import create, recorded_base
from agent_board.git.listing import Condition, Worktree, list_worktrees, worktree_root
from agent_board.git.names import check_name
from agent_board.git.repository import Kind, Place, default_branch, home_of, resolve_commit
from agent_board.text import clean_line

_COMMITS, _LINES = 5, 10


class Opening(StrEnum):
    """How a named worktree came to be there."""

    CREATED = "created"
    ATTACHED = "attached"
    """The branch was there, and has a worktree now."""
    REUSED = "reused"
    ALREADY_ACTIVE = "already-active"
    """We stand in it."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A named worktree that is ready to work in."""

    status: Opening
    path: str
    branch: str
    dirty: bool
    base: str | None
    """The full id of the commit that the branch came from; None when nobody can tell."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Info:
    """How a named worktree stands."""

    tree: Worktree
    base: str | None
    ahead: int
    """Commits since its base."""
    behind: int | None
    """Commits of the default branch that it hasn't got; None when there is no default branch."""
    default: str | None
    commits: tuple[Commit, ...]
    """The newest of its own."""
    changes: tuple[str, ...]
    """Changed and new files as `git status --short` shows them, the first ten."""
    dirty: bool


def open_named(
    place: Place,
    name: str,
    *,
    base: str | None = None,
    root: str | None = None,
    setup: list[str] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    progress: Callable[[str], None] = lambda _: None,
) -> Opened:
    """The worktree called `name`, made if it isn't there; doing it twice changes nothing.

    Raises BoardError for a name that can't be, an unknown base, and whatever stands in the way.
    """
    home = home_of(place)
    check_name(place, name)
    start = resolve_commit(place, base) if base is not None else place.head
    if place.kind is Kind.LINKED:
        if place.branch != name:
            raise BoardError(
                f"You are in the worktree {place.top} on {place.branch or 'no branch'}; make others from the main "
                'checkout: cd "$(agent-board worktree out)"'
            )
        assert place.top is not None
        return Opened(Opening.ALREADY_ACTIVE, place.top, name, _dirty(place.top), _base_of(place, name))
    path = os.path.join(worktree_root(place, root), name)
    found = _registered(place, path, name)
    if found is not None:
        return Opened(Opening.REUSED, found.path, name, _dirty(found.path), found.base or _base_of(place, name))
    has_branch = git(home, "rev-parse", "-q", "--verify", f"refs/heads/{name}", ok=(0, 1)).code == 0
    if has_branch:
        start = _base_of(place, name) or resolve_commit(place, f"refs/heads/{name}")
    if start is None:
        raise BoardError(f"{place.main or home} has no commit yet; make an initial commit first.")
    base_name = None if has_branch else (base or place.branch)
    warnings = create(
        place, path=path, branch=name, base=start, new_branch=not has_branch, base_name=base_name, setup=setup,
        cancelled=cancelled, progress=progress,
    )  # fmt: skip
    path = canonical(path)
    status = Opening.ATTACHED if has_branch else Opening.CREATED
    return Opened(status, path, name, _dirty(path), start, tuple(warnings))


def _registered(place: Place, path: str, branch: str) -> Worktree | None:
    """The usable worktree at `path`. Raises BoardError when there is one there, or of that branch, that isn't."""
    if os.path.islink(os.path.dirname(path)) or os.path.islink(path):
        link = path if os.path.islink(path) else os.path.dirname(path)
        raise BoardError(f"{link} is a symbolic link, and a worktree must not end up elsewhere; remove the link first.")
    trees = list_worktrees(place)
    found = next((tree for tree in trees if tree.kind is Kind.LINKED and canonical(tree.path) == canonical(path)), None)
    if found is None:
        other = next((tree for tree in trees if tree.branch == branch), None)
        if other is not None:
            raise BoardError(f"The branch {branch} is checked out in {other.path} already; choose another name.")
        return None
    if found.condition is Condition.BUSY:
        raise BoardError(f"The worktree {path} is being made or removed just now; try again.")
    if found.condition is not Condition.OK:
        raise BoardError(f"The worktree {path} is {_WORDS[found.condition]}; clean up with: agent-board worktree prune")
    if found.branch != branch:
        now = found.branch or "no branch"
        raise BoardError(f"The worktree {path} is on {now}, not on {branch}; choose another name or switch it back.")
    return found


_WORDS = {
    Condition.MISSING: "registered, but its directory is gone",
    Condition.REPLACED: "registered, but something else is at its place",
    Condition.INTERRUPTED: "unfinished: making or removing it was interrupted",
}


def _dirty(top: str) -> bool:
    return bool(git(top, "status", "--porcelain", "-z", "--ignore-submodules=none").out)


def _base_of(place: Place, branch: str) -> str | None:
    """The full id of what a branch came from: as recorded, else where it left the default branch."""
    home = home_of(place)
    recorded = recorded_base(home, branch)[0]
    if recorded is not None:
        said = git(home, "rev-parse", "-q", "--verify", "--end-of-options", f"{recorded}^{{commit}}", ok=(0, 1, 128))
        if said.code == 0:
            return said.text
    default = default_branch(place)
    if default is None:
        return None
    return git(home, "merge-base", default, f"refs/heads/{branch}", ok=(0, 1, 128)).text.split("\n")[0] or None


def find_named(place: Place, name: str, *, root: str | None = None) -> Worktree:
    """The registered worktree that `name` means: its directory's name, its branch, or its path.

    Raises BoardError when there is none.
    """
    trees = list_worktrees(place)
    path = canonical(os.path.join(worktree_root(place, root), name))
    for fits in (
        lambda tree: tree.kind is Kind.LINKED and canonical(tree.path) == path,
        lambda tree: tree.kind is Kind.LINKED and tree.branch == name,
        lambda tree: canonical(tree.path) == canonical(os.path.join(place.path, name)),
    ):
        for tree in trees:
            if fits(tree):
                return tree
    names = [os.path.basename(tree.path) for tree in trees if tree.kind is Kind.LINKED]
    known = f"there are {', '.join(names[:8])}" if names else "there are none"
    raise BoardError(f"There is no worktree called “{clean_line(name)}”; {known}.")


def info_of(place: Place, tree: Worktree) -> Info:
    """How a worktree stands. Raises BoardError when its directory is not usable."""
    if tree.kind is Kind.BARE or tree.condition is not Condition.OK:
        how = _WORDS.get(tree.condition, "not a checkout")
        raise BoardError(f"The worktree {tree.path} is {how}; clean up with: agent-board worktree prune")
    base = tree.base or (_base_of(place, tree.branch) if tree.branch else None)
    default = default_branch(place)
    ahead = 0
    commits: tuple[Commit, ...] = ()
    if tree.head and base:
        ahead = int(git(tree.path, "rev-list", "--count", f"{base}..{tree.head}").text)
        listed = git(tree.path, "log", f"--max-count={_COMMITS}", "--format=%H %s", f"{base}..{tree.head}").lines
        commits = tuple(Commit(line[: line.index(" ")], clean_line(line[line.index(" ") :])) for line in listed)
    behind = None
    if default is not None and tree.head:
        behind = int(git(tree.path, "rev-list", "--count", f"{tree.head}..{default}").text)
    status = git(tree.path, "status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=none").fields
    lines = tuple(f"{line[:2]} {clean_line(line[3:])}" for line in status[:_LINES])
    return Info(tree, base, ahead, behind, default, commits, lines, bool(status))
