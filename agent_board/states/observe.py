"""Folding what an agent says into a run's status, one event at a time. Pure; cheap even in a flood of pieces."""

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

from agent_board.agents import events as ev
from agent_board.store.records import Evidence, Report, Request, Retry, RunStatus, Tool, Usage
from agent_board.text import clean_block, clean_line, preview

HEAD_KEPT = 2_000
TAIL_KEPT = 6_000
_LIVE_TAIL = 240
_ERROR_KEPT = 400
_MOST_RUNNING = 64
_FENCE = "```"

Changes = dict[str, Any]


def observe(status: RunStatus, event: ev.Event, at_ms: int) -> RunStatus:
    """The status after one more event, seen at wall time `at_ms`; the given one is left as it is."""
    fold = _FOLDS.get(type(event))
    of_status, of_evidence = fold(status, event) if fold is not None else ({}, {})
    if of_evidence:
        of_status["evidence"] = dataclasses.replace(status.evidence, **of_evidence)
    return dataclasses.replace(status, last_activity_at=at_ms, **of_status)


def replay(status: RunStatus, events: Iterable[ev.Event], at_ms: int) -> RunStatus:
    """The status with all that the agent said forgotten and told anew from its transcript.

    A stream may have been cut where the transcript is whole; what only the stream or the runner knew stays.
    """
    old = status.evidence
    known = Evidence(
        settled=old.settled,
        denials=old.denials,
        startup_error=old.startup_error,
        command=old.command,
        started=old.started,
        orphan=old.orphan,
        open_ended=old.open_ended,
        exited=old.exited,
        exit_code=old.exit_code,
        stop_requested=old.stop_requested,
        outside=old.outside,
    )
    status = dataclasses.replace(status, evidence=known, usage=Usage(), report=None, current_tool=None)
    for event in events:
        status = observe(status, event, at_ms)
    return status


def kept_text(text: str) -> str:
    """A text for keeping: clean, and of a long one the head and the tail, with code fences closed at the cut."""
    if len(text) <= HEAD_KEPT + TAIL_KEPT:
        return clean_block(text)
    head, tail = text[:HEAD_KEPT], text[-TAIL_KEPT:]
    if head.count(_FENCE) % 2:
        head += f"\n{_FENCE}"
    if text[:-TAIL_KEPT].count(_FENCE) % 2:
        tail = f"{_FENCE}\n{tail}"
    return clean_block(f"{head}\n\n…\n\n{tail}")


def _added(total: Usage, more: Usage) -> Usage:
    def both(one: Any, other: Any) -> Any:
        return other if one is None else one if other is None else one + other

    return Usage(
        input=both(total.input, more.input),
        output=both(total.output, more.output),
        cache_read=both(total.cache_read, more.cache_read),
        cache_write=both(total.cache_write, more.cache_write),
        cost_usd=both(total.cost_usd, more.cost_usd),
    )


def _live_tail(so_far: str, piece: str) -> str:
    """The end of an answer that is still coming, on one line; the cost does not grow with the answer."""
    piece = piece[-2 * _LIVE_TAIL :]
    edge = " " if piece[:1].isspace() else ""
    cleaned = clean_line(piece)
    end = " " if cleaned and piece[-1:].isspace() else ""
    return (so_far.rstrip() + edge + cleaned + end if edge else so_far + cleaned + end)[-_LIVE_TAIL:]


def _session(status: RunStatus, event: ev.SessionStarted) -> tuple[Changes, Changes]:
    return {"session_id": clean_line(event.session_id) if event.session_id else status.session_id}, {}


def _accepted(status: RunStatus, event: ev.PromptAccepted) -> tuple[Changes, Changes]:
    """A prompt begins a fresh account: what was said before it decides nothing any more."""
    fresh: Changes = {"prompt_accepted": True, "last_text": "", "last_stop": None, "error": None, "aborted": False}
    return {"report": None, "stop_reason": None}, {**fresh, "report": None, "gave_up": False, "retry": None}


def _started(status: RunStatus, event: ev.AssistantStarted) -> tuple[Changes, Changes]:
    return {}, {"activity": True, "open_requests": {}, "streaming": False, "settled": False}


def _delta(status: RunStatus, event: ev.AssistantDelta) -> tuple[Changes, Changes]:
    evidence = status.evidence
    so_far = (status.latest_assistant_preview or "") if evidence.streaming else ""
    changed = {} if evidence.streaming and evidence.activity else {"streaming": True, "activity": True}
    return {"latest_assistant_preview": _live_tail(so_far, event.text)}, changed


