"""What would be lost with a worktree: whatever stands in it, or is reachable by it, and is nowhere else."""

import hashlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from agent_board.git.admin import worktree_of
from agent_board.git.call import git
from agent_board.git.ignored import written_since
from agent_board.git.submodules import gitlinks
from agent_board.text import preview

_SHOWN = 50
_ID = re.compile(rb"^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) ")
_OPERATIONS = {
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase or `git am`",
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "sequencer": "a sequence of picks",
    "BISECT_LOG": "a bisect",
}


class LossKind(StrEnum):
    """In which way something would be lost."""

    STAGED = "staged"
    MODIFIED = "modified"
    UNTRACKED = "untracked"
    IGNORED = "ignored"
    OPERATION = "operation"
    COMMITS = "commits"
    """Commits that only this worktree knows: on a detached HEAD, or left behind in its log."""
    SUBMODULE = "submodule"
    BRANCH = "branch"
    """Commits that only the branch knows: they stay as long as it does."""


@dataclass(frozen=True, slots=True)
class Loss:
    """One kind of thing that would be lost."""

    kind: LossKind
    what: str
    """In words, as "3 changed files"."""
    items: tuple[str, ...]
    """Paths or commits, the first fifty."""
    count: int


@dataclass(frozen=True, slots=True)
class Checkout:
    """A worktree as it is looked at: it may have been moved aside, so nothing is taken from its path's text."""

    top: str | None
    """Where its files are now; None when they are gone."""
    git_dir: str
    common_dir: str
    main: str | None
    branch: str | None
    """The branch that is checked out."""
    head: str | None
    made: str | None = None
    """The branch that was made with the worktree and could go with it."""


@dataclass(slots=True)
class Found:
    """The losses and a digest by which a later look can tell whether anything has changed."""

    losses: list[Loss] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)

    def add(self, kind: LossKind, one: str, many: str, items: Iterable[str]) -> None:
        """Note a loss, unless there is nothing; `one` and `many` are what a single and several items are called."""
        names = list(items)
        if names:
            what = f"{len(names)} {one if len(names) == 1 else many}"
            self.losses.append(Loss(kind, what, tuple(names[:_SHOWN]), len(names)))

    @property
    def digest(self) -> str:
        """The same as long as nothing that counts has changed."""
        return hashlib.sha256("\0".join(self.seen).encode("utf-8", "surrogateescape")).hexdigest()


def look(checkout: Checkout) -> Found:
    """Everything that removing a finished worktree would lose."""
    found = Found()
    found.seen.append(checkout.head or "")
    if checkout.top is not None:
        _files(found, checkout.top)
        _ignored(found, checkout.top, written_since(checkout.top, checkout.git_dir, checkout.main))
        _submodules(found, checkout)
    else:
        _staged_only(found, checkout)
    _operations(found, checkout.git_dir)
    _commits(found, checkout)
    _stored_submodules(found, checkout)
    return found


def look_unfinished(checkout: Checkout, base: str) -> Found:
    """What removing a worktree whose making was interrupted would lose: what isn't from its making.

    Files that are missing are no loss, nor are ignored ones, which its set-up made.
    """
    found = Found()
    found.seen.append(checkout.head or "")
    if checkout.top is not None:
        temporary = f"{checkout.git_dir}/agent-board-index"
        environ = {"GIT_INDEX_FILE": temporary}
        try:
            git(checkout.top, "read-tree", base, reads=False, environ=environ)
            changed = git(
                checkout.top, "diff-files", "-z", "--name-only", "--diff-filter=d", "--ignore-submodules=all",
                environ=environ,
            )  # fmt: skip
            others = git(checkout.top, "ls-files", "--others", "--exclude-standard", "-z", environ=environ)
            same = {name for name in changed.fields if _is_as_in(checkout.top, base, name)}
        finally:
            for path in (temporary, f"{temporary}.lock"):
                if os.path.lexists(path):
                    os.unlink(path)
        modified = [name for name in changed.fields if name not in same]
        found.add(LossKind.MODIFIED, "changed file", "changed files", modified)
        found.add(LossKind.UNTRACKED, "new file", "new files", others.fields)
        _note(found, checkout.top, [*modified, *others.fields])
    _commits(found, checkout)
    return found


def _is_as_in(top: str, commit: str, name: str) -> bool:
    """Whether a file's content is the commit's: a fresh index knows no times, so every file looks changed at first."""
    path = os.path.join(top, name)
    pinned = git(top, "rev-parse", "-q", "--verify", f"{commit}:{name}", ok=(0, 1, 128)).text
    if os.path.islink(path):
        return pinned == git(top, "hash-object", "--stdin", given=os.fsencode(os.readlink(path))).text
    return os.path.isfile(path) and pinned == git(top, "hash-object", f"--path={name}", path).text


