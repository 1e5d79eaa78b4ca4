"""The archived list: found, restored, deleted after being shown exactly what goes."""

import os
import subprocess
from pathlib import Path

import pytest

from agent_board.board.screens.archived import ArchivedScreen
from agent_board.board.screens.confirm import QUIET_S, Confirm
from agent_board.board.screens.confirm_name import ConfirmName
from agent_board.git.create import create
from agent_board.git.repository import identify
from agent_board.store.paths import StorePaths
from agent_board.store.records import SemanticState
from agent_board.store.views import archived_ids
from tests.board.conftest import Running, Starter
from tests.board.test_rows import confirmed, meta, said
from tests.support.fakestore import make_view, write

S = SemanticState


def shelf(start: Starter) -> None:
    """One task on the board, three archived: c last."""
    make_view(start.paths, "live", name="on-the-board")
    for number, name in enumerate("abc"):
        state = S.COMPLETED if name != "b" else S.FAILED
        make_view(start.paths, name, name=f"task-{name}", state=state, pinned=name == "a", archived=True)
        raw = meta(start.paths, name)
        transcript = start.paths.session(name)
        write(start.paths.view(name).meta, raw | {"archivedAt": 1_000 + number, "sessionFile": transcript})
        Path(transcript).write_text("{}\n")
    write(start.paths.roster, {"version": 1, "views": ["live"], "archived": ["a", "b", "c"]})


async def open_archive(board: Running, rows: int = 3) -> ArchivedScreen:
    await board.pilot.press("A")
    await board.until(lambda: isinstance(board.app.screen, ArchivedScreen), "the archived list")
    screen = board.app.screen
    assert isinstance(screen, ArchivedScreen)
    await board.until(lambda: len(screen.listing.rows) == rows, "its rows")
    await board.pilot.pause()
    return screen


def files(paths: StorePaths, view_id: str) -> list[bool]:
    return [os.path.exists(paths.view(view_id).dir), os.path.exists(paths.session(view_id))]


async def test_it_shows_the_newest_first_and_restores_with_one_key(start: Starter) -> None:
    shelf(start)
    async with start() as board:
        screen = await open_archive(board)
        assert [row.id for row in screen.listing.index.rows()] == ["c", "b", "a"]
        assert "ARCHIVED 3" in board.text()
        await board.pilot.press("G", "enter")
        await said(board, "task-a is back on the board.")
        await board.until(lambda: archived_ids(start.paths) == {"b", "c"} and len(screen.listing.rows) == 2)
        await board.pilot.press("escape")
        await board.until(lambda: "a" in board.screen.listing.rows, "the row on the board")
        row = board.screen.listing.rows["a"]
        assert (row.name, row.pinned, row.state) == ("task-a", True, S.COMPLETED)


async def test_it_is_filtered_and_esc_goes_back_step_by_step(start: Starter) -> None:
    shelf(start)
    async with start() as board:
        screen = await open_archive(board)
        await board.pilot.press("slash", *"s:failed", "enter")
        await board.until(lambda: "task-b" in board.text() and "task-c" not in board.text(), "the filtered list")
        await board.pilot.press("m")
        assert screen.listing.marked == {"b"}
        await board.pilot.press("escape")
        assert not screen.listing.marked
        await board.pilot.press("escape")
        assert "task-c" in board.text()
        await board.pilot.press("escape")
        await board.until(lambda: not isinstance(board.app.screen, ArchivedScreen), "the board")
        assert board.app.is_running


async def test_delete_shows_exactly_what_goes_and_wants_a_y(start: Starter) -> None:
    """Invariant 6."""
    shelf(start)
    async with start() as board:
        screen = await open_archive(board)
        await board.pilot.press("D")
        await board.until(lambda: isinstance(board.app.screen, Confirm), "the question")
        text = board.text()
        for words in ("Delete task-c for good?", "views/c", "sessions/c.jsonl", "can't be undone"):
            assert words in text
        await confirmed(board)
        await said(board, "task-c is deleted.")
        assert files(start.paths, "c") == [False, False]
        assert files(start.paths, "b") == [True, True]
        assert files(start.paths, "live")[0]
        await board.until(lambda: len(screen.listing.rows) == 2, "the shorter list")


@pytest.mark.parametrize("keys", [["enter"], ["space"], ["D", "D", "D"], ["escape"], ["n"]])
async def test_no_other_key_deletes(start: Starter, keys: list[str]) -> None:
    """FIELD-FAULTS 46."""
    shelf(start)
    async with start() as board:
        await open_archive(board)
        await board.pilot.press("D")
        await board.until(lambda: isinstance(board.app.screen, Confirm) and board.app.screen.listening, "the question")
        await board.pilot.press(*keys)
        await board.pilot.pause(QUIET_S)
        assert all(files(start.paths, name) == [True, True] for name in "abc")


async def test_several_are_deleted_and_each_is_named(start: Starter) -> None:
    shelf(start)
    async with start() as board:
        await open_archive(board)
        await board.pilot.press("m", "m", "D")
        await board.until(lambda: isinstance(board.app.screen, Confirm), "the question")
        for words in ("Delete 2 tasks for good?", "task-c", "views/c", "task-b", "views/b"):
            assert words in board.text()
        assert "views/a" not in board.text()
        await confirmed(board)
        await said(board, "2 tasks are deleted.")
        assert [files(start.paths, name)[0] for name in "abc"] == [True, False, False]


