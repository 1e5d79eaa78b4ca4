"""Where a task works: in place, or in a worktree of its own. Decided once, at dispatch (DESIGN 8)."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from agent_board.errors import BoardError, UsageError
from agent_board.git.listing import worktree_root
from agent_board.git.names import free_names
from agent_board.git.repository import Kind, Place, checkout_path
from agent_board.runs.lease import path_hash, short_path
from agent_board.runs.worktree import LEAVE_WORKTREES
from agent_board.states.view import shown
from agent_board.store import locks, plain
from agent_board.store.paths import StorePaths
from agent_board.store.records import Meta, SemanticState, State
from agent_board.store.views import view_ids

MODES = ("auto", "on", "off")
_CLAIM_PATIENCE_S = 10.0
_OPEN = (SemanticState.QUEUED, SemanticState.WORKING, SemanticState.NEEDS_INPUT)


@dataclass(frozen=True, slots=True)
class Placement:
    """Where one view works, for good."""

    cwd: str
    """The directory of its agent."""
    checkout: str | None
    """The work tree whose lease its runs need; None: they don't write."""
    repo_root: str | None = None
    worktree_path: str | None = None
    branch: str | None = None
    base: str | None = None
    """The commit that it starts from; None where there is none."""
    rules: tuple[str, ...] = ()
    """What the agent is told beside the prompt."""
    warnings: tuple[str, ...] = ()


@contextmanager
def claimed(paths: StorePaths, place: Place) -> Iterator[None]:
    """Hold the repository's claim lock, so that two dispatches at one instant don't both find the checkout free."""
    whole = place.common_dir or checkout_path(place)
    with locks.held(
        f"{paths.locks}/claim-{path_hash(whole)}", patience=_CLAIM_PATIENCE_S, what=f"the repository {whole}"
    ):
        yield


def placed(
    paths: StorePaths, place: Place, *, mode: str, name: str, read_only: bool, root: str | None = None
) -> Placement:
    """Decide. The caller holds the claim lock until the view is in the store.

    Raises UsageError for an unknown mode, BoardError when there can be no worktree and one is needed.
    """
    if mode not in MODES:
        raise UsageError(f"--worktree is {', '.join(MODES)}; “{mode}” is none of them.")
    others = list(_views(paths))
    here = checkout_path(place)
    if _isolated(place, mode, others, here, read_only):
        return _own_worktree(place, others, name=name, read_only=read_only, root=root)
    if place.kind is Kind.BARE:
        raise BoardError(f"{short_path(place.path)} is a bare repository without files; use --worktree on.")
    warnings = _neighbours(place, others, here) if not read_only else ()
    rules = (LEAVE_WORKTREES,) if place.is_git and not read_only else ()
    return Placement(
        place.path,
        None if read_only else here,
        repo_root=place.main or place.top,
        base=place.head,
        rules=rules,
        warnings=warnings,
    )


def _isolated(place: Place, mode: str, others: list[tuple[Meta, State | None]], here: str, read_only: bool) -> bool:
    if mode != "auto":
        return mode == "on"
    if place.kind is Kind.BARE:
        return True
    if place.kind is Kind.PLAIN or place.head is None or read_only:
        return False
    return any(meta.checkout == here and _is_open(meta, state) for meta, state in others)


def _own_worktree(
    place: Place, others: list[tuple[Meta, State | None]], *, name: str, read_only: bool, root: str | None
) -> Placement:
    if place.kind is Kind.PLAIN:
        raise BoardError(f"{short_path(place.path)} is not in a git repository; a worktree needs one.")
    if place.head is None:
        raise BoardError(f"{short_path(place.path)} has no commit yet to start a worktree from; commit first.")
    path, branch = free_names(
        place,
        name,
        {meta.worktree_path for meta, _ in others if meta.worktree_path},
        {meta.branch for meta, _ in others if meta.branch},
        root=worktree_root(place, root),
    )
    return Placement(
        os.path.normpath(os.path.join(path, place.subdirectory)),
        None if read_only else path,
        repo_root=place.main or place.top or place.common_dir,
        worktree_path=path,
        branch=branch,
        base=place.head,
    )


def _is_open(meta: Meta, state: State | None) -> bool:
    """Somebody may write there without being asked again: it runs, will run, waits for an answer, or is attached."""
    if meta.archived_at is not None:
        return False
    seen = shown(meta, state)
    return seen.state in _OPEN or seen.alive or seen.attached


def _neighbours(place: Place, others: list[tuple[Meta, State | None]], here: str) -> tuple[str, ...]:
    """A plain directory has no work tree that keeps writers apart from those above and below it."""
    found = []
    for meta, state in others:
        other = meta.checkout
        if other is None or other == here or not _is_open(meta, state):
            continue
        if Kind.PLAIN in (place.kind, _kind(meta)) and os.path.commonpath([here, other]) in (here, other):
            where = "above" if here.startswith(other + os.sep) else "below"
            found.append(f"“{meta.name}” writes in {short_path(other)}, {where} this directory.")
    return tuple(found)


def _kind(meta: Meta) -> Kind | None:
    """Plain, or None for a view in a repository."""
    return Kind.PLAIN if meta.repo_root is None else None


def _views(paths: StorePaths) -> Iterator[tuple[Meta, State | None]]:
    for view_id in view_ids(paths):
        view = paths.view(view_id)
        meta = plain.read_or_none(Meta, view.meta)
        if meta is not None:
            yield meta, plain.read_or_none(State, view.state) if meta.archived_at is None else None
