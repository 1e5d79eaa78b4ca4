"""Every recording of the real Pi is read rightly: state, question, error, usage, retries (AB-048…AB-063)."""

import dataclasses
from pathlib import Path

import pytest

from agent_board.agents.base import Job
from agent_board.agents.events import (
    AssistantDelta,
    AssistantMessage,
    Event,
    PromptAccepted,
    RetryStarted,
    Settled,
    ToolEnded,
    ToolStarted,
)
from agent_board.agents.pi import Pi
from agent_board.states.decide import derive
from agent_board.states.observe import observe, replay
from agent_board.store.records import ProcessState, RunStatus, SemanticState
from tests.agents.pi_expectations import COMMANDS, EXPECTED, Expected

PI = Pi()
TOLD_BY_TRANSCRIPT = [
    row
    for row in EXPECTED
    if row.reason in ("success", "question", "report", "error", "retries", "length")
    and not any(word in row.name for word in ("two_writers", "simultaneous"))  # the other one's end stands last there
]


def events_of(recording: Path) -> list[Event]:
    reader = PI.reader()
    lines = (recording / "stdout.jsonl").read_bytes().split(b"\n")
    return [event for line in lines for event in reader.feed(line)] + reader.close()


def seen(events: list[Event]) -> RunStatus:
    status = RunStatus(version=1, run_id="r1", view_id="v1", started_at=1, process_state=ProcessState.ALIVE)
    for at, event in enumerate(events):
        status = observe(status, event, at)
    return status


def ended(recording: Path, status: RunStatus, **more: object) -> RunStatus:
    code = int((recording / "exit.txt").read_text().split()[0])
    startup = PI.startup_error((recording / "stderr.txt").read_text()) if code and not status.evidence.settled else None
    facts: dict[str, object] = {"exited": True, "exit_code": code, "startup_error": startup, **more}
    return derive(dataclasses.replace(status, evidence=dataclasses.replace(status.evidence, **facts)))  # type: ignore[arg-type]


def test_the_table_holds_every_run_in_json_mode(pi_recordings: Path):
    recorded = {
        folder.name
        for folder in pi_recordings.iterdir()
        if (folder / "stdout.jsonl").exists() and "--mode json" in (folder / "cmd.txt").read_text()
    }
    assert recorded == {row.name for row in EXPECTED}
    assert len(recorded) > 140


@pytest.mark.parametrize("row", EXPECTED, ids=lambda row: row.name)
def test_a_recorded_run_is_read_rightly(row: Expected, pi_recordings: Path):
    recording = pi_recordings / row.name
    events = events_of(recording)
    status = ended(recording, seen(events), command=row.name in COMMANDS)
    assert (status.semantic_state, status.reason) == (row.state, row.reason)
    assert (status.error or status.question or status.summary) == row.says
    assert (status.usage.input, status.usage.output, status.usage.cache_read) == row.usage
    assert sum(isinstance(event, RetryStarted) for event in events) == row.retries
    assert bool(status.error) == (row.state == "failed")
    assert bool(status.question) == (row.state == "needs_input")


@pytest.mark.parametrize("row", [row for row in EXPECTED if row.reason == "signal"], ids=lambda row: row.name)
def test_the_same_ends_are_stopped_when_the_user_asked(row: Expected, pi_recordings: Path):
    status = ended(pi_recordings / row.name, seen(events_of(pi_recordings / row.name)), stop_requested=True)
    assert (status.semantic_state, status.reason, status.error) == (SemanticState.STOPPED, "stop", None)


@pytest.mark.parametrize("row", TOLD_BY_TRANSCRIPT, ids=lambda row: row.name)
def test_a_transcript_tells_the_same_end_as_the_stream(row: Expected, pi_recordings: Path):
    """A run whose runner died is settled from Pi's session file as it would have been from its stream."""
    session = pi_recordings / row.name / "session.jsonl"
    if not session.exists():
        assert row.name in ("08g_session_unwritable", "11m_no_session", "11n_no_session_plus_session")
        return
    events = PI.transcript_events(Job(cwd="/", session_file=str(session)), 0)
    status = replay(seen([]), events, 1)
    told = derive(dataclasses.replace(status, evidence=dataclasses.replace(status.evidence, exited=True, orphan=True)))
    assert told.semantic_state == row.state
    assert (told.error or told.question or told.summary) == row.says


def test_behind_the_mark_only_the_new_run_counts(pi_recordings: Path):
    session = pi_recordings / "17a_interactive_attach" / "session.jsonl"
    lines = session.read_bytes().splitlines(keepends=True)
    mark = sum(map(len, lines[:9]))
    job = Job(cwd="/", session_file=str(session))
    prompts = [event.text for event in PI.transcript_events(job, mark) if isinstance(event, PromptAccepted)]
    assert prompts == ["yes, sort them descending"]
    assert PI.transcript_events(job, session.stat().st_size) == []
    # A mark in the middle of a line (a torn one was there): the rest of that line is passed over.
    assert [e for e in PI.transcript_events(job, mark - 5) if isinstance(e, PromptAccepted)]


