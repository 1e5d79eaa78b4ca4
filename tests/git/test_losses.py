"""No work is lost: every way to lose it against every way to remove a worktree (invariant 6, FIELD-FAULTS 13)."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_board.git.removal import WorkAtRiskError
from agent_board.git.repository import identify
from agent_board.git.worktrees import prune, remove
from tests.git.conftest import Command
from tests.git.repo import add_worktree, branches, commit, git, kinds, make_repo, planned, snapshot, write
from tests.git.ways import CANARY, WAYS, Way

Put = Callable[[Path], None]
EACH_WAY = pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))


@pytest.fixture
def main(clean_repo: Path) -> Path:
    """A main checkout whose ignored .env goes with each worktree."""
    commit(clean_repo, {".worktreeinclude": ".env\n"})
    write(clean_repo, {".env": "A=1\n", "notes.txt": "mine"})
    return clean_repo


@pytest.fixture
def worktree(main: Path) -> Path:
    return add_worktree(main)


@EACH_WAY
def test_no_way_to_remove_it_loses_work(main: Path, worktree: Path, way: Way, command: Command):
    """Pruned, removed by the command, removed by a view's delete: kept, or refused and said."""
    way.put(worktree)
    before, tree = snapshot(main), sorted(os.listdir(worktree))
    plan = planned(worktree)
    assert way.seen <= kinds(plan)
    assert bool(plan.lost) is not way.kept_by_git
    assert prune(identify(str(main))) == []
    if not way.kept_by_git:
        with pytest.raises(WorkAtRiskError) as refused:
            remove(plan)
        assert plan.lost[0].what in str(refused.value)
        assert sorted(os.listdir(worktree)) == tree
    done = command("worktree", "remove", "task", cwd=main)
    assert done.code == (0 if way.kept_by_git else 1), done.err
    assert worktree.exists() is not way.kept_by_git
    assert way.safe(main, worktree)
    assert snapshot(main) == before


@pytest.mark.parametrize("name", [name for name, way in WAYS.items() if way.kept_by_git])
def test_what_git_keeps_needs_no_consent(main: Path, worktree: Path, name: str):
    WAYS[name].put(worktree)
    remove(planned(worktree))
    assert not worktree.exists()
    assert WAYS[name].safe(main, worktree)


@pytest.mark.parametrize("name", [name for name, way in WAYS.items() if way.in_index])
def test_pruning_keeps_what_git_still_has_of_a_lost_directory(main: Path, worktree: Path, name: str):
    """The directory was removed by hand; commits, staged files and the middle of a rebase are in git's own."""
    way = WAYS[name]
    way.put(worktree)
    shutil.rmtree(worktree)
    said = prune(identify(str(main)))
    listed = str(worktree) in git(main, "worktree", "list", "--porcelain")
    assert listed is not way.kept_by_git
    assert len(said) >= 1
    assert said[0].startswith("Kept") is listed
    if way.safe.__name__ == "_reachable":
        assert way.safe(main, worktree)


@EACH_WAY
def test_with_consent_it_goes_and_the_branch_with_it(main: Path, worktree: Path, way: Way):
    way.put(worktree)
    plan = planned(worktree)
    said = remove(plan, discard_work=True)
    assert not worktree.exists()
    assert "task" not in branches(main)
    assert any("Removed the branch task" in sentence for sentence in said)
    assert (CANARY in git(main, "stash", "list")) is (way is WAYS["stash"])
    assert str(worktree) not in git(main, "worktree", "list", "--porcelain")


@EACH_WAY
def test_consent_is_for_what_was_shown(main: Path, worktree: Path, way: Way):
    """Work that came after the plan was shown isn't covered by the consent to it."""
    plan = planned(worktree)
    way.put(worktree)
    if way is WAYS["stash"]:
        remove(plan, discard_work=True)
    else:
        with pytest.raises(WorkAtRiskError, match="changed since"):
            remove(plan, discard_work=True)
    assert way.safe(main, worktree)


def test_nothing_at_risk_is_removed_without_a_question(main: Path, worktree: Path):
    plan = planned(worktree)
    assert plan.losses == ()
    assert plan.obstacle is None
    said = remove(plan)
    assert said == [f"Removed the worktree {worktree}.", "The branch task stays."]
    assert not worktree.parent.exists()
    assert branches(main) == {"main", "task"}


