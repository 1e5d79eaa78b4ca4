"""Replies and hand-overs, whoever dies when: each prompt arrives once or waits visibly (DESIGN 5; invariant 5)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent_board.runs import followups
from agent_board.runs.reconcile import reconcile
from agent_board.runs.reply import reply, send
from agent_board.store.paths import StorePaths
from agent_board.store.records import SemanticState
from agent_board.store.views import view_ids
from tests.runs.accounts import lies, unaccounted
from tests.runs.test_delivery import crash
from tests.runs.views import received, settled, state_of, working
from tests.support.wait import wait_for

FIRST, SECOND, THIRD = "first\ndemo: say One.", "second\ndemo: say Two.", "third\ndemo: say Three."


@pytest.fixture(autouse=True)
def quick_demo(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_BOARD_DEMO_SPEED", "100")


def crashing_reply(view_id: str, text: str, *, launcher: str = "-", shim: str = "-") -> int:
    """Reply with a launcher or a shim that dies at a step; the launcher's exit code."""
    line = [sys.executable, "-m", "tests.runs.crash", launcher, shim, text, f"reply:{view_id}"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, cwd=Path(__file__).parents[2])
    assert done.returncode in (0, -9) or "was not sent." in done.stderr, done.stderr
    return done.returncode


@pytest.fixture
def view(store: StorePaths, project: Path) -> str:
    """A settled row."""
    crash(store, project, prompt=FIRST)
    (view_id,) = view_ids(store)
    assert settled(store, view_id).semantic_state is SemanticState.COMPLETED
    return view_id


def comes_to_rest(store: StorePaths, view_id: str) -> None:
    """Settled, true, and so for good."""
    settled(store, view_id)
    wait_for(lambda: not reconcile(store, view_id), what="rest")
    before = state_of(store, view_id)
    for _ in range(5):
        assert not reconcile(store, view_id)
    assert state_of(store, view_id) == before
    assert lies(store, view_id) == []


def send_what_waits(store: StorePaths, view_id: str) -> None:
    """The user's key on each prompt that waits; nothing else brings them on."""
    for prompt in followups.listed(store.view(view_id)):
        settled(store, view_id, run_id=send(store, view_id, prompt.id).run_id)


@pytest.mark.parametrize(
    ("step", "waits"),
    [
        ("prompt written", []),
        ("run built", []),
        ("claimed", ["not-sent"]),
        ("forgotten", ["not-sent"]),
        ("view there", ["not-sent"]),
        ("shim started", []),
    ],
)
def test_a_launcher_that_dies_while_it_replies(store: StorePaths, view: str, step: str, waits: list[str]) -> None:
    """Before the claim nothing was accepted; behind it the prompt waits or has a runner."""
    before = state_of(store, view)
    assert crashing_reply(view, SECOND, launcher=step) == -9
    comes_to_rest(store, view)
    accepted = [FIRST, SECOND] if waits or step == "shim started" else [FIRST]
    assert unaccounted(store, view, accepted) == []
    assert [prompt.state for prompt in followups.listed(store.view(view))] == waits
    if not waits and step != "shim started":
        assert state_of(store, view) == before
    send_what_waits(store, view)
    answer = reply(store, view, THIRD.encode())
    assert settled(store, view, run_id=answer.run_id).summary == "Three."
    assert received(store, view) == [*accepted, THIRD]


@pytest.mark.parametrize("step", ["started", "owner recorded", "gate started", "worker recorded", "gate open"])
def test_the_runner_of_a_reply_that_dies_before_its_agent_is_heard(store: StorePaths, view: str, step: str) -> None:
    assert crashing_reply(view, SECOND, shim=step) == (1 if step == "started" else 0)
    comes_to_rest(store, view)
    assert unaccounted(store, view, [FIRST, SECOND]) == []
    for prompt in followups.listed(store.view(view)):
        assert prompt.state == ("maybe-received" if step == "gate open" else "not-sent")
        assert state_of(store, view).reason == prompt.state
        assert state_of(store, view).held_prompts == 1
    send_what_waits(store, view)
    assert sorted(received(store, view)) == sorted([FIRST, SECOND])
    assert followups.listed(store.view(view)) == []
    assert state_of(store, view).held_prompts == 0


