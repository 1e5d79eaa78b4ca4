"""What a task changed, seen on the board, and taken over: real repositories, real merges."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from agent_board.board.app import BoardApp
from agent_board.board.model.changes_lines import changes_lines
from agent_board.board.model.glyphs import UNICODE
from agent_board.board.model.wrapping import plain
from agent_board.board.screens.changes import ChangesPage
from agent_board.board.screens.confirm import QUIET_S, Confirm
from agent_board.board.screens.merging import CommitMessage
from agent_board.board.taking_over import Seen, Work
from agent_board.git.changes import Changes, Commit, FileChange
from agent_board.store import locks
from agent_board.store.paths import StorePaths
from agent_board.store.records import SemanticState
from tests.board.conftest import Running, Starter
from tests.board.test_pictures import Still
from tests.board.test_rows import confirmed, meta, said
from tests.git.repo import add_worktree, commit, git, make_repo, snapshot
from tests.git.repo import write as write_files
from tests.support.fakestore import make_view, write


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "shop")


@pytest.fixture
def worktree(repo: Path) -> Path:
    return add_worktree(repo)


def place(paths: StorePaths, view_id: str, cwd: Path, **more: object) -> None:
    """Say where a fake task works."""
    write(paths.view(view_id).meta, meta(paths, view_id) | {"cwd": str(cwd), "repoRoot": str(cwd)} | more)


@pytest.fixture
def isolated(start: Starter, repo: Path, worktree: Path) -> str:
    """A finished task in a worktree, with a commit, a change and a new file."""
    make_view(start.paths, "w", name="add-new")
    base = git(repo, "rev-parse", "HEAD")
    place(start.paths, "w", repo, worktreePath=str(worktree), branch="task", baseRef=base, worktreeMode="on")
    commit(worktree, {"README.md": "one\ntwo\n"}, "Say [red]two[/red]")
    write_files(worktree, {"new.txt": "\x1b[31mloud\n"})
    return base


def flat(board: Running) -> str:
    """What is on the screen, wherever lines are broken: paths are longer on some machines."""
    return " ".join(board.text().split())


async def look(board: Running, words: str, key: str = "f") -> ChangesPage:
    await board.pilot.press(key)
    await board.until(lambda: isinstance(board.app.screen, ChangesPage) and words in flat(board), words)
    page = board.app.screen
    assert isinstance(page, ChangesPage)
    return page


async def asked_for_message(board: Running) -> None:
    await board.until(
        lambda: isinstance(board.app.screen, CommitMessage) and "First commit" in flat(board), "the message"
    )
    await board.until(lambda: isinstance(board.app.focused, Input), "the input")


async def test_f_shows_commits_uncommitted_and_new_files(start: Starter, isolated: str) -> None:
    """AB-106, invariant 9: text of an agent is data."""
    async with start(size=(220, 40)) as board:  # wide enough for whatever the temporary directory is called
        await look(board, "2 files, +2 -0")
        text = board.text()
        for words in (
            *("1 commit ahead", "with uncommitted changes", "Say [red]two[/red]", "M  README.md", "A  new.txt"),
            *("uncommitted", "+two", "+[31mloud", isolated[:8], "to branch task in"),
        ):
            assert " ".join(words.split()) in " ".join(text.split())
        assert "\x1b" not in text
        await board.pilot.press("escape")
        await board.until(lambda: not isinstance(board.app.screen, ChangesPage), "the board")


async def test_it_is_looked_at_again_while_it_is_open(start: Starter, isolated: str, worktree: Path) -> None:
    async with start() as board:
        await look(board, "2 files")
        write_files(worktree, {"later.txt": "x\n"})
        await board.until(lambda: "later.txt" in board.text(), "the new file")


async def test_f_works_while_peek_is_open(start: Starter, isolated: str) -> None:
    async with start(size=(140, 40)) as board:
        await board.pilot.press("space")
        await board.until(lambda: "f changes" in board.lines()[-1], "peek and its hints")
        await board.until(lambda: f"from {isolated[:8]}" in board.text(), "where it works")
        assert "branch task" in board.text()
        await look(board, "2 files")


async def test_a_task_in_place_is_compared_with_what_is_checked_out(start: Starter, repo: Path) -> None:
    make_view(start.paths, "p", name="in-place")
    place(start.paths, "p", repo)
    write_files(repo, {"README.md": "mine\n"})
    before = snapshot(repo)
    async with start() as board:
        await look(board, "1 file, +1 -1")
        assert "against HEAD" in flat(board)
        await board.pilot.press("M")
        await said(board, "in-place works in place; its changes are there already.")
    assert snapshot(repo) == before


async def test_in_a_plain_directory_one_sentence_says_why_not(start: Starter, tmp_path: Path) -> None:
    plain_place = tmp_path / "plain"
    plain_place.mkdir()
    make_view(start.paths, "d", name="no-git")
    place(start.paths, "d", plain_place)
    async with start(size=(220, 40)) as board:
        await look(board, "is not in a git checkout")


async def test_merge_commits_first_shows_the_commands_and_wants_a_y(
    start: Starter, isolated: str, repo: Path, worktree: Path
) -> None:
    """AB-109: the message is shown and editable; neither enter nor space merges."""
    before = snapshot(repo)
    async with start(size=(120, 36)) as board:
        page = await look(board, "2 files")
        await board.pilot.press("M")
        await asked_for_message(board)
        assert "First commit 1 uncommitted file on task" in board.text()
        field = board.app.screen.query_one(Input)
        assert field.value == "add-new"
        await board.pilot.press(*" too", "enter")
        await board.until(lambda: isinstance(board.app.screen, Confirm) and board.app.screen.listening, "the question")
        text = " ".join(board.text().split())
        for words in ("Merge task into main", "add --all", "commit -m 'add-new too'", "merge --no-edit task"):
            assert words in text
        await board.pilot.press("enter", "space")
        await board.pilot.pause(QUIET_S)
        assert snapshot(repo) == before
        await confirmed(board)
        await said(board, "Merged task into main")
        await board.until(lambda: board.app.screen is page and "2 commits ahead" in board.text(), "what there is now")
    assert git(repo, "log", "-1", "--format=%s") == "add-new too"
    assert (repo / "new.txt").exists()
    assert git(worktree, "status", "--porcelain") == ""


@pytest.mark.parametrize("leave_at", [CommitMessage, Confirm])
async def test_esc_leaves_both_sides_as_they_are(
    start: Starter, isolated: str, repo: Path, worktree: Path, leave_at: type
) -> None:
    before = snapshot(repo)
    async with start() as board:
        await board.pilot.press("M")
        await asked_for_message(board)
        if leave_at is Confirm:
            await board.pilot.press("enter")
            await board.until(lambda: isinstance(board.app.screen, Confirm), "the question")
        await board.pilot.press("escape")
        await board.until(lambda: isinstance(board.app.screen, ChangesPage), "the changes")
    assert snapshot(repo) == before
    assert git(worktree, "status", "--porcelain") == "?? new.txt"


async def test_a_commit_without_a_message_is_not_made(start: Starter, isolated: str) -> None:
    async with start() as board:
        await board.pilot.press("M")
        await asked_for_message(board)
        board.app.screen.query_one(Input).value = "  "
        await board.pilot.press("enter")
        await board.until(lambda: "A commit needs a message." in board.text(), "the complaint")


async def test_a_merge_into_a_dirty_checkout_is_refused_with_its_sentence(
    start: Starter, isolated: str, repo: Path
) -> None:
    """Invariant 7."""
    write_files(repo, {"README.md": "mine\n"})
    before = snapshot(repo)
    async with start() as board:
        await look(board, "2 files")
        await board.pilot.press("M")
        await said(board, "has uncommitted changes (README.md)")
        assert isinstance(board.app.screen, ChangesPage)
    assert snapshot(repo) == before


async def test_a_branch_that_changed_after_the_question_is_not_merged(
    start: Starter, isolated: str, repo: Path, worktree: Path
) -> None:
    before = snapshot(repo)
    async with start() as board:
        await board.pilot.press("M")
        await asked_for_message(board)
        await board.pilot.press("enter")
        await board.until(lambda: isinstance(board.app.screen, Confirm), "the question")
        commit(worktree, {"more.txt": "x\n"}, "More")
        await confirmed(board)
        await said(board, "has changed since the merge was shown")
    assert snapshot(repo) == before


async def test_a_running_task_is_not_merged(start: Starter, isolated: str) -> None:
    make_view(start.paths, "r", name="at-work", state=SemanticState.WORKING, worktree=True)
    async with start() as board:
        assert board.screen.listing.select_row("r")
        await board.pilot.press("M")
        await said(board, "at-work is still running; stop it first (s) to merge it.")
        assert board.screen.listing.select_row("w")
        lock = locks.acquire(start.paths.view("w").lock)
        try:
            await look(board, "2 files")
            await board.pilot.press("M")
            await said(board, "still running")
        finally:
            locks.release(lock)


def test_what_is_long_is_bounded_and_what_is_binary_is_marked() -> None:
    files = tuple(FileChange(f"src/{number:04}.py", "modified", 1, 2) for number in range(600))
    files = (FileChange("logo.png", "added", None, None), FileChange("b\x1b.py", "renamed", 0, 0, "a.py"), *files)
    commits = tuple(Commit(f"{number:040x}", "Go on") for number in range(100))
    patch = (
        "diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- a\n+++ b\n+"
        + "y" * 5000
        + "\ndiff --git a/logo.png b/logo.png\nBinary files /dev/null and b/logo.png differ\n"
    )
    laid = changes_lines(Changes("1" * 40, "2" * 40, files, commits, 240, patch, patch_cut=True), 80, UNICODE)
    text = [plain(line) for line in laid.lines]
    assert any("A  logo.png" in line and "binary" in line for line in text)
    assert any("R  a.py -> b .py" in line for line in text)
    assert any("102 more files" in line for line in text)
    assert any("220 more commits" in line for line in text)
    assert "agent-board diff" in text[-1]
    assert [text[line] for line in laid.files] == ["x", "logo.png"]
    assert ("--- a", "error") in [piece for line in laid.lines for piece in line]
    assert sum(line.count("y") for line in text[laid.files[0] :]) < 1200
    assert max(map(len, text)) <= 80


FOUND = Seen(
    "3f2a91c0 to branch login-page in ~/src/api/.worktrees/login-page",
    Changes(
        "3f2a91c0" * 5,
        "a" * 40,
        (
            FileChange("docs/login.png", "added", None, None),
            FileChange("src/login.py", "modified", 4, 1),
            FileChange("tests/test_login.py", "added", 12, 0, uncommitted=True),
            FileChange("src/session.py", "renamed", 0, 2, "src/sessions.py"),
        ),
        (Commit("9c1d" * 10, "Say what is wrong with the password"), Commit("5e0b" * 10, "Rename sessions")),
        2,
        "diff --git a/src/login.py b/src/login.py\nindex 1..2 100644\n--- a/src/login.py\n+++ b/src/login.py\n"
        "@@ -1,4 +1,7 @@ def login(name, password):\n     user = find(name)\n-    return user.check(password)\n"
        "+    if user is None:\n+        raise Unknown(name)\n+    if not user.check(password):\n"
        "+        raise Wrong(name)\n"
        "diff --git a/tests/test_login.py b/tests/test_login.py\nnew file mode 100644\nindex 0..3\n--- /dev/null\n"
        "+++ b/tests/test_login.py\n@@ -0,0 +1,12 @@\n+from login import login\n+\n+\n+def test_unknown():\n",
        patch_cut=False,
    ),
)


def test_how_it_looks(start: Starter, snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_board.board.feed.Watch", Still)
    monkeypatch.setattr(Work, "look", lambda _: FOUND)
    make_view(start.paths, "w", name="login-page", worktree=True)
    app, _ = start.app()
    shown = threading.Event()

    async def ready(pilot: Pilot[Any]) -> None:
        assert isinstance(pilot.app, BoardApp)
        while not (pilot.app.board.news.loaded and pilot.app.board.agents):
            await pilot.pause(0.02)
        await pilot.press("f")
        while not shown.is_set():
            await pilot.pause(0.02)
            page = pilot.app.screen
            if isinstance(page, ChangesPage) and len(page.body.lines) > 10:
                shown.set()
        await pilot.pause()

    assert snap_compare(app, terminal_size=(100, 36), run_before=ready)
