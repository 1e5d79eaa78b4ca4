"""Replies and follow-ups: exactly once, in order, or visibly waiting (DESIGN 5; invariant 5; FIELD-FAULTS 28, 45)."""

import os
import signal
from pathlib import Path

import pytest

from agent_board.errors import BoardError, UsageError
from agent_board.runs import followups
from agent_board.runs.processes import Liveness, probe
from agent_board.runs.reconcile import reconcile
from agent_board.runs.reply import load_draft, mark_seen, reply, retry, save_draft, send
from agent_board.runs.stop import stop
from agent_board.store import locks, plain
from agent_board.store.paths import StorePaths
from agent_board.store.records import Meta, RunRequest, SemanticState, ShimPid
from agent_board.store.views import change_meta
from tests.runs.views import own_processes, received, settled, start, state_of, status_of, working
from tests.support.wait import wait_for

ASKS = "ask Keep the old name or drop it?"


def waiting(store: StorePaths, view_id: str) -> list[tuple[str, str]]:
    return [(item.text, item.state) for item in followups.listed(store.view(view_id))]


@pytest.mark.parametrize(
    ("script", "state"),
    [
        (ASKS, SemanticState.NEEDS_INPUT),
        ("say Done.", SemanticState.COMPLETED),
        ("fail 429 quota", SemanticState.FAILED),
    ],
)
def test_a_settled_row_goes_on_in_the_same_session(
    store: StorePaths, project: Path, script: str, state: SemanticState
) -> None:
    """AB-025, AB-092, AB-105."""
    done = start(store, project, script)
    assert settled(store, done.view_id).semantic_state is state
    text = "-keep it\n\n/really!\n@all   \ndemo: say Kept."
    answer = reply(store, done.view_id, text.encode())
    assert answer.run_id is not None
    assert answer.followup_id is None
    assert settled(store, done.view_id, run_id=answer.run_id).summary == "Kept."
    assert received(store, done.view_id)[1:] == [text]
    request = plain.read_or_none(RunRequest, store.view(done.view_id).run(answer.run_id).request)
    assert request is not None
    assert (request.kind, request.seq, request.resume) == ("reply", 2, True)


def test_a_stopped_row_goes_on_when_the_user_replies_and_only_then(store: StorePaths, project: Path) -> None:
    done = start(store, project, "work 60")
    working(store, done.view_id)
    stop(store, done.view_id)
    assert settled(store, done.view_id).semantic_state is SemanticState.STOPPED
    answer = reply(store, done.view_id, b"demo: say On again.")
    assert settled(store, done.view_id, run_id=answer.run_id).summary == "On again."


def test_replies_to_a_working_row_wait_their_turn_and_go_in_order(store: StorePaths, project: Path) -> None:
    go = project / "go"
    done = start(store, project, f"say Going.; until {go}; say First done.")
    working(store, done.view_id)
    texts = [f"number {number}\ndemo: say Answer {number}." for number in range(3)]
    answers = [reply(store, done.view_id, text.encode()) for text in texts]
    assert all(answer.run_id is None and answer.followup_id for answer in answers)
    assert waiting(store, done.view_id) == [(text, "waiting") for text in texts]
    go.touch()
    wait_for(lambda: state_of(store, done.view_id).summary == "Answer 2.", 20, "the last answer")
    assert received(store, done.view_id)[1:] == texts
    assert waiting(store, done.view_id) == []
    assert settled(store, done.view_id).held_prompts == 0


