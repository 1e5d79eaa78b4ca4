"""Deleting tasks with worktrees from the archived list: what is lost is shown, and agreed to by name."""

import os
from pathlib import Path

import pytest

from agent_board.board.screens.archived import ArchivedScreen
from agent_board.board.screens.confirm import QUIET_S, Confirm, ConfirmByName
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


async def asked(board: Running, kind: type[Confirm] = Confirm) -> None:
    await board.until(lambda: isinstance(board.app.screen, kind) and board.app.screen.listening, "the question")


async def test_a_clean_worktree_goes_with_a_y_and_its_branch_stays(start: Starter, repo: Path) -> None:
    (worktree,) = shelved(start.paths, repo, "clean")
    commit(worktree, {"done.txt": "1\n"}, "Done")
    before = snapshot(repo)
    async with start(size=(140, 36)) as board:
        await ask(board)
        await asked(board)
        assert "worktree " in board.text()
        assert ".worktrees/clean" in board.text()
        assert "The branch clean stays." in board.text()
        await confirmed(board)
        await said(board, "clean is deleted.")
    assert not worktree.exists()
    assert "clean" in branches(repo)
    assert snapshot(repo) == before


async def test_lost_work_is_listed_and_wants_its_name_typed(start: Starter, repo: Path) -> None:
    """AB-078, invariant 6."""
    (worktree,) = shelved(start.paths, repo, "risky")
    commit(worktree, {"done.txt": "1\n"}, "Only here")
    write_files(worktree, {"README.md": "changed\n", "new.txt": "1\n"})
    async with start(size=(120, 40)) as board:
        await ask(board)
        await asked(board, ConfirmByName)
        text = board.text()
        for words in (
            *("and lose its work for good?", "LOST", "1 changed file", "README.md", "1 new file", "new.txt"),
            *("Only here", "The branch risky goes, too.", "type risky to agree"),
        ):
            assert words in text
        assert "The branch risky stays." not in text
        await board.pilot.press("y", "enter", "space")
        await board.pilot.pause(QUIET_S)
        await board.pilot.press("y")
        assert isinstance(board.app.screen, ConfirmByName)
        await board.pilot.press("ctrl+u", *"riskx", "backspace", "y", "enter")
        await board.pilot.press("space")
        await board.pilot.pause(QUIET_S)
        assert worktree.exists()
        await confirmed(board)
        await said(board, "risky is deleted.")
    assert not worktree.exists()
    assert branches(repo) == {"main"}
    assert not os.path.exists(start.paths.view("risky").dir)


@pytest.mark.parametrize("typed", ["", "risk", "risky"])
async def test_esc_keeps_it_however_much_was_typed(start: Starter, repo: Path, typed: str) -> None:
    (worktree,) = shelved(start.paths, repo, "risky")
    write_files(worktree, {"new.txt": "1\n"})
    async with start() as board:
        await ask(board)
        await asked(board, ConfirmByName)
        await board.pilot.press(*typed, "escape")
        await board.until(lambda: isinstance(board.app.screen, ArchivedScreen), "the list")
    assert (worktree / "new.txt").exists()
    assert "risky" in branches(repo)


async def test_what_has_come_since_the_question_is_not_lost(start: Starter, repo: Path) -> None:
    (worktree,) = shelved(start.paths, repo, "risky")
    write_files(worktree, {"new.txt": "1\n"})
    async with start(size=(120, 36)) as board:
        await ask(board)
        await asked(board, ConfirmByName)
        write_files(worktree, {"later.txt": "1\n"})
        await board.pilot.press(*"risky")
        await confirmed(board)
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
        assert not isinstance(board.app.screen, ConfirmByName)
        for words in ("Delete clean for good?", "2 tasks left out", "risky would lose 1 new file", "is locked"):
            assert words in board.text()
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
