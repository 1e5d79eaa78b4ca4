"""Taking a branch over: planned and shown, all or nothing, and never against what the user has in his checkout."""

import os
import shutil
from pathlib import Path

import pytest

from agent_board.errors import BoardError
from agent_board.git import merge as merging
from agent_board.git.merge import merge, plan_merge
from agent_board.git.repository import identify
from tests.git.repo import add_worktree, commit, dirty, git, make_repo, snapshot, write


def plan(worktree: Path, repo: Path, **options):
    return plan_merge(str(worktree), identify(str(repo)), **options)


def test_uncommitted_work_is_committed_on_the_branch_first(clean_repo: Path):
    """Never "up to date" while changes exist."""
    worktree = add_worktree(clean_repo)
    write(worktree, {"new.txt": "1\n", "README.md": "changed\n"})
    planned = plan(worktree, clean_repo, title="Add “new”")
    assert planned.uncommitted == ("README.md", "new.txt")
    assert planned.commits == ()
    assert planned.message == "Add “new”"
    assert planned.commands("It's done") == (
        f"git -C {worktree} add --all",
        f"git -C {worktree} commit -m 'It'\"'\"'s done'",
        f"git -C {clean_repo} merge --no-edit task",
    )
    done = merge(planned, "It's done\n\nWith a body")
    assert git(clean_repo, "log", "-1", "--format=%B") == "It's done\n\nWith a body"
    assert done.head == done.committed == git(clean_repo, "rev-parse", "HEAD")
    assert (clean_repo / "new.txt").read_text() == "1\n"
    assert git(clean_repo, "status", "--porcelain") == git(worktree, "status", "--porcelain") == ""
    with pytest.raises(BoardError, match="nothing that main"):
        plan(worktree, clean_repo)


def test_both_sides_went_on(clean_repo: Path):
    worktree = add_worktree(clean_repo)
    commit(worktree, {"new.txt": "1\n"}, "New")
    commit(clean_repo, {"other.txt": "1\n"}, "Other")
    write(clean_repo, {"untracked.txt": "mine"})
    planned = plan(worktree, clean_repo)
    assert [entry.subject for entry in planned.commits] == ["New"]
    assert len(planned.commands()) == 1
    merge(planned)
    assert git(clean_repo, "rev-list", "--count", "--merges", "HEAD") == "1"
    assert (clean_repo / "untracked.txt").read_text() == "mine"


def test_a_conflict_leaves_the_target_byte_for_byte_and_names_the_files(clean_repo: Path):
    worktree = add_worktree(clean_repo)
    write(worktree, {"README.md": "mine\n"})
    commit(clean_repo, {"README.md": "theirs\n"}, "Theirs")
    before, objects = snapshot(clean_repo), (clean_repo / ".git" / "index").stat().st_mtime_ns
    with pytest.raises(BoardError, match=r"both changed README\.md") as refused:
        merge(plan(worktree, clean_repo), "Mine")
    assert "merge main" in str(refused.value)
    assert snapshot(clean_repo) == before
    assert (clean_repo / ".git" / "index").stat().st_mtime_ns == objects
    assert git(worktree, "log", "-1", "--format=%s") == "Mine"
    assert git(worktree, "status", "--porcelain") == ""


def _dirty_target(repo: Path, worktree: Path) -> None:
    dirty(repo)


def _staged_target(repo: Path, worktree: Path) -> None:
    write(repo, {"s": "s"})
    git(repo, "add", "s")


def _wrong_branch(repo: Path, worktree: Path) -> None:
    git(repo, "switch", "-q", "-c", "other")


def _detached_target(repo: Path, worktree: Path) -> None:
    git(repo, "switch", "-q", "--detach")


def _middle_of_a_merge(repo: Path, worktree: Path) -> None:
    start = git(repo, "rev-parse", "HEAD")
    commit(repo, {"README.md": "a\n"}, "A")
    git(repo, "branch", "b", start)
    git(repo, "switch", "-q", "b")
    commit(repo, {"README.md": "b\n"}, "B")
    git(repo, "switch", "-q", "main")
    git(repo, "merge", "-q", "b", ok=(1,))


def _detached_source(repo: Path, worktree: Path) -> None:
    git(worktree, "switch", "-q", "--detach")


def _rebasing_source(repo: Path, worktree: Path) -> None:
    write(worktree, {"new.txt": "x"})
    git(
        worktree, "-c", "sequence.editor=sed -i 1s/pick/edit/", "rebase", "-q", "-i", "--root", "--autostash", ok=(0, 1)
    )


def _nested_repository(repo: Path, worktree: Path) -> None:
    make_repo(worktree / "inner")


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (_dirty_target, "uncommitted changes"),
        (_staged_target, "uncommitted changes"),
        (_wrong_branch, "began from main"),
        (_detached_target, "on no branch"),
        (_middle_of_a_merge, "in the middle of a merge"),
        (_detached_source, "on no branch"),
        (_rebasing_source, "no branch|in the middle"),
        (_nested_repository, "repository of its own"),
    ],
)
def test_it_is_refused(clean_repo: Path, spoil, why: str):
    worktree = add_worktree(clean_repo)
    commit(worktree, {"new.txt": "1\n"}, "New")
    spoil(clean_repo, worktree)
    before = snapshot(clean_repo)
    with pytest.raises(BoardError, match=why):
        plan(worktree, clean_repo)
    assert snapshot(clean_repo) == before


