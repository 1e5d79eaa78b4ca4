"""The rules of DESIGN 7 and 11, each by what it needs to see (AB-048…AB-061, invariant 4)."""

import pytest

from agent_board.agents import events as ev
from agent_board.states.decide import decide
from agent_board.store.records import Evidence, Report, SemanticState
from tests.states.worlds import ACCEPTED, SETTLED, after, exited, fresh, said, told, with_evidence

QUEUED, WORKING, NEEDS, IDLE = (SemanticState(name) for name in ("queued", "working", "needs_input", "idle"))
COMPLETED, FAILED, STOPPED = (SemanticState(name) for name in ("completed", "failed", "stopped"))


def asked(request: str = "q1") -> ev.RequestOpened:
    return ev.RequestOpened(request, "permission", "Run rm -rf build?", ("allow", "deny"))


def test_alive_and_silent_is_queued():
    """AB-048; the prompt's echo is no activity."""
    status = after(ev.SessionStarted("s"), ACCEPTED)
    assert (status.semantic_state, status.reason) == (QUEUED, "started")
    assert status.queue_reason == "waiting for the model"
    assert status.summary == "Waiting for the model"


def test_what_a_queued_run_waits_for_is_kept():
    status = after(status=fresh(queue_reason="waiting for the checkout"))
    assert (status.queue_reason, status.summary) == ("waiting for the checkout", "Waiting for the checkout")
    assert after(ev.AssistantStarted(), status=status).queue_reason is None


@pytest.mark.parametrize(
    "activity", [ev.AssistantStarted(), ev.AssistantDelta("x"), said("x"), ev.ToolStarted("t", "bash", "ls")]
)
def test_alive_and_active_is_working(activity: ev.Event):
    """AB-049."""
    assert after(ACCEPTED, activity).semantic_state is WORKING


def test_a_living_worker_is_never_settled_by_its_words():
    """Only a finished worker settles: a question or an error may yet be followed by more."""
    for last in (said("Should I go on?"), said("", "error", "500"), ev.Reported("completed", "done"), SETTLED):
        status = after(ACCEPTED, said("x"), last)
        assert (status.semantic_state, status.error, status.question) == (WORKING, None, None)


def test_an_open_request_needs_the_user():
    """Field fault A1."""
    status = after(ACCEPTED, ev.AssistantStarted(), ev.ToolStarted("t1", "bash", "rm"), asked("t1"))
    assert (status.semantic_state, status.reason) == (NEEDS, "request")
    assert status.question == "Run rm -rf build?"
    assert status.choices == ["allow", "deny"]
    assert status.summary == "Run rm -rf build?"


@pytest.mark.parametrize(
    "event",
    [
        ev.RequestClosed("q1"),
        ev.ToolEnded("q1", "bash"),
        ev.AssistantStarted(),
        said("going on"),
        SETTLED,
    ],
)
def test_a_request_is_closed_by_its_own_answer_or_a_new_message(event: ev.Event):
    """Field fault A3: nothing stays blocked after it was answered."""
    assert after(ACCEPTED, asked(), event).semantic_state is WORKING


@pytest.mark.parametrize(
    "event",
    [
        ev.ToolStarted("t2", "read", "a.py"),
        ev.ToolEnded("t2", "read"),
        ev.RequestClosed("q2"),
        ev.AssistantDelta("meanwhile"),
        ev.Noticed("x"),
    ],
)
def test_another_tools_event_closes_no_request(event: ev.Event):
    assert after(ACCEPTED, asked(), event).semantic_state is NEEDS


def test_of_several_requests_each_is_closed_by_its_own():
    status = after(ACCEPTED, asked("q1"), asked("q2"), ev.RequestClosed("q1"))
    assert list(status.evidence.open_requests) == ["q2"]
    assert status.semantic_state is NEEDS


def test_an_open_request_dies_with_its_worker():
    status = exited(ACCEPTED, asked(), code=-9)
    assert (status.semantic_state, status.reason, status.question) == (FAILED, "signal", None)


def test_a_nameless_request_still_has_a_question():
    status = after(ev.RequestOpened("q", "plan", ""))
    assert status.question == "The agent asks for a plan."


def test_stopped_wins_over_the_exit_code():
    """AB-054."""
    for code in (0, 1, 143, -9):
        assert exited(ACCEPTED, said("x", "tool"), code=code, stop_requested=True).semantic_state is STOPPED


def test_a_report_decides():
    done = exited(ACCEPTED, said("", "tool"), ev.Reported("completed", "Fixed 14 typos"), SETTLED)
    assert (done.semantic_state, done.reason, done.summary) == (COMPLETED, "report", "Fixed 14 typos")
    blocked = exited(ACCEPTED, ev.Reported("blocked", "Choice", "Which?\n1. SQLite\n2. Postgres"), SETTLED)
    assert (blocked.semantic_state, blocked.question) == (NEEDS, "Which?\n1. SQLite\n2. Postgres")
    assert blocked.choices == ["SQLite", "Postgres"]
    failed = exited(ACCEPTED, ev.Reported("failed", "No network"), SETTLED)
    assert (failed.semantic_state, failed.error) == (FAILED, "No network")


