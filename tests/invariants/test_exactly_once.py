"""Invariant 5: a prompt reaches the agent once or waits visibly; and a stop is not outrun by what waits (8)."""

import os
from pathlib import Path

import pytest

from agent_board import resources
from agent_board.errors import BoardError
from agent_board.runs import followups, launch, stop
from agent_board.runs.claim import claim, run_ids
from agent_board.runs.processes import marked
from agent_board.runs.reply import reply
from agent_board.runs.succession import begin, next_request
from agent_board.store import locks, plain
from agent_board.store.paths import StorePaths, ViewPaths
from agent_board.store.records import Meta, RunRequest, SemanticState
from tests.invariants.worlds import request_of
from tests.runs.views import received, settled, start, state_of, working
from tests.support.wait import wait_for


@pytest.fixture
def view(store: StorePaths, project: Path) -> ViewPaths:
    """A row that is completed."""
    view_id = start(store, project, "say Done.").view_id
    settled(store, view_id)
    locks.release(locks.acquire(store.view(view_id).lock, patience=20))  # its runner has let go
    return store.view(view_id)


def request_for(view: ViewPaths, prompt_id: str, text: str) -> RunRequest:
    meta = plain.read(Meta, view.meta)
    assert isinstance(meta, Meta)
    last = request_of_view(view)
    return next_request(view, last, meta, prompt_id=prompt_id, kind="followup", text=text)


def request_of_view(view: ViewPaths) -> RunRequest:
    found = plain.read(RunRequest, view.run(run_ids(view)[-1]).request)
    assert isinstance(found, RunRequest)
    return found


def test_a_claimed_prompt_is_neither_listed_nor_sent_again(store: StorePaths, view: ViewPaths) -> None:
    """DESIGN 5: whatever followups.json still says, a prompt that a request names waits no longer."""
    prompt_id = followups.add(store, view, "demo: say Once.")
    with locks.held(view.lock) as lock:
        item = followups.next_or_release(store, view, os.dup(lock))
        assert item is not None
        assert item.id == prompt_id
        claim(view, request_for(view, prompt_id, item.text), item.text.encode())
        assert followups.listed(view) == []
        assert followups.next_or_release(store, view, os.dup(lock)) is None
    for act in (lambda: followups.drop(store, view, prompt_id), lambda: followups.item_of(view, prompt_id)):
        with pytest.raises(BoardError, match="sent or dropped"):
            act()


@pytest.mark.parametrize("change", ["edit", "drop"])
def test_what_was_changed_behind_the_choice_is_not_sent_as_it_was(
    store: StorePaths, view: ViewPaths, change: str
) -> None:
    """The runner has chosen the prompt, then the user edits or drops it and is told that it is done."""
    prompt_id = followups.add(store, view, "demo: say Old.")
    request = request_for(view, prompt_id, "demo: say Old.")
    if change == "edit":
        followups.edit(store, view, prompt_id, "demo: say New.")
    else:
        followups.drop(store, view, prompt_id)
    with locks.held(view.lock) as lock, pytest.raises(BoardError, match=r"changed meanwhile|sent or dropped"):
        begin(store, request, b"demo: say Old.", lock)
    assert run_ids(view) == run_ids(view)[:1]
    assert [item.text for item in followups.listed(view)] == (["demo: say New."] if change == "edit" else [])


def test_the_last_look_and_the_lock_go_in_one(store: StorePaths, view: ViewPaths) -> None:
    """While somebody adds a prompt the runner can't look for the last time and let go."""
    with locks.held(view.lock) as lock:
        mine = os.dup(lock)
        released_under: list[bool] = []
        real = locks.release

        def releasing(fd: int) -> None:
            with pytest.raises(BoardError):
                locks.acquire(store.store_lock, patience=0)
            released_under.append(True)
            real(fd)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(locks, "release", releasing)
            assert followups.next_or_release(store, view, mine) is None
    assert released_under


def test_a_stop_is_found_by_who_claims_the_next_prompt(store: StorePaths, view: ViewPaths) -> None:
    """The user said stop while the run ended by itself: what waits is not sent."""
    prompt_id = followups.add(store, view, "demo: say Next.")
    request = request_for(view, prompt_id, "demo: say Next.")
    intent = view.run(run_ids(view)[-1]).stop
    Path(intent).touch()
    with locks.held(view.lock) as lock, pytest.raises(BoardError, match="stopped"):
        begin(store, request, b"demo: say Next.", lock, unless=intent)
    assert len(run_ids(view)) == 1
    assert [item.id for item in followups.listed(view)] == [prompt_id]


def test_a_stop_follows_to_the_run_that_has_begun_meanwhile(
    store: StorePaths, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other order: the next prompt was claimed just before the intent was written."""
    go = project / "go"
    task = start(store, project, f"say Going.; until {go}; say Done.")
    working(store, task.view_id)
    reply(store, task.view_id, b"demo: say Going on.; hang")
    view = store.view(task.view_id)
    real = vars(stop)["_write_intent"]

    def ending_first(run: object) -> None:
        if len(run_ids(view)) == 1:
            go.touch()
            wait_for(lambda: len(run_ids(view)) == 2, what="the next run")
        real(run)

    monkeypatch.setattr(stop, "_write_intent", ending_first)
    assert stop.stop(store, task.view_id) == "Stopping."
    state = settled(store, task.view_id, run_id=run_ids(view)[1])
    assert state.semantic_state is SemanticState.STOPPED
    wait_for(lambda: not marked(run_ids(view)[1]), what="all of it to be gone")


def test_a_runner_that_is_slow_to_begin_has_not_failed(
    store: StorePaths, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody may call its prompt unsent: it would be sent twice."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    slow = tmp_path / "slow.py"
    slow.write_text(
        "import os, runpy, sys\n"
        "if os.fork():\n    os._exit(0)\n"
        f"open({str(gate)!r}).read()\n"
        "os.fork = lambda: 0\n"
        f"runpy.run_path({resources.JOB_RUNNER!r}, run_name='__main__')\n"
    )
    monkeypatch.setattr(launch, "JOB_RUNNER", str(slow))
    monkeypatch.setattr(launch, "READY_WITHIN_S", 0.2)
    task = start(store, project, "say Done.")
    state = state_of(store, task.view_id)
    assert (state.semantic_state, followups.listed(store.view(task.view_id))) == (SemanticState.QUEUED, [])
    with open(gate, "w"):
        pass
    assert settled(store, task.view_id).semantic_state is SemanticState.COMPLETED
    assert len(received(store, task.view_id)) == 1
    assert request_of(store, task.view_id, task.run_id).seq == 1


def test_nothing_starts_a_run_twice(store: StorePaths, project: Path, view: ViewPaths) -> None:
    """`started` is made exclusively: a second runner of the same run finds it and sends nothing."""
    run_id = run_ids(view)[-1]
    lock = locks.acquire(view.lock)
    os.unlink(view.run(run_id).status)
    launch.launch(store, view.view_id, run_id, lock)
    locks.release(lock)
    locks.release(locks.acquire(view.lock, patience=20))
    assert len(received(store, view.view_id)) == 1
