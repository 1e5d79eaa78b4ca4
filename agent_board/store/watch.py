"""Which views have changed on disk: told by the system where it can, found by looking where it can't.

Watched, not recursively: the root (for the roster), `views/`, each listed view's directory and the current run's
directory of live rows. A change is believed only when a file's time, size or inode differ, so touching a lock or
replacing a follow-up costs nobody a reading. Whatever the watching misses, a slow look over everything finds.
"""

import os
import queue
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from agent_board.store.files import Unreadable, read_json
from agent_board.store.paths import StorePaths
from agent_board.store.views import view_ids

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

DEBOUNCE_MS = 100
STEP_MS = 10
LOOK_S = 10.0
"""Everything is looked over this often."""
POLL_S = 1.0
"""Without watching, live rows are looked at this often."""
_FEW = 64

FileStamp = tuple[int, int, int] | None
Stamp = tuple[FileStamp, FileStamp]
"""(time in ns, size, inode) of meta.json and of state.json; None for a file that isn't there."""


@dataclass
class Changes:
    """What a look brought: views to read again (new ones too) and views that are gone or archived."""

    changed: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    active: set[str] = field(default_factory=set)
    """Views whose run wrote something, whether or not the view's own files changed."""

    def __bool__(self) -> bool:
        return bool(self.changed or self.gone or self.active)


def _file_stamp(path: str) -> FileStamp:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def stamp(paths: StorePaths, view_id: str) -> Stamp:
    """How the two files that make a row look now."""
    folder = f"{paths.views}/{view_id}"
    return (_file_stamp(f"{folder}/meta.json"), _file_stamp(f"{folder}/state.json"))


class RosterFacts(NamedTuple):
    """What of the roster matters to a reader, from one reading of it."""

    archived: set[str]
    newer: str | None
    """Why the store must not be written."""


def read_roster(paths: StorePaths) -> RosterFacts:
    """The archived views and the store's version; nothing archived when the roster can't be read."""
    raw = read_json(paths.roster)
    newer = raw.why if isinstance(raw, Unreadable) and raw.newer else None
    archived = raw.get("archived") if isinstance(raw, dict) else None
    ids = archived if isinstance(archived, list) else []
    return RosterFacts({view_id for view_id in ids if isinstance(view_id, str)}, newer)


def scan(paths: StorePaths, archived: set[str]) -> dict[str, Stamp]:
    """Every view that isn't archived, with its stamp; directories without a meta.json are not views yet."""
    stamps = {view_id: stamp(paths, view_id) for view_id in view_ids(paths) if view_id not in archived}
    return {view_id: found for view_id, found in stamps.items() if found[0] is not None}


class _Ear:
    """One set of watched directories; a thread that puts the paths of what happens there into a queue."""

    def __init__(self, folders: Iterable[str], heard: "queue.SimpleQueue[set[str] | None]") -> None:
        from watchfiles._rust_notify import RustNotify

        self.folders = {folder for folder in folders if os.path.isdir(folder)}
        self._stopping = threading.Event()
        self._notify: RustNotify | None = None
        if self.folders:
            # Raises OSError or RuntimeError when the system has no more watches to give.
            self._notify = RustNotify(sorted(self.folders), False, False, 0, False, False)
            threading.Thread(target=self._listen, args=(self._notify, heard), daemon=True, name="watch").start()

    def _listen(self, notify: "RustNotify", heard: "queue.SimpleQueue[set[str] | None]") -> None:
        try:
            while not self._stopping.is_set():
                found = notify.watch(DEBOUNCE_MS, STEP_MS, 0, self._stopping)
                if isinstance(found, set):
                    heard.put({path for _, path in found})
                elif found == "stop":
                    break
        except (OSError, RuntimeError):
            heard.put(None)
        finally:
            notify.close()  # at once: the system has few such listeners to give

    def close(self) -> None:
        """Stop listening; the thread ends by itself within a step."""
        self._stopping.set()


