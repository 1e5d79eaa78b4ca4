"""A store full of views that never ran: realistic names, states, texts and times, the same ones for the same seed."""

import json
import os
import random
from pathlib import Path

from agent_board.store.paths import StorePaths
from agent_board.store.records import (
    VERSION,
    Meta,
    ProcessState,
    SemanticState,
    State,
    Tool,
    Usage,
    encode,
)

NOW_MS = 1_790_000_000_000
"""The wall time at which the fake store was photographed; ages are counted back from it."""

_S = SemanticState
_MINUTE, _HOUR = 60_000, 3_600_000
_PROJECTS = ("api", "web", "infra", "docs", "mobile", "data-pipeline", "billing")
_VERBS = ("fix", "add", "bump", "refactor", "review", "document", "speed-up", "migrate", "remove", "test")
_THINGS = (
    "refresh-tokens", "flaky-upload-test", "deps", "auth-middleware", "typos", "login-page", "search-index",
    "retry-helper", "csv-export", "dark-theme", "rate-limits", "invoice-totals", "面板布局", "webhooks",
)  # fmt: skip
_SUMMARIES = {
    _S.NEEDS_INPUT: (
        "Should refresh tokens live 7 or 30 days?",
        "Delete the retry helper, or keep it behind a flag?",
        "要不要把旧的登录页一起删掉？",
        "The migration drops a column that two reports still read. Go on?",
    ),
    _S.FAILED: (
        "429: quota exhausted, resets 18:00",
        "401: the API key is not valid",
        "Ended from outside (shutdown or logout?)",
    ),
    _S.WORKING: (
        "Editing src/auth/middleware.py",
        "Running tests",
        "Reading docs/architecture.md",
        "Searching for “deprecated”",
    ),
    _S.QUEUED: ("Waits for its first words", "Waits for the checkout of api"),
    _S.COMPLETED: (
        "Fixed 14 typos in 6 files",
        "Moved the parser behind an interface and kept every test green",
        "Added CSV export with streaming, 12 tests, and a note in the changelog 🎉",
        "Bumped 9 dependencies; two need attention before the next release",
    ),
    _S.IDLE: ("Adopted from a terminal session",),
    _S.STOPPED: ("Stopped by you",),
}
_MIX = (_S.COMPLETED,) * 14 + (_S.STOPPED,) * 2 + (_S.IDLE,) * 2 + (_S.FAILED,) * 2 + (_S.NEEDS_INPUT,) * 2 + (
    _S.WORKING,
) * 3 + (_S.QUEUED,)  # fmt: skip


def make_view(
    paths: StorePaths,
    view_id: str,
    *,
    name: str = "task",
    project: str = "api",
    state: SemanticState = _S.COMPLETED,
    summary: str = "Done",
    age_ms: int = _MINUTE,
    alive: bool | None = None,
    unread: bool = False,
    pinned: bool = False,
    archived: bool = False,
    agent: str = "pi",
    usage: Usage | None = None,
    now_ms: int = NOW_MS,
    **more: object,
) -> None:
    """One view's two files, as an act and a shim would leave them. `more` goes to the state."""
    cwd = f"/home/dev/src/{project}"
    created = now_ms - age_ms - 5 * _MINUTE
    running = state is _S.WORKING if alive is None else alive
    meta = Meta(
        VERSION, view_id, name, cwd, created, created, pinned=pinned, repo_root=cwd, agent=agent,
        archived_at=now_ms if archived else None, seen_seq=0 if unread else 1,
        worktree_path=f"{cwd}/.worktrees/{name}" if more.pop("worktree", False) else None,
    )  # fmt: skip
    facts = State(
        VERSION, view_id, state, ProcessState.ALIVE if running else ProcessState.EXITED, now_ms - age_ms,
        now_ms - age_ms, current_run_id=f"r{view_id}", summary=summary,
        needs_input=state is _S.NEEDS_INPUT, has_error=state is _S.FAILED,
        question=summary if state is _S.NEEDS_INPUT else None, error=summary if state is _S.FAILED else None,
        change_seq=1 if state.settled else 0, usage=usage or Usage(),
    )  # fmt: skip
    for field, value in more.items():
        setattr(facts, field, value)
    folder = paths.view(view_id).dir
    os.makedirs(f"{folder}/runs", mode=0o700, exist_ok=True)
    write(paths.view(view_id).meta, encode(meta))
    write(paths.view(view_id).state, encode(facts))


def write(path: str, value: object) -> None:
    """Replace a JSON file the way the product does, without its syncing."""
    beside = Path(f"{path}.new")
    beside.write_text(json.dumps(value, ensure_ascii=False), "utf-8")
    beside.replace(path)


def change_state(paths: StorePaths, view_id: str, **fields: object) -> None:
    """Replace fields of a view's state.json, named as on disk."""
    path = paths.view(view_id).state
    write(path, json.loads(Path(path).read_text("utf-8")) | fields)


def make_views(paths: StorePaths, count: int, *, seed: int = 7, archived: int = 0, now_ms: int = NOW_MS) -> list[str]:
    """`count` views of every kind (and as many archived ones as asked); returns their ids in order of making."""
    dice = random.Random(seed)
    ids = [f"{dice.getrandbits(40):010x}" for _ in range(count + archived)]
    for number, view_id in enumerate(ids):
        state = dice.choice(_MIX)
        reported = dice.random() < 0.7 and state is not _S.QUEUED
        tokens = dice.choice((900, 12_000, 48_000, 310_000, 1_400_000))
        make_view(
            paths,
            view_id,
            name=f"{dice.choice(_VERBS)}-{dice.choice(_THINGS)}",
            project=dice.choice(_PROJECTS),
            state=state,
            summary=dice.choice(_SUMMARIES[state]),
            age_ms=int(dice.expovariate(1 / (3 * _HOUR))) + 1000,
            unread=state.settled and dice.random() < 0.12,
            pinned=dice.random() < 0.03,
            archived=number >= count,
            agent=dice.choice(("pi", "pi", "pi", "claude", "codex")),
            usage=Usage(tokens // 2, tokens // 10, tokens // 3, 0, round(tokens * 4e-6, 4)) if reported else None,
            worktree=dice.random() < 0.2,
            latest_tool=Tool("edit", "src/auth/middleware.py"),
            now_ms=now_ms,
        )
    write(paths.roster, {"version": VERSION, "views": ids[:count], "archived": ids[count:]})
    return ids
