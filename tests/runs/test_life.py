"""The life of a row: rename, pin, done, archive, undo, delete (UX 2; invariants 4, 6; FIELD-FAULTS 8, 17, 46)."""

import errno
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from agent_board.errors import BoardError, UsageError
from agent_board.runs import life
from agent_board.runs.delete import delete, plan_delete
from agent_board.runs.reply import mark_seen, reply
from agent_board.runs.stop import stop
from agent_board.states.view import Shown, shown
from agent_board.store import locks, plain, views
from agent_board.store.files import Unreadable, read_json
from agent_board.store.paths import StorePaths
from agent_board.store.records import Meta, SemanticState, State
from agent_board.store.views import archived_ids, change_meta, view_ids
from tests.runs.views import own_processes, settled, start, state_of, working
from tests.support.wait import wait_for

ASKS = "ask Keep the old name or drop it?"


@pytest.fixture(autouse=True)
def quick_demo(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_BOARD_DEMO_SPEED", "100")


@pytest.fixture
def view(store: StorePaths, project: Path) -> str:
    """A settled row that asks, named work."""
    view_id = start(store, project, ASKS).view_id
    settled(store, view_id)
    life.rename(store, view_id, "work")
    return view_id


def meta_of(store: StorePaths, view_id: str) -> Meta:
    meta = plain.read(Meta, store.view(view_id).meta)
    assert isinstance(meta, Meta)
    return meta


def row(store: StorePaths, view_id: str) -> Shown:
    """What the user sees."""
    return shown(meta_of(store, view_id), state_of(store, view_id))


def facts(store: StorePaths, view_id: str) -> dict[str, Any]:
    """The view's meta.json but for when it was changed."""
    raw = read_json(store.view(view_id).meta)
    assert isinstance(raw, dict)
    return {key: value for key, value in raw.items() if key != "updatedAt"}


# Names


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("fix it", "fix it"),
        ("  fix\t it  ", "fix it"),
        ("修复测试", "修复测试"),
        ("-rf", "-rf"),
        ("a/b\\c", "a/b\\c"),
        ("x" * 100, "x" * 100),
        ("[bold]no markup[/]", "[bold]no markup[/]"),
    ],
)
def test_a_name_is_kept_as_it_is(store: StorePaths, view: str, name: str, kept: str) -> None:
    """AB-071."""
    assert life.rename(store, view, name) == kept
    assert meta_of(store, view).name == kept


@pytest.mark.parametrize(
    "name",
    ["", "   ", "\n", "x" * 300, "全" * 51, "bell\x07", "\x1b]0;owned\x07", "a\u202eb", "a\u200db", "zero\0", "other"],
)
def test_a_bad_name_changes_nothing(store: StorePaths, project: Path, view: str, name: str) -> None:
    other = start(store, project, "say Hello.").view_id
    settled(store, other)
    life.rename(store, other, "other")
    life.archive(store, other)  # a name is taken by an archived row, too: it may come back
    before = Path(store.view(view).meta).read_bytes()
    with pytest.raises(UsageError):
        life.rename(store, view, name)
    assert Path(store.view(view).meta).read_bytes() == before


