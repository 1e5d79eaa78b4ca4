"""Merging a task's branch into the user's checkout: the one time that we touch it, planned, shown, and all or nothing.

Whether the two go together is tried beforehand with no checkout at all, so a conflict never reaches the user's files.
"""

import os
import shlex
import tempfile
from contextlib import suppress
from dataclasses import dataclass

from agent_board.errors import BoardError
from agent_board.git.call import GitError, git
from agent_board.git.changes import Commit
from agent_board.git.create import recorded_base
from agent_board.git.listing import stands
from agent_board.git.losses import running_operations
from agent_board.git.repository import Place, identify
from agent_board.text import clean_line

_MERGE_S = 600.0
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class MergePlan:
    """What a merge would do; made by reading only."""

    worktree: str
    branch: str
    branch_head: str
    target: str
    """The checkout that changes."""
    target_branch: str
    target_head: str
    commits: tuple[Commit, ...]
    """The branch's commits that the target hasn't got, newest first."""
    uncommitted: tuple[str, ...]
    """Changed and new files that have to be committed on the branch first."""
    message: str
    """The message proposed for that commit."""
    add: tuple[str, ...] = ("add", "--all")
    """How git is told to take all of it; in a sparse checkout it leaves new files outside out unless told."""
    named: str = ""
    """The branch as git merges it: by more than its name where a tag has that, too."""

    def commands(self, message: str | None = None) -> tuple[str, ...]:
        """The git commands that do it, as the user could type them."""
        lines = []
        if self.uncommitted:
            lines.append(f"git -C {shlex.quote(self.worktree)} {' '.join(self.add)}")
            lines.append(f"git -C {shlex.quote(self.worktree)} commit -m {shlex.quote(message or self.message)}")
        lines.append(f"git -C {shlex.quote(self.target)} merge --no-edit {shlex.quote(self.named)}")
        return tuple(lines)


@dataclass(frozen=True, slots=True)
class Merged:
    """How a merge ended."""

    target: str
    head: str
    """What the target is at now."""
    committed: str | None
    """The commit that was made of what was uncommitted."""


def plan_merge(worktree: str, target: Place, *, title: str | None = None, branch: str | None = None) -> MergePlan:
    """What merging the branch that `worktree` is on into `target` takes; without the worktree, what `branch` has.

    Raises BoardError when there is nothing to merge, or it can't be: no branch, something unfinished on either side,
    uncommitted changes in the target, or another branch there than the task began from.
    """
    if branch is not None and not stands(worktree):
        return _plan_branch(worktree, branch, target, title)
    source = identify(worktree)
    top, branch, head = source.top, source.branch, source.head
    if top is None or source.git_dir is None:
        raise BoardError(f"{worktree} is not in a git checkout; there is nothing to merge.")
    if source.common_dir != target.common_dir:
        raise BoardError(f"{worktree} and {target.path} are not of the same repository.")
    if branch is None:
        raise BoardError(f"{top} is on no branch; give its work one first: git -C {shlex.quote(top)} switch -c NAME")
    if head is None:
        raise BoardError(f"The branch {branch} has no commit yet.")
    _refuse_unfinished(top, source.git_dir)
    target_top, target_branch, target_head = _ready_target(target, top, branch)
    uncommitted = _uncommitted(top)
    commits = _missing(top, head, target_head)
    if not commits and not uncommitted:
        raise BoardError(f"{branch} has nothing that {target_branch} in {target_top} has not; nothing was merged.")
    message = clean_line(title or "") or branch
    return MergePlan(
        top, branch, head, target_top, target_branch, target_head, commits, tuple(uncommitted), message,
        add=("add", "--all", "--sparse") if _is_sparse(top) else ("add", "--all"), named=_named(target_top, branch),
    )  # fmt: skip


def _plan_branch(worktree: str, branch: str, target: Place, title: str | None) -> MergePlan:
    """The plan for a branch whose worktree is gone: what is committed is all there is."""
    target_top, target_branch, target_head = _ready_target(target, worktree, branch)
    if not _is_branch(target_top, branch):
        raise BoardError(f"The worktree {worktree} is gone, and its branch {branch}, too; there is nothing to merge.")
    head = git(target_top, "rev-parse", f"refs/heads/{branch}").text
    commits = _missing(target_top, head, target_head)
    if not commits:
        raise BoardError(f"{branch} has nothing that {target_branch} in {target_top} has not; nothing was merged.")
    message, named = clean_line(title or "") or branch, _named(target_top, branch)
    return MergePlan(worktree, branch, head, target_top, target_branch, target_head, commits, (), message, named=named)


def _is_sparse(top: str) -> bool:
    return git(top, "config", "--type=bool", "--get", "core.sparseCheckout", ok=(0, 1)).text == "true"


def _named(top: str, branch: str) -> str:
    tagged = git(top, "rev-parse", "-q", "--verify", f"refs/tags/{branch}", ok=(0, 1)).code == 0
    return f"heads/{branch}" if tagged else branch


