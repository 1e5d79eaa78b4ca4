"""Deleting tasks with worktrees from the archived list: what is lost is shown, and agreed to by name."""

import os
from pathlib import Path

import pytest

from agent_board.board.screens.archived import ArchivedScreen
from agent_board.board.screens.confirm import QUIET_S, Confirm
from agent_board.board.screens.confirm_name import ConfirmName
from agent_board.store.paths import StorePaths
from tests.board.conftest import Running, Starter
from tests.board.test_rows import confirmed, meta, said
from tests.git.repo import add_worktree, branches, commit, git, make_repo, snapshot
from tests.git.repo import write as write_files
from tests.support.fakestore import make_view, write


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "shop")


def shelved(paths: StorePaths, repo: Path, *names: str) -> list[Path]:
    """Archived tasks, each in a worktree of its own; the last one archived is the first in the list."""
    found = []
    for number, name in enumerate(names):
        worktree = add_worktree(repo, name)
        make_view(paths, name, name=name, archived=True)
        where = {"cwd": str(repo), "repoRoot": str(repo), "worktreePath": str(worktree), "branch": name}
        write(paths.view(name).meta, meta(paths, name) | where | {"archivedAt": 1000 - number})
        found.append(worktree)
    write(paths.roster, {"version": 1, "views": [], "archived": list(names)})
    return found


async def ask(board: Running, *keys: str) -> None:
    await board.until(lambda: board.screen.news.archived, "the count")
    await board.pilot.press("A")
    await board.until(lambda: isinstance(board.app.screen, ArchivedScreen) and board.app.screen.loaded, "the list")
    await board.pilot.pause()
    await board.pilot.press(*keys, "D")


async def asked(board: Running, kind: type = Confirm) -> None:
    await board.until(lambda: isinstance(board.app.screen, kind) and "Delete " in board.text(), "the question")


async def test_a_clean_worktree_goes_with_a_y_and_its_branch_stays(start: Starter, repo: Path) -> None:
    (worktree,) = shelved(start.paths, repo, "clean")
    commit(worktree, {"done.txt": "1\n"}, "Done")
    before = snapshot(repo)
    async with start(size=(140, 36)) as board:
        await ask(board)
        await asked(board)
        assert "worktree " in board.text()
        assert ".worktrees/clean" in "".join(line.strip() for line in board.lines())
        assert "The branch clean stays." in board.text()
        await confirmed(board)
        await said(board, "clean is deleted.")
    assert not worktree.exists()
    assert "clean" in branches(repo)
    assert snapshot(repo) == before


async def test_what_has_come_since_the_question_is_not_lost(start: Starter, repo: Path) -> None:
    (worktree,) = shelved(start.paths, repo, "risky")
    write_files(worktree, {"new.txt": "1\n"})
    async with start(size=(120, 36)) as board:
        await ask(board)
        await asked(board, ConfirmName)
        write_files(worktree, {"later.txt": "1\n"})
        await board.pilot.press(*"risky")
        await board.pilot.pause(QUIET_S)
        await board.pilot.press("enter")
        await said(board, "has changed since you were shown what goes")
        await board.until(lambda: "deleting" not in board.text(), "the row as it was")
    assert (worktree / "later.txt").exists()
    assert os.path.exists(start.paths.view("risky").dir)


async def test_an_obstacle_is_said_and_nothing_is_asked(start: Starter, repo: Path) -> None:
    (worktree,) = shelved(start.paths, repo, "locked")
    git(repo, "worktree", "lock", "--reason", "on a USB stick", str(worktree))
    async with start() as board:
        await ask(board)
        await said(board, "is locked (on a USB stick)")
        assert isinstance(board.app.screen, ArchivedScreen)
    assert worktree.exists()


async def test_of_several_those_with_losses_or_in_use_are_left_out_and_said_so(start: Starter, repo: Path) -> None:
    clean, risky, locked = shelved(start.paths, repo, "clean", "risky", "locked")
    write_files(risky, {"new.txt": "1\n"})
    git(repo, "worktree", "lock", str(locked))
    async with start(size=(160, 40)) as board:
        await ask(board, "m", "m", "m")
        await asked(board)
        assert not isinstance(board.app.screen, ConfirmName)
        for words in ("Delete clean for good?", "2 marked tasks left out", "risky would lose 1 new file", "is locked"):
            assert words in " ".join(board.text().split())
        await confirmed(board)
        await said(board, "clean is deleted.")
    assert (clean.exists(), risky.exists(), locked.exists()) == (False, True, True)


async def test_a_worktree_that_is_gone_keeps_no_task_from_being_deleted(start: Starter, repo: Path) -> None:
    (worktree,) = shelved(start.paths, repo, "gone")
    git(repo, "worktree", "remove", "--force", str(worktree))
    async with start() as board:
        await ask(board)
        await confirmed(board)
        await said(board, "gone is deleted.")