def test_a_blocked_report_without_a_question_still_asks():
    assert exited(ACCEPTED, ev.Reported("blocked", "Need the key")).question == "Need the key"
    assert exited(ACCEPTED, ev.Reported("blocked")).question


def test_an_answer_after_the_report_outdates_it():
    status = exited(ACCEPTED, ev.Reported("failed", "x"), said("It works after all."), SETTLED)
    assert (status.semantic_state, status.reason) == (COMPLETED, "success")


def test_an_abort_after_the_report_leaves_it():
    """The worker that lingers is ended by us: that is no new answer."""
    status = exited(ACCEPTED, ev.Reported("completed", "did it"), said("", "aborted"), code=143)
    assert (status.semantic_state, status.reason) == (COMPLETED, "report")


def test_a_question_needs_an_answer():
    """AB-050, AB-059."""
    status = exited(ACCEPTED, said("I looked.\n\nSQLite or Postgres?"), SETTLED)
    assert (status.semantic_state, status.reason, status.question) == (NEEDS, "question", "SQLite or Postgres?")


def test_only_the_last_answers_own_words_ask():
    """A question on the way, before a tool call, was answered by going on."""
    on_the_way = exited(ACCEPTED, said("Is it there?", "tool"), ev.ToolStarted("t", "ls"), said(""), SETTLED)
    assert on_the_way.semantic_state is COMPLETED
    terminated = exited(ACCEPTED, said("Shall we?", "tool"), SETTLED)
    assert terminated.semantic_state is COMPLETED


def test_a_finished_run_is_completed_however_its_process_ended():
    for code in (0, 1, 143, -9, None):
        status = exited(ACCEPTED, said("Done with it."), SETTLED, code=code)
        assert (status.semantic_state, status.reason, status.error) == (COMPLETED, "success", None)


def test_denials_are_counted_in_the_summary():
    status = exited(ACCEPTED, asked(), ev.RequestClosed("q1", denied=True), said("Left the cache alone."), SETTLED)
    assert (status.semantic_state, status.summary) == (COMPLETED, "Left the cache alone. (1 permission denied)")


def test_errors_fail():
    """AB-053; tool errors don't."""
    assert exited(ACCEPTED, said("", "error", "401: No"), SETTLED).error == "401: No"
    cut = exited(ACCEPTED, said("half an ans", "length"), SETTLED)
    assert (cut.semantic_state, cut.reason) == (FAILED, "length")
    fine = exited(ACCEPTED, ev.ToolEnded("t", "bash", is_error=True), said("Went around it."), SETTLED)
    assert fine.semantic_state is COMPLETED


def test_retries_used_up_fail_with_the_providers_error():
    retry = ev.RetryStarted(3, 3, "503: Overloaded")
    status = exited(ACCEPTED, said("", "error", "503: Overloaded"), retry, ev.RetryEnded(False, "gave up"), SETTLED)
    assert (status.reason, status.error) == ("retries", "503: Overloaded")


def test_a_try_that_succeeds_leaves_no_error():
    status = exited(
        ACCEPTED,
        said("", "error", "503"),
        ev.RetryStarted(1, 3, "503"),
        said("Recovered."),
        ev.RetryEnded(True),
        SETTLED,
    )
    assert (status.semantic_state, status.error, status.evidence.retry) == (COMPLETED, None, None)


def test_a_run_killed_while_it_retries_was_killed():
    events = (ACCEPTED, said("", "error", "503: Overloaded"), ev.RetryStarted(1, 3, "503: Overloaded"))
    status = exited(*events, code=-9)
    assert status.reason == "signal"
    assert "503: Overloaded" in (status.error or "")
    assert after(*events).summary == "retrying 1/3: 503: Overloaded"


@pytest.mark.parametrize(
    ("code", "name"), [(-9, "SIGKILL"), (-15, "SIGTERM"), (143, "SIGTERM"), (129, "SIGHUP"), (-2, "SIGINT")]
)
def test_a_signal_not_ours_is_named(code: int, name: str):
    for events in ((), (ACCEPTED, said("Working on it.", "tool"))):
        status = exited(*events, code=code)
        assert (status.semantic_state, status.reason) == (FAILED, "signal")
        assert name in (status.error or "")


def test_a_failed_start_is_told_in_the_agents_words():
    status = exited(code=1, startup_error="No API key found for stub.")
    assert (status.semantic_state, status.reason, status.error) == (FAILED, "startup", "No API key found for stub.")
    assert exited(code=1).error == "The agent ended with exit code 1 before it took the prompt."


