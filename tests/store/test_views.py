"""Files with several authors: no update lost, unknown keys kept, no defaults written over bytes (FIELD-FAULTS 34)."""

import contextlib
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_board.errors import BoardError, BusyError, UsageError
from agent_board.store import locks, plain
from agent_board.store.files import Missing, read_json, write_json
from agent_board.store.load import load_view
from agent_board.store.paths import StorePaths, ViewPaths, home_from
from agent_board.store.records import Meta
from agent_board.store.views import (
    archived_ids,
    change_meta,
    change_roster,
    create_view,
    new_id,
    newer_store,
    open_store,
    view_ids,
)


def make(paths: StorePaths, view_id: str, name: str = "task") -> None:
    def fill(view: ViewPaths, taken: set[str]) -> None:
        plain.write(view.meta, Meta(1, view_id, name, "/", 1, 1))

    create_view(paths, view_id, fill)


def test_where_the_store_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/h")
    assert home_from("/x/../y", {}) == "/y"
    assert home_from(None, {"AGENT_BOARD_HOME": "~/z"}) == "/h/z"
    assert home_from(None, {}) == "/h/.pi/agent/agent-board"


def test_without_a_home_directory_nothing_is_put_into_the_present_one() -> None:
    """`~` stays as it is where nobody has that name, as in a container whose user has no entry."""
    with pytest.raises(UsageError, match="no home directory"):
        home_from("~nobody-has-this-name/board")


def test_a_new_store_is_private(tmp_path: Path) -> None:
    """AB-029, AB-089: directories 0700, files 0600."""
    paths = open_store(str(tmp_path / "deep" / "home"))
    make(paths, "aa")
    for folder, _, files in os.walk(paths.root):
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
        for name in files:
            assert stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode) == 0o600


def test_a_directory_that_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "thesis.tex").write_text("x")
    with pytest.raises(BoardError, match=r"not an agent-board store \(it holds thesis\.tex\)"):
        open_store(str(folder))
    assert os.listdir(folder) == ["thesis.tex"]


def test_a_file_in_the_place_of_the_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(BoardError, match="is not a directory"):
        open_store(str(tmp_path / "file"))
    with pytest.raises(BoardError, match="Can't make the store"):
        open_store(str(tmp_path / "file" / "below"))


def test_a_view_is_there_complete_or_not_at_all(store: StorePaths) -> None:
    def failing(view: ViewPaths, taken: set[str]) -> None:
        plain.write(view.meta, Meta(1, "bb", "x", "/", 1, 1))
        raise OSError(28, "No space left on device", view.meta)

    with pytest.raises(BoardError, match="No space left on device"):
        create_view(store, "bb", failing)
    assert os.listdir(store.views) == []
    assert isinstance(load_view(store, "bb"), Missing)


def name_ten(paths: StorePaths) -> None:
    """Create ten views, each named by how many names there were."""
    for _ in range(10):
        view_id = new_id()

        def fill(view: ViewPaths, taken: set[str], view_id: str = view_id) -> None:
            plain.write(view.meta, Meta(1, view_id, f"name-{len(taken)}", "/", 1, 1))

        create_view(paths, view_id, fill)


def count_up(paths: StorePaths) -> None:
    """Add one to a counter, 25 times."""

    def add(raw: dict[str, int]) -> None:
        raw["counter"] = raw.get("counter", 0) + 1

    done = 0
    while done < 25:
        with contextlib.suppress(BusyError):
            change_meta(paths, "aa", add)
            done += 1


def _four_at_once(what: Callable[[StorePaths], None], paths: StorePaths) -> None:
    """Four processes begin when all are there."""
    script = (
        "import os, sys, tests.store.test_views as here\n"
        "from agent_board.store.paths import StorePaths\n"
        "print('there', flush=True); sys.stdin.readline()\n"
        f"here.{what.__name__}(StorePaths({paths.root!r}))\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "there\n"
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in running:
        process.communicate(timeout=60)
        assert process.returncode == 0


def test_authors_at_once_lose_no_update(store: StorePaths) -> None:
    make(store, "aa")
    _four_at_once(count_up, store)
    raw = read_json(store.view("aa").meta)
    assert isinstance(raw, dict)
    assert raw["counter"] == 100


def test_creators_at_once_lose_no_view_and_share_no_name(store: StorePaths) -> None:
    _four_at_once(name_ten, store)
    roster = read_json(store.roster)
    assert isinstance(roster, dict)
    assert sorted(roster["views"]) == sorted(view_ids(store))
    names = [read_json(store.view(view_id).meta)["name"] for view_id in view_ids(store)]  # type: ignore[index]
    assert len(set(names)) == 40


def test_keys_of_a_newer_board_survive(store: StorePaths) -> None:
    make(store, "aa")
    write_json(store.view("aa").meta, {**read_json(store.view("aa").meta), "tags": ["x"]})  # type: ignore[dict-item]
    change_meta(store, "aa", lambda raw: raw.update(pinned=True))
    raw = read_json(store.view("aa").meta)
    assert isinstance(raw, dict)
    assert (raw["tags"], raw["pinned"]) == (["x"], True)


@pytest.mark.parametrize("content", [b"", b"{", b'{"version": 7}'])
def test_an_unreadable_meta_is_never_written_over(store: StorePaths, content: bytes) -> None:
    make(store, "aa")
    meta = Path(store.view("aa").meta)
    meta.write_bytes(content)
    with pytest.raises(BoardError, match="nothing was changed"):
        change_meta(store, "aa", lambda raw: raw.update(pinned=True))
    assert meta.read_bytes() == content


def test_a_torn_roster_is_rebuilt_from_the_views_and_kept_beside(store: StorePaths) -> None:
    make(store, "aa")
    make(store, "bb")
    change_meta(store, "bb", lambda raw: raw.update(archivedAt=5))
    Path(store.roster).write_bytes(b'{"version": 1, "vie')
    change_roster(store, lambda raw: None)
    roster = read_json(store.roster)
    assert isinstance(roster, dict)
    assert (roster["views"], roster["archived"]) == (["aa"], ["bb"])
    assert archived_ids(store) == {"bb"}
    assert [name for name in os.listdir(store.root) if name.startswith("roster.json.unreadable-")]


def test_a_newer_store_is_recognised_and_not_written(store: StorePaths) -> None:
    write_json(store.roster, {"version": 2, "views": []})
    assert newer_store(store) == "was written by a newer agent-board (version 2)"
    with pytest.raises(BoardError, match="newer agent-board"):
        make(store, "aa")
    assert os.listdir(store.views) == []
    assert read_json(store.roster) != {"version": 1}


def test_a_lock_that_is_held_makes_others_busy_and_is_free_afterwards(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    with locks.held(path), pytest.raises(BusyError, match="the store"):
        locks.acquire(path, patience=0.02)
    locks.release(locks.acquire(path, patience=0.02))
