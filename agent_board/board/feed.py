"""Keeps the list true: reads the store, watches it, settles what has died. Threads beside the screen, never on it."""

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_board.board.acts import Acts
from agent_board.board.journal import Journal
from agent_board.board.model.row import Row, row_of
from agent_board.errors import BoardError
from agent_board.store.files import Missing
from agent_board.store.load import ViewRecord, load_view
from agent_board.store.paths import StorePaths
from agent_board.store.watch import Stamp, Watch, read_roster, scan

if TYPE_CHECKING:
    from agent_board.store.watch import Changes

RECONCILE_S = 2.0


@dataclass
class News:
    """What has changed since the screen last asked."""

    rows: dict[str, Row | None] = field(default_factory=dict)
    loaded: bool = False
    """The whole store has been read once."""
    archived: int = 0
    polling: bool = False
    newer: str | None = None
    """Why the store must not be written."""
    failed: str | None = None
    """Why the list is no longer kept up to date."""


class Feed:
    """Reads what changed and tells the screen that there is news; the screen takes it when it can."""

    def __init__(self, paths: StorePaths, acts: Acts, journal: Journal, *, watching: bool = True) -> None:
        self._paths = paths
        self._acts = acts
        self._journal = journal
        self._watching = watching
        self._tell: Callable[[], object] = lambda: None
        self._lock = threading.Lock()
        self._news = News()
        self._told = False
        self._claims: dict[str, ViewRecord] = {}
        self._watch: Watch | None = None
        self._stopping = threading.Event()
        self._stamps: dict[str, Stamp] = {}
        self.loaded = threading.Event()

    def read_all(self) -> None:
        """Read the whole store; call it before `start`, from any thread."""
        roster = read_roster(self._paths)
        self._stamps = scan(self._paths, roster.archived)
        self._read(self._stamps)
        with self._lock:
            self._news.archived = len(roster.archived)
            self._news.newer = roster.newer
            self._news.loaded = True
        self.loaded.set()

    def start(self, tell: Callable[[], object]) -> None:
        """Begin to watch and to reconcile; `tell` is called from threads, once until the news is taken."""
        self._tell = tell
        for work, name in ((self._follow, "feed"), (self._settle, "reconcile")):
            threading.Thread(target=self._guarded, args=(work,), daemon=True, name=name).start()

    def stop(self) -> None:
        """End the threads."""
        self._stopping.set()
        if self._watch is not None:
            self._watch.close()

    def take(self) -> News:
        """All news since the last call; the state of the feed stands in every one."""
        with self._lock:
            news, self._told = self._news, False
            self._news = News(
                loaded=news.loaded,
                archived=news.archived,
                polling=news.polling,
                newer=news.newer,
                failed=news.failed,
            )
            return news

    def refresh(self, view_ids: Iterable[str]) -> None:
        """Read views again now; from any thread but the screen's."""
        self._read(view_ids)
        self._announce()

    def read_again(self) -> None:
        """Read everything once more, whatever was noticed; from any thread but the screen's."""
        self._read(scan(self._paths, read_roster(self._paths).archived))
        self._announce()

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 a list that stands still must say so, whatever the reason
            sentence = f"The list is no longer kept up to date ({error}); leave with q and start the board again."
            self._journal.write(f"{threading.current_thread().name}: {error!r}")
            with self._lock:
                self._news.failed = sentence
            self._announce()

    def _announce(self) -> None:
        with self._lock:
            told, self._told = self._told, True
        if not told and not self._stopping.is_set():
            self._tell()

    def _read(self, view_ids: Iterable[str]) -> None:
        fresh: dict[str, Row | None] = {}
        claims: dict[str, ViewRecord | None] = {}
        for view_id in view_ids:
            record = load_view(self._paths, view_id)
            row = None if isinstance(record, Missing) else row_of(record)
            fresh[view_id] = row
            claims[view_id] = (
                record if row is not None and row.claims_process and not isinstance(record, Missing) else None
            )
        with self._lock:
            self._news.rows.update(fresh)
            for view_id, claim in claims.items():
                if claim is None:
                    self._claims.pop(view_id, None)
                else:
                    self._claims[view_id] = claim

    def _follow(self) -> None:
        if not self.loaded.is_set():
            self.read_all()
        with self._lock:
            untold = bool(self._news.rows)
        if untold:  # read after the screen had looked for the last time, and before there was anybody to tell
            self._announce()
        self._watch = watch = Watch(self._paths, self._stamps, watching=self._watching)
        try:
            while not self._stopping.is_set():
                watch.follow(self._running())
                self._digest(watch.wait(60.0), watch)
        finally:
            watch.close()

    def _digest(self, changes: "Changes", watch: Watch) -> None:
        if changes.changed or changes.gone:
            self._read([*changes.changed, *changes.gone])
        with self._lock:
            before = (self._news.polling, self._news.archived, self._news.newer)
            self._news.polling = watch.polling
            self._news.archived = len(watch.archived)
            self._news.newer = watch.newer
            now = (self._news.polling, self._news.archived, self._news.newer)
        if changes.changed or changes.gone or before != now:
            self._announce()

    def _running(self) -> dict[str, str]:
        with self._lock:
            states = [(view_id, record.state) for view_id, record in self._claims.items()]
        runs = ((view_id, getattr(state, "current_run_id", None)) for view_id, state in states)
        return {view_id: run_id for view_id, run_id in runs if run_id}

    def _settle(self) -> None:
        while not self._stopping.is_set():
            with self._lock:
                claims = list(self._claims.values())
                newer = self._news.newer
            if claims and newer is None:
                self._reconcile(claims)
            self._stopping.wait(RECONCILE_S)

    def _reconcile(self, claims: list[ViewRecord]) -> None:
        try:
            changed = self._acts.reconcile(claims)
        except (BoardError, OSError) as error:
            self._journal.write(f"reconcile: {error}")
            return
        if changed:
            self.refresh(changed)


def read_in_background(feed: Feed) -> float:
    """Start reading the store while the screen is being built; returns when that began."""
    threading.Thread(target=feed.read_all, daemon=True, name="first-read").start()
    return time.monotonic()