@pytest.mark.parametrize("step", ["accepted", "settled", "ended", "status written", "all written"])
def test_the_runner_of_a_reply_that_dies_later_has_delivered_it(store: StorePaths, view: str, step: str) -> None:
    assert crashing_reply(view, SECOND, shim=step) == 0
    comes_to_rest(store, view)
    assert received(store, view) == [FIRST, SECOND]
    assert followups.listed(store.view(view)) == []


@pytest.mark.parametrize(
    ("step", "states"),
    [
        ("status written", ["held", "held"]),
        ("all written", ["held", "held"]),
        ("next chosen", ["held", "held"]),
        ("next built", ["held", "held"]),
        ("next claimed", ["not-sent", "held"]),
        ("next forgotten", ["not-sent", "held"]),
        ("next queued", ["not-sent", "held"]),
        ("next started", []),
    ],
)
def test_a_runner_that_dies_while_it_hands_over(store: StorePaths, project: Path, step: str, states: list[str]) -> None:
    """DESIGN 5: behind a dead runner everything is held; its order stays, and nothing of it is lost or doubled."""
    go = project / "go"
    first = f"first\ndemo: say Going.; until {go}; say One."
    crash(store, project, shim=step, prompt=first)
    (view_id,) = view_ids(store)
    working(store, view_id)
    for text in (SECOND, THIRD):
        assert reply(store, view_id, text.encode()).followup_id
    go.touch()
    if states:
        wait_for(lambda: _held(store, view_id) and len(followups.listed(store.view(view_id))) == 2, 20, "the hold")
    else:
        wait_for(lambda: len(received(store, view_id)) == 3, 20, "the successors")
    comes_to_rest(store, view_id)
    assert unaccounted(store, view_id, [first, SECOND, THIRD]) == []
    waiting = followups.listed(store.view(view_id))
    assert [prompt.state for prompt in waiting] == states
    assert state_of(store, view_id).held_prompts == len(states)
    send_what_waits(store, view_id)
    assert received(store, view_id) == [first, SECOND, THIRD]
    assert state_of(store, view_id).held_prompts == 0


def _held(store: StorePaths, view_id: str) -> bool:
    reconcile(store, view_id)
    return all(prompt.state != "waiting" for prompt in followups.listed(store.view(view_id)))


def test_a_launcher_that_dies_behind_its_acceptance_changes_nothing(store: StorePaths, project: Path) -> None:
    """The prompt is on disk with an id: its shim will find it."""
    go = project / "go"
    first = f"first\ndemo: say Going.; until {go}; say One."
    crash(store, project, prompt=first)
    (view_id,) = view_ids(store)
    working(store, view_id)
    assert crashing_reply(view_id, SECOND, launcher="waiting") == -9
    assert [prompt.state for prompt in followups.listed(store.view(view_id))] == ["waiting"]
    go.touch()
    wait_for(lambda: state_of(store, view_id).summary == "Two.", 20, "the follow-up")
    comes_to_rest(store, view_id)
    assert received(store, view_id) == [first, SECOND]


def test_replies_at_the_very_end_of_a_run_are_never_lost(store: StorePaths, project: Path, view: str) -> None:
    """The shim looks for the last time while others add: each is delivered, in some order, or waits visibly."""
    texts = [FIRST]
    for turn in range(8):
        text = f"turn {turn}\ndemo: say Answer {turn}."
        reply(store, view, text.encode())
        texts.append(text)
    wait_for(lambda: len(received(store, view)) == len(texts), 30, "all of them")
    comes_to_rest(store, view)
    assert received(store, view) == texts
    assert os.listdir(project) == []