class Watch:
    """Tells which views changed. Used by one thread; `close` may be called from another."""

    def __init__(self, paths: StorePaths, known: Mapping[str, Stamp], *, watching: bool = True) -> None:
        """`known` holds the stamps taken before the views were read; what changed since comes first."""
        self._paths = paths
        self._known = dict(known)
        self._heard: queue.SimpleQueue[set[str] | None] = queue.SimpleQueue()
        self._live: dict[str, str] = {}
        self._many: _Ear | None = None
        self._few: _Ear | None = None
        self._young: set[str] = set()
        """Known views whose directory the large set does not cover."""
        self._views_inode = 0
        self._look_at = 0.0
        self._poll_at = 0.0
        self._closed = False
        self.archived: set[str] = set()
        self.newer: str | None = None
        """Why the store must not be written."""
        self.polling = not watching
        """Watching was refused or lost: rows are looked at every second, the rest every ten."""
        self._news = self.polling
        """Something changed that is no view: what `polling`, `archived` or `newer` say."""

    def follow(self, runs: Mapping[str, str]) -> None:
        """Watch the current run's directory of these live rows, by view id, and of no other."""
        if dict(runs) != self._live:
            self._live = dict(runs)
            if self._many is not None:
                self._listen_to_few()

    def wait(self, timeout: float) -> Changes:
        """What has changed since the last call, as soon as something has; nothing after `timeout` seconds.

        Returns early, with nothing, when only `polling`, `archived` or `newer` have changed.
        """
        deadline = time.monotonic() + timeout
        if self._many is None and not self.polling and not self._closed:
            self._listen_to_all()
            self._look_at = 0.0
        while not self._closed:
            now = time.monotonic()
            found = self._look() if now >= self._look_at else Changes()
            if self.polling and now >= self._poll_at:
                self._poll(found)
            if not found and not self._news and now < deadline:
                self._hear(min(deadline, self._look_at, self._poll_at if self.polling else deadline) - now, found)
            if found or self._news or now >= deadline:
                self._news = False
                return found
        return Changes()

    def close(self) -> None:
        """Stop watching and let a waiting `wait` return."""
        self._closed = True
        for ear in (self._many, self._few):
            if ear is not None:
                ear.close()
        self._heard.put(set())

    def _hear(self, timeout: float, found: Changes) -> None:
        heard: list[set[str] | None] = []
        with suppress(queue.Empty):
            heard.append(self._heard.get(timeout=max(0.0, timeout)))
            while True:
                heard.append(self._heard.get_nowait())
        if any(paths is None for paths in heard):
            self._lose()
        self._sort(set().union(*(paths for paths in heard if paths)), found)

    def _sort(self, paths: set[str], found: Changes) -> None:
        """Turn paths into views: compare the files of each view that something happened in."""
        prefix = self._paths.views + "/"
        touched = set()
        for path in paths:
            if path == self._paths.roster:
                self._look_at = 0.0
            elif path.startswith(prefix):
                view_id, _, inside = path[len(prefix) :].partition("/")
                if not view_id.startswith("."):
                    touched.add(view_id)
                if inside.startswith("runs/"):
                    found.active.add(view_id)
        for view_id in touched:
            self._compare(view_id, found)

    def _compare(self, view_id: str, found: Changes) -> None:
        now = stamp(self._paths, view_id)
        before = self._known.get(view_id)
        if now[0] is None:
            self._young.discard(view_id)
            if self._known.pop(view_id, None) is not None:
                found.gone.add(view_id)
        elif now != before and (before is not None or view_id not in self.archived):
            self._known[view_id] = now
            found.changed.add(view_id)
            if before is None and self._many is not None:
                self._young.add(view_id)
                self._listen_to_few()

    def _look(self) -> Changes:
        """Compare everything, and watch what is not watched yet."""
        self._look_at = time.monotonic() + LOOK_S
        roster = read_roster(self._paths)
        self._news |= (self.archived, self.newer) != (roster.archived, roster.newer)
        self.archived, self.newer = roster.archived, roster.newer
        stamps = scan(self._paths, self.archived)
        found = Changes(
            changed={view_id for view_id, now in stamps.items() if self._known.get(view_id) != now},
            gone=set(self._known) - set(stamps),
        )
        self._young = self._young & set(stamps) | (set(stamps) - set(self._known))
        self._known = stamps
        if self._many is not None and (self._inode() != self._views_inode or len(self._young) > _FEW):
            self._listen_to_all()
        elif self._many is not None:
            self._listen_to_few()
        return found

    def _poll(self, found: Changes) -> None:
        self._poll_at = time.monotonic() + POLL_S
        for view_id in [*self._live, *(set(view_ids(self._paths)) - set(self._known) - self.archived)]:
            self._compare(view_id, found)

    def _inode(self) -> int:
        with suppress(OSError):
            return os.stat(self._paths.views).st_ino
        return 0

    def _folder(self, view_id: str) -> str:
        return f"{self._paths.views}/{view_id}"

    def _listen_to_all(self) -> None:
        self._views_inode = self._inode()
        try:
            fresh = _Ear([self._paths.root, self._paths.views, *map(self._folder, self._known)], self._heard)
        except (OSError, RuntimeError):
            self._lose()
            return
        if self._many is not None:
            self._many.close()
        self._many = fresh
        self._young = set()
        self._listen_to_few()

    def _listen_to_few(self) -> None:
        """Views that came since, and the runs of live rows: few, so that listening anew costs nothing."""
        runs = (f"{self._paths.views}/{view_id}/runs/{run_id}" for view_id, run_id in self._live.items())
        wanted = {folder for folder in (*map(self._folder, self._young), *runs) if os.path.isdir(folder)}
        if self._few is not None and self._few.folders == wanted:
            return
        try:
            fresh = _Ear(wanted, self._heard)
        except (OSError, RuntimeError):
            self._lose()
            return
        if self._few is not None:
            self._few.close()
        self._few = fresh
        # What happened in a new directory before it was watched is found by comparing once more.
        self._heard.put({folder + "/" for folder in wanted})

    def _lose(self) -> None:
        """Go on without watching."""
        for ear in (self._many, self._few):
            if ear is not None:
                ear.close()
        self._many = self._few = None
        self.polling = self._news = True
        self._look_at = self._poll_at = 0.0
