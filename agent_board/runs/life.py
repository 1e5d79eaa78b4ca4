"""The life of a row: rename, pin, done and reopen, archive and restore, undo (UX 2). No run starts or ends by it."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, NamedTuple

from agent_board.errors import BoardError, BusyError
from agent_board.runs.naming import checked_name
from agent_board.runs.reconcile import claims_a_process
from agent_board.store import locks, plain
from agent_board.store.files import Missing, Raw, Unreadable, keep_unreadable, now_ms, read_json
from agent_board.store.paths import StorePaths
from agent_board.store.records import VERSION, Meta, SemanticState, State, Verdict, encode
from agent_board.store.views import change_json, change_meta, list_in_roster, names, new_id

_UNDOABLE = 50
_TOGETHER: ContextVar[str] = ContextVar("together", default="")


def rename(paths: StorePaths, view_id: str, name: str) -> str:
    """Give a view another name; returns it as kept. Raises UsageError for a name that can't be."""
    kept: list[str] = []

    def change(raw: Raw) -> None:
        kept.append(checked_name(name, names(paths, but=view_id)))
        raw["name"] = kept[0]

    _act(paths, view_id, "rename", change)
    return kept[0]


def pin(paths: StorePaths, view_id: str, pinned: bool = True) -> None:
    """Put a view first in its group, or no longer."""
    _act(paths, view_id, "pin" if pinned else "unpin", lambda raw: raw.update(pinned=pinned))


def done(paths: StorePaths, view_id: str) -> None:
    """The user's verdict: completed. It lasts until the next run. Raises BoardError on a living row."""
    meta, state = _settled(paths, view_id, "mark it as done")
    if _shown(meta, state) is SemanticState.COMPLETED:
        raise BoardError(f"“{meta.name}” is completed already.")
    verdict = encode(Verdict(SemanticState.COMPLETED, state.current_run_id, now_ms()))
    _act(paths, view_id, "done", lambda raw: raw.update(verdict=verdict))


def reopen(paths: StorePaths, view_id: str) -> None:
    """Take completed back: what the run itself came to shows again, or idle if it had completed by itself."""
    meta, state = _settled(paths, view_id, "reopen it")
    if _shown(meta, state) is not SemanticState.COMPLETED:
        raise BoardError(f"“{meta.name}” is not completed; there is nothing to reopen.")
    verdict = None
    if state.semantic_state is SemanticState.COMPLETED:
        verdict = encode(Verdict(SemanticState.IDLE, state.current_run_id, now_ms()))
    _act(paths, view_id, "reopen", lambda raw: raw.update(verdict=verdict))


def archive(paths: StorePaths, view_id: str) -> None:
    """Hide a row and keep everything. Raises BoardError on a living one; an unreadable one may be archived."""
    with not_running(paths, view_id, "archive it"):
        if isinstance(read_json(paths.view(view_id).meta), Unreadable):
            list_in_roster(paths, view_id, "archived")
            return
        _act(paths, view_id, "archive", _archived_at(now_ms()))
        list_in_roster(paths, view_id, "archived")


def restore(paths: StorePaths, view_id: str) -> None:
    """Bring an archived row back with its state, pin and name."""
    if isinstance(read_json(paths.view(view_id).meta), Unreadable):
        list_in_roster(paths, view_id, "views")
        return
    _act(paths, view_id, "restore", _archived_at(None))
    list_in_roster(paths, view_id, "views")


class Undone(NamedTuple):
    """What an undo did."""

    sentence: str
    view_ids: tuple[str, ...]
    """The views that are as they were before."""


@contextmanager
def together() -> Iterator[None]:
    """Acts taken in this block, in this thread, are undone as one."""
    token = _TOGETHER.set(new_id())
    try:
        yield
    finally:
        _TOGETHER.reset(token)


def undo(paths: StorePaths) -> str:
    """Take the last act of this module back; returns what was done. Raises BoardError when there is none."""
    return undo_last(paths).sentence


def undo_last(paths: StorePaths) -> Undone:
    """Take the last act back, on all views that it was taken on together. Raises BoardError when nothing could be."""
    entries = _take_last(paths)
    undone: dict[str, str] = {}
    failures = []
    for entry in entries:
        try:
            undone[str(entry["viewId"])] = _take_back(paths, entry)
        except BoardError as error:
            if len(entries) == 1:
                raise
            failures.append(str(error))
    if not undone:
        raise BoardError(failures[0])
    act, view_ids = entries[0]["act"], tuple(undone)
    whose = f"“{undone[view_ids[0]]}”" if len(undone) == 1 else f"{len(undone)} tasks"
    more = f" {len(failures)} could not be: {failures[0]}" if failures else ""
    return Undone(f"Undone: {act} of {whose}.{more}", view_ids)


