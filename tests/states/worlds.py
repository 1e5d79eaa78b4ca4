"""Statuses, and events of every kind, for tests of states."""

import dataclasses
from collections.abc import Sequence

from hypothesis import strategies as st

from agent_board.agents import events as ev
from agent_board.states.decide import derive
from agent_board.states.observe import observe
from agent_board.store.records import Evidence, ProcessState, RunStatus, Usage


def fresh(**fields: object) -> RunStatus:
    """A run that has just begun."""
    known: dict[str, object] = {"version": 1, "run_id": "r1", "view_id": "v1", "started_at": 1_000}
    return RunStatus(**{**known, "process_state": ProcessState.ALIVE, **fields})  # type: ignore[arg-type]


def after(*events: ev.Event, status: RunStatus | None = None) -> RunStatus:
    """A run after these events, derived."""
    folded = status or fresh()
    for at, event in enumerate(events):
        folded = observe(folded, event, 2_000 + at)
    return derive(folded)


def with_evidence(status: RunStatus, **facts: object) -> RunStatus:
    """The status with some evidence replaced, derived anew."""
    return derive(dataclasses.replace(status, evidence=dataclasses.replace(status.evidence, **facts)))  # type: ignore[arg-type]


def exited(*events: ev.Event, code: int | None = 0, **facts: object) -> RunStatus:
    """A run after these events and its worker's end."""
    return with_evidence(after(*events), exited=True, exit_code=code, **facts)


def told(evidence: Evidence) -> RunStatus:
    """A run with just this evidence, derived."""
    return derive(fresh(evidence=evidence))


ACCEPTED = ev.PromptAccepted("do it")
SETTLED = ev.Settled()


def said(text: str, stop: str = "stop", error: str | None = None) -> ev.AssistantMessage:
    """An answer."""
    return ev.AssistantMessage(text, stop, error, "m", Usage(10, 2))


IDS = st.sampled_from(["a", "b", "c"])
WORDS = st.sampled_from(
    [
        "",
        "ok",
        "Should I go on?",
        "A or B?\n1. x\n2. y",
        "Done.",
        "\x1b[31mred\x07",
        "a\x00b",
        "已完成。",
        "```\nx?\n```",
    ]
) | st.text(max_size=40)
STOPS = st.sampled_from(["stop", "tool", "length", "error", "aborted", "else"])
SOME = st.none() | WORDS

EVENT: st.SearchStrategy[ev.Event] = st.one_of(
    st.builds(ev.SessionStarted, SOME, SOME),
    st.builds(ev.PromptAccepted, WORDS),
    st.builds(ev.AssistantStarted),
    st.builds(ev.AssistantDelta, WORDS),
    st.builds(
        ev.AssistantMessage, WORDS, STOPS, SOME, SOME, st.none() | st.builds(Usage, st.none() | st.integers(0, 99))
    ),
    st.builds(ev.ToolStarted, IDS, WORDS, SOME),
    st.builds(ev.ToolEnded, IDS, WORDS, st.booleans(), WORDS),
    st.builds(ev.RequestOpened, IDS, WORDS, WORDS, st.lists(WORDS, max_size=3).map(tuple)),
    st.builds(ev.RequestClosed, IDS, st.booleans()),
    st.builds(ev.Reported, st.sampled_from(["completed", "blocked", "failed", "else"]), WORDS, SOME),
    st.builds(ev.RetryStarted, st.integers(0, 3), st.integers(0, 3), WORDS),
    st.builds(ev.RetryEnded, st.booleans(), SOME),
    st.builds(ev.UsageReported, st.builds(Usage, st.none() | st.integers(0, 9), st.none() | st.integers(0, 9))),
    st.builds(ev.Noticed, WORDS),
    st.builds(ev.Settled, st.booleans()),
)
EVENTS: st.SearchStrategy[Sequence[ev.Event]] = st.lists(EVENT, max_size=12)
ENDS: st.SearchStrategy[dict[str, object]] = st.fixed_dictionaries(
    {
        "exited": st.booleans(),
        "exit_code": st.none() | st.sampled_from([0, 1, 2, 129, 143, -2, -9, -15, -64, 255]),
        "startup_error": SOME,
        "stop_requested": st.booleans(),
        "outside": st.booleans(),
        "command": st.booleans(),
        "started": st.booleans(),
        "orphan": st.booleans(),
        "open_ended": st.booleans(),
    }
)