def _files(found: Found, top: str) -> None:
    flags = ("--porcelain=v2", "-z", "--untracked-files=all", "--ignore-submodules=dirty", "--no-renames")
    entries = git(top, "status", *flags).fields
    staged, modified, untracked = [], [], []
    for entry in entries:
        kind, _, rest = entry.partition(" ")
        if kind == "?":
            untracked.append(rest)
        elif kind in "1u":
            codes, name = rest[:2], rest.split(" ", 9 if kind == "u" else 7)[-1]
            if kind == "1" and codes[0] != ".":
                staged.append(name)
            if kind == "u" or codes[1] != ".":
                modified.append(name)
    modified += _hidden_changes(top)
    found.add(LossKind.STAGED, "staged file", "staged files", staged)
    found.add(LossKind.MODIFIED, "changed file", "changed files", modified)
    found.add(LossKind.UNTRACKED, "new file", "new files", untracked)
    found.seen += entries
    _note(found, top, [*staged, *modified, *untracked])


def _hidden_changes(top: str) -> list[str]:
    """Changed files that `status` was told not to look at (assume-unchanged, skip-worktree)."""
    changed = []
    for entry in git(top, "ls-files", "-v", "--stage", "-z").fields:
        tag = entry[0]
        if not (tag.islower() or tag == "S"):
            continue
        head, _, name = entry.partition("\t")
        path = os.path.join(top, name)
        if os.path.isfile(path) and not os.path.islink(path):
            pinned = head.split(" ")[2]
            if git(top, "hash-object", f"--path={name}", "--", path).text != pinned:
                changed.append(name)
    return changed


def _ignored(found: Found, top: str, names: list[str]) -> None:
    found.add(LossKind.IGNORED, "ignored file", "ignored files", names)
    _note(found, top, names)


def _note(found: Found, top: str, names: Iterable[str]) -> None:
    for name in names:
        try:
            stat = os.lstat(os.path.join(top, name))
            found.seen.append(f"{name} {stat.st_size} {stat.st_mtime_ns} {stat.st_mode}")
        except OSError:
            found.seen.append(f"{name} -")


def _staged_only(found: Found, checkout: Checkout) -> None:
    """The files are gone, but what was staged is still in the worktree's index."""
    if checkout.head is None or not os.path.isfile(f"{checkout.git_dir}/index"):
        return
    flags = ("--cached", "--name-only", "-z", "--diff-filter=d", "--ignore-submodules=all", checkout.head)
    names = git(checkout.common_dir, f"--git-dir={checkout.git_dir}", "diff-index", *flags).fields
    found.add(LossKind.STAGED, "staged file", "staged files", names)
    found.seen += names


def running_operations(git_dir: str) -> list[str]:
    """What git is in the middle of in a checkout, in words."""
    running = [what for name, what in _OPERATIONS.items() if os.path.lexists(f"{git_dir}/{name}")]
    return list(dict.fromkeys(running))


def _operations(found: Found, git_dir: str) -> None:
    for what in running_operations(git_dir):
        found.losses.append(Loss(LossKind.OPERATION, f"{what} that is not finished", (), 1))
        found.seen.append(what)


def _commits(found: Found, checkout: Checkout) -> None:
    """Commits that go with the worktree, and those that would go with its branch."""
    home = checkout.common_dir
    tips = [checkout.head] if checkout.head else []
    elsewhere = _heads_elsewhere(checkout)
    private = git(
        home, f"--git-dir={checkout.git_dir}", "for-each-ref", "--format=%(objectname)",
        "refs/worktree", "refs/bisect", "refs/rewritten",
    ).lines  # fmt: skip
    logged = _logged(f"{checkout.git_dir}/logs/HEAD")
    branch_log = _logged(f"{home}/logs/refs/heads/{checkout.branch}") if checkout.branch else set()
    lost = _only_in(home, [*tips, *private, *logged], [*elsewhere, *branch_log], ["--glob=refs/*"])
    found.add(LossKind.COMMITS, "commit that no branch has", "commits that no branch has", lost)
    if checkout.made:
        reference = f"refs/heads/{checkout.made}"
        rest = [f"--exclude={reference}", "--glob=refs/*"]
        on_branch = _only_in(home, [reference], elsewhere, rest)
        name = checkout.made
        found.add(LossKind.BRANCH, f"commit only on the branch {name}", f"commits only on the branch {name}", on_branch)
        found.seen += on_branch
    found.seen += lost


def _only_in(home: str, tips: list[str], elsewhere: list[str], refs: list[str]) -> list[str]:
    """Commits reachable from the tips and from nothing else, as "id subject"."""
    wanted = [tip for tip in dict.fromkeys(tips) if tip.strip("0")]
    if not wanted:
        return []
    given = "\n".join([*wanted, *(f"^{commit}" for commit in elsewhere if commit.strip("0"))]) + "\n"
    flags = ("--ignore-missing", "--topo-order", "--format=%h %s", "--stdin")
    listed = git(home, "log", *flags, "--not", *refs, given=given.encode()).lines
    return [preview(line, 100) for line in listed]