def _ready_target(target: Place, source: str, branch: str) -> tuple[str, str, str]:
    top = target.top
    if top is None or target.git_dir is None:
        raise BoardError(f"{target.path} has no checkout to merge into.")
    if top == source:
        raise BoardError(f"The task works in {top} itself; its changes are there already.")
    if target.branch is None or target.head is None:
        why = "is on no branch" if target.head else "has no commit yet"
        raise BoardError(f"{top} {why}; check out the branch that the work belongs to first.")
    _refuse_unfinished(top, target.git_dir)
    began = recorded_base(target.common_dir or top, branch)[1]
    if began is not None and began != target.branch and _is_branch(top, began):
        raise BoardError(
            f"{top} is on {target.branch}, and {branch} began from {began}; go there first: "
            f"git -C {shlex.quote(top)} switch {shlex.quote(began)}"
        )
    dirty = git(top, "status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=none").fields
    if dirty:
        raise BoardError(
            f"{top} has uncommitted changes ({dirty[0][3:]}{_more(len(dirty))}); commit or stash them, then merge."
        )
    return top, target.branch, target.head


def _more(count: int) -> str:
    return f" and {count - 1} more" if count > 1 else ""


def _is_branch(top: str, name: str) -> bool:
    return git(top, "rev-parse", "-q", "--verify", f"refs/heads/{name}", ok=(0, 1)).code == 0


def _refuse_unfinished(top: str, git_dir: str) -> None:
    running = running_operations(git_dir)
    if running:
        raise BoardError(f"{top} is in the middle of {running[0]}; finish or abort that first.")


def _uncommitted(top: str) -> list[str]:
    """Changed and new files. Raises BoardError for what `git add --all` would not really take along."""
    flags = ("--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=none")
    names = []
    for entry in git(top, "status", *flags).fields:
        kind, _, rest = entry.partition(" ")
        if kind == "?" and rest.endswith("/"):
            raise BoardError(f"{os.path.join(top, rest)} is a repository of its own; commit or move it first.")
        if kind in "1u":
            submodule = rest.split(" ")[1]
            name = rest.split(" ", 9 if kind == "u" else 7)[-1]
            if submodule.startswith("S") and ("M" in submodule[2:] or "U" in submodule[2:]):
                raise BoardError(f"The submodule {os.path.join(top, name)} has uncommitted changes; commit them first.")
            names.append(name)
        elif kind == "?":
            names.append(rest)
    return names


def _missing(where: str, head: str, target: str) -> tuple[Commit, ...]:
    listed = git(where, "log", "--format=%H %s", head, "--not", target).lines
    return tuple(Commit(line[: line.index(" ")], clean_line(line[line.index(" ") :])) for line in listed)


def merge(plan: MergePlan, commit_message: str | None = None) -> Merged:
    """Do what was planned: commit what is uncommitted on the branch, then merge it.

    Without `commit_message` the plan's own is used. Raises BoardError when either side has changed since the plan
    was shown, when a hook refuses, and for a conflict; the target is then as it was, and the work is on its branch.
    """
    _refuse_changed(plan)
    committed = _commit(plan, commit_message or plan.message) if plan.uncommitted else None
    tip = committed or plan.branch_head
    _refuse_conflict(plan, tip)
    try:
        git(plan.target, "merge", "--no-edit", plan.named, reads=False, hooks=True, timeout=_MERGE_S)
    except GitError as error:
        with suppress(GitError):
            git(plan.target, "merge", "--abort", reads=False)
        raise BoardError(
            f"Merging {plan.branch} into {plan.target} was refused ({error.said}); {plan.target_branch} is as it was."
        ) from None
    return Merged(plan.target, git(plan.target, "rev-parse", "HEAD").text, committed)


def _refuse_changed(plan: MergePlan) -> None:
    now = plan_merge(plan.worktree, identify(plan.target), title=plan.message, branch=plan.branch)
    if now != plan:
        raise BoardError("The branch or the checkout has changed since the merge was shown; look at it again.")


def _commit(plan: MergePlan, message: str) -> str:
    try:
        git(plan.worktree, *plan.add, reads=False, timeout=_MERGE_S)
        git(
            plan.worktree, "commit", "--quiet", "--file=-", "--cleanup=whitespace", reads=False, hooks=True,
            timeout=_MERGE_S, given=message.encode("utf-8", "surrogateescape"),
        )  # fmt: skip
    except GitError as error:
        raise BoardError(
            f"The work in {plan.worktree} could not be committed ({error.said}); nothing was merged."
        ) from None
    return git(plan.worktree, "rev-parse", "HEAD").text


def _refuse_conflict(plan: MergePlan, tip: str) -> None:
    """Raises BoardError naming the files when the two don't go together; no checkout is touched to find out."""
    common = git(plan.target, "rev-parse", "--path-format=absolute", "--git-common-dir").text
    with tempfile.TemporaryDirectory(prefix="agent-board-") as scratch:
        environ = {"GIT_OBJECT_DIRECTORY": scratch, "GIT_ALTERNATE_OBJECT_DIRECTORIES": f"{common}/objects"}
        line = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", plan.target_head, tip)
        said = git(plan.target, *line, environ=environ, ok=(0, 1, 128, 129))
    if said.code == 1:
        where, names = shlex.quote(plan.worktree), list(dict.fromkeys(said.fields[1:]))
        shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
        raise BoardError(
            f"{plan.branch} and {plan.target_branch} both changed {shown}; nothing was merged. Solve it on the branch"
            + (f": git -C {where} merge {shlex.quote(plan.target_branch)}" if stands(plan.worktree) else ".")
        )
