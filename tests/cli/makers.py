"""Views written straight into a store, as runs leave them behind."""

import json
from typing import Any

from agent_board.store.files import make_dir, write_bytes, write_json
from agent_board.store.paths import RunPaths, StorePaths
from agent_board.store.records import (
    Evidence,
    Meta,
    ProcessState,
    RunRequest,
    RunStatus,
    SemanticState,
    State,
    encode,
)
from agent_board.store.views import change_roster

AT = 1_700_000_000_000


def make_view(
    paths: StorePaths, view_id: str, state: str = "completed", *, meta: dict[str, Any] | None = None, **changes: Any
) -> str:
    """One view with one run in that state; `meta` and the rest replace keys of meta.json and state.json."""
    view, run_id = paths.view(view_id), f"0001-{view_id}"
    make_dir(view.dir)
    make_dir(view.runs)
    who = Meta(1, view_id, f"task-{view_id}", "/tmp/api", AT, AT, session_file=paths.session(view_id), agent="demo")
    write_json(view.meta, {**encode(who), **(meta or {})})
    semantic = SemanticState(state)
    stands = State(1, view_id, semantic, ProcessState.EXITED, AT + 5, AT + 4, current_run_id=run_id, summary="Did it.")
    write_json(view.state, {**encode(stands), **changes})
    make_run(paths, view_id, run_id, state)
    key = "archived" if meta and meta.get("archivedAt") else "views"
    change_roster(paths, lambda raw: raw[key].append(view_id) if view_id not in raw[key] else None)
    return view_id


def make_run(paths: StorePaths, view_id: str, run_id: str, state: str = "completed", seq: int = 1) -> RunPaths:
    """A run that has ended."""
    run = paths.view(view_id).run(run_id)
    make_dir(run.dir)
    asked = RunRequest(1, run_id, view_id, run_id, seq, AT, "demo", "/tmp/api", prompt_preview=f"prompt {seq}")
    write_json(run.request, encode(asked))
    stands = RunStatus(
        1,
        run_id,
        view_id,
        AT + 1,
        SemanticState(state),
        ended_at=AT + 2,
        exit_code=0,
        pid=4242,
        prompt_preview=f"prompt {seq}",
        evidence=Evidence(
            prompt_accepted=True, activity=True, settled=True, exited=True, exit_code=0, last_stop="stop"
        ),
    )
    write_json(run.status, encode(stands))
    return run


def write_events(run: RunPaths, *events: dict[str, Any]) -> None:
    """The run's events.jsonl."""
    write_bytes(run.events, b"".join(json.dumps(event).encode() + b"\n" for event in events))


def tear(path: str, data: bytes = b'{"version": 1, "na') -> None:
    """Leave a file as a crash or a full disk would."""
    write_bytes(path, data)
