"""Folding events: texts bounded and clean, usage summed, tools followed, floods cheap."""

import sys

from agent_board.agents import events as ev
from agent_board.states.observe import HEAD_KEPT, TAIL_KEPT, kept_text, observe, replay
from agent_board.states.question import question_in
from agent_board.store.records import Tool, Usage
from tests.states.worlds import ACCEPTED, SETTLED, after, exited, fresh, said, with_evidence


def test_the_given_status_is_left_as_it_is():
    before = fresh()
    after_one = observe(before, said("x"), 5)
    assert before == fresh()
    assert after_one.last_activity_at == 5


def test_usage_is_summed_and_stays_blank_when_not_reported():
    assert after(ACCEPTED, ev.AssistantMessage("x")).usage == Usage()
    status = after(
        ev.AssistantMessage("x", usage=Usage(10, 2, None, 0, 0.5)),
        ev.AssistantMessage("y", usage=Usage(1, 1, 7)),
        ev.UsageReported(Usage(5, 0, 1, None, 0.25)),
    )
    assert status.usage == Usage(16, 3, 8, 0, 0.75)


def test_the_tool_in_use_is_followed():
    edit, read = ev.ToolStarted("1", "edit", "auth.py"), ev.ToolStarted("2", "read", "b.py")
    assert after(edit).summary == "Editing auth.py"
    assert after(edit, read).current_tool == Tool("read", "b.py")
    assert after(edit, read, ev.ToolEnded("2", "read")).current_tool == Tool("edit", "auth.py")
    assert after(edit, ev.ToolEnded("1", "edit")).current_tool is None


def test_identity_is_noted():
    status = after(ev.SessionStarted("s-1"), said("x"))
    assert (status.session_id, status.model, status.stop_reason) == ("s-1", "m", "stop")


def test_the_preview_is_live_then_the_answers_head():
    """AB-062: 240 cells of the last answer."""
    live = after(ev.AssistantStarted(), ev.AssistantDelta("Reading the "), ev.AssistantDelta("code.\nThen"))
    assert live.latest_assistant_preview == "Reading the code. Then"
    done = after(ev.AssistantDelta("x"), said("The whole answer. " * 40), status=live)
    assert done.latest_assistant_preview is not None
    assert done.latest_assistant_preview.startswith("The whole answer.")
    assert len(done.latest_assistant_preview) <= 240
    nothing = after(said("", "tool"), status=done)
    assert nothing.latest_assistant_preview == done.latest_assistant_preview


def test_a_flood_of_pieces_keeps_nothing_but_a_tail():
    """Not quadratic: what is kept of a stream does not grow with it."""
    status = fresh()
    for number in range(5_000):
        status = observe(status, ev.AssistantDelta(f"word{number} " * 20), number)
    assert len(status.latest_assistant_preview or "") <= 240
    assert (status.latest_assistant_preview or "").rstrip().endswith("word4999")
    assert sys.getsizeof(status.evidence.last_text) < 200


def test_tools_that_never_end_are_forgotten_in_the_end():
    status = fresh()
    for number in range(300):
        status = observe(status, ev.ToolStarted(str(number), "bash", "sleep 9"), number)
    assert len(status.evidence.running) <= 64


def test_long_answers_keep_their_head_and_tail():
    text = "First sentence here. " + "filler " * 20_000 + "\n\nShould I keep A or B?"
    kept = kept_text(text)
    assert len(kept) < HEAD_KEPT + TAIL_KEPT + 50
    assert kept.startswith("First sentence here.")
    status = exited(ACCEPTED, said(text), SETTLED)
    assert status.question == "Should I keep A or B?"


def test_code_cut_in_the_middle_stays_code():
    inside = "Look:\n```\n" + "x = what?\n" * 3_000
    assert question_in(kept_text(inside + "is it?\n```\n\nThat was the log.")) is None
    assert question_in(kept_text(inside + "```\n\nShould I delete it?")) == "Should I delete it?"


def test_a_replay_counts_each_thing_once():
    """The stream was cut, the transcript is whole: what both tell must not count twice."""
    live = after(ACCEPTED, said("Half", "tool"), ev.ToolStarted("t", "bash", "ls"))
    whole: list[ev.Event] = [ACCEPTED, said("Half", "tool"), ev.ToolEnded("t", "bash"), said("All of it.")]
    status = with_evidence(replay(live, whole, 9), exited=True, orphan=True)
    assert status.usage == Usage(20, 4)
    assert (status.reason, status.summary) == ("success", "All of it.")
    asked = replay(with_evidence(live, stop_requested=True, command=True, open_ended=True), [], 9)
    assert (asked.evidence.stop_requested, asked.evidence.command, asked.evidence.open_ended) == (True, True, True)
