"""A task's worktree is there when its agent starts, whatever has become of it since."""

import shutil
from pathlib import Path

import pytest

from agent_board.errors import BoardError
from agent_board.git import call
from agent_board.git.repository import identify
from agent_board.git.worktrees import ensure, is_ready, worktree_root
from tests.git.repo import add_worktree, branches, commit, git, snapshot, write
from tests.git.test_crashes import act, condition


def make(repo: Path, name: str = "task", view: str = "v1") -> list[str]:
    place = identify(str(repo))
    assert place.head is not None
    path = f"{worktree_root(place)}/{name}"
    return ensure(place, path=path, branch=name, base=place.head, view=view)


def test_it_is_made_once_and_then_costs_nothing(repo: Path, monkeypatch: pytest.MonkeyPatch):
    assert make(repo) == []
    place = identify(str(repo))
    monkeypatch.setattr(call, "run", None)
    assert place.head is not None
    assert ensure(place, path=f"{repo}/.worktrees/task", branch="task", base=place.head, view="v1") == []


@pytest.mark.parametrize("pruned", [False, True])
def test_one_that_somebody_removed_comes_back_on_its_branch(repo: Path, pruned: bool):
    worktree = add_worktree(repo)
    tip = commit(worktree, {"work.txt": "work"})
    shutil.rmtree(worktree)
    if pruned:
        git(repo, "worktree", "prune")
    assert make(repo) == []
    assert git(worktree, "rev-parse", "HEAD") == tip
    assert (worktree / "work.txt").exists()


def test_staged_work_of_a_removed_one_is_not_forgotten(repo: Path):
    worktree = add_worktree(repo)
    write(worktree, {"work.txt": "work"})
    git(worktree, "add", "work.txt")
    shutil.rmtree(worktree)
    with pytest.raises(BoardError, match="1 staged file"):
        make(repo)


def test_an_interrupted_making_begins_anew(repo: Path):
    for step in (12, 16, 20):
        act("create", step, repo)
        if condition(repo) is not None:
            break
    assert not is_ready(str(repo / ".worktrees" / "task"))
    place = identify(str(repo))
    assert place.head is not None
    assert ensure(place, path=f"{repo}/.worktrees/task", branch="task", base=place.head, view=None) == []  # type: ignore[arg-type]
    assert git(repo / ".worktrees" / "task", "status", "--porcelain") == ""
    assert branches(repo) == {"main", "task"}


def test_a_branch_that_came_in_between_is_refused(repo: Path):
    git(repo, "branch", "task")
    with pytest.raises(BoardError, match="exists already"):
        make(repo)


def test_something_else_at_its_place_is_refused(repo: Path):
    worktree = add_worktree(repo)
    shutil.rmtree(worktree)
    write(worktree, {"mine": "mine"})
    with pytest.raises(BoardError):
        make(repo)
    assert (worktree / "mine").read_text() == "mine"
    shutil.rmtree(worktree)


def _switched(repo: Path) -> None:
    git(repo, "switch", "-q", "task")


def _rebasing(repo: Path) -> None:
    git(repo, "switch", "-q", "task")
    commit(repo, {"README.md": "mine\n"}, "Mine")
    git(repo, "branch", "-f", "other", "main")
    git(repo, "switch", "-q", "other")
    commit(repo, {"README.md": "theirs\n"}, "Theirs")
    git(repo, "switch", "-q", "task")
    git(repo, "rebase", "-q", "other", ok=(1,))


@pytest.mark.parametrize("now", [_switched, _rebasing])
def test_a_branch_that_the_user_has_checked_out_is_not_shared(clean_repo: Path, now):
    """Invariant 7: a commit in the worktree would change what his own checkout is at."""
    make(clean_repo)
    git(clean_repo, "worktree", "remove", "--force", str(clean_repo / ".worktrees" / "task"))
    now(clean_repo)
    before = snapshot(clean_repo)
    with pytest.raises(BoardError, match=f"task is checked out in {clean_repo}"):
        make(clean_repo)
    assert snapshot(clean_repo) == before
    assert not (clean_repo / ".worktrees").exists()
