"""The JSON objects of `list` and `show`: an interface, so keys are added and never renamed."""

import dataclasses
from typing import Any

from agent_board.states.view import Shown, shown
from agent_board.store.files import Missing, Unreadable
from agent_board.store.load import ViewRecord, as_object, load
from agent_board.store.paths import StorePaths
from agent_board.store.records import (
    Meta,
    ProcessState,
    RunRequest,
    RunStatus,
    SemanticState,
    ShimPid,
    State,
    camel,
)

Object = dict[str, Any]


def shown_of(record: ViewRecord) -> Shown | None:
    """What the view means to the user, his verdict applied; None when its files can't be understood."""
    if isinstance(record.meta, Unreadable) or isinstance(record.state, Unreadable):
        return None
    return shown(record.meta, record.state if isinstance(record.state, State) else None)


def shown_state(record: ViewRecord) -> SemanticState | None:
    """The state that a row shows; None when its files can't be understood."""
    seen = shown_of(record)
    return seen.state if seen else None


def view_object(record: ViewRecord) -> Object:
    """One flat object with the keys of meta.json and state.json, the verdict applied, and what is derived.

    For a view with a torn file the keys of that file are null and `unreadable` says why.
    """
    meta = _blank(Meta) if isinstance(record.meta, Unreadable) else as_object(record.meta)
    state = as_object(record.state) if isinstance(record.state, State) else _state_of_none(record)
    seen = shown_of(record)
    derived = {"semanticState": None, "unread": None} if seen is None else _as_shown(seen)
    times = [time for time in (meta["updatedAt"], state["updatedAt"]) if time is not None]
    ids = {"id": record.id, "viewId": record.id, "updatedAt": max(times, default=None)}
    return {**meta, **state, **derived, **ids, "unreadable": record.unreadable}


def _as_shown(seen: Shown) -> Object:
    return {
        "semanticState": seen.state,
        "stateSince": seen.since,
        "summary": seen.summary,
        "needsInput": seen.state is SemanticState.NEEDS_INPUT,
        "hasError": seen.state is SemanticState.FAILED,
        "question": seen.question,
        "choices": seen.choices,
        "error": seen.error,
        "unread": seen.unread,
    }


def _state_of_none(record: ViewRecord) -> Object:
    """The keys of a state that isn't there: null where it is unreadable, those of the beginning where it is missing."""
    if isinstance(record.state, Unreadable) or isinstance(record.meta, Unreadable):
        return _blank(State)
    at = record.meta.created_at
    return as_object(State(record.meta.version, record.id, SemanticState.QUEUED, ProcessState.EXITED, at, at))


def _blank(record: type) -> Object:
    keys = dict.fromkeys(camel(field.name) for field in dataclasses.fields(record))
    del keys["version"]
    return keys


def run_objects(paths: StorePaths, view_id: str) -> list[Object]:
    """The view's runs in the order in which they were asked for."""
    from agent_board.runs.claim import run_ids

    return [_run_object(paths, view_id, run_id) for run_id in run_ids(paths.view(view_id))]


def _run_object(paths: StorePaths, view_id: str, run_id: str) -> Object:
    files = paths.view(view_id).run(run_id)
    request, status = load(RunRequest, files.request), load(RunStatus, files.status)
    shim = load(ShimPid, files.pid)
    asked = None if isinstance(request, Missing | Unreadable) else request
    stands = as_object(status) if isinstance(status, RunStatus) else _blank(RunStatus)
    return {
        "runId": run_id,
        "seq": asked.seq if asked else None,
        "kind": stands["kind"] or (asked.kind if asked else None),
        "semanticState": stands["semanticState"] or (SemanticState.QUEUED if asked else None),
        "processState": stands["processState"],
        "exitCode": stands["exitCode"],
        "startedAt": stands["startedAt"],
        "endedAt": stands["endedAt"],
        "promptPreview": stands["promptPreview"] or (asked.prompt_preview if asked else None),
        "promptId": asked.prompt_id if asked else None,
        "agent": asked.agent if asked else None,
        "model": stands["model"] or (asked.model if asked else None),
        "sessionId": stands["sessionId"],
        "workerPid": stands["pid"],
        "shimPid": shim.identity.pid if isinstance(shim, ShimPid) else None,
        "summary": stands["summary"],
        "question": stands["question"],
        "error": stands["error"],
        "reason": stands["reason"],
        "stopReason": stands["stopReason"],
        "usage": stands["usage"],
        "report": stands["report"],
        "requests": _requests(status) if isinstance(status, RunStatus) else [],
        "durations": stands["durations"],
        "unreadable": _unreadable(request=request, status=status),
    }


def _requests(status: RunStatus) -> list[Object]:
    """What waits for `answer`, by the ids that it takes."""
    asked = status.evidence.open_requests.items() if status.ended_at is None else ()
    return [{"id": key, "kind": what.kind, "text": what.text, "choices": what.choices} for key, what in asked]


def _unreadable(**files: object) -> str | None:
    for name, found in files.items():
        if isinstance(found, Unreadable):
            return f"{name}.json {found.why}"
    return None