def _heads_elsewhere(checkout: Checkout) -> list[str]:
    """What the main checkout and the other worktrees have checked out."""
    heads = []
    listed = git(checkout.common_dir, "worktree", "list", "--porcelain", "-z").text.split("\0\0")
    own = worktree_of(checkout.git_dir)
    for block in listed:
        lines = block.strip("\0").split("\0")
        if lines[0] != f"worktree {own}":
            heads += [line.removeprefix("HEAD ") for line in lines if line.startswith("HEAD ")]
    return heads


def _logged(path: str) -> set[str]:
    """Every commit that a log of a reference names."""
    found: set[str] = set()
    try:
        with open(path, "rb") as file:
            for line in file:
                match = _ID.match(line)
                if match:
                    found |= {part.decode() for part in match.groups()}
    except OSError:
        pass
    return {commit for commit in found if commit.strip("0")}


def _submodules(found: Found, checkout: Checkout) -> None:
    assert checkout.top is not None
    for path in gitlinks(checkout.top):
        folder = os.path.join(checkout.top, path)
        git_dir = _git_dir_of(folder)
        if git_dir is not None:
            items, seen = _embedded_files(folder, git_dir)
            found.add(LossKind.SUBMODULE, f"file in the submodule {path}", f"files in the submodule {path}", items)
            found.seen += seen


def _git_dir_of(folder: str) -> str | None:
    """A submodule's git directory. Its `.git` file may be relative: moved aside, the worktree keeps its depth."""
    link = os.path.join(folder, ".git")
    if os.path.isdir(link):
        return link
    try:
        with open(link, "rb") as file:
            target = os.fsdecode(file.read(8192)).rstrip("\n").removeprefix("gitdir: ")
    except OSError:
        return None
    return os.path.realpath(os.path.join(folder, target))


def _embedded_files(folder: str, git_dir: str) -> tuple[list[str], list[str]]:
    """Changed, new and ignored files in a repository inside, which stands where its config may not say any more."""
    where = (f"--git-dir={git_dir}", f"--work-tree={folder}")
    flags = ("--porcelain", "-z", "--untracked-files=all", "--ignored=matching", "--no-renames")
    entries = git(folder, *where, "status", *flags, "--ignore-submodules=dirty").fields
    names = [entry[3:] for entry in entries]
    nested: list[str] = []
    for entry in git(folder, *where, "ls-files", "--stage", "-z").fields:
        if entry.startswith("160000 "):
            path = entry.partition("\t")[2]
            below = _git_dir_of(os.path.join(folder, path))
            if below is not None:
                files, _ = _embedded_files(os.path.join(folder, path), below)
                nested += [f"{path}/{name}" for name in files]
    return [*names, *nested], [*entries, *nested]


def _stored_submodules(found: Found, checkout: Checkout) -> None:
    """Commits and stashes in the submodules' own repositories, which lie in the worktree's git directory."""
    modules = f"{checkout.git_dir}/modules"
    for folder, folders, files in os.walk(modules):
        if "HEAD" not in files or "objects" not in folders:
            continue
        folders[:] = [name for name in folders if name == "modules"]
        name = os.path.relpath(folder, modules).replace("/modules/", "/")
        lost = _own_commits(checkout, folder, os.path.relpath(folder, modules))
        found.add(LossKind.SUBMODULE, f"commit in the submodule {name}", f"commits in the submodule {name}", lost)
        found.seen += lost


def _wherever(git_dir: str) -> tuple[str, str]:
    """For asking a submodule's repository whose work tree is not where its config says."""
    return f"--git-dir={git_dir}", f"--work-tree={git_dir}"


def _own_commits(checkout: Checkout, git_dir: str, relative: str) -> list[str]:
    where = _wherever(git_dir)
    tips = git(git_dir, *where, "for-each-ref", "--format=%(objectname)", "refs/heads", "refs/tags", "refs/stash").lines
    head = git(git_dir, *where, "rev-parse", "-q", "--verify", "HEAD", ok=(0, 1, 128)).text
    tips += [head] if head else []
    wanted = dict.fromkeys([*tips, *_logged(f"{git_dir}/logs/HEAD"), *_logged(f"{git_dir}/logs/refs/stash")])
    given = "\n".join(wanted) + "\n"
    listed = git(
        git_dir, *where, "log", "--ignore-missing", "--format=%H %h %s", "--stdin", "--not", "--remotes",
        given=given.encode(),
    ).lines  # fmt: skip
    store = f"{checkout.common_dir}/modules/{relative}"
    if listed and os.path.isfile(f"{store}/HEAD"):
        kept = _kept_there(store, [line.split(" ", 1)[0] for line in listed])
        listed = [line for line in listed if line.split(" ", 1)[0] not in kept]
    return [preview(line.split(" ", 1)[1], 100) for line in listed]


def _kept_there(store: str, commits: list[str]) -> set[str]:
    """Which of these commits the main checkout's own copy of a submodule has."""
    given = "\n".join(commits) + "\n"
    said = git(store, *_wherever(store), "cat-file", "--batch-check=%(objectname) %(objecttype)", given=given.encode())
    return {line.split(" ")[0] for line in said.lines if line.endswith(" commit")}
