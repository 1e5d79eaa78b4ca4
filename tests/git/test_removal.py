"""Removing worktrees that are in use, gone, replaced, somebody else's, merged, or half removed."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent_board.errors import BoardError
from agent_board.git import removal
from agent_board.git.erase import erase
from agent_board.git.merged import is_merged
from agent_board.git.processes import mounts_in
from agent_board.git.removal import Standing, WorkAtRiskError
from agent_board.git.repository import identify
from agent_board.git.worktrees import Condition, list_worktrees, lock, plan_removal, prune, remove, unlock
from tests.git.repo import add_worktree, branches, commit, git, kinds, make_repo, planned, write
from tests.support.wait import wait_for


@contextmanager
def standing_in(folder: Path) -> Iterator[int]:
    """A process with its working directory there, started by another one; yields its pid."""
    program = "import subprocess, sys; p = subprocess.Popen(['sleep', '1000']); print(p.pid, flush=True); p.wait()"
    parent = subprocess.Popen([sys.executable, "-c", program], cwd=folder, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    try:
        yield child
    finally:
        os.kill(child, 9)
        parent.wait(10)
        parent.stdout.close()


def test_a_process_that_stands_in_it_is_named(repo: Path):
    """FIELD-FAULTS 14: a child of a child, too; whatever anybody agrees to."""
    worktree = add_worktree(repo)
    with standing_in(worktree / "src") as pid:
        plan = planned(worktree)
        assert pid in {process.pid for process in plan.processes}
        for discard in (False, True):
            with pytest.raises(WorkAtRiskError, match=rf"pid {pid}\b"):
                remove(planned(worktree), discard_work=discard)
        assert (worktree / "src" / "app.py").exists()
    remove(planned(worktree))
    assert not worktree.exists()


def test_a_process_that_came_after_the_plan_is_seen_and_the_directory_put_back(
    repo: Path, monkeypatch: pytest.MonkeyPatch
):
    worktree = add_worktree(repo)
    plan = planned(worktree)
    real = removal._move_aside

    def moved(now, aside):
        real(now, aside)
        write(Path(aside), {"late.txt": "work"})

    monkeypatch.setattr(removal, "_move_aside", moved)
    with pytest.raises(WorkAtRiskError, match="1 new file"):
        remove(plan)
    assert (worktree / "late.txt").read_text() == "work"
    assert git(worktree, "status", "--porcelain") == "?? late.txt"
    assert sorted(os.listdir(worktree.parent)) == ["task"]
    assert planned(worktree).locked is None


def test_a_locked_one_is_left_alone(repo: Path):
    """FIELD-FAULTS 14: our lock says which run; git's own commands respect it."""
    worktree = add_worktree(repo)
    assert lock(str(worktree), "run 0001-ab")
    assert "run 0001-ab" in git(repo, "worktree", "list", "--porcelain")
    git(repo, "worktree", "remove", str(worktree), ok=(128,))
    with pytest.raises(WorkAtRiskError, match="run 0001-ab"):
        remove(planned(worktree), discard_work=True)
    assert lock(str(worktree), "run 0002-cd")
    assert unlock(str(worktree))
    assert "\nlocked" not in git(repo, "worktree", "list", "--porcelain")
    git(repo, "worktree", "lock", "--reason", "mine", str(worktree))
    assert not lock(str(worktree), "run 0003")
    assert not unlock(str(worktree))
    with pytest.raises(WorkAtRiskError, match="mine"):
        remove(planned(worktree))
    git(repo, "worktree", "unlock", str(worktree))
    remove(planned(worktree))


def test_unlocking_what_is_gone_is_no_error(repo: Path):
    worktree = add_worktree(repo)
    lock(str(worktree), "run")
    shutil.rmtree(worktree)
    assert not unlock(str(worktree))
    assert unlock(str(worktree), repository=str(repo))
    assert not unlock(str(repo / "nowhere"), repository=str(repo / "nowhere"))
    with pytest.raises(BoardError):
        lock(str(repo), "run")


def test_what_we_did_not_make_is_never_removed(repo: Path):
    theirs = repo / ".worktrees" / "theirs"
    git(repo, "worktree", "add", "-q", "-b", "theirs", str(theirs))
    plan = planned(theirs)
    assert not plan.ours
    for discard in (False, True):
        with pytest.raises(WorkAtRiskError, match="not made by agent-board"):
            remove(plan, discard_work=discard)
    assert (theirs / "README.md").exists()
    with pytest.raises(BoardError, match="not a linked worktree"):
        plan_removal(identify(str(repo)))
    assert planned(repo / "src").standing is Standing.UNKNOWN
    assert remove(planned(repo / "src"), discard_work=True)
    assert (repo / "src" / "app.py").exists()
    git(repo, "worktree", "remove", str(theirs))


