"""state.json from a status, the verdict on top, and what explain says (AB-054, AB-055, AB-063)."""

import dataclasses

import pytest

from agent_board.agents import events as ev
from agent_board.states.explain import _MEANINGS, explain
from agent_board.states.view import project, shown
from agent_board.store.records import Meta, ProcessState, RunStatus, SemanticState, State, Tool, Verdict
from tests.states.worlds import ACCEPTED, SETTLED, after, exited, fresh, said

META = Meta(version=1, id="v1", name="auth", cwd="/src", created_at=500, updated_at=500)
DONE = Verdict(SemanticState.COMPLETED, "r1", 7_000)


def ended(status: RunStatus, run_id: str = "r1") -> RunStatus:
    return dataclasses.replace(status, process_state=ProcessState.EXITED, run_id=run_id)


def test_a_states_age_counts_from_when_it_was_entered():
    queued = project(None, after(ACCEPTED), now_ms=2_000)
    assert (queued.state_since, queued.change_seq) == (2_000, 0)
    working = project(queued, after(ACCEPTED, said("x", "tool")), now_ms=3_000)
    assert working.state_since == 1_000, "work counts from the run's beginning"
    done = project(working, ended(exited(ACCEPTED, said("Fixed it."), SETTLED)), now_ms=4_000)
    again = project(done, ended(exited(ACCEPTED, said("Fixed it."), SETTLED)), now_ms=9_000)
    assert (done.state_since, again.state_since, again.updated_at) == (4_000, 4_000, 9_000)


def test_each_settling_counts_once():
    """What unread is told by: settled or asked since last seen."""
    asking = after(ACCEPTED, ev.RequestOpened("q", "permission", "May I?"))
    first = project(None, asking, now_ms=1)
    same = project(first, asking, now_ms=2)
    working = project(same, after(ACCEPTED, said("x", "tool")), now_ms=3)
    done = project(working, ended(exited(ACCEPTED, said("Fixed it."), SETTLED)), now_ms=4)
    next_run = project(done, ended(exited(ACCEPTED, said("Fixed that."), SETTLED), "r2"), now_ms=5)
    assert [state.change_seq for state in (first, same, working, done, next_run)] == [1, 1, 1, 2, 3]
    assert next_run.state_since == 5


def test_the_last_tool_stays_named_within_its_run():
    """Also of a tool that came and went between two writes."""
    idle = project(None, after(ev.ToolStarted("t", "edit", "a.py"), ev.ToolEnded("t", "edit"), said("x")), now_ms=2)
    assert idle.latest_tool == Tool("edit", "a.py")
    assert project(idle, fresh(run_id="r2"), now_ms=3).latest_tool is None


def test_marks_are_passed_on():
    state = project(None, after(said("x", "tool")), now_ms=1, attached=True, held_prompts=2, stalled_since=9)
    assert (state.attached, state.held_prompts, state.stalled_since) == (True, 2, 9)
    gone = project(state, ended(exited(ACCEPTED)), now_ms=2, stalled_since=9)
    assert gone.stalled_since is None
    assert (gone.has_error, gone.needs_input) == (True, False)


def settled(question: bool = False) -> State:
    words = "SQLite or Postgres?" if question else "Fixed it."
    return project(None, ended(exited(ACCEPTED, said(words), SETTLED)), now_ms=3_000)


def test_a_verdict_shows_on_its_own_run_only():
    """AB-063, invariant 4."""
    asking = settled(question=True)
    assert shown(META, asking).question == "SQLite or Postgres?"
    seen = shown(dataclasses.replace(META, verdict=DONE), asking)
    assert (seen.state, seen.verdict, seen.question, seen.since) == (SemanticState.COMPLETED, True, None, 7_000)
    outdated = shown(dataclasses.replace(META, verdict=dataclasses.replace(DONE, run_id="r0")), asking)
    assert (outdated.state, outdated.verdict) == (SemanticState.NEEDS_INPUT, False)
    alive = dataclasses.replace(asking, process_state=ProcessState.ALIVE)
    assert shown(dataclasses.replace(META, verdict=DONE), alive).verdict is False


def test_unread_is_what_changed_since_it_was_seen():
    state = settled()
    assert shown(META, state).unread
    assert not shown(dataclasses.replace(META, seen_seq=1), state).unread


def test_a_view_without_a_state_waits():
    seen = shown(META, None)
    assert (seen.state, seen.alive, seen.since) == (SemanticState.QUEUED, False, 500)
    assert explain(META, None, None) == ["queued: it has no state yet; its first run has not begun."]


def test_explain_names_the_rule_and_the_evidence():
    status = ended(exited(ACCEPTED, said("SQLite or Postgres?"), SETTLED))
    state = project(None, status, now_ms=1)
    text = "\n".join(explain(META, state, status))
    for part in ("needs_input: SQLite or Postgres?", "“question”", "exited", "exit code 0", "the prompt was accepted"):
        assert part in text
    assert "Its last words: …SQLite or Postgres?" in text
    verdict = "\n".join(explain(dataclasses.replace(META, verdict=DONE), state, status))
    assert "Your verdict counts (completed); by itself it would be needs_input." in verdict
    assert "can't be read" in explain(META, state, None)[-1]


def test_explain_shows_what_a_living_run_waits_for():
    status = after(ACCEPTED, ev.RequestOpened("q7", "permission", "May I?"), ev.RetryStarted(1, 3, "503"))
    state = project(None, status, now_ms=1, stalled_since=1)
    text = "\n".join(explain(META, state, status))
    assert "Open request q7 (permission): May I?" in text
    assert "It retries (1 of 3) after: 503" in text
    assert "stalled" in text


@pytest.mark.parametrize(
    "status",
    [
        exited(code=1),
        exited(),
        exited(ACCEPTED),
        exited(ACCEPTED, code=-9),
        exited(ACCEPTED, code=3),
        exited(ACCEPTED, said("", "length")),
        exited(ACCEPTED, said("", "error")),
        exited(ACCEPTED, ev.RetryEnded(False, "x"), SETTLED),
        exited(command=True),
        exited(stop_requested=True),
        exited(outside=True),
        exited(open_ended=True),
        exited(ev.Reported("completed")),
        after(),
        after(said("x")),
    ],
    ids=lambda status: status.reason,
)
def test_every_rule_has_a_meaning(status: RunStatus):
    assert status.reason in _MEANINGS
