"""`diff` and `merge`: a task's work, seen and taken over."""

import shutil
from pathlib import Path

import pytest

from agent_board.runs.lease import Lease
from agent_board.store import locks
from agent_board.store.paths import StorePaths
from tests.cli.conftest import Cli
from tests.cli.makers import make_view
from tests.git.repo import add_worktree, commit, git, make_repo, snapshot, write
from tests.support.command import AGENT_BOARD
from tests.support.terminal import Terminal


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "api")


@pytest.fixture
def worktree(repo: Path) -> Path:
    return add_worktree(repo)


@pytest.fixture
def view(store: StorePaths, repo: Path, worktree: Path) -> str:
    """A finished task in a worktree of its own."""
    meta = {
        "name": "add-new",
        "cwd": str(repo),
        "worktreeMode": "on",
        "worktreePath": str(worktree),
        "branch": "task",
        "baseRef": git(repo, "rev-parse", "HEAD"),
        "repoRoot": str(repo),
    }
    return make_view(store, "aa11bb22cc", meta=meta)


def test_diff_shows_all_that_changed(cli: Cli, view: str, worktree: Path):
    commit(worktree, {"README.md": "one\ntwo\n"}, "Two")
    write(worktree, {"new.txt": "1\n"})
    found = cli("diff", "add-new", "--json").json
    assert (found["viewId"], found["ahead"], found["uncommitted"]) == (view, 1, True)
    assert [(file["path"], file["status"], file["uncommitted"]) for file in found["files"]] == [
        ("README.md", "modified", False),
        ("new.txt", "added", True),
    ]
    assert "+two" in found["patch"]
    assert cli("diff", view).out == found["patch"]
    assert "patch" not in cli("diff", view, "--stat", "--json").json
    stat = cli("diff", view, "--stat").out
    assert "A +1 -0 new.txt (uncommitted)" in stat
    assert "1 commit ahead" in stat
    assert "2 files changed, +2 -0" in stat


def test_diff_of_a_task_whose_worktree_is_gone_shows_its_branch(cli: Cli, view: str, repo: Path, worktree: Path):
    commit(worktree, {"new.txt": "1\n"}, "New")
    git(repo, "worktree", "remove", str(worktree))
    assert [file["path"] for file in cli("diff", view, "--json").json["files"]] == ["new.txt"]


def test_what_stands_in_a_worktree_s_place_is_not_the_task_s(cli: Cli, view: str, repo: Path, worktree: Path):
    """A plain directory there belongs to the main checkout, whose changes are the user's own."""
    commit(worktree, {"new.txt": "1\n"}, "New")
    shutil.rmtree(worktree)
    write(repo, {"README.md": "mine\n", ".worktrees/task/x": "x"})
    assert [file["path"] for file in cli("diff", view, "--json").json["files"]] == ["new.txt"]
    git(repo, "checkout", "README.md")
    assert cli("merge", view, "--yes").code == 0
    assert (repo / "new.txt").exists()


def test_diff_before_there_is_a_branch_says_so(cli: Cli, store: StorePaths, repo: Path):
    base = git(repo, "rev-parse", "HEAD")
    meta = {"worktreePath": f"{repo}/.worktrees/x", "branch": "x", "baseRef": base, "repoRoot": str(repo)}
    done = cli("diff", make_view(store, "bb11bb22cc", meta=meta))
    assert done.code == 1
    assert "neither the task's worktree nor its branch x" in done.err


def test_diff_of_a_task_in_a_plain_directory_says_so(cli: Cli, store: StorePaths, tmp_path: Path):
    make_view(store, "dd11bb22cc", meta={"cwd": str(tmp_path)})
    done = cli("diff", "dd11bb22cc")
    assert done.code == 1
    assert "not in a git checkout" in done.err


def test_merge_shows_the_commands_and_does_them(cli: Cli, view: str, repo: Path, worktree: Path):
    write(worktree, {"new.txt": "1\n"})
    done = cli("merge", view, "--commit", "Add new", "--yes", "--json")
    assert done.code == 0
    assert f"git -C {repo} merge --no-edit task" in done.err
    assert done.json["commands"][1] == f"git -C {worktree} commit -m 'Add new'"
    assert (done.json["target"], done.json["targetBranch"]) == (str(repo), "main")
    assert done.json["head"] == git(repo, "rev-parse", "HEAD")
    assert git(repo, "log", "-1", "--format=%s") == "Add new"
    assert (repo / "new.txt").exists()
    again = cli("merge", view, "--yes")
    assert again.code == 1
    assert "nothing" in again.err


def test_merge_off_a_terminal_needs_a_yes(cli: Cli, view: str, repo: Path, worktree: Path):
    write(worktree, {"new.txt": "1\n"})
    before = snapshot(repo)
    for words in ((), ("--commit", "Add new")):
        done = cli("merge", view, *words)
        assert done.code == 1
        assert "--commit" in done.err or "--yes" in done.err
    assert snapshot(repo) == before
    assert git(worktree, "status", "--porcelain") == "?? new.txt"


def test_merge_into_a_dirty_checkout_is_refused(cli: Cli, view: str, repo: Path, worktree: Path):
    write(worktree, {"new.txt": "1\n"})
    write(repo, {"README.md": "mine\n"})
    before = snapshot(repo)
    done = cli("merge", view, "--commit", "Add new", "--yes")
    assert done.code == 1
    assert "README.md" in done.err
    assert snapshot(repo) == before
    assert git(worktree, "status", "--porcelain") == "?? new.txt"


def test_merge_of_a_task_that_works_in_place_says_so(cli: Cli, store: StorePaths, repo: Path):
    make_view(store, "ee11bb22cc", meta={"cwd": str(repo), "name": "here"})
    done = cli("merge", "here", "--yes")
    assert done.code == 1
    assert "there already" in done.err


def test_merge_of_a_running_task_is_refused(cli: Cli, store: StorePaths, view: str, worktree: Path, monkeypatch):
    write(worktree, {"new.txt": "1\n"})
    lock = locks.acquire(store.view(view).lock)
    try:
        done = cli("merge", view, "--commit", "Add new", "--yes")
    finally:
        locks.release(lock)
    assert done.code == 1
    assert "still running" in done.err


def test_merge_waits_for_nobody_who_writes_in_the_target(
    cli: Cli, store: StorePaths, view: str, repo: Path, worktree: Path
):
    """AB-088: the lease of the main checkout counts for a merge, too."""
    write(worktree, {"new.txt": "1\n"})
    make_view(store, "ff11bb22cc", meta={"cwd": str(repo), "name": "writer"})
    lock = Lease(store, str(repo)).try_take("ff11bb22cc", "0001-x")
    assert lock is not None
    try:
        done = cli("merge", view, "--commit", "Add new", "--yes")
    finally:
        locks.release(lock)
    assert done.code == 1
    assert "writer in" in done.err
    assert git(worktree, "status", "--porcelain") == "?? new.txt"
    assert cli("merge", view, "--commit", "Add new", "--yes").code == 0


def test_merge_asks_on_a_terminal_and_enter_is_no(view: str, repo: Path, worktree: Path):
    write(worktree, {"new.txt": "1\n"})
    for answer, code in (("enter", 1), ("y", 0)):
        with Terminal([*AGENT_BOARD, "merge", view], size=(160, 30), cwd=repo) as terminal:
            terminal.wait_for("(y/N)")
            assert "uncommitted: new.txt" in terminal.text
            assert "merge --no-edit task" in terminal.text
            terminal.send(answer, *(["enter"] if answer == "y" else []))
            assert terminal.wait_exit() == code
        assert (repo / "new.txt").exists() is (code == 0)
