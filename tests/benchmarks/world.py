"""A store with very many views, as a year of use leaves it."""

import os
from pathlib import Path

from agent_board.store.files import DIR_MODE, now_ms, write_json
from agent_board.store.paths import StorePaths
from agent_board.store.records import VERSION, Meta, ProcessState, SemanticState, State, Usage, encode
from agent_board.store.views import open_store

PROJECTS = ("api", "web", "infra", "docs", "mobile")
STATES = (
    *(SemanticState.COMPLETED,) * 6,
    *(SemanticState.NEEDS_INPUT, SemanticState.FAILED, SemanticState.STOPPED, SemanticState.IDLE),
)


def view_id(number: int) -> str:
    """The id of a view by its number."""
    return f"{number:010x}"


def meta(number: int, root: str) -> Meta:
    """Who that view is."""
    made = now_ms() - 40_000_000 + number * 1_000
    return Meta(
        version=VERSION,
        id=view_id(number),
        name=f"task-{number:05d}",
        cwd=os.path.join(root, PROJECTS[number % len(PROJECTS)]),
        created_at=made,
        updated_at=made,
        session_file=f"{root}/sessions/{view_id(number)}.jsonl",
        default_model="scripted/scripted",
        seen_seq=0 if number % 9 == 0 else 1,
    )


def state(number: int, summary: str | None = None, kind: SemanticState | None = None) -> State:
    """How that view stands."""
    kind = kind or STATES[number % len(STATES)]
    asks, fails = kind is SemanticState.NEEDS_INPUT, kind is SemanticState.FAILED
    text = summary or f"Looked at module {number} and changed what was asked for"
    return State(
        version=VERSION,
        view_id=view_id(number),
        semantic_state=kind,
        process_state=ProcessState.EXITED,
        updated_at=now_ms(),
        state_since=now_ms() - 3_600_000,
        current_run_id="r1",
        summary=text,
        needs_input=asks,
        has_error=fails,
        question=text if asks else None,
        error=text if fails else None,
        reason="success",
        latest_assistant_preview=f"{text}. All the tests of that module pass; nothing else needed changing.",
        change_seq=1,
        usage=Usage(input=12_000, output=800, cache_read=4_000, cache_write=0, cost_usd=0.021),
    )


def make_world(folder: Path, views: int) -> StorePaths:
    """A store in `folder` with so many settled views."""
    paths = open_store(str(folder))
    for project in PROJECTS:
        (folder.parent / project).mkdir(exist_ok=True)
    for number in range(views):
        view = paths.view(view_id(number))
        os.mkdir(view.dir, DIR_MODE)
        os.mkdir(view.runs, DIR_MODE)
        os.close(os.open(view.lock, os.O_WRONLY | os.O_CREAT, 0o600))
        write_json(view.meta, encode(meta(number, str(folder.parent))))
        write_json(view.state, encode(state(number)))
    write_json(paths.roster, {"version": VERSION, "views": [view_id(n) for n in range(views)], "archived": []})
    return paths


def change(paths: StorePaths, number: int, summary: str, kind: SemanticState | None = None) -> None:
    """Replace a view's state.json, as its shim does."""
    write_json(paths.view(view_id(number)).state, encode(state(number, summary, kind)))