def test_two_boards_can_not_give_one_name_twice(store: StorePaths, project: Path, view: str) -> None:
    other = start(store, project, "say Hello.").view_id
    settled(store, other)
    outcomes: list[str] = []

    def give(view_id: str) -> None:
        try:
            outcomes.append(life.rename(store, view_id, "wanted"))
        except UsageError:
            outcomes.append("refused")

    threads = [threading.Thread(target=give, args=(view_id,)) for view_id in (view, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["refused", "wanted"]


def test_a_living_row_can_be_renamed_and_pinned(store: StorePaths, project: Path) -> None:
    """The shim and the user write different files: neither loses a word of the other's."""
    task = start(store, project, "say Going.; hang")
    working(store, task.view_id)
    life.rename(store, task.view_id, "while it works")
    life.pin(store, task.view_id)
    stop(store, task.view_id)
    assert settled(store, task.view_id).semantic_state is SemanticState.STOPPED
    meta = meta_of(store, task.view_id)
    assert (meta.name, meta.pinned) == ("while it works", True)


def test_keys_of_a_newer_version_survive(store: StorePaths, view: str) -> None:
    """FIELD-FAULTS 34."""
    change_meta(store, view, lambda raw: raw.update(fromTheFuture={"a": 1}))
    life.pin(store, view)
    life.done(store, view)
    life.archive(store, view)
    life.undo(store)
    assert facts(store, view)["fromTheFuture"] == {"a": 1}


# Verdicts


def test_done_is_the_users_word_until_the_next_run(store: StorePaths, view: str) -> None:
    """Invariant 4, FIELD-FAULTS 8: no classifier overwrites it, a new run outdates it."""
    mark_seen(store, view)
    before = state_of(store, view)
    life.done(store, view)
    seen = row(store, view)
    assert (seen.state, seen.question, seen.verdict) == (SemanticState.COMPLETED, None, True)
    assert state_of(store, view) == before
    with pytest.raises(BoardError, match="completed already"):
        life.done(store, view)
    answer = reply(store, view, f"demo: {ASKS}".encode())
    settled(store, view, run_id=answer.run_id)
    assert (row(store, view).state, row(store, view).verdict) == (SemanticState.NEEDS_INPUT, False)


def test_reopen_shows_what_the_run_came_to(store: StorePaths, project: Path, view: str) -> None:
    with pytest.raises(BoardError, match="not completed"):
        life.reopen(store, view)
    life.done(store, view)
    life.reopen(store, view)
    assert row(store, view).state is SemanticState.NEEDS_INPUT
    completed = start(store, project, "say Done.").view_id
    settled(store, completed)
    life.reopen(store, completed)
    assert row(store, completed).state is SemanticState.IDLE
    life.done(store, completed)
    assert row(store, completed).state is SemanticState.COMPLETED


def test_a_living_row_takes_no_verdict(store: StorePaths, project: Path) -> None:
    task = start(store, project, "say Going.; hang")
    working(store, task.view_id)
    for act in (life.done, life.reopen, life.archive, delete):
        with pytest.raises(BoardError, match="still running; stop it first"):
            act(store, task.view_id)
    assert meta_of(store, task.view_id).verdict is None
    assert os.path.exists(store.session(task.view_id))
    stop(store, task.view_id)
    settled(store, task.view_id)


# Archive, restore, undo


def test_an_archived_row_comes_back_as_it_was(store: StorePaths, view: str) -> None:
    """FIELD-FAULTS 46: row, state, pin and name."""
    life.pin(store, view)
    before, state = facts(store, view), state_of(store, view)
    life.archive(store, view)
    assert archived_ids(store) == {view}
    life.restore(store, view)
    assert archived_ids(store) == set()
    life.archive(store, view)
    assert life.undo(store) == "Undone: archive of “work”."
    assert (facts(store, view), state_of(store, view)) == (before, state)
    assert archived_ids(store) == set()
    with pytest.raises(BoardError, match="is not archived"):
        life.restore(store, view)


def test_restore_can_be_undone_too(store: StorePaths, view: str) -> None:
    life.archive(store, view)
    life.restore(store, view)
    life.undo(store)
    assert archived_ids(store) == {view}
    assert meta_of(store, view).archived_at is not None


def test_archived_rows_are_counted_and_not_read(store: StorePaths, view: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """FIELD-FAULTS 37."""
    from agent_board.cli import views

    life.archive(store, view)
    looked: list[str] = []
    monkeypatch.setattr(views, "load_view", lambda _, view_id: looked.append(view_id))
    assert views.all_views(store, archived=False) == []
    assert looked == []


def test_each_undo_takes_one_act_back(store: StorePaths, view: str) -> None:
    before = facts(store, view)
    life.pin(store, view)
    life.done(store, view)
    life.reopen(store, view)
    life.rename(store, view, "other")
    for _ in range(4):
        life.undo(store)
    assert facts(store, view) == before
    assert life.undo(store) == "Undone: rename of “work-demo-ask-keep-the-old-name-or-drop”."
    with pytest.raises(BoardError, match="nothing to undo"):
        life.undo(store)


def test_what_changed_nothing_is_no_act(store: StorePaths, view: str) -> None:
    life.pin(store, view)
    life.pin(store, view)
    life.undo(store)
    assert not meta_of(store, view).pinned


def test_undo_refuses_what_was_changed_since(store: StorePaths, view: str) -> None:
    life.rename(store, view, "mine")
    change_meta(store, view, lambda raw: raw.update(name="another board's"))
    with pytest.raises(BoardError, match="has been changed since"):
        life.undo(store)
    assert meta_of(store, view).name == "another board's"


def test_undo_does_not_give_a_name_that_is_taken_by_now(store: StorePaths, project: Path, view: str) -> None:
    life.rename(store, view, "new")
    other = start(store, project, "say Hello.").view_id
    settled(store, other)
    change_meta(store, other, lambda raw: raw.update(name="work"))
    with pytest.raises(BoardError, match="named “work” by now"):
        life.undo(store)
    assert (meta_of(store, view).name, meta_of(store, other).name) == ("new", "work")


def test_a_torn_journal_stops_no_act(store: StorePaths, view: str) -> None:
    Path(f"{store.root}/undo.json").write_text("{torn")
    with pytest.raises(BoardError, match="nothing to undo"):
        life.undo(store)
    Path(f"{store.root}/undo.json").write_text("{torn")
    life.pin(store, view)
    assert meta_of(store, view).pinned
    life.undo(store)
    assert not meta_of(store, view).pinned
    kept = [path for path in Path(store.root).iterdir() if ".unreadable-" in path.name]
    assert {path.read_text() for path in kept} == {"{torn"}


# Unreadable


@pytest.mark.parametrize("torn", ["meta", "state"])
def test_an_unreadable_row_can_be_archived_restored_and_deleted(store: StorePaths, view: str, torn: str) -> None:
    """FIELD-FAULTS 17: and its bytes stay as they are until then."""
    path = Path(getattr(store.view(view), torn))
    path.write_bytes(b"{torn")
    life.archive(store, view)
    assert archived_ids(store) == {view}
    life.restore(store, view)
    assert archived_ids(store) == set()
    for act in (life.done, life.reopen):
        with pytest.raises(BoardError, match="can't be read"):
            act(store, view)
    assert path.read_bytes() == b"{torn"
    plan = delete(store, view)
    assert set(plan.goes) == {store.view(view).dir, store.session(view)}
    assert view_ids(store) == []
    assert not os.path.exists(store.session(view))


# Delete


def test_delete_removes_what_it_showed_and_nothing_else(store: StorePaths, project: Path, view: str) -> None:
    (project / "precious.txt").write_text("mine")
    other = start(store, project, "say Hello.").view_id
    settled(store, other)
    plan = plan_delete(store, view)
    assert (plan.view_id, plan.name) == (view, "work")
    assert set(plan.goes) == {store.view(view).dir, store.session(view)}
    assert plan.bytes > os.path.getsize(store.session(view))
    assert delete(store, view).goes == plan.goes
    assert view_ids(store) == [other]
    assert os.listdir(store.views) == [other]
    assert not any(os.path.lexists(path) for path in plan.goes)
    assert (project / "precious.txt").read_text() == "mine"
    roster = read_json(store.roster)
    assert isinstance(roster, dict)
    assert roster["views"] == [other]
    for act in (delete, plan_delete):
        with pytest.raises(BoardError, match="no task"):
            act(store, view)


def test_an_adopted_transcript_stays(store: StorePaths, view: str, tmp_path: Path) -> None:
    mine = tmp_path / "mine.jsonl"
    mine.write_text("{}\n")
    change_meta(store, view, lambda raw: raw.update(sessionFile=str(mine)))
    plan = delete(store, view)
    assert plan.stays == (str(mine),)
    assert mine.exists()


def test_no_link_is_followed(store: StorePaths, view: str, tmp_path: Path) -> None:
    """FIELD-FAULTS 17: links inside the view, in place of the transcript, or in place of the view itself."""
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("mine")
    os.symlink(precious, f"{store.view(view).dir}/link")
    os.symlink(precious, f"{store.view(view).runs}/0009-link")
    session = Path(store.session(view))
    session.unlink()
    session.symlink_to(precious / "file")
    delete(store, view)
    assert (precious / "file").read_text() == "mine"
    assert not os.path.lexists(session)
    assert not os.path.lexists(store.view(view).dir)


def test_on_a_full_disk_what_is_deleted_makes_room(
    store: StorePaths, view: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is to be written before the data has gone; a roster that can't be written at all is no failure."""
    data, there = store.view(view).dir, []

    def no_room(path: str, *_: object, **__: object) -> None:
        there.append(os.listdir(store.views))
        raise OSError(errno.ENOSPC, "No space left on device", path)

    monkeypatch.setattr(views, "write_json", no_room)
    delete(store, view)
    assert there == [[]]
    assert not os.path.exists(data)
    assert view_ids(store) == []


def test_what_the_disk_refuses_is_named_once(store: StorePaths, view: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(path: str, *_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", path)

    monkeypatch.setattr(views, "write_json", no_room)
    with pytest.raises(BoardError) as refused:
        life.rename(store, view, "another")
    assert str(refused.value).count("meta.json") == 1


@pytest.mark.parametrize("which", ["its own", "another"])
def test_an_interrupted_delete_is_finished_by_the_next(store: StorePaths, view: str, which: str) -> None:
    """What the user wanted gone goes, the conversation too, whichever task is deleted next."""
    gone = view if which == "its own" else "0123456789"
    leaving = Path(f"{store.views}/.deleted-{gone}")
    leaving.mkdir()
    (leaving / "old").write_text("x")
    Path(store.session(gone)).write_text("x")
    delete(store, view)
    assert os.listdir(store.views) == []
    assert os.listdir(store.sessions) == []


def test_deletes_at_once_finish_an_interrupted_one_and_hold_nobody_up(store: StorePaths, project: Path) -> None:
    """The store lock is for moments: who waits a second for it gives up, and so much data may take longer to remove."""
    leaving = Path(f"{store.views}/.deleted-0123456789")
    for number in range(200):
        (leaving / str(number)).mkdir(parents=True)
        (leaving / str(number) / "old").write_text("x")
    tasks = [start(store, project, "say Done.") for _ in range(4)]
    for task in tasks:
        settled(store, task.view_id)
    wait_for(lambda: not any(own_processes(task.run_id) for task in tasks), what="their runners to have let go")
    with locks.held(store.store_lock), ThreadPoolExecutor(len(tasks)) as pool:
        for deleting in [pool.submit(delete, store, task.view_id) for task in tasks]:
            deleting.result(30)
        assert os.listdir(store.views) == []


def test_a_view_in_use_is_not_deleted(store: StorePaths, view: str) -> None:
    """Whatever its files say: the lock decides."""
    with locks.held(store.view(view).lock), pytest.raises(BoardError, match="still running"):
        delete(store, view)
    assert isinstance(plain.read(State, store.view(view).state), State)


def test_a_newer_store_is_left_alone(store: StorePaths, view: str) -> None:
    Path(store.roster).write_text('{"version": 99}')
    assert isinstance(read_json(store.roster), Unreadable)
    for act in (life.pin, life.done, life.archive, life.restore, delete):
        with pytest.raises(BoardError, match="newer"):
            act(store, view)
    assert view_ids(store) == [view]
    assert os.path.exists(store.session(view))