@pytest.mark.parametrize("killed", ["05b_sigint_in_bash", "05d_sigkill_in_bash", "05a_sigterm_in_bash"])
def test_a_run_that_nobody_watched_die_is_lost_not_working(killed: str, pi_recordings: Path):
    """Field fault A4: a dangling tool call or an abort in the transcript is an end, with a reason."""
    job = Job(cwd="/", session_file=str(pi_recordings / killed / "session.jsonl"))
    status = replay(seen([]), PI.transcript_events(job, 0), 1)
    status = derive(
        dataclasses.replace(status, evidence=dataclasses.replace(status.evidence, exited=True, orphan=True))
    )
    assert (status.semantic_state, status.reason) == (SemanticState.FAILED, "lost")
    assert status.error


def test_every_other_recording_is_at_least_readable(pi_recordings: Path):
    """Interactive, text-mode and RPC runs: nothing raises, and their session files have a conversation."""
    for folder in sorted(pi_recordings.iterdir()):
        if (folder / "stdout.jsonl").exists():
            events_of(folder)
        if (folder / "session.jsonl").exists():
            events = PI.transcript_events(Job(cwd="/", session_file=str(folder / "session.jsonl")), 0)
            assert any(isinstance(event, PromptAccepted) for event in events), folder.name


def test_recordings_name_no_machine(pi_recordings: Path):
    for file in pi_recordings.glob("*/*"):
        data = file.read_bytes()
        assert b"/root" not in data, file
        assert b"/work/" not in data, file


def test_the_old_pi_settles_when_nothing_follows_its_end(pi_recordings: Path):
    """0.73 has no settled event: its end is one that no retry follows."""
    assert events_of(pi_recordings / "v0731_01_plain")[-1] == Settled()
    tries = events_of(pi_recordings / "v0731_04b_500")
    assert [type(event) for event in tries].count(Settled) == 1, "a try that another follows is no end"
    assert tries[-1] == Settled()
    killed = events_of(pi_recordings / "v0731_05b_sigint")
    assert not any(isinstance(event, Settled) for event in killed)


def test_the_old_pi_does_not_double_its_answers(pi_recordings: Path):
    """0.73 repeats the whole message with each piece; the pieces alone are the answer."""
    events = events_of(pi_recordings / "v0731_01_plain")
    pieces = "".join(event.text for event in events if isinstance(event, AssistantDelta))
    assert pieces == next(event.text for event in events if isinstance(event, AssistantMessage))


def test_tools_in_use_are_told_with_their_targets(pi_recordings: Path):
    """AB-057: what each call works on; a failing tool fails nothing."""
    events = events_of(pi_recordings / "02_tool_calls")
    started = [(event.name, event.target) for event in events if isinstance(event, ToolStarted)]
    assert started[:4] == [
        ("bash", "echo one; sleep 0.4; echo two; ls"),
        ("write", "hello.py"),
        ("read", "notes.txt"),
        ("edit", "notes.txt"),
    ]
    failed = [event.result for event in events if isinstance(event, ToolEnded) and event.is_error]
    assert "Tool nosuchtool not found" in failed
    assert all("\n" not in result for result in failed)


def test_a_row_follows_a_run_while_it_lives(pi_recordings: Path):
    """AB-048, AB-049, AB-056: queued, then working with the tool in use, then the last sentence."""
    status = seen([])
    lives = [derive(status)]
    for at, event in enumerate(events_of(pi_recordings / "02_tool_calls")):
        status = observe(status, event, at)
        lives.append(derive(status))
    states = [status.semantic_state for status in lives]
    assert states == sorted(states, key=["queued", "working"].index)
    told = [status.summary for status in lives]
    assert told[0] == "Starting"
    assert {"Waiting for the model", "Writing hello.py", "Reading notes.txt", "Editing notes.txt"} <= set(told)


def test_retries_are_shown_as_such_and_leave_no_error(pi_recordings: Path):
    """“retrying 2/3: 500 …” while it tries; a try that succeeds leaves nothing behind."""
    status, told = seen([]), []
    for at, event in enumerate(events_of(pi_recordings / "04c_http_500_then_ok")):
        status = observe(status, event, at)
        live = derive(status)
        assert live.error is None
        told.append(live.summary)
    assert "retrying 1/3: 500: stub says 500" in told
    assert "retrying 2/3: 500: stub says 500" in told
    assert "retrying" not in told[-1]
    assert ended(pi_recordings / "04c_http_500_then_ok", status).error is None