def test_a_branch_that_was_there_before_stays_even_with_consent(clean_repo: Path):
    git(clean_repo, "branch", "old")
    worktree = add_worktree(clean_repo, "old", new_branch=False)
    commit(worktree, {"x": "x"})
    remove(planned(worktree), discard_work=True)
    assert "old" in branches(clean_repo)


def test_a_branch_that_somebody_has_checked_out_stays(clean_repo: Path):
    worktree = add_worktree(clean_repo)
    git(worktree, "switch", "-q", "--detach")
    git(clean_repo, "switch", "-q", "task")
    remove(planned(worktree), discard_work=True)
    assert git(clean_repo, "branch", "--show-current") == "task"


def _rm(worktree: Path, repo: Path) -> None:
    shutil.rmtree(worktree)


def _rm_and_prune(worktree: Path, repo: Path) -> None:
    shutil.rmtree(worktree)
    git(repo, "worktree", "prune")


def _to_file(worktree: Path, repo: Path) -> None:
    shutil.rmtree(worktree)
    worktree.write_text("mine")


def _to_directory(worktree: Path, repo: Path) -> None:
    shutil.rmtree(worktree)
    write(worktree, {"mine.txt": "mine"})


def _to_repository(worktree: Path, repo: Path) -> None:
    shutil.rmtree(worktree)
    make_repo(worktree)


def _to_link(worktree: Path, repo: Path) -> None:
    shutil.rmtree(worktree)
    target = repo.parent / "precious"
    write(target, {"mine.txt": "mine"})
    worktree.symlink_to(target)


def _moved_and_linked(worktree: Path, repo: Path) -> None:
    worktree.rename(repo.parent / "precious")
    worktree.symlink_to(repo.parent / "precious")


def _repository_gone(worktree: Path, repo: Path) -> None:
    shutil.rmtree(repo / ".git")


def _all_gone(worktree: Path, repo: Path) -> None:
    shutil.rmtree(repo)


BY_HAND = [
    _rm,
    _rm_and_prune,
    _to_file,
    _to_directory,
    _to_repository,
    _to_link,
    _moved_and_linked,
    _repository_gone,
    _all_gone,
]


def _everything(folder: Path) -> set[str]:
    return {str(Path(top, name)) for top, _, names in os.walk(folder) for name in names if "/.git/" not in f"{top}/"}


@pytest.mark.parametrize("by_hand", BY_HAND)
@pytest.mark.parametrize("discard", [False, True])
def test_what_was_done_by_hand_never_makes_it_unremovable(clean_repo: Path, by_hand, discard: bool):
    """FIELD-FAULTS 17: and nothing that stands there now is touched or followed."""
    worktree = add_worktree(clean_repo)
    by_hand(worktree, clean_repo)
    before = _everything(clean_repo.parent)
    plan = planned(worktree, clean_repo)
    said = remove(plan, discard_work=discard)
    assert len(said) >= 1
    assert _everything(clean_repo.parent) == before
    if (clean_repo / ".git").exists():
        assert str(worktree) not in git(clean_repo, "worktree", "list", "--porcelain")
        assert ("task" in branches(clean_repo)) is (not discard or by_hand is _rm_and_prune)


@pytest.mark.parametrize("by_hand", [_rm, _to_file, _to_directory, _to_repository, _to_link, _moved_and_linked])
def test_pruning_drops_what_is_stale_and_touches_nothing_else(clean_repo: Path, by_hand):
    """WT-018."""
    worktree, other = add_worktree(clean_repo), add_worktree(clean_repo, "other")
    by_hand(worktree, clean_repo)
    before = _everything(clean_repo.parent)
    tree = list_worktrees(identify(str(clean_repo)))[2 if "task" > "other" else 1]
    assert tree.condition in (Condition.MISSING, Condition.REPLACED)
    assert len(prune(identify(str(clean_repo)))) >= 1
    assert _everything(clean_repo.parent) == before
    assert str(worktree) not in git(clean_repo, "worktree", "list", "--porcelain")
    assert other.is_dir()
    assert branches(clean_repo) == {"main", "other", "task"}
    assert prune(identify(str(clean_repo))) == []


