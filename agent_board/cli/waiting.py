"""`agent-board wait`: return when tasks have settled, are in a given state, or the time is over."""

import argparse
import os
import time
from dataclasses import dataclass

from agent_board.cli.objects import shown_state, view_object
from agent_board.cli.output import print_array, say, warn
from agent_board.cli.resolve import resolve
from agent_board.cli.stores import to_read
from agent_board.cli.views import claims_life, one_view, present, reconciled
from agent_board.errors import BoardError
from agent_board.store.load import ViewRecord, load_view
from agent_board.store.paths import StorePaths
from agent_board.store.records import ProcessState, SemanticState, State

ALL_COMPLETED, TIMED_OUT, OTHERWISE = 0, 3, 4
_FIRST_STEP_S, _LONGEST_STEP_S = 0.02, 0.2
_RECONCILE_S = 2.0


@dataclass(frozen=True, slots=True)
class Waited:
    """How a wait ended: the views as they are now, and the exit code that says it."""

    records: list[ViewRecord]
    timed_out: bool
    code: int


def run(args: argparse.Namespace) -> int:
    """Wait for the named views."""
    paths = to_read(args)
    ids = list(dict.fromkeys(resolve(paths, word) for word in args.views))
    result = wait(paths, ids, args.state, args.timeout)
    if args.json:
        print_array(view_object(record) for record in result.records)
    else:
        tell(result)
    return result.code


def tell(result: Waited) -> None:
    """One line a view: how it stands; on stderr that the time is over."""
    for record in result.records:
        found = view_object(record)
        state = found["semanticState"] or "unreadable"
        say(f"{found['name'] or record.id}: {state}. {found['unreadable'] or found['summary'] or ''}")
    if result.timed_out:
        warn("The time is over and not all have settled.")


def wait(
    paths: StorePaths, ids: list[str], state: str | None, timeout: float | None, *, until_exited: bool = False
) -> Waited:
    """Wait for these views. `timeout` in seconds; with `until_exited` their workers must have ended, too.

    Costs two stat calls a view and step; whether a claimed process still lives is checked every two seconds.
    Raises BoardError when a view is deleted meanwhile.
    """
    watch = _Watch(paths, ids)
    deadline = None if timeout is None else time.monotonic() + timeout
    step = _FIRST_STEP_S
    while True:
        records = watch.look()
        if all(_is_over(record, state, until_exited) for record in records):
            return Waited(records, False, _code(records, state))
        left = _LONGEST_STEP_S if deadline is None else deadline - time.monotonic()
        if left <= 0:
            return Waited(records, True, TIMED_OUT)
        time.sleep(min(step, left))
        step = min(step * 1.5, _LONGEST_STEP_S)


def _is_over(record: ViewRecord, state: str | None, until_exited: bool) -> bool:
    if record.unreadable:
        return True
    now = shown_state(record)
    if now is None or not (now.settled or now == state):
        return False
    return not until_exited or not isinstance(record.state, State) or record.state.process_state is ProcessState.EXITED


def _code(records: list[ViewRecord], state: str | None) -> int:
    good = (SemanticState.COMPLETED, state or SemanticState.COMPLETED)
    return ALL_COMPLETED if all(shown_state(record) in good for record in records) else OTHERWISE


class _Watch:
    """Views that are read again only when a file of theirs was replaced."""

    def __init__(self, paths: StorePaths, ids: list[str]) -> None:
        self._paths = paths
        self._records = {view_id: one_view(paths, view_id) for view_id in ids}
        self._stamps: dict[str, tuple[int, ...]] = {}
        self._next_check = time.monotonic() + _RECONCILE_S

    def look(self) -> list[ViewRecord]:
        """All views as they are now, in the order in which they were named."""
        for view_id in self._records:
            stamp = self._stamp(view_id)
            if stamp != self._stamps.get(view_id):
                self._stamps[view_id] = stamp
                self._take([_loaded(self._paths, view_id)])
        if time.monotonic() >= self._next_check:
            self._take(reconciled(self._paths, [record for record in self._records.values() if claims_life(record)]))
            self._next_check = time.monotonic() + _RECONCILE_S
        return list(self._records.values())

    def _take(self, records: list[ViewRecord]) -> None:
        self._records.update((record.id, record) for record in records)

    def _stamp(self, view_id: str) -> tuple[int, ...]:
        view = self._paths.view(view_id)
        return (*_identity(view.meta), *_identity(view.state))


def _loaded(paths: StorePaths, view_id: str) -> ViewRecord:
    found = present([load_view(paths, view_id)])
    if not found:
        raise BoardError(f"The task {view_id} is gone; nothing is left to wait for.")
    return found[0]


def _identity(path: str) -> tuple[int, int]:
    try:
        stat = os.stat(path)
    except OSError:
        return (0, 0)
    return (stat.st_ino, stat.st_mtime_ns)