@pytest.mark.parametrize("ending", [ASKS, "fail 429 quota", "crash boom"])
def test_after_a_bad_end_what_waits_is_held_until_the_user_sends_it(
    store: StorePaths, project: Path, ending: str
) -> None:
    go = project / "go"
    done = start(store, project, f"say Going.; until {go}; {ending}")
    working(store, done.view_id)
    held = reply(store, done.view_id, b"demo: say Held one.")
    go.touch()
    assert settled(store, done.view_id).held_prompts == 1
    assert waiting(store, done.view_id) == [("demo: say Held one.", "held")]
    # A reply goes ahead of it and does not take it along, even though it ends well.
    answer = reply(store, done.view_id, b"demo: say The reply.")
    state = settled(store, done.view_id, run_id=answer.run_id)
    assert (state.semantic_state, state.held_prompts) == (SemanticState.COMPLETED, 1)
    assert waiting(store, done.view_id) == [("demo: say Held one.", "held")]
    sent = send(store, done.view_id, held.followup_id or "")
    assert settled(store, done.view_id, run_id=sent.run_id).summary == "Held one."
    assert waiting(store, done.view_id) == []
    assert len(received(store, done.view_id)) == 3


def test_a_waiting_prompt_can_be_changed_and_dropped(store: StorePaths, project: Path) -> None:
    go = project / "go"
    done = start(store, project, f"say Going.; until {go}; say First done.")
    working(store, done.view_id)
    view = store.view(done.view_id)
    first = reply(store, done.view_id, b"drop me").followup_id or ""
    second = reply(store, done.view_id, b"change me").followup_id or ""
    assert followups.drop(store, view, first) == "drop me"
    followups.edit(store, view, second, "demo: say Changed.")
    with pytest.raises(BoardError, match="still running"):
        send(store, done.view_id, second)
    go.touch()
    wait_for(lambda: state_of(store, done.view_id).summary == "Changed.", 20, "the changed one")
    settled(store, done.view_id)
    with pytest.raises(BoardError, match="waits here any more"):
        followups.drop(store, view, second)
    with pytest.raises(BoardError, match="waits here any more"):
        followups.edit(store, view, second, "late")
    assert received(store, done.view_id)[1:] == ["demo: say Changed."]


def test_a_long_reply_arrives_whole(store: StorePaths, project: Path) -> None:
    done = start(store, project, "say Done.")
    settled(store, done.view_id)
    text = "demo: say Long.\n" + "日本語 text\r\n" * 6000
    answer = reply(store, done.view_id, text.encode())
    settled(store, done.view_id, run_id=answer.run_id)
    assert Path(store.view(done.view_id).run(answer.run_id or "").prompt).read_bytes() == text.encode()


def kill_shim(store: StorePaths, view_id: str, run_id: str) -> None:
    owner = plain.read(ShimPid, store.view(view_id).run(run_id).pid)
    assert isinstance(owner, ShimPid)
    os.kill(owner.identity.pid, signal.SIGKILL)
    wait_for(lambda: probe(owner.identity) is Liveness.GONE, what="the shim to be gone")


def test_what_waits_behind_a_dead_shim_is_held(store: StorePaths, project: Path) -> None:
    done = start(store, project, "say Going.; work 60")
    working(store, done.view_id)
    reply(store, done.view_id, b"demo: say Later.")
    kill_shim(store, done.view_id, done.run_id)
    os.kill(status_of(store, done.view_id, done.run_id).pid or 0, signal.SIGKILL)
    state = settled(store, done.view_id)
    assert (state.semantic_state, state.held_prompts) == (SemanticState.FAILED, 1)
    assert waiting(store, done.view_id) == [("demo: say Later.", "held")]
    for _ in range(5):
        reconcile(store, done.view_id)
    assert len(received(store, done.view_id)) == 1


def test_a_reply_to_an_orphan_waits_and_is_held_when_it_has_ended(store: StorePaths, project: Path) -> None:
    """DESIGN 11: exit 0 and it waits; after the worker's end it is held."""
    done = start(store, project, "wait 30")
    wait_for(lambda: own_processes(done.run_id), what="the run")
    wait_for(lambda: os.path.exists(store.view(done.view_id).run(done.run_id).started), what="the gate to open")
    kill_shim(store, done.view_id, done.run_id)
    answer = reply(store, done.view_id, b"demo: say Later.")
    assert answer.followup_id
    assert state_of(store, done.view_id).reason == "orphan"
    stop(store, done.view_id)
    assert settled(store, done.view_id).held_prompts == 1
    assert waiting(store, done.view_id) == [("demo: say Later.", "held")]


