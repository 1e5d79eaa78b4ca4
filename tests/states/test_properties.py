"""Whatever comes in whatever order: states stay true, texts stay clean, nothing raises (field faults A1…A3)."""

import dataclasses
import json
from collections.abc import Sequence

from hypothesis import given

from agent_board.agents import events as ev
from agent_board.states.decide import decide, derive
from agent_board.states.explain import explain
from agent_board.states.observe import observe
from agent_board.states.view import project, shown
from agent_board.store.exact import exact
from agent_board.store.records import Meta, ProcessState, RunStatus, SemanticState, encode
from agent_board.text import clean_block, clean_line
from tests.states.worlds import ENDS, EVENTS, fresh

META = Meta(version=1, id="v1", name="x", cwd="/", created_at=1, updated_at=1)


def folded(events: Sequence[ev.Event], ends: dict[str, object]) -> RunStatus:
    status = fresh()
    for at, event in enumerate(events):
        status = derive(observe(status, event, at))
    return derive(dataclasses.replace(status, evidence=dataclasses.replace(status.evidence, **ends)))  # type: ignore[arg-type]


@given(EVENTS, ENDS)
def test_failed_means_an_error_and_asking_means_a_question(events: Sequence[ev.Event], ends: dict[str, object]):
    status = folded(events, ends)
    assert (status.semantic_state is SemanticState.FAILED) == bool(status.error)
    assert (status.semantic_state is SemanticState.NEEDS_INPUT) == bool(status.question)
    assert status.error is None or status.error.strip()
    assert status.question is None or status.question.strip()
    assert status.reason
    assert status.summary


@given(EVENTS, ENDS)
def test_texts_are_clean(events: Sequence[ev.Event], ends: dict[str, object]):
    """Invariant 9: no control character of an agent gets into a state; only a question may have lines."""
    status = folded(events, ends)
    state = project(None, status, now_ms=9)
    lines = [state.summary, state.error, state.latest_assistant_preview, state.reason, *state.choices]
    if state.latest_tool is not None:
        lines += [state.latest_tool.name, state.latest_tool.path]
    for line in lines:
        assert line is None or clean_line(line) == line.strip()
    assert state.question is None or clean_block(state.question) == state.question


@given(EVENTS, ENDS)
def test_a_worker_that_has_exited_is_settled(events: Sequence[ev.Event], ends: dict[str, object]):
    """Field fault A4: no row works for ever."""
    status = folded(events, {**ends, "exited": True})
    assert status.semantic_state.settled
    if not ends["stop_requested"]:
        assert status.semantic_state is not SemanticState.STOPPED


@given(EVENTS)
def test_a_living_worker_is_settled_by_nothing(events: Sequence[ev.Event]):
    status = folded(events, {})
    assert status.semantic_state in (SemanticState.QUEUED, SemanticState.WORKING, SemanticState.NEEDS_INPUT)
    assert (status.semantic_state is SemanticState.NEEDS_INPUT) == bool(status.evidence.open_requests)


@given(EVENTS)
def test_requests_are_closed_by_their_own_and_by_new_messages_only(events: Sequence[ev.Event]):
    """Open requests behave as a set kept by hand does, whatever else happens."""
    status, open_ids = fresh(), set[str]()
    for at, event in enumerate(events):
        status = observe(status, event, at)
        match event:
            case ev.RequestOpened():
                open_ids.add(event.id)
            case ev.RequestClosed() | ev.ToolEnded():
                open_ids.discard(event.id)
            case ev.AssistantStarted() | ev.AssistantMessage() | ev.Settled():
                open_ids.clear()
        assert set(status.evidence.open_requests) == open_ids


@given(EVENTS, ENDS)
def test_a_late_event_does_not_flip_a_settled_run(events: Sequence[ev.Event], ends: dict[str, object]):
    """Field faults A3, A8: after the end a late request or piece of text changes no state."""
    status = folded(events, {**ends, "exited": True})
    late: list[ev.Event] = [
        ev.RequestOpened("late", "permission", "Really?"),
        ev.AssistantDelta("tail"),
        ev.Noticed("x"),
    ]
    for event in late:
        again = derive(observe(status, event, 99))
        assert (again.semantic_state, again.reason, again.question) == (
            status.semantic_state,
            status.reason,
            status.question,
        )


@given(EVENTS, ENDS)
def test_a_status_survives_the_disk(events: Sequence[ev.Event], ends: dict[str, object]):
    status = folded(events, ends)
    data = json.dumps(encode(status)).encode("utf-8", "surrogatepass")
    assert exact(RunStatus, json.loads(data)) == status
    assert decide(status.evidence) == decide(status.evidence)


@given(EVENTS, ENDS)
def test_every_surface_agrees(events: Sequence[ev.Event], ends: dict[str, object]):
    """Field fault A1: row, counts, list and explain read one result."""
    status = folded(events, ends)
    if ends["exited"]:
        status = dataclasses.replace(status, process_state=ProcessState.EXITED)
    state = project(None, status, now_ms=9)
    seen = shown(META, state)
    assert seen.state is state.semantic_state is status.semantic_state
    assert state.needs_input == bool(seen.question)
    assert state.has_error == bool(seen.error)
    lines = explain(META, state, status)
    assert lines[0].startswith(f"{seen.state}: ")
    assert all(line and "\n" not in line and len(line) <= 300 for line in lines)