def _take_back(paths: StorePaths, entry: Raw) -> str:
    """Undo one act on one view; returns the view's name."""
    view_id, before, after = str(entry["viewId"]), dict(entry["before"]), dict(entry["after"])

    def change(raw: Raw) -> None:
        if any(raw.get(key) != value for key, value in after.items()):
            raise BoardError(f"“{raw.get('name')}” has been changed since; the {entry['act']} can't be undone.")
        if before.get("name") in names(paths, but=view_id):
            raise BoardError(f"Another task is named “{before['name']}” by now; the {entry['act']} can't be undone.")
        raw.update(before)

    if isinstance(read_json(paths.view(view_id).meta), Missing):
        raise BoardError(f"The task has been deleted since; the {entry['act']} can't be undone.")
    raw = change_meta(paths, view_id, change)
    if "archivedAt" in before:
        list_in_roster(paths, view_id, "views" if before["archivedAt"] is None else "archived")
    return str(raw.get("name"))


@contextmanager
def not_running(paths: StorePaths, view_id: str, doing: str) -> Iterator[None]:
    """Hold the view lock of a view that nothing runs in. Raises BoardError when something does."""
    view = paths.view(view_id)
    state = plain.read(State, view.state)
    busy = BoardError(f"This task is still running; stop it first to {doing}.")
    if isinstance(state, State) and claims_a_process(state):
        raise busy
    try:
        lock = locks.acquire(view.lock, what="the task")
    except BusyError:
        raise busy from None
    except FileNotFoundError:
        raise BoardError(f"There is no task {view_id} any more.") from None
    try:
        yield
    finally:
        locks.release(lock)


def _archived_at(when: int | None) -> Any:
    def change(raw: Raw) -> None:
        if (raw.get("archivedAt") is None) == (when is None):
            how = "is not archived" if when is None else "is archived already"
            raise BoardError(f"“{raw.get('name')}” {how}.")
        raw["archivedAt"] = when

    return change


def _settled(paths: StorePaths, view_id: str, doing: str) -> tuple[Meta, State]:
    view = paths.view(view_id)
    meta, state = plain.read(Meta, view.meta), plain.read(State, view.state)
    if isinstance(meta, Missing):
        raise BoardError(f"There is no task {view_id} any more.")
    if not isinstance(meta, Meta) or not isinstance(state, State):
        raise BoardError(f"This task's files can't be read, so you can't {doing}; archive or delete it.")
    if claims_a_process(state):
        raise BoardError(f"“{meta.name}” is still running; stop it first to {doing}.")
    return meta, state


def _shown(meta: Meta, state: State) -> SemanticState:
    from agent_board.states.view import shown

    return shown(meta, state).state


def _act(paths: StorePaths, view_id: str, act: str, change: Any) -> None:
    """Change a view's meta.json and note how to take it back."""
    before: Raw = {}

    def noting(raw: Raw) -> None:
        before.update(raw)
        change(raw)

    after = change_meta(paths, view_id, noting)
    changed = [key for key in after if key != "updatedAt" and before.get(key) != after[key]]
    if not changed:
        return
    entry = {
        "viewId": view_id,
        "act": act,
        "before": {key: before.get(key) for key in changed},
        "after": {key: after[key] for key in changed},
        "together": _TOGETHER.get(),
        "at": now_ms(),
    }
    _set_aside_torn(paths)
    change_json(paths, _journal(paths), lambda raw: _append(raw, entry), fresh=_empty_journal)


def _set_aside_torn(paths: StorePaths) -> None:
    """A journal that can't be understood costs what it held, and no act behind it."""
    found = read_json(_journal(paths))
    torn = not found.newer if isinstance(found, Unreadable) else isinstance(found, dict) and not _is_journal(found)
    if torn:
        with suppress(OSError):
            keep_unreadable(_journal(paths))


def _is_journal(raw: Raw) -> bool:
    acts = raw.get("acts")
    return isinstance(acts, list) and all(
        isinstance(act, dict)
        and isinstance(act.get("before"), dict)
        and isinstance(act.get("after"), dict)
        and {"viewId", "act"} <= act.keys()
        for act in acts
    )


def _append(raw: Raw, entry: Raw) -> None:
    acts = [*raw.get("acts", []), entry]
    raw["acts"] = acts[-max(_UNDOABLE, sum(_belong(entry, act) for act in acts)) :]


def _belong(entry: Raw, other: Raw) -> bool:
    return bool(entry.get("together")) and entry.get("together") == other.get("together")


def _take_last(paths: StorePaths) -> list[Raw]:
    """The last act, or all that were taken together with it, the last one first."""
    taken: list[Raw] = []
    _set_aside_torn(paths)

    def take(raw: Raw) -> None:
        acts = raw.get("acts")
        if not acts:
            raise BoardError("There is nothing to undo.")
        taken.append(acts.pop())
        while acts and _belong(taken[0], acts[-1]):
            taken.append(acts.pop())

    change_json(paths, _journal(paths), take, fresh=_empty_journal)
    return taken


def _journal(paths: StorePaths) -> str:
    return f"{paths.root}/undo.json"


def _empty_journal() -> Raw:
    return {"version": VERSION, "acts": []}
