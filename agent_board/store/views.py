"""Changing the files that have several authors: meta, roster, follow-ups. Raw objects under the store lock.

Raw, so that keys written by a newer agent-board survive; under the lock, so that two boards, a command line and
several shims lose no update.
"""

import os
from collections.abc import Callable

from agent_board.errors import BoardError
from agent_board.store import locks
from agent_board.store.files import (
    DIR_MODE,
    MISSING,
    Missing,
    Raw,
    Unreadable,
    disk_errors,
    keep_unreadable,
    make_dir,
    now_ms,
    read_json,
    sync_dir,
    write_json,
)
from agent_board.store.migrate import migrate
from agent_board.store.paths import StorePaths, ViewPaths
from agent_board.store.records import VERSION

_OURS = frozenset({"roster.json", "undo.json", "views", "sessions", "locks", "log"})


def new_id() -> str:
    """A view id: ten hexadecimal digits."""
    return os.urandom(5).hex()


def open_store(root: str) -> StorePaths:
    """The store at `root`, made if it isn't there yet.

    Raises BoardError when the place can't be written or holds something that isn't a store.
    """
    paths = StorePaths(root)
    if os.path.isdir(paths.views) and os.path.isdir(paths.locks):
        return paths
    with disk_errors(f"make the store {root}"):
        if os.path.exists(root):
            if not os.path.isdir(root):
                raise BoardError(f"{root} is not a directory; name another place with --home.")
            foreign = sorted(name for name in os.listdir(root) if name not in _OURS and not name.startswith("."))
            if foreign:
                raise BoardError(
                    f"{root} is not an agent-board store (it holds {foreign[0]}); name an empty directory with --home."
                )
        for folder in (root, paths.views, paths.sessions, paths.locks, paths.log):
            make_dir(folder)
    return paths


def change_json(
    paths: StorePaths, path: str, change: Callable[[Raw], None], *, fresh: Callable[[], Raw] | None = None
) -> Raw:
    """Change one several-authors file as a raw object and put it back, under the store lock.

    `fresh` makes the object when the file is missing. Raises BoardError when the file is unreadable (it stays as
    it is), missing without `fresh`, or of a newer version; BusyError when the lock is not to be had.
    """
    refuse_newer(paths)
    with disk_errors(f"write {path}"), locks.held(paths.store_lock):
        raw = read_json(path)
        if isinstance(raw, Unreadable):
            raise BoardError(f"{path} {raw.why}; nothing was changed.")
        if isinstance(raw, Missing):
            if fresh is None:
                raise BoardError(f"{path} is gone; nothing was changed.")
            raw = fresh()
        raw = migrate(raw)
        change(raw)
        write_json(path, raw, sync=True)
        return raw


def create_view(paths: StorePaths, view_id: str, fill: Callable[[ViewPaths, set[str]], None]) -> None:
    """Put a new view into the store, complete or absent.

    `fill` is called with the directory being built and the names already taken, under the store lock, so that two
    boards can't give one name twice; it writes meta.json and whatever else the view begins with. Raises BoardError
    when the disk refuses; then nothing is left.
    """
    refuse_newer(paths)
    building = ViewPaths(f"{paths.views}/.{view_id}")
    with disk_errors(f"create the task in {paths.root}"), locks.held(paths.store_lock):
        os.mkdir(building.dir, DIR_MODE)
        try:
            os.mkdir(building.runs, DIR_MODE)
            fill(building, names(paths))
            os.rename(building.dir, paths.view(view_id).dir)
        except BaseException:
            import shutil  # 2 ms that a listing need not pay

            shutil.rmtree(building.dir, ignore_errors=True)
            raise
        sync_dir(paths.views)
        _change_roster_locked(paths, lambda raw: _append_new(raw["views"], view_id))


def names(paths: StorePaths, *, but: str | None = None) -> set[str]:
    """The names that are taken, archived views' included, without that of view `but`."""
    taken = set()
    for view_id in view_ids(paths):
        meta = read_json(paths.view(view_id).meta) if view_id != but else None
        if isinstance(meta, dict):
            taken.add(str(meta.get("name")))
    return taken


def _append_new(ids: list[str], view_id: str) -> None:
    if view_id not in ids:
        ids.append(view_id)


def list_in_roster(paths: StorePaths, view_id: str, section: str | None) -> None:
    """Put a view under `views` or `archived` in the roster, or (None) take it out of both."""

    def change(raw: Raw) -> None:
        for key in ("views", "archived"):
            raw[key] = [known for known in raw[key] if known != view_id]
        if section is not None:
            raw[section].append(view_id)

    change_roster(paths, change)


def change_meta(paths: StorePaths, view_id: str, change: Callable[[Raw], None]) -> Raw:
    """Change a view's meta.json (see `change_json`) and stamp it."""

    def stamped(raw: Raw) -> None:
        change(raw)
        raw["updatedAt"] = now_ms()

    return change_json(paths, paths.view(view_id).meta, stamped)


def change_roster(paths: StorePaths, change: Callable[[Raw], None]) -> Raw:
    """Change the roster; a missing or torn one is rebuilt from `views/` first, the torn bytes kept beside it."""
    with disk_errors(f"write {paths.roster}"), locks.held(paths.store_lock):
        return _change_roster_locked(paths, change)


def _change_roster_locked(paths: StorePaths, change: Callable[[Raw], None]) -> Raw:
    raw = read_json(paths.roster)
    if isinstance(raw, Unreadable):
        refuse_newer(paths)
        keep_unreadable(paths.roster)
        raw = MISSING
    raw = _rebuilt_roster(paths) if isinstance(raw, Missing) else migrate(raw)
    for key in ("views", "archived"):
        if not isinstance(raw.get(key), list):
            raw[key] = _rebuilt_roster(paths)[key]
    change(raw)
    write_json(paths.roster, raw, sync=True)
    return raw


def _rebuilt_roster(paths: StorePaths) -> Raw:
    ids: dict[bool, list[str]] = {False: [], True: []}
    for view_id in view_ids(paths):
        meta = read_json(paths.view(view_id).meta)
        ids[isinstance(meta, dict) and meta.get("archivedAt") is not None].append(view_id)
    return {"version": VERSION, "views": ids[False], "archived": ids[True]}


def view_ids(paths: StorePaths) -> list[str]:
    """Every view that has a directory, archived ones included, in no meaningful order."""
    try:
        with os.scandir(paths.views) as entries:
            return [entry.name for entry in entries if not entry.name.startswith(".") and os.path.isdir(entry.path)]
    except FileNotFoundError:
        return []


def archived_ids(paths: StorePaths) -> set[str]:
    """The views that the roster knows as archived; empty when it can't be read (then all are loaded)."""
    raw = read_json(paths.roster)
    archived = raw.get("archived") if isinstance(raw, dict) else None
    return {view_id for view_id in archived if isinstance(view_id, str)} if isinstance(archived, list) else set()


def newer_store(paths: StorePaths) -> str | None:
    """The reason why this store must not be written: a newer agent-board made it. None for ours."""
    raw = read_json(paths.roster)
    return raw.why if isinstance(raw, Unreadable) and raw.newer else None


def refuse_newer(paths: StorePaths) -> None:
    """Raises BoardError when a newer agent-board made this store."""
    if reason := newer_store(paths):
        raise BoardError(f"The store {paths.root} {reason}; update agent-board to change it. Nothing was changed.")