async def test_a_transcript_that_the_board_did_not_make_stays(start: Starter, tmp_path: Path) -> None:
    shelf(start)
    own = tmp_path / "own.jsonl"
    own.write_text("{}\n")
    write(start.paths.view("c").meta, meta(start.paths, "c") | {"sessionFile": str(own)})
    async with start(size=(120, 36)) as board:
        await open_archive(board)
        await board.pilot.press("D")
        await board.until(lambda: isinstance(board.app.screen, Confirm), "the question")
        assert "This stays, the board did not make it" in board.text()
        await confirmed(board)
        await said(board, "task-c is deleted.")
        assert own.exists()


async def test_an_unreadable_archived_task_is_there_and_can_be_deleted(start: Starter) -> None:
    shelf(start)
    Path(start.paths.view("b").meta).write_bytes(b"{")
    async with start() as board:
        screen = await open_archive(board)
        assert "meta.json is torn" in board.text()
        assert screen.listing.select_row("b")
        await board.pilot.press("D")
        await confirmed(board)
        await said(board, "b is deleted.")
        assert not files(start.paths, "b")[0]


async def test_keys_of_the_board_say_what_to_do_first(start: Starter) -> None:
    shelf(start)
    async with start() as board:
        await board.pilot.press("D")
        await said(board, "Data is deleted from the archived list")
        await open_archive(board)
        await board.pilot.press("s")
        await said(board, "Restore the task first (enter)")
        await board.pilot.press("A")
        await board.until(lambda: not isinstance(board.app.screen, ArchivedScreen), "the board")


async def test_without_archived_tasks_the_key_says_so(start: Starter) -> None:
    make_view(start.paths, "live", name="on-the-board")
    async with start() as board:
        await board.pilot.press("A")
        await said(board, "No task is archived.")


# -- where work would be lost


def with_work(start: Starter, name: str) -> Path:
    """An archived task with a worktree of its own that holds a change nowhere else; returns the worktree."""
    repository = Path(start.cwd)
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "begin"]):
        subprocess.run(["git", "-C", str(repository), *command], check=True)
    place = identify(str(repository))
    made = repository / ".worktrees" / name
    create(place, path=str(made), branch=name, base=str(place.head))
    (made / "only-here.txt").write_text("work\n")
    transcript = start.paths.session(name)
    make_view(start.paths, name, name=f"task-{name}", archived=True)
    raw = meta(start.paths, name) | {"archivedAt": 5_000, "sessionFile": transcript, "repoRoot": str(repository)}
    raw |= {"cwd": str(made), "worktreePath": str(made), "branch": name}
    write(start.paths.view(name).meta, raw)
    write(start.paths.roster, {"version": 1, "views": ["live"], "archived": ["a", "b", "c", name]})
    return made


async def test_lost_work_is_named_and_wants_the_name_typed(start: Starter) -> None:
    """Invariant 6: neither `y` nor enter nor another name is consent."""
    shelf(start)
    work = with_work(start, "w")
    async with start(size=(120, 36)) as board:
        screen = await open_archive(board, 4)
        await board.pilot.press("g", "D")
        await board.until(lambda: isinstance(board.app.screen, ConfirmName), "the question")
        await board.pilot.pause()
        text = board.text()
        for words in ("Delete task-w for good?", "nowhere else", "only-here.txt", "worktree", "Type the task's name"):
            assert words in text
        assert "stays" not in text
        await board.pilot.press("y", "enter")
        await board.until(lambda: "That is not the name." in board.text(), "the refusal")
        await board.pilot.press("backspace", *"task-w", "enter")
        await board.pilot.pause(0.1)
        assert isinstance(board.app.screen, ConfirmName), "typed in a burst, like a paste"
        assert work.exists()
        await board.pilot.pause(QUIET_S)
        await board.pilot.press("enter")
        await said(board, "task-w is deleted.")
        assert not work.exists()
        assert not files(start.paths, "w")[0]
        assert subprocess.run(["git", "-C", start.cwd, "branch", "--list", "w"], capture_output=True).stdout == b""
        await board.until(lambda: len(screen.listing.rows) == 3, "the shorter list")


async def test_esc_keeps_the_work(start: Starter) -> None:
    shelf(start)
    work = with_work(start, "w")
    async with start(size=(120, 36)) as board:
        await open_archive(board, 4)
        await board.pilot.press("g", "D")
        await board.until(lambda: isinstance(board.app.screen, ConfirmName), "the question")
        await board.pilot.press("escape")
        await board.until(lambda: isinstance(board.app.screen, ArchivedScreen), "the list")
        assert (work / "only-here.txt").exists()


async def test_of_several_what_would_lose_work_is_left_out(start: Starter) -> None:
    shelf(start)
    work = with_work(start, "w")
    async with start(size=(120, 36)) as board:
        await open_archive(board, 4)
        await board.pilot.press("g", "m", "m", "D")
        await board.until(lambda: "Delete task-c for good?" in board.text(), "the question")
        assert "1 marked task left out: deleting task-w would lose" in board.text()
        await confirmed(board)
        await said(board, "task-c is deleted.")
        assert (work / "only-here.txt").exists()
        assert files(start.paths, "w")[0]
