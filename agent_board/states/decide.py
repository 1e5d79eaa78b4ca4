"""The one function that decides a run's state from its evidence (DESIGN 7). Pure; the first rule that matches wins."""

import dataclasses
import signal
from collections.abc import Callable
from dataclasses import dataclass, field

from agent_board.agents.events import REFUSED
from agent_board.states.question import choices_in, find_question
from agent_board.states.summary import summary_of
from agent_board.store.records import Evidence, RunStatus, SemanticState
from agent_board.text import clean_block, preview

_WIDEST_ERROR = 400
ORPHANED = "runs on without its runner"
OUTSIDE = "ended from outside (shutdown or logout?)"


@dataclass(frozen=True, slots=True)
class Decision:
    """A state and the id of the rule that gave it; an error exactly when failed, a question exactly when asking."""

    state: SemanticState
    reason: str
    error: str | None = None
    question: str | None = None
    choices: list[str] = field(default_factory=list)


def decide(evidence: Evidence) -> Decision:
    """The state that the evidence means."""
    if not evidence.exited:
        return _living(evidence)
    for rule in _RULES:
        decision = rule(evidence)
        if decision is not None:
            return decision
    return Decision(SemanticState.COMPLETED, "success")


def derive(status: RunStatus) -> RunStatus:
    """The status with its state, reason, error, question, choices and summary as decided.

    A worker that outlived its runner keeps the state it was last seen in: nobody hears it any more.
    """
    if status.evidence.orphan and not status.evidence.exited:
        return dataclasses.replace(status, reason="orphan", summary=ORPHANED)
    decision = decide(status.evidence)
    queued = decision.state is SemanticState.QUEUED
    decided = dataclasses.replace(
        status,
        semantic_state=decision.state,
        reason=decision.reason,
        error=decision.error,
        question=decision.question,
        choices=decision.choices,
        queue_reason=_waits_for(status) if queued else None,
    )
    decided.summary = summary_of(decided)
    return decided


def _waits_for(status: RunStatus) -> str:
    return "waiting for the model" if status.evidence.prompt_accepted else status.queue_reason or "starting"


def _living(evidence: Evidence) -> Decision:
    """Nothing but a request to the user takes a living worker out of queued and working."""
    request = next((request for request in evidence.open_requests.values() if request.kind != REFUSED), None)
    if request is not None:
        text = clean_block(request.text).strip() or f"The agent asks for a {request.kind or 'decision'}."
        return Decision(SemanticState.NEEDS_INPUT, "request", question=text, choices=list(request.choices))
    if evidence.activity:
        return Decision(SemanticState.WORKING, "activity")
    if evidence.open_ended:
        return Decision(SemanticState.IDLE, "idle")
    return Decision(SemanticState.QUEUED, "started")


def _failed(reason: str, error: str) -> Decision:
    return Decision(SemanticState.FAILED, reason, error=preview(error, _WIDEST_ERROR) or "Failed without a reason.")


def _asks(reason: str, question: str, choices: list[str]) -> Decision:
    return Decision(SemanticState.NEEDS_INPUT, reason, question=question, choices=choices)


def _stop(evidence: Evidence) -> Decision | None:
    return Decision(SemanticState.STOPPED, "stop") if evidence.stop_requested else None


def _report(evidence: Evidence) -> Decision | None:
    report = evidence.report
    if report is None:
        return None
    if report.status == "blocked":
        question = (report.question or report.summary or "The agent is blocked and does not say by what.").strip()
        return _asks("report", question, choices_in(question))
    if report.status == "failed":
        return _failed("report", report.summary or "The agent reported that it failed.")
    return Decision(SemanticState.COMPLETED, "report")


def _not_sent(evidence: Evidence) -> Decision | None:
    if evidence.started:
        return None
    return _failed(
        "not-sent", evidence.startup_error or "The prompt was not sent: the run ended before the agent began."
    )


