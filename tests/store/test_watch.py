"""What changed on disk is told as views: at once where the system watches, soon where it can't."""

import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_board.store import watch as watching
from agent_board.store.paths import StorePaths
from agent_board.store.watch import Changes, Watch, read_roster, scan
from tests.support.fakestore import change_state, make_view, make_views, write


@pytest.fixture
def store_of_three(store: StorePaths) -> StorePaths:
    for view_id in ("a", "b", "c"):
        make_view(store, view_id)
    return store


@pytest.fixture
def watch(store_of_three: StorePaths) -> Iterator[Watch]:
    made = Watch(store_of_three, scan(store_of_three, set()))
    assert not made.wait(0)
    assert not made.polling
    yield made
    made.close()


def gather(watch: Watch, enough: set[str], *, seconds: float = 10.0) -> Changes:
    """Wait until all these views have been told, one way or the other."""
    total = Changes()
    deadline = time.monotonic() + seconds
    while not enough <= total.changed | total.gone:
        assert time.monotonic() < deadline, f"only {total} was told"
        found = watch.wait(1.0)
        total.changed |= found.changed
        total.gone |= found.gone
        total.active |= found.active
    return total


def test_a_replaced_file_names_its_view_and_no_other(watch: Watch, store: StorePaths) -> None:
    change_state(store, "b", summary="x")
    assert gather(watch, {"b"}).changed == {"b"}


def test_what_changed_between_reading_and_watching_is_not_lost(store_of_three: StorePaths) -> None:
    known = scan(store_of_three, set())
    change_state(store_of_three, "a", summary="meanwhile")
    make_view(store_of_three, "d")
    made = Watch(store_of_three, known)
    assert gather(made, {"a", "d"}).changed == {"a", "d"}
    made.close()


def test_files_that_are_no_part_of_a_row_are_not_told(watch: Watch, store: StorePaths) -> None:
    view = store.view("a")
    write(view.followups, {"version": 1, "items": []})
    Path(view.lock).touch()
    os.utime(view.dir)
    change_state(store, "b", summary="x")
    assert gather(watch, {"b"}).changed == {"b"}


def test_a_new_view_is_told_and_watched_from_then_on(watch: Watch, store: StorePaths) -> None:
    make_view(store, "new")
    gather(watch, {"new"})
    for turn in range(3):
        change_state(store, "new", summary=f"turn {turn}")
        assert gather(watch, {"new"}).changed == {"new"}


def test_a_view_that_was_built_aside_and_renamed_in_is_told(watch: Watch, store: StorePaths) -> None:
    make_view(store, ".new")
    os.rename(store.view(".new").dir, store.view("new").dir)
    assert gather(watch, {"new"}).changed == {"new"}


def test_a_removed_view_is_gone(watch: Watch, store: StorePaths) -> None:
    shutil.rmtree(store.view("a").dir)
    assert gather(watch, {"a"}).gone == {"a"}


def test_a_live_runs_own_files_mark_the_view_active(watch: Watch, store: StorePaths) -> None:
    run = store.view("a").run("r1")
    os.makedirs(run.dir)
    watch.follow({"a": "r1"})
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        write(run.status, {"version": 1, "at": time.monotonic()})
        if "a" in watch.wait(0.5).active:
            break
    else:
        raise AssertionError("the run's writing was never told")
    watch.follow({})


def test_many_new_views_are_all_told_and_watched(watch: Watch, store: StorePaths) -> None:
    ids = set(make_views(store, 100))
    gather(watch, ids)
    for view_id in ids:
        change_state(store, view_id, summary="again")
    assert gather(watch, ids).changed >= ids


def test_archived_views_are_counted_and_left_alone(store: StorePaths) -> None:
    ids = make_views(store, 2, archived=3)
    made = Watch(store, scan(store, read_roster(store).archived))
    made.wait(0)
    assert len(made.archived) == 3
    change_state(store, ids[-1], summary="x")
    change_state(store, ids[0], summary="x")
    assert gather(made, {ids[0]}).changed == {ids[0]}
    roster = json.loads(Path(store.roster).read_text())
    write(store.roster, roster | {"archived": roster["archived"][:2], "views": ids[:3]})
    assert gather(made, {ids[4]}).changed == {ids[4]}
    made.close()


@pytest.mark.parametrize("error", [OSError("OS file watch limit reached"), RuntimeError("no instances left")])
def test_refused_watching_becomes_polling_and_misses_nothing(
    store_of_three: StorePaths, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """DESIGN 4: live rows each second, everything each ten, and it says so."""

    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr("watchfiles._rust_notify.RustNotify", refuse)
    monkeypatch.setattr(watching, "POLL_S", 0.05)
    monkeypatch.setattr(watching, "LOOK_S", 0.2)
    made = Watch(store_of_three, scan(store_of_three, set()))
    made.wait(0)
    assert made.polling
    made.follow({"a": "r1"})
    for view_id in ("a", "b"):
        change_state(store_of_three, view_id, summary="x")
    make_view(store_of_three, "d")
    gather(made, {"a", "b", "d"})
    made.close()


def test_a_store_that_was_taken_away_and_made_anew_is_watched_again(
    store_of_three: StorePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "LOOK_S", 0.2)
    made = Watch(store_of_three, scan(store_of_three, set()))
    made.wait(0)
    shutil.rmtree(store_of_three.views)
    assert gather(made, {"a", "b", "c"}).gone == {"a", "b", "c"}
    os.mkdir(store_of_three.views)
    make_view(store_of_three, "z")
    gather(made, {"z"})
    made.close()


def test_close_ends_a_wait(watch: Watch) -> None:
    watch.close()
    assert not watch.wait(60)