def test_a_worktree_that_was_moved_with_git_is_still_ours(clean_repo: Path):
    worktree = add_worktree(clean_repo)
    moved = clean_repo.parent / "moved"
    git(clean_repo, "worktree", "move", str(worktree), str(moved))
    remove(planned(moved))
    assert not moved.exists()
    assert not os.path.lexists(worktree)


def test_directories_without_permissions_are_removed_and_links_in_it_not_followed(clean_repo: Path, tmp_path: Path):
    commit(clean_repo, {".gitignore": "cache/\n"})
    worktree = add_worktree(clean_repo)
    write(tmp_path / "precious", {"mine": "mine"})
    write(worktree, {"cache/a/b/c": "x", "cache/d/e": "x"})
    (worktree / "cache" / "link").symlink_to(tmp_path / "precious")
    for folder in ("cache/a/b", "cache/a", "cache/d", "cache"):
        (worktree / folder).chmod(0o500)
    plan = planned(worktree)
    assert kinds(plan) == {"ignored"}
    remove(plan, discard_work=True)
    assert not worktree.exists()
    assert (tmp_path / "precious" / "mine").read_text() == "mine"


def test_what_another_user_owns_is_left_and_said(clean_repo: Path, monkeypatch: pytest.MonkeyPatch):
    """Files that a container left as root can't make a worktree unremovable."""
    worktree = add_worktree(clean_repo)

    def refused(path: str) -> None:
        if path.startswith(str(worktree.parent)):
            raise PermissionError(13, "Permission denied", f"{path}/root-owned")
        erase(path)

    monkeypatch.setattr(removal, "erase", refused)
    said = remove(planned(worktree), discard_work=True)
    assert "Permission denied" in said[-1]
    assert not worktree.exists()
    assert "task" not in git(clean_repo, "worktree", "list")
    left = next(worktree.parent.iterdir())
    assert str(left) in said[-1]


def test_what_is_mounted_in_it_is_not_reached(clean_repo: Path, monkeypatch: pytest.MonkeyPatch):
    worktree = add_worktree(clean_repo)
    assert mounts_in("/proc") == ["/proc", *mounts_in("/proc")[1:]]
    assert mounts_in(str(worktree)) == []
    monkeypatch.setattr(removal, "mounts_in", lambda path: [f"{path}/data"])
    with pytest.raises(WorkAtRiskError, match="unmount it first"):
        remove(planned(worktree), discard_work=True)
    assert worktree.exists()


def test_stashes_that_stay_are_told(clean_repo: Path):
    worktree = add_worktree(clean_repo)
    for number in range(2):
        write(worktree, {"README.md": f"{number}\n"})
        git(worktree, "stash", "push", "-q")
    write(clean_repo, {"README.md": "mine\n"})
    git(clean_repo, "stash", "push", "-q")
    assert any(sentence.startswith("2 stashes made on task stay") for sentence in remove(planned(worktree)))
    assert len(git(clean_repo, "stash", "list").splitlines()) == 3


def _merge(repo: Path, worktree: Path) -> None:
    git(repo, "merge", "-q", "--no-ff", "-m", "merge", "task")


def _fast_forward(repo: Path, worktree: Path) -> None:
    git(repo, "merge", "-q", "--ff-only", "task")


def _squash(repo: Path, worktree: Path) -> None:
    git(repo, "merge", "-q", "--squash", "task")
    git(repo, "commit", "-qm", "squashed")


def _squash_and_go_on(repo: Path, worktree: Path) -> None:
    _squash(repo, worktree)
    commit(repo, {"one.txt": "changed since\n"}, "On top")


def _rebase(repo: Path, worktree: Path) -> None:
    commit(repo, {"elsewhere.txt": "x"}, "Elsewhere")
    git(repo, "cherry-pick", "main..task")


def _squash_a_rename_and_go_on(repo: Path, worktree: Path) -> None:
    git(worktree, "mv", "README.md", "LIES.md")
    commit(worktree, {"LIES.md": "one\ntwo\n"}, "Renamed")
    _squash(repo, worktree)
    commit(repo, {"LIES.md": "changed since\n"}, "On top")


def _squash_with_own_settings(repo: Path, worktree: Path) -> None:
    for setting in ("diff.noprefix=true", "diff.context=0", "diff.renames=copies", "diff.external=false"):
        git(repo, "config", *setting.split("="))
    _squash_and_go_on(repo, worktree)