def test_retry_sends_the_last_prompt_once_more(store: StorePaths, project: Path) -> None:
    done = start(store, project, "fail 503 overloaded")
    settled(store, done.view_id)
    again = retry(store, done.view_id)
    assert settled(store, done.view_id, run_id=again.run_id).semantic_state is SemanticState.FAILED
    first, second = received(store, done.view_id)
    assert first == second


def test_a_living_row_is_not_retried(store: StorePaths, project: Path) -> None:
    done = start(store, project, "work 60")
    working(store, done.view_id)
    with pytest.raises(BoardError, match="still running"):
        retry(store, done.view_id)
    stop(store, done.view_id)
    settled(store, done.view_id)


def test_bad_replies_are_one_sentence_and_change_nothing(store: StorePaths, project: Path) -> None:
    done = start(store, project, "say Done.")
    before = settled(store, done.view_id)
    with pytest.raises(UsageError, match="prompt is empty"):
        reply(store, done.view_id, b" \n")
    with pytest.raises(UsageError, match="not valid UTF-8"):
        reply(store, done.view_id, b"\xff")
    with pytest.raises(BoardError, match="no task"):
        reply(store, "nosuchview", b"hello")
    change_meta(store, done.view_id, lambda raw: raw.update(archivedAt=5))
    with pytest.raises(BoardError, match="archived; restore it first"):
        reply(store, done.view_id, b"hello")
    change_meta(store, done.view_id, lambda raw: raw.update(archivedAt=None))
    Path(store.view(done.view_id).state).write_bytes(b"{torn")
    with pytest.raises(BoardError, match=r"state\.json is torn"):
        reply(store, done.view_id, b"hello")
    assert Path(store.view(done.view_id).state).read_bytes() == b"{torn"
    assert len(received(store, done.view_id)) == 1
    assert before.change_seq == 1


def test_a_directory_that_is_gone_is_said_before_anything_is_accepted(store: StorePaths, project: Path) -> None:
    done = start(store, project, "say Done.")
    settled(store, done.view_id)
    project.rmdir()
    with pytest.raises(BoardError, match="does not exist"):
        reply(store, done.view_id, b"hello")


def test_answering_and_looking_make_a_row_read(store: StorePaths, project: Path) -> None:
    done = start(store, project, ASKS)
    state = settled(store, done.view_id)
    mark_seen(store, done.view_id)
    meta = plain.read_or_none(Meta, store.view(done.view_id).meta)
    assert meta is not None
    assert meta.seen_seq == state.change_seq == 1


def test_a_draft_is_kept_and_removed(store: StorePaths, project: Path) -> None:
    done = start(store, project, "say Done.")
    settled(store, done.view_id)
    save_draft(store, done.view_id, "half a\r\nthought")
    assert load_draft(store, done.view_id) == "half a\r\nthought"
    assert os.stat(store.view(done.view_id).draft).st_mode & 0o777 == 0o600
    save_draft(store, done.view_id, "")
    save_draft(store, done.view_id, "")
    assert load_draft(store, done.view_id) == ""


def test_a_reply_in_the_last_moment_of_a_bad_end_is_held(store: StorePaths, project: Path) -> None:
    """The run has counted what waits and not yet given its lock back: whoever comes then must not wait for nobody."""
    done = start(store, project, ASKS)
    settled(store, done.view_id)
    view = store.view(done.view_id)
    lock = locks.acquire(view.lock)
    late = followups.add(store, view, "late")
    followups.hold_and_release(store, view, lock)
    locks.release(locks.acquire(view.lock, patience=0))
    assert [(prompt.id, prompt.state) for prompt in followups.listed(view)] == [(late, "held")]
    assert state_of(store, done.view_id).held_prompts == 1
    lock = locks.acquire(view.lock)
    with locks.held(store.store_lock):  # somebody sits on the store: the view is given back all the same
        followups.hold_and_release(store, view, lock)
    locks.release(locks.acquire(view.lock, patience=0))