def _error(evidence: Evidence) -> Decision | None:
    if evidence.retry is not None and not evidence.settled:
        return None  # it was still trying: how it ended says more
    if evidence.last_stop == "error" or evidence.gave_up:
        reason = "retries" if evidence.gave_up else "error"
        return _failed(reason, evidence.error or "The model's answer ended in an error that it did not name.")
    if evidence.last_stop == "length":
        return _failed("length", "The answer was cut at the model's output limit; a reply can ask it to go on.")
    return None


def _refused(evidence: Evidence) -> Decision | None:
    """It wanted something that only the user may allow, had nobody to ask, and ended its turn over that."""
    asked = next((request for request in evidence.open_requests.values() if request.kind == REFUSED), None)
    return _asks("permission", asked.text, []) if asked is not None and not evidence.exit_code else None


def _unaccepted(evidence: Evidence) -> Decision | None:
    """The prompt never came back: it failed before it was read, or the agent took it for something else."""
    if evidence.prompt_accepted or _succeeded(evidence):
        return None
    if evidence.open_ended:
        return _failed("startup", evidence.startup_error) if evidence.startup_error else None
    if evidence.orphan:
        error = "The prompt may have been received: the runner ended before the agent confirmed it."
        return _failed("maybe-received", error)
    if evidence.outside:
        return _failed("outside", OUTSIDE)
    if name := _signal_name(evidence.exit_code):
        return _failed("signal", _by_signal(name, "before it took the prompt"))
    if evidence.exit_code:
        error = (
            evidence.startup_error or f"The agent ended with exit code {evidence.exit_code} before it took the prompt."
        )
        return _failed("startup", error)
    if evidence.command:
        return Decision(SemanticState.COMPLETED, "command")
    return _failed("no-prompt", evidence.startup_error or "The agent ended without taking the prompt.")


def _cut_off(evidence: Evidence) -> Decision | None:
    """The agent began and its end was not its own."""
    if evidence.settled or evidence.open_ended:
        return None
    trying = f" while it was retrying after: {evidence.retry.error}" if evidence.retry is not None else ""
    if evidence.outside:
        return _failed("outside", OUTSIDE)
    if name := _signal_name(evidence.exit_code):
        return _failed("signal", _by_signal(name, trying.strip() or "in the middle of its work"))
    if evidence.exit_code:
        why = f": {evidence.startup_error}" if evidence.startup_error else " in the middle of its work."
        return _failed("exit", f"The agent ended with exit code {evidence.exit_code}{why}")
    return None


def _lost(evidence: Evidence) -> Decision | None:
    """It is over and the agent never came to an end of its own."""
    if evidence.open_ended:
        return None
    if evidence.aborted:
        return _failed("lost" if evidence.orphan else "aborted", "The run was interrupted before its end.")
    if evidence.settled or evidence.last_stop == "stop":
        return None
    where = "while nobody watched it" if evidence.orphan else "without an answer"
    return _failed("lost", f"The agent ended {where}, in the middle of its work.")


def _question(evidence: Evidence) -> Decision | None:
    if evidence.last_stop != "stop":
        return None
    asked = find_question(evidence.last_text)
    return _asks("question", asked.text, asked.choices) if asked else None


def _idle(evidence: Evidence) -> Decision | None:
    return Decision(SemanticState.IDLE, "idle") if evidence.open_ended else None


_RULES: tuple[Callable[[Evidence], Decision | None], ...] = (
    _stop,
    _report,
    _not_sent,
    _error,
    _refused,
    _unaccepted,
    _cut_off,
    _lost,
    _question,
    _idle,
)


def _succeeded(evidence: Evidence) -> bool:
    return evidence.settled and evidence.last_stop == "stop" and not evidence.aborted


def _signal_name(exit_code: int | None) -> str | None:
    """The signal that ended the worker: as the kernel tells it, or as a program that caught it passes it on."""
    if exit_code is None:
        return None
    number = -exit_code if exit_code < 0 else exit_code - 128 if exit_code in _CAUGHT else 0
    try:
        return signal.Signals(number).name if number else None
    except ValueError:
        return f"signal {number}"


_CAUGHT = frozenset({129, 130, 131, 134, 137, 143})


def _by_signal(name: str, when: str) -> str:
    return f"The agent was ended by {name} {when}; the signal did not come from agent-board."
