"""Whoever makes or removes a worktree may be killed at any moment: nothing is lost, nothing stays behind unsaid."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import psutil
import pytest

from agent_board.errors import BoardError
from agent_board.git import call
from agent_board.git.repository import identify
from agent_board.git.worktrees import Condition, list_worktrees, prune, remove
from tests.git.repo import add_worktree, branches, commit, git, planned, snapshot, write
from tests.support import processes
from tests.support.repository import ROOT
from tests.support.wait import wait_for

STEPS = {"create": 60, "remove": 90, "discard": 90}
"""More than there are; whoever lives to the end has tested what stands behind it, too."""


def act(what: str, step: int, repo: Path) -> int | None:
    """Do it and die at that step; None, or how many steps there are when it came to its end."""
    line = [sys.executable, "-m", "tests.git.crash", what, str(step), str(repo)]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return int(done.stdout) if done.returncode == 0 else None


def condition(repo: Path) -> Condition | None:
    trees = list_worktrees(identify(str(repo)))
    assert len(trees) <= 2
    return trees[1].condition if len(trees) == 2 else None


def clean(repo: Path) -> None:
    """Nothing of the worktree is left, nor of its making and removing."""
    assert not (repo / ".worktrees").exists() or os.listdir(repo / ".worktrees") == []
    assert not (repo / ".git" / "worktrees").exists() or os.listdir(repo / ".git" / "worktrees") == []
    assert [path for path in (repo / ".git" / "agent-board").glob("*") if path.suffix != ".lock"] == []


def all_steps(what: str, repo: Path, check) -> None:
    """Go through the steps until one run comes to its end."""
    for step in range(STEPS[what]):
        done = act(what, step, repo)
        check(step)
        if done is not None:
            assert done == step
            return
    raise AssertionError(f"{what} has more steps than {STEPS[what]}")


def check_creation(repo: Path) -> None:
    before = snapshot(repo)
    standing = condition(repo)
    assert standing in (None, Condition.INTERRUPTED, Condition.OK)
    if standing is None:
        assert not (repo / ".worktrees" / "task").exists()
    prune(identify(str(repo)))
    if standing is Condition.OK:
        assert git(repo / ".worktrees" / "task", "status", "--porcelain") == ""
        remove(planned(repo / ".worktrees" / "task"), discard_work=True)
    clean(repo)
    assert branches(repo) == {"main"}
    assert "branch.task" not in git(repo, "config", "--list", "--local")
    assert snapshot(repo) == before


def check_removal(repo: Path, discard: bool) -> None:
    worktree = repo / ".worktrees" / "task"
    standing = condition(repo)
    assert standing in (None, Condition.INTERRUPTED, Condition.OK)
    prune(identify(str(repo)))
    if worktree.exists():
        assert condition(repo) is Condition.OK
        assert (worktree / "work.txt").read_text() == "work"
        assert git(worktree, "status", "--porcelain") == ("?? work.txt" if discard else "")
        assert git(worktree, "branch", "--show-current") == "task"
        remove(planned(worktree), discard_work=discard)
    clean(repo)
    if not discard:
        assert git(repo, "show", "task:work.txt") == "work"


def prepare_removal(repo: Path, discard: bool) -> None:
    git(repo, "branch", "-D", "task", ok=(0, 1))
    worktree = add_worktree(repo)
    write(worktree, {"work.txt": "work"}) if discard else commit(worktree, {"work.txt": "work"})


@pytest.mark.parametrize("first", [0, 3])
def test_a_maker_that_dies_leaves_nothing_or_something_that_says_what_it_is(repo: Path, first: int):
    """One step in so many; the long tier takes all of them."""
    for step in range(first, STEPS["create"], 6):
        done = act("create", step, repo)
        check_creation(repo)
        if done is not None:
            break


@pytest.mark.parametrize("what", ["remove", "discard"])
@pytest.mark.parametrize("first", [1, 7])
def test_a_remover_that_dies_leaves_all_or_nothing(repo: Path, what: str, first: int):
    for step in range(first, STEPS[what], 12):
        prepare_removal(repo, what == "discard")
        done = act(what, step, repo)
        check_removal(repo, what == "discard")
        if done is not None:
            break


@pytest.mark.full
@pytest.mark.timeout(600)
def test_every_step_of_making(repo: Path):
    all_steps("create", repo, lambda _: check_creation(repo))


@pytest.mark.full
@pytest.mark.timeout(600)
@pytest.mark.parametrize("what", ["remove", "discard"])
def test_every_step_of_removing(repo: Path, what: str):
    prepare_removal(repo, what == "discard")

    def check(_: int) -> None:
        check_removal(repo, what == "discard")
        prepare_removal(repo, what == "discard")

    all_steps(what, repo, check)
    remove(planned(repo / ".worktrees" / "task"), discard_work=True)


@pytest.mark.full
@pytest.mark.timeout(600)
def test_every_step_of_making_is_made_again_under_the_same_name(repo: Path):
    """A view's worktree is made anew by the next run, without anybody's help."""
    for step in range(STEPS["create"]):
        if act("create", step, repo) is not None:
            break
        if condition(repo) is not Condition.OK:
            assert act("create", 10_000, repo) is not None
        remove(planned(repo / ".worktrees" / "task"), discard_work=True)
        assert branches(repo) == {"main"}


def test_a_dead_maker_s_git_still_holds_the_place(repo: Path, tmp_path: Path):
    """As long as git works on it, nobody takes it for interrupted; then it is."""
    started = tmp_path / "started"
    git(repo, "config", "filter.slow.smudge", f"sh -c 'touch {started}; exec sleep 1000'")
    (repo / ".git" / "info" / "attributes").write_text("*.md filter=slow\n")
    line = [sys.executable, "-m", "tests.git.crash", "create", "10000", str(repo)]
    maker = subprocess.Popen(line, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(started.exists, what="git to be in the middle of it")
    workers = psutil.Process(maker.pid).children(recursive=True)
    maker.kill()
    maker.wait(10)
    place = identify(str(repo))
    assert condition(repo) is Condition.BUSY
    assert "made or removed just now" in prune(place)[0]
    processes.end(workers)
    wait_for(lambda: condition(repo) is Condition.INTERRUPTED, what="the lock to be free")
    assert prune(place) == [f"Removed what was left of making the worktree {repo}/.worktrees/task."]
    clean(repo)
    git(repo, "config", "--remove-section", "filter.slow")
    (repo / ".git" / "info" / "attributes").unlink()


def test_what_somebody_wrote_into_an_unfinished_one_is_kept(repo: Path):
    step = next(step for step in range(5, 60) if act("create", step, repo) is None and condition(repo))
    assert step
    worktree = repo / ".worktrees" / "task"
    write(worktree, {"mine.txt": "mine"})
    assert "Kept" in prune(identify(str(repo)))[0]
    assert (worktree / "mine.txt").read_text() == "mine"
    assert condition(repo) is Condition.INTERRUPTED
    remove(planned(worktree), discard_work=True)
    clean(repo)


@pytest.mark.full
@pytest.mark.timeout(300)
def test_git_itself_killed_at_any_moment_of_making(clean_repo: Path, monkeypatch: pytest.MonkeyPatch):
    commit(clean_repo, {f"many/{number}": "x" for number in range(1500)})
    chance = random.Random(4)
    real = subprocess.Popen

    class Doomed(real):  # type: ignore[misc,valid-type]
        """A git that is killed after a while, if it makes something."""

        def __init__(self, line: list[str], **options: Any) -> None:
            super().__init__(line, **options)
            if "--detach" in line:
                threading.Timer(chance.random() * (0.02 if "worktree" in line else 0.12), self._kill).start()

        def _kill(self) -> None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    for _ in range(40):
        with monkeypatch.context() as doomed:
            doomed.setattr(call.subprocess, "Popen", Doomed)  # type: ignore[attr-defined]
            try:
                worktree = add_worktree(clean_repo)
            except BoardError:
                worktree = None
        if worktree is None:
            prune(identify(str(clean_repo)))
        else:
            remove(planned(worktree), discard_work=True)
        clean(clean_repo)
        assert branches(clean_repo) == {"main"}