@pytest.mark.parametrize(
    "how",
    [
        _merge,
        _fast_forward,
        _squash,
        _squash_and_go_on,
        _squash_a_rename_and_go_on,
        _squash_with_own_settings,
        _rebase,
    ],
)
def test_a_merged_branch_goes_with_its_worktree(clean_repo: Path, how):
    """WT-017: squash-merged counts as merged."""
    worktree = add_worktree(clean_repo)
    commit(worktree, {"one.txt": "1\n"}, "One")
    commit(worktree, {"two.txt": "2\n"}, "Two")
    place = identify(str(clean_repo))
    objects = set((clean_repo / ".git" / "objects").rglob("*"))
    assert not is_merged(place, "task")
    how(clean_repo, worktree)
    objects = set((clean_repo / ".git" / "objects").rglob("*"))
    assert is_merged(place, "task")
    assert set((clean_repo / ".git" / "objects").rglob("*")) == objects
    said = remove(planned(worktree), drop_merged_branch=True)
    assert branches(clean_repo) == {"main"}
    assert any("Removed the branch task" in sentence for sentence in said)
    assert "branch.task" not in git(clean_repo, "config", "--list", "--local")


def test_an_unmerged_branch_stays(clean_repo: Path):
    worktree = add_worktree(clean_repo)
    commit(worktree, {"one.txt": "1\n"}, "One")
    commit(clean_repo, {"one.txt": "other\n"}, "Other")
    assert "The branch task stays." in remove(planned(worktree), drop_merged_branch=True)
    assert "task" in branches(clean_repo)


def test_work_that_was_taken_back_on_its_branch_is_nowhere_else(clean_repo: Path):
    """Merging it would change no file, and yet its commits are the only copy."""
    worktree = add_worktree(clean_repo)
    commit(worktree, {"one.txt": "1\n"}, "One")
    assert not is_merged(identify(str(clean_repo)), "task", into=["main"])
    git(worktree, "revert", "--no-edit", "HEAD")
    assert not is_merged(identify(str(clean_repo)), "task", into=["main"])
    assert not is_merged(identify(str(clean_repo)), "no-such-branch")
    remove(planned(worktree), drop_merged_branch=True)
    assert "task" in branches(clean_repo)


@pytest.mark.parametrize("theirs", [b"\0theirs", b"\0mine"])
def test_two_changes_of_one_binary_file_are_not_one(clean_repo: Path, theirs: bytes):
    (clean_repo / "logo.png").write_bytes(b"\0")
    commit(clean_repo, {}, "Logo")
    worktree = add_worktree(clean_repo)
    (worktree / "logo.png").write_bytes(b"\0mine")
    commit(worktree, {}, "Mine")
    (clean_repo / "logo.png").write_bytes(theirs)
    commit(clean_repo, {}, "Theirs")
    assert is_merged(identify(str(clean_repo)), "task") == (theirs == b"\0mine")


def test_merged_into_the_remote_s_default_branch_counts(clean_repo: Path, tmp_path: Path):
    git(tmp_path, "clone", "-q", str(clean_repo), "clone")
    clone = tmp_path / "clone"
    worktree = add_worktree(clone)
    commit(worktree, {"one.txt": "1\n"}, "One")
    git(clean_repo, "fetch", "-q", str(clone), "task:task")
    _squash(clean_repo, worktree)
    assert not is_merged(identify(str(clone)), "task")
    git(clone, "fetch", "-q")
    assert is_merged(identify(str(clone)), "task")


def test_removing_twice_and_at_once_is_no_error(repo: Path):
    worktree = add_worktree(repo)
    plan = planned(worktree)
    remove(plan)
    assert "any more" in remove(plan)[0]
    assert planned(worktree, repo).standing is Standing.UNKNOWN


def test_many_cycles_leave_nothing(repo: Path):
    """FIELD-FAULTS 18: no directory, branch, setting or lock file grows."""
    config = (repo / ".git" / "config").read_text()
    for number in range(4):
        remove(planned(add_worktree(repo, f"task-{number % 2}")), discard_work=True)
    assert not (repo / ".worktrees").exists()
    assert (repo / ".git" / "config").read_text() == config
    assert branches(repo) == {"main"}
    assert not (repo / ".git" / "worktrees").exists()
    wait_for(
        lambda: len(list((repo / ".git" / "agent-board").iterdir())) <= 3, what="no more than a lock for each path"
    )
