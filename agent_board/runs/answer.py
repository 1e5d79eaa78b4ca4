"""Answer: what a living agent asks the user, answered exactly once or not at all (DESIGN 5)."""

import secrets
import time

from agent_board.agents.base import Answer
from agent_board.agents.registry import agent as agent_named
from agent_board.errors import BoardError, UsageError
from agent_board.runs import inbox
from agent_board.runs.claim import run_ids
from agent_board.runs.processes import Liveness, probe
from agent_board.runs.reconcile import reconcile
from agent_board.store import plain
from agent_board.store.files import disk_errors, now_ms
from agent_board.store.paths import RunPaths, StorePaths
from agent_board.store.records import VERSION, GivenAnswer, Request, RunRequest, RunStatus, ShimPid

PATIENCE_S = 10.0
PERMISSION = "permission"
_POLL_S = 0.02
_NOBODY = "Nothing was answered: the runner that would pass it on is gone."


def open_requests(paths: StorePaths, view_id: str) -> dict[str, Request]:
    """What the view's living agent asks at this moment, by request id, oldest first; empty when it asks nothing."""
    view = paths.view(view_id)
    runs = run_ids(view)
    status = plain.read_or_none(RunStatus, view.run(runs[-1]).status) if runs else None
    return status.evidence.open_requests if status is not None and status.ended_at is None else {}


def answer(paths: StorePaths, view_id: str, request_id: str | None, given: Answer) -> str:
    """Pass the user's answer on to the agent that waits for it; returns the id of the request it was for.

    `request_id` None: the only open one. Returns once the runner has written it to the agent. Raises UsageError
    when the answer does not fit the request, BoardError when nobody waits for it (too late, or the runner is gone).
    """
    reconcile(paths, view_id)
    runs = run_ids(paths.view(view_id))
    asked = open_requests(paths, view_id)
    if not runs or not asked:
        raise BoardError(
            "Too late: that request is no longer open." if request_id else "This task is not waiting for an answer."
        )
    chosen = _chosen(asked, request_id)
    run = paths.view(view_id).run(runs[-1])
    _check_answerable(run)
    _check_fits(asked[chosen], given)
    sent = GivenAnswer(VERSION, chosen, now_ms(), secrets.token_hex(8), given.kind, given.text, given.choice)
    with disk_errors("answer"):
        try:
            inbox.give(run, sent)
        except FileExistsError:
            raise BoardError("That request has an answer on its way already.") from None
    _wait(run, sent)
    return chosen


def _chosen(asked: dict[str, Request], request_id: str | None) -> str:
    if request_id is None:
        if len(asked) > 1:
            raise BoardError(f"It asks {len(asked)} things at once; say which with --request: {', '.join(asked)}.")
        return next(iter(asked))
    if request_id not in asked:
        raise BoardError("Too late: that request is no longer open.")
    return request_id


def _check_answerable(run: RunPaths) -> None:
    """Raises BoardError where no answer could arrive."""
    request = plain.read_or_none(RunRequest, run.request)
    if request is not None and not (agent := agent_named(request.agent)).channel:
        raise BoardError(f"{agent.title} takes no answers while it runs; stop it and reply, or attach.")
    match _owner(run):
        case Liveness.GONE:
            raise BoardError(_NOBODY)
        case Liveness.UNKNOWN:
            raise BoardError("This task's runner is on another machine or in another container; answer it from there.")


def _owner(run: RunPaths) -> Liveness:
    owner = plain.read_or_none(ShimPid, run.pid)
    return probe(owner.identity) if owner is not None else Liveness.GONE


def _check_fits(request: Request, given: Answer) -> None:
    if given.kind == "choice" and not 1 <= given.choice <= len(request.choices):
        raise UsageError(
            f"There is no choice {given.choice}; it offers {len(request.choices)}: {', '.join(request.choices)}."
            if request.choices
            else "It offers no choices; allow or deny it."
        )
    if given.kind == "allow" and request.kind != PERMISSION:
        raise UsageError("It asks for a choice, not for a permission; take one of its choices.")


def _wait(run: RunPaths, sent: GivenAnswer) -> None:
    """Until the answer's fate is known. Raises BoardError for all but one of them."""
    deadline = time.monotonic() + PATIENCE_S
    while (outcome := inbox.outcome_of(run, sent)) in (None, inbox.SENDING):
        gone = _owner(run) is Liveness.GONE
        if outcome is None and (gone or time.monotonic() > deadline) and inbox.withdraw(run, sent):
            raise BoardError(
                _NOBODY if gone else f"Nothing was answered: the runner did not take it in {PATIENCE_S:g} s."
            )
        if outcome == inbox.SENDING and (gone or time.monotonic() > deadline):
            if inbox.outcome_of(run, sent) != inbox.SENDING:
                continue
            raise BoardError("The answer may have been received: it was on its way when its runner ended.")
        time.sleep(_POLL_S)
    if outcome == inbox.LATE:
        raise BoardError("Too late: that request was no longer open when the answer came.")
    if outcome == inbox.REFUSED:
        raise UsageError(inbox.reason(run, sent.request_id))