def test_what_can_be_made_again_is_no_work(main: Path, worktree: Path):
    write(
        worktree,
        {
            "build/x": "x",
            "build/CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n",
            "pkg/__pycache__/a.cpython-311.pyc": "x",
        },
    )
    (worktree / ".git").read_text()
    (main / ".git" / "info" / "exclude").write_text("__pycache__/\n/.worktrees/\n")
    assert planned(worktree).lost == ()


def test_a_copy_is_work_once_its_original_is_gone(main: Path, worktree: Path):
    assert planned(worktree).lost == ()
    write(main, {".env": "B=2\n"})
    assert planned(worktree).lost == ()
    (main / ".env").unlink()
    assert kinds(planned(worktree)) == {"ignored"}


def test_the_same_bytes_in_the_main_checkout_are_elsewhere(main: Path, worktree: Path):
    write(worktree, {"run.log": "same"})
    write(main, {"run.log": "same"})
    assert planned(worktree).lost == ()


def test_what_set_up_made_is_no_work_until_it_is_changed(clean_repo: Path):
    worktree = add_worktree(clean_repo, setup=["/bin/sh", "-c", "mkdir build; echo 1 > build/a; echo 2 > build/b"])
    assert planned(worktree).lost == ()
    write(worktree, {"build/b": "work"})
    assert [loss.items for loss in planned(worktree).lost] == [("build/b",)]


def test_settings_that_hide_files_from_status_hide_nothing(main: Path, worktree: Path):
    git(main, "config", "status.showUntrackedFiles", "no")
    git(main, "config", "core.fsmonitor", "false")
    git(main, "config", "diff.ignoreSubmodules", "all")
    write(worktree, {"new.txt": CANARY})
    assert kinds(planned(worktree)) == {"untracked"}


def test_odd_names_are_found_and_shown(main: Path, worktree: Path, command: Command):
    names = ["-rf", "a b", 'quo"te', "new\nline", "ü", "\x1b[31m"]
    write(worktree, dict.fromkeys(names, CANARY))
    (worktree / os.fsdecode(b"\xff\xfe")).write_text(CANARY)
    plan = planned(worktree)
    assert set(plan.lost[0].items) == {*names, os.fsdecode(b"\xff\xfe")}
    done = command("worktree", "remove", "task", cwd=main)
    assert done.code == 1
    assert "\x1b[31m" not in done.err


@pytest.fixture
def with_submodule(main: Path, tmp_path: Path) -> Path:
    lib = make_repo(tmp_path / "lib")
    git(main, "submodule", "--quiet", "add", str(lib), "vendor/lib")
    git(main, "commit", "-qm", "lib")
    return add_worktree(main)


def _sub_modified(sub: Path) -> None:
    write(sub, {"README.md": CANARY})


def _sub_untracked(sub: Path) -> None:
    write(sub, {"new.txt": CANARY})


def _sub_ignored(sub: Path) -> None:
    write(sub, {"run.log": CANARY})


def _sub_commit(sub: Path) -> None:
    commit(sub, {"new.txt": "x"}, CANARY)


def _sub_commit_left(sub: Path) -> None:
    start = git(sub, "rev-parse", "HEAD")
    commit(sub, {"new.txt": "x"}, CANARY)
    git(sub, "checkout", "-q", start)


def _sub_stash(sub: Path) -> None:
    write(sub, {"README.md": CANARY})
    git(sub, "stash", "push", "-q")


@pytest.mark.parametrize(
    "put", [_sub_modified, _sub_untracked, _sub_ignored, _sub_commit, _sub_commit_left, _sub_stash]
)
def test_work_in_a_submodule_is_work(main: Path, with_submodule: Path, put: Put, command: Command):
    assert planned(with_submodule).lost == ()
    sub = with_submodule / "vendor" / "lib"
    put(sub)
    assert "submodule" in kinds(planned(with_submodule))
    before = snapshot(sub)
    with pytest.raises(WorkAtRiskError):
        remove(planned(with_submodule))
    assert command("worktree", "remove", "task", cwd=main).code == 1
    assert prune(identify(str(main))) == []
    assert snapshot(sub) == before
    remove(planned(with_submodule), discard_work=True)
    assert not with_submodule.exists()


def test_a_submodule_s_commits_outlive_its_directory(main: Path, with_submodule: Path):
    commit(with_submodule / "vendor" / "lib", {"new.txt": "x"}, CANARY)
    shutil.rmtree(with_submodule)
    assert prune(identify(str(main)))[0].startswith("Kept")