def test_a_plan_is_for_what_was_shown(clean_repo: Path):
    worktree = add_worktree(clean_repo)
    commit(worktree, {"new.txt": "1\n"}, "New")
    planned = plan(worktree, clean_repo)
    write(worktree, {"late.txt": "late"})
    before = snapshot(clean_repo)
    with pytest.raises(BoardError, match="look at it again"):
        merge(planned)
    assert snapshot(clean_repo) == before


def _hook(repo: Path, name: str) -> None:
    path = repo / ".git" / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\necho not allowed here >&2\nexit 1\n")
    path.chmod(0o755)


def test_the_user_s_hooks_have_their_say(clean_repo: Path):
    worktree = add_worktree(clean_repo)
    write(worktree, {"new.txt": "1\n"})
    commit(clean_repo, {"other.txt": "1\n"}, "Other")
    before = snapshot(clean_repo)
    _hook(clean_repo, "pre-commit")
    with pytest.raises(BoardError, match="not allowed here"):
        merge(plan(worktree, clean_repo))
    (clean_repo / ".git" / "hooks" / "pre-commit").unlink()
    _hook(clean_repo, "pre-merge-commit")
    with pytest.raises(BoardError, match="not allowed here"):
        merge(plan(worktree, clean_repo))
    now = snapshot(clean_repo)
    assert {key: value for key, value in now.items() if key != "index"} == {
        key: value for key, value in before.items() if key != "index"
    }
    assert not (clean_repo / ".git" / "MERGE_HEAD").exists()


def test_an_untracked_file_in_the_way_is_not_overwritten(clean_repo: Path):
    worktree = add_worktree(clean_repo)
    commit(worktree, {"new.txt": "theirs\n"}, "New")
    write(clean_repo, {"new.txt": "mine\n"})
    before = snapshot(clean_repo)
    with pytest.raises(BoardError, match=r"refused \(.*: new\.txt\)"):
        merge(plan(worktree, clean_repo))
    assert snapshot(clean_repo) == before


def test_another_repository_and_the_same_checkout_are_refused(clean_repo: Path, tmp_path: Path):
    worktree = add_worktree(clean_repo)
    with pytest.raises(BoardError, match="same repository"):
        plan(worktree, make_repo(tmp_path / "other"))
    with pytest.raises(BoardError, match="already"):
        plan(clean_repo, clean_repo)


def test_git_older_than_merge_tree_still_aborts_cleanly(clean_repo: Path, monkeypatch: pytest.MonkeyPatch):
    worktree = add_worktree(clean_repo)
    commit(worktree, {"README.md": "mine\n"}, "Mine")
    commit(clean_repo, {"README.md": "theirs\n"}, "Theirs")
    before = snapshot(clean_repo)
    monkeypatch.setattr(merging, "_refuse_conflict", lambda *_: None)
    with pytest.raises(BoardError, match="as it was"):
        merge(plan(worktree, clean_repo))
    after = snapshot(clean_repo)
    before.pop("index")
    after.pop("index")
    assert after == before
    assert not os.path.exists(clean_repo / ".git" / "MERGE_HEAD")


def test_new_files_outside_a_sparse_checkout_come_along(clean_repo: Path):
    commit(clean_repo, {"big/data.bin": "x", "small/x": "x"})
    git(clean_repo, "sparse-checkout", "set", "--cone", "small")
    worktree = add_worktree(clean_repo)
    write(worktree, {"big/new.txt": "1\n", "small/new.txt": "1\n"})
    planned = plan(worktree, clean_repo)
    assert planned.uncommitted == ("big/new.txt", "small/new.txt")
    assert planned.commands()[0] == f"git -C {worktree} add --all --sparse"
    merge(planned)
    assert git(clean_repo, "show", "HEAD:big/new.txt") == "1"
    assert git(worktree, "status", "--porcelain") == ""


def test_a_tag_of_the_same_name_is_not_merged_instead(clean_repo: Path):
    worktree = add_worktree(clean_repo)
    git(clean_repo, "tag", "task")
    commit(worktree, {"new.txt": "1\n"}, "New")
    merge(plan(worktree, clean_repo))
    assert (clean_repo / "new.txt").exists()


def test_a_branch_without_its_worktree_is_merged_as_far_as_it_is_committed(clean_repo: Path):
    worktree = add_worktree(clean_repo)
    tip = commit(worktree, {"new.txt": "1\n"}, "New")
    shutil.rmtree(worktree)
    worktree.mkdir()  # now a directory of the main checkout's
    planned = plan(worktree, clean_repo, branch="task")
    assert [entry.subject for entry in planned.commits] == ["New"]
    assert merge(planned).head == tip
    with pytest.raises(BoardError, match="nothing that main"):
        plan(worktree, clean_repo, branch="task")
    with pytest.raises(BoardError, match="its branch gone, too"):
        plan(worktree, clean_repo, branch="gone")
