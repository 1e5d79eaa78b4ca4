"""What has changed between a base and a checkout: commits, uncommitted changes and new files in one picture.

The user's index is never used for it: a copy learns of the new files, and git compares the base with that.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from agent_board.errors import BoardError
from agent_board.git.call import git
from agent_board.git.repository import identify
from agent_board.text import clean_line

PATCH_BYTES = 256 << 10
_MOST_COMMITS = 100
_DIFF = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", "--ignore-submodules=none")


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file that differs from the base."""

    path: str
    status: str
    """added, modified, deleted, renamed, type (a link became a file …)."""
    added: int | None
    """Lines; None for a binary file."""
    removed: int | None
    old_path: str | None = None
    uncommitted: bool = False

    @property
    def binary(self) -> bool:
        """Whether git counts no lines in it."""
        return self.added is None


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit ahead of the base."""

    id: str
    subject: str


@dataclass(frozen=True, slots=True)
class Changes:
    """Everything that a task has done to a checkout."""

    base: str
    head: str | None
    files: tuple[FileChange, ...]
    commits: tuple[Commit, ...]
    """Newest first, the first hundred."""
    ahead: int
    """How many commits there are in all."""
    patch: str
    """The whole difference as text, control characters and all: clean it before it is shown."""
    patch_cut: bool
    """The patch was longer and ends in the middle."""

    @property
    def added(self) -> int:
        """Lines added in all text files."""
        return sum(file.added or 0 for file in self.files)

    @property
    def removed(self) -> int:
        """Lines removed in all text files."""
        return sum(file.removed or 0 for file in self.files)

    @property
    def uncommitted(self) -> bool:
        """Whether something is not committed yet."""
        return any(file.uncommitted for file in self.files)


def changes(top: str, base: str | None, *, patch_bytes: int = PATCH_BYTES) -> Changes:
    """What differs between the commit `base` (None: what is checked out) and the checkout as it stands.

    Raises BoardError when `top` is in no repository or the base is not there any more.
    """
    place = identify(top)
    if place.top is None or place.git_dir is None:
        raise BoardError(f"{top} is not in a git checkout, so there is nothing to compare with.")
    base = _known(place.top, base or place.head)
    with _own_index(place.top, place.git_dir, f"{place.common_dir}/objects") as environ:
        listed = git(place.top, *_DIFF, "--raw", "--numstat", "-z", base, environ=environ).out
        open_ones = set(_uncommitted(place.top, place.head or base, environ))
        files = _files(listed, open_ones)
        patch = _patch(place.top, base, None, environ, patch_bytes)
    commits, ahead = _commits(place.top, base, place.head)
    return Changes(base, place.head, files, commits, ahead, *patch)


def is_behind(where: str, commit: str) -> bool:
    """Whether what is checked out came from that commit."""
    return git(where, "merge-base", "--is-ancestor", commit, "HEAD", ok=(0, 1, 128)).code == 0


def branch_changes(repository: str, base: str, branch: str, *, patch_bytes: int = PATCH_BYTES) -> Changes:
    """What differs between the commit `base` and a branch, for a task whose worktree is gone."""
    base = _known(repository, base)
    if git(repository, "rev-parse", "-q", "--verify", f"refs/heads/{branch}", ok=(0, 1)).code:
        raise BoardError(f"There is neither the task's worktree nor its branch {branch}, so nothing to compare.")
    tip = _known(repository, f"refs/heads/{branch}")
    listed = git(repository, *_DIFF, "--raw", "--numstat", "-z", base, tip).out
    patch = _patch(repository, base, tip, {}, patch_bytes)
    commits, ahead = _commits(repository, base, tip)
    return Changes(base, tip, _files(listed, set()), commits, ahead, *patch)


def _known(where: str, name: str | None) -> str:
    """The tree or commit to compare with; before the first commit the empty tree."""
    if name is None:
        return git(where, "hash-object", "-t", "tree", "--stdin", given=b"").text
    said = git(where, "rev-parse", "-q", "--verify", "--end-of-options", f"{name}^{{commit}}", ok=(0, 1, 128))
    if said.code:
        raise BoardError(f"The commit {name} is not in the repository of {where} any more.")
    return said.text


@contextmanager
def _own_index(top: str, git_dir: str, objects: str) -> Iterator[dict[str, str]]:
    """A copy of the checkout's index that knows its new files, too; what git stores for that goes with it."""
    with tempfile.TemporaryDirectory(prefix="agent-board-") as scratch:
        environ = {
            "GIT_INDEX_FILE": f"{scratch}/index",
            "GIT_OBJECT_DIRECTORY": f"{scratch}/objects",
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": objects,
            "GIT_LITERAL_PATHSPECS": "1",
        }
        os.mkdir(f"{scratch}/objects")
        if os.path.isfile(f"{git_dir}/index"):
            shutil.copy2(f"{git_dir}/index", f"{scratch}/index")
        new = git(top, "ls-files", "--others", "--exclude-standard", "-z", environ=environ).out
        names = [name for name in new.split(b"\0") if name and not name.endswith(b"/")]
        if names:
            given = b"\0".join(names) + b"\0"
            flags = ("--intent-to-add", "--sparse", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul")
            git(top, "add", *flags, given=given, environ=environ, ok=(0, 1))
        yield environ


def _uncommitted(top: str, head: str, environ: dict[str, str]) -> list[str]:
    return git(top, *_DIFF, "--name-only", "--no-renames", "-z", head, environ=environ).fields


def _files(listed: bytes, open_ones: set[str]) -> tuple[FileChange, ...]:
    """Put the two lists that one `git diff --raw --numstat -z` prints together."""
    fields = iter([os.fsdecode(part) for part in listed.split(b"\0")])
    kinds: dict[str, tuple[str, str | None]] = {}
    files = []
    for field in fields:
        if field.startswith(":"):
            code = field.rsplit(" ", 1)[-1][:1]
            path, old = next(fields), None
            if code in "RC":
                old, path = path, next(fields)
            kinds[path] = (_STATUS.get(code, "modified"), old)
        elif field:
            added, removed, path = field.split("\t", 2)
            if not path:
                next(fields)
                path = next(fields)
            status, old = kinds.get(path, ("modified", None))
            more, less = (None, None) if added == "-" else (int(added), int(removed))
            is_open = path in open_ones or (old is not None and old in open_ones)
            files.append(FileChange(path, status, more, less, old, is_open))
    return tuple(files)


_STATUS = {"A": "added", "M": "modified", "D": "deleted", "R": "renamed", "C": "added", "T": "type"}


def _commits(where: str, base: str, head: str | None) -> tuple[tuple[Commit, ...], int]:
    if head is None:
        return (), 0
    kind = git(where, "cat-file", "-t", base).text
    span = f"{base}..{head}" if kind == "commit" else head
    listed = git(where, "log", f"--max-count={_MOST_COMMITS}", "--format=%H %s", span).lines
    found = tuple(Commit(line[: line.index(" ")], clean_line(line[line.index(" ") :])) for line in listed)
    ahead = len(found) if len(found) < _MOST_COMMITS else int(git(where, "rev-list", "--count", span).text)
    return found, ahead


def _patch(where: str, base: str, tip: str | None, environ: dict[str, str], most: int) -> tuple[str, bool]:
    ran = git(where, *_DIFF, "--patch", base, *([tip] if tip else []), environ=environ, limit=most)
    return ran.out.decode("utf-8", "replace"), ran.cut