def _message(status: RunStatus, event: ev.AssistantMessage) -> tuple[Changes, Changes]:
    evidence = status.evidence
    failed, aborted = event.stop == "error", event.stop == "aborted"
    error = preview(event.error or "", _ERROR_KEPT) or None
    of_status: Changes = {"stop_reason": clean_line(event.stop)}
    of_evidence: Changes = {
        "activity": True,
        "open_requests": {},
        "streaming": False,
        "last_stop": clean_line(event.stop),
        "error": error if failed else None,
        "aborted": aborted,
        "gave_up": False,
        "retry": evidence.retry if failed else None,
    }
    if not aborted:
        of_evidence["report"] = of_status["report"] = None
    if event.text.strip():
        of_evidence["last_text"] = kept_text(event.text)
        of_status["latest_assistant_preview"] = preview(event.text)
    elif event.stop in ("stop", "length"):
        of_evidence["last_text"] = ""
    if event.model:
        of_status["model"] = preview(event.model, 120)
    if event.usage is not None:
        of_status["usage"] = _added(status.usage, event.usage)
    return of_status, of_evidence


def _tool_started(status: RunStatus, event: ev.ToolStarted) -> tuple[Changes, Changes]:
    tool = Tool(preview(event.name, 60), preview(event.target) if event.target else None)
    running = {**status.evidence.running, event.id: tool}
    if len(running) > _MOST_RUNNING:
        del running[next(iter(running))]
    return {"current_tool": tool, "latest_tool": tool}, {
        "activity": True,
        "running": running,
        "retry": None,
        "streaming": False,
    }


def _tool_ended(status: RunStatus, event: ev.ToolEnded) -> tuple[Changes, Changes]:
    evidence = status.evidence
    running = {key: tool for key, tool in evidence.running.items() if key != event.id}
    asked = {key: request for key, request in evidence.open_requests.items() if key != event.id}
    tool = next(reversed(running.values())) if running else None
    return {"current_tool": tool}, {"activity": True, "running": running, "open_requests": asked}


def _opened(status: RunStatus, event: ev.RequestOpened) -> tuple[Changes, Changes]:
    choices = [preview(choice) for choice in event.choices]
    text = clean_block(event.text[:HEAD_KEPT]).strip()
    request = Request(preview(event.kind, 60), text, [choice for choice in choices if choice])
    return {}, {"activity": True, "open_requests": {**status.evidence.open_requests, event.id: request}}


def _closed(status: RunStatus, event: ev.RequestClosed) -> tuple[Changes, Changes]:
    evidence = status.evidence
    asked = {key: request for key, request in evidence.open_requests.items() if key != event.id}
    return {}, {"open_requests": asked, "denials": evidence.denials + event.denied}


def _reported(status: RunStatus, event: ev.Reported) -> tuple[Changes, Changes]:
    question = clean_block((event.question or "")[:HEAD_KEPT]).strip() or None
    report = Report(preview(event.status, 20), preview(event.summary, 600), question)
    return {"report": report}, {"activity": True, "report": report}


def _retrying(status: RunStatus, event: ev.RetryStarted) -> tuple[Changes, Changes]:
    retry = Retry(event.attempt, event.most, preview(event.error, _ERROR_KEPT))
    return {}, {"activity": True, "retry": retry, "settled": False}


def _retried(status: RunStatus, event: ev.RetryEnded) -> tuple[Changes, Changes]:
    if event.ok:
        return {}, {"retry": None, "gave_up": False}
    final = preview(event.error or "", _ERROR_KEPT) or None
    return {}, {"retry": None, "gave_up": True, "error": status.evidence.error or final}


def _used(status: RunStatus, event: ev.UsageReported) -> tuple[Changes, Changes]:
    return {"usage": _added(status.usage, event.usage)}, {}


def _settled(status: RunStatus, event: ev.Settled) -> tuple[Changes, Changes]:
    aborted = event.aborted or status.evidence.aborted
    return {}, {"settled": True, "aborted": aborted, "open_requests": {}, "streaming": False}


_FOLDS: dict[type, Callable[[RunStatus, Any], tuple[Changes, Changes]]] = {
    ev.SessionStarted: _session,
    ev.PromptAccepted: _accepted,
    ev.AssistantStarted: _started,
    ev.AssistantDelta: _delta,
    ev.AssistantMessage: _message,
    ev.ToolStarted: _tool_started,
    ev.ToolEnded: _tool_ended,
    ev.RequestOpened: _opened,
    ev.RequestClosed: _closed,
    ev.Reported: _reported,
    ev.RetryStarted: _retrying,
    ev.RetryEnded: _retried,
    ev.UsageReported: _used,
    ev.Settled: _settled,
}