def test_no_prompt_accepted_fails_unless_it_was_a_command():
    assert exited().reason == "no-prompt"
    command = exited(ev.SessionStarted("s"), command=True)
    assert (command.semantic_state, command.reason, command.summary) == (COMPLETED, "command", "Taken as a command")
    assert exited(code=1, command=True).reason == "startup"
    # A prompt with a slash that the model answered is a run like any other.
    assert exited(ACCEPTED, said("ok"), SETTLED, command=True).reason == "success"


def test_a_crash_in_the_middle_fails_with_its_words():
    status = exited(ACCEPTED, said("Let me look.", "tool"), code=1, startup_error="Pi lost its output.")
    assert (status.reason, status.error) == ("exit", "The agent ended with exit code 1: Pi lost its output.")


def test_a_prompt_that_was_not_sent_is_told_apart():
    """DESIGN 5: not sent, or may have been received."""
    assert told(Evidence(started=False, exited=True)).reason == "not-sent"
    gone = told(Evidence(started=False, exited=True, startup_error="The directory /src is gone."))
    assert (gone.reason, gone.error) == ("not-sent", "The directory /src is gone.")
    maybe = told(Evidence(exited=True, orphan=True))
    assert (maybe.semantic_state, maybe.reason) == (FAILED, "maybe-received")


def test_an_orphan_is_settled_by_its_transcript():
    end = {"orphan": True, "code": None}
    assert exited(ACCEPTED, said("Fixed it all."), **end).reason == "success"
    assert exited(ACCEPTED, said("SQLite or Postgres?"), **end).reason == "question"
    assert exited(ACCEPTED, said("", "tool"), ev.Reported("completed", "x"), **end).reason == "report"
    assert exited(ACCEPTED, said("", "error", "500"), **end).reason == "error"
    for cut_off in ((ACCEPTED,), (ACCEPTED, said("Running it.", "tool")), (ACCEPTED, said("", "aborted"))):
        status = exited(*cut_off, **end)
        assert (status.semantic_state, status.reason) == (FAILED, "lost")


def test_a_worker_that_outlives_its_runner_keeps_its_state():
    asking = after(ACCEPTED, asked())
    orphan = with_evidence(asking, orphan=True)
    assert (orphan.semantic_state, orphan.reason, orphan.summary) == (NEEDS, "orphan", "runs on without its runner")
    assert orphan.question == asking.question
    working = with_evidence(after(ACCEPTED, ev.AssistantStarted()), orphan=True)
    assert (working.semantic_state, working.reason) == (WORKING, "orphan")


def test_a_shim_told_to_end_from_outside_says_so():
    """DESIGN 5; a run that had finished by then stays finished."""
    status = exited(ACCEPTED, said("x", "tool"), code=143, outside=True)
    assert (status.semantic_state, status.reason) == (FAILED, "outside")
    assert "from outside (shutdown or logout?)" in (status.error or "")
    assert exited(code=143, outside=True).reason == "outside"
    assert exited(ACCEPTED, said("All of it."), SETTLED, code=143, outside=True).reason == "success"


def test_open_ended_sessions_are_idle():
    """AB-052: unless something better is known."""
    assert exited(open_ended=True).semantic_state is IDLE
    assert exited(ACCEPTED, said("Sorted the list."), open_ended=True).semantic_state is IDLE
    assert exited(ACCEPTED, said("", "aborted"), code=-1, open_ended=True).semantic_state is IDLE
    assert exited(ACCEPTED, said("Keep it or drop it?"), open_ended=True).semantic_state is NEEDS
    assert exited(ACCEPTED, ev.Reported("completed", "x"), open_ended=True).semantic_state is COMPLETED
    assert exited(ACCEPTED, said("", "error", "401: No"), open_ended=True).semantic_state is FAILED
    assert after(status=fresh(evidence=Evidence(open_ended=True))).semantic_state is IDLE


def test_an_interrupted_run_is_not_finished():
    assert exited(ACCEPTED, said("", "aborted"), ev.Settled(aborted=True)).reason == "aborted"


def test_an_end_without_an_answer_is_lost():
    assert exited(ACCEPTED).reason == "lost"
    assert exited(ACCEPTED, said("Looking.", "tool")).reason == "lost"


def test_an_unfinished_old_agents_end_is_read_from_its_last_answer():
    """Agents that never say “settled”: a clean exit behind a whole answer is an end."""
    assert exited(ACCEPTED, said("All done here.")).reason == "success"


def test_a_second_prompt_outdates_what_the_first_one_left():
    first = (ACCEPTED, said("", "tool"), ev.Reported("failed", "x"), SETTLED)
    assert exited(*first, ACCEPTED, said("Better now."), SETTLED).reason == "success"
    assert exited(ACCEPTED, said("A or B?"), ACCEPTED, code=-9).question is None


def test_decide_is_pure():
    evidence = Evidence(prompt_accepted=True, exited=True, report=Report("blocked", "x", "A or B?"))
    assert decide(evidence) == decide(evidence)
    assert evidence == Evidence(prompt_accepted=True, exited=True, report=Report("blocked", "x", "A or B?"))
