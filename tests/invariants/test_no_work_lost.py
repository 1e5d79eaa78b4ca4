"""Invariants 6 and 7: nothing goes that was not shown, and the user's own checkout stays byte for byte."""

import os
from pathlib import Path

import pytest

from agent_board.git.changes import changes
from agent_board.git.listing import list_worktrees
from agent_board.git.merge import plan_merge
from agent_board.git.removal import WorkAtRiskError, plan_removal
from agent_board.git.repository import identify
from agent_board.runs.delete import delete, plan_delete
from agent_board.runs.dispatch import Order, dispatch
from agent_board.store import plain
from agent_board.store.paths import StorePaths
from agent_board.store.records import Meta
from tests.git.repo import git
from tests.runs.views import settled


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository whose index is out of date: its file was touched, so every `git status` would write it anew."""
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "notes.md").write_text("one\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    os.utime(folder / "notes.md", (1_000_000_000, 1_000_000_000))
    return folder


def in_a_worktree(store: StorePaths, repo: Path) -> tuple[str, Path]:
    """A settled task with a worktree of its own."""
    task = dispatch(store, Order(b"demo: say Done.", str(repo), agent="demo", worktree="on"))
    settled(store, task.view_id)
    meta = plain.read(Meta, store.view(task.view_id).meta)
    assert isinstance(meta, Meta)
    return task.view_id, Path(meta.worktree_path or "")


def test_consent_to_a_deletion_is_for_what_was_shown(store: StorePaths, repo: Path) -> None:
    """Work that came behind the question stays, and so does the row."""
    view_id, worktree = in_a_worktree(store, repo)
    (worktree / "shown.md").write_text("agreed\n")
    shown = plan_delete(store, view_id)
    assert shown.loses
    (worktree / "later.md").write_text("nobody agreed\n")
    with pytest.raises(WorkAtRiskError, match="changed since"):
        delete(store, view_id, shown=shown, discard_work=True)
    assert (worktree / "later.md").read_text() == "nobody agreed\n"
    assert os.path.exists(store.view(view_id).meta)


def test_a_worktree_that_could_not_be_shown_stays(
    store: StorePaths, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git could not tell when the user was asked; what it tells now he has not seen."""
    view_id, worktree = in_a_worktree(store, repo)
    (worktree / "work.md").write_text("never shown\n")
    with monkeypatch.context() as without_git:
        without_git.setenv("PATH", str(repo))
        shown = plan_delete(store, view_id)
    assert shown.worktree is None
    gone = delete(store, view_id, shown=shown, discard_work=True)
    assert str(worktree) not in gone.goes
    assert (worktree / "work.md").read_text() == "never shown\n"
    assert not os.path.exists(store.view(view_id).dir)


def test_looking_writes_nothing_into_the_users_checkout(store: StorePaths, repo: Path) -> None:
    """Git refreshes an index by the way when it is only asked for the state of things: not here."""
    index = repo / ".git" / "index"
    before = (index.read_bytes(), index.stat().st_mtime_ns, index.stat().st_ino)
    place = identify(str(repo))
    changes(str(repo), place.head)
    list_worktrees(place)
    view_id, worktree = in_a_worktree(store, repo)
    (worktree / "new.md").write_text("to merge\n")
    assert plan_merge(str(worktree), place).uncommitted == ("new.md",)
    (worktree / "new.md").unlink()
    plan_removal(str(worktree), repository=str(repo))
    delete(store, view_id, shown=plan_delete(store, view_id))
    assert (index.read_bytes(), index.stat().st_mtime_ns, index.stat().st_ino) == before
