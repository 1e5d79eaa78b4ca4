"""What a task changed: commits, uncommitted and new files in one picture, and the user's index left as it is."""

import hashlib
import os
from pathlib import Path

import pytest

from agent_board.errors import BoardError
from agent_board.git.changes import branch_changes, changes
from tests.git.repo import add_worktree, commit, git, make_repo, write


def test_everything_since_the_base_is_shown(clean_repo: Path):
    base = git(clean_repo, "rev-parse", "HEAD")
    worktree = add_worktree(clean_repo)
    commit(worktree, {"README.md": "one\ntwo\n", "committed.txt": "1\n2\n3\n"}, "First\n\nbody")
    last = commit(worktree, {"src/app.py": "print('other')\n"}, "Second")
    write(worktree, {"README.md": "one\ntwo\nthree\n", "new file.txt": "a\nb\n", ".env": "ignored"})
    (worktree / "bin").write_bytes(b"\0\1\2")
    git(worktree, "mv", ".gitignore", "renamed")
    git(worktree, "rm", "-q", "--cached", "committed.txt")
    before = hashlib.sha256((clean_repo / ".git/worktrees/task/index").read_bytes()).digest()
    found = changes(str(worktree), base)
    files = {file.path: (file.status, file.added, file.removed, file.uncommitted) for file in found.files}
    assert files == {
        "README.md": ("modified", 2, 0, True),
        "committed.txt": ("added", 3, 0, False),
        "src/app.py": ("modified", 1, 1, False),
        "new file.txt": ("added", 2, 0, True),
        "bin": ("added", None, None, True),
        ".env": ("added", 1, 0, True),
        "renamed": ("renamed", 0, 0, True),
    }
    assert [file.path for file in found.files if file.binary] == ["bin"]
    assert [file.old_path for file in found.files if file.old_path] == [".gitignore"]
    assert [entry.subject for entry in found.commits] == ["Second", "First"]
    assert (found.ahead, found.head, found.base) == (2, last, base)
    assert (found.added, found.removed, found.uncommitted) == (9, 1, True)
    assert "+three" in found.patch
    assert "Binary files" in found.patch
    assert not found.patch_cut
    assert hashlib.sha256((clean_repo / ".git/worktrees/task/index").read_bytes()).digest() == before


def test_the_user_s_own_checkout_can_be_looked_at(repo: Path):
    """In place, dirty, and not a byte of it or its index is touched; nothing is put into his object store."""
    objects = set((repo / ".git" / "objects").rglob("*"))
    found = changes(str(repo), None)
    assert {file.path for file in found.files} == {"README.md", "notes.txt", "staged.txt"}
    assert found.ahead == 0
    assert set((repo / ".git" / "objects").rglob("*")) == objects


def test_nothing_changed_is_nothing(clean_repo: Path):
    found = changes(str(add_worktree(clean_repo)), git(clean_repo, "rev-parse", "HEAD"))
    assert (found.files, found.commits, found.ahead, found.patch) == ((), (), 0, "")


def test_a_long_patch_is_cut(clean_repo: Path):
    worktree = add_worktree(clean_repo)
    write(worktree, {"long.txt": "line\n" * 200_000})
    found = changes(str(worktree), None, patch_bytes=1000)
    assert found.patch_cut
    assert len(found.patch) == 1000
    assert found.files[0].added == 200_000


def test_before_the_first_commit_all_is_new(tmp_path: Path):
    git(tmp_path, "init", "-q", "new")
    write(tmp_path / "new", {"a": "1\n", "b/c": "2\n"})
    git(tmp_path / "new", "add", "a")
    found = changes(str(tmp_path / "new"), None)
    assert {file.path: file.status for file in found.files} == {"a": "added", "b/c": "added"}


def test_odd_names_and_settings_change_nothing(clean_repo: Path):
    for key, value in {
        "diff.noprefix": "true",
        "diff.external": "false",
        "core.pager": "false",
        "color.ui": "always",
    }.items():
        git(clean_repo, "config", key, value)
    worktree = add_worktree(clean_repo)
    names = {"-x", "a\tb", "new\nline", "ü", 'q"uote', ":(glob)*"}
    write(worktree, dict.fromkeys(names, "x\n"))
    make_repo(worktree / "inner")
    found = changes(str(worktree), None)
    assert {file.path for file in found.files} == names
    assert "\x1b" not in found.patch


def test_a_base_that_is_gone_and_a_plain_directory_are_said(clean_repo: Path, tmp_path: Path):
    with pytest.raises(BoardError, match="any more"):
        changes(str(clean_repo), "0" * 39 + "1")
    with pytest.raises(BoardError, match="not in a git checkout"):
        changes(str(tmp_path), None)


def test_the_branch_of_a_lost_worktree_still_shows_what_it_has(clean_repo: Path):
    base = git(clean_repo, "rev-parse", "HEAD")
    worktree = add_worktree(clean_repo)
    commit(worktree, {"new.txt": "1\n"}, "One")
    os.rename(worktree, clean_repo.parent / "elsewhere")
    found = branch_changes(str(clean_repo), base, "task")
    assert [(file.path, file.uncommitted) for file in found.files] == [("new.txt", False)]
    assert found.ahead == 1


def test_new_files_outside_a_sparse_checkout_are_shown(clean_repo: Path):
    base = commit(clean_repo, {"big/data.bin": "x", "small/x": "x"})
    git(clean_repo, "sparse-checkout", "set", "--cone", "small")
    write(clean_repo, {"big/new.txt": "1\n", "small/new.txt": "1\n"})
    assert [file.path for file in changes(str(clean_repo), base).files] == ["big/new.txt", "small/new.txt"]
