"""What a run has been seen to do, written down: events, then status.json and state.json (DESIGN 4)."""

import dataclasses
import json
import os
import time
from collections.abc import Callable
from contextlib import suppress

from agent_board.agents.events import AssistantDelta, Event
from agent_board.runs.claim import set_aside_unreadable
from agent_board.runs.followups import hold_behind
from agent_board.runs.notify import announce
from agent_board.states.decide import decide, derive
from agent_board.states.observe import observe
from agent_board.states.view import project
from agent_board.store import plain
from agent_board.store.files import now_ms, write_bytes
from agent_board.store.logs import CappedLog
from agent_board.store.paths import RunPaths, StorePaths, ViewPaths
from agent_board.store.records import RunRequest, RunStatus, SemanticState, State, encode

WRITE_EVERY_S = 0.1
_RESERVE = ".reserve"
_RESERVE_BYTES = 64 << 10


class Recorder:
    """The only writer of a run's files. Changes of state are written at once, the rest at most every 100 ms.

    A disk that refuses loses nothing but freshness: the run goes on, and the last words have their place reserved.
    """

    def __init__(
        self, view: ViewPaths, run: RunPaths, status: RunStatus, *, stall_after_s: float, notify: list[str]
    ) -> None:
        self.status = status
        self._view = view
        self._run = run
        self._previous = plain.read_or_none(State, view.state)
        self._events = CappedLog(run.events)
        self._dirty = False
        self._written_at = 0.0
        self._heard_at = time.monotonic()
        self._stall_after_s = stall_after_s
        self._notify = notify
        self._stalled_since: int | None = None
        self._reserve = f"{run.dir}/{_RESERVE}"
        self.held_prompts = self._previous.held_prompts if self._previous else 0
        set_aside_unreadable(view.state)
        with suppress(OSError):
            write_bytes(self._reserve, b"\0" * _RESERVE_BYTES)

    def see(self, event: Event) -> None:
        """Fold one event into the status and log it (not the pieces of a streaming answer)."""
        now = now_ms()
        self._heard_at = time.monotonic()
        self.status = observe(self.status, event, now)
        if not isinstance(event, AssistantDelta):
            line = {"type": type(event).__name__, "at": now, **encode(event)}
            self._events.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")
        self._dirty = True
        if self._stalled_since is not None or decide(self.status.evidence).state is not self._shown_state():
            self.write()

    def silent_s(self) -> float:
        """Seconds since the last event."""
        return time.monotonic() - self._heard_at

    def change(self, edit: Callable[[RunStatus], RunStatus]) -> None:
        """Change the status by something other than an event."""
        self.status = edit(self.status)
        self._dirty = True

    def heartbeat(self) -> None:
        """Write what is due; notice a silence."""
        if self._may_stall and time.monotonic() - self._heard_at > self._stall_after_s:
            self._stalled_since = now_ms()
            self._dirty = True
        if self._dirty and time.monotonic() - self._written_at >= WRITE_EVERY_S:
            self.write()

    def due_in(self) -> float:
        """Seconds until `heartbeat` has something to do."""
        now = time.monotonic()
        if self._dirty:
            return max(0.0, self._written_at + WRITE_EVERY_S - now)
        return max(0.0, self._heard_at + self._stall_after_s - now) if self._may_stall else 3600.0

    @property
    def _may_stall(self) -> bool:
        """It isn't marked yet, and its silence is not the user's own."""
        return self._stalled_since is None and not self.status.evidence.open_requests

    def commit(self) -> None:
        """Write status.json so that it survives a power cut. Raises OSError: then the gate must stay shut."""
        self.status = derive(self.status)
        plain.write(self._run.status, self.status, sync=True)
        self.write()

    def write(self) -> None:
        """Write status.json and state.json now; on a disk that refuses, later."""
        self._written_at = time.monotonic()
        if time.monotonic() - self._heard_at <= self._stall_after_s:
            self._stalled_since = None
        with suppress(OSError):
            self._put(sync=False)
            self._dirty = False

    def finish(self) -> None:
        """Write the last words, in the reserved place if need be, and durably. Raises OSError when it can't be."""
        self._events.close()
        self._stalled_since = None
        with suppress(OSError):
            os.unlink(self._reserve)
        self._put(sync=True)

    def _put(self, *, sync: bool) -> None:
        self.status = derive(self.status)
        plain.write(self._run.status, self.status, sync=sync)
        state = project(
            self._previous,
            self.status,
            now_ms=now_ms(),
            held_prompts=self.held_prompts,
            stalled_since=self._stalled_since,
        )
        plain.write(self._view.state, state, sync=sync)
        before, self._previous = self._previous, state
        announce(self._view, self._notify, before, state)

    def _shown_state(self) -> SemanticState | None:
        return self._previous.semantic_state if self._previous else None


def settle(paths: StorePaths, run: RunPaths, status: RunStatus) -> None:
    """Write how a run stands as found out after the fact. The caller holds the view lock.

    Raises OSError or BoardError when the store can't be written; to be tried again then.
    """
    view = run.view
    status = derive(status)
    previous = plain.read_or_none(State, view.state)
    held = previous.held_prompts if previous else 0
    if status.evidence.exited:
        with suppress(OSError):
            os.unlink(f"{run.dir}/{_RESERVE}")  # on a full disk these are the last words' place
        held = hold_behind(paths, run, status, goes_on=False)
    for path in (run.status, view.state):
        set_aside_unreadable(path)
    plain.write(run.status, status, sync=True)
    state = project(previous, status, now_ms=now_ms(), held_prompts=held)
    plain.write(view.state, state, sync=True)
    request = plain.read_or_none(RunRequest, run.request)
    if request is None or request.kind != "attach":  # who was there knows
        announce(view, request.notify if request is not None else [], previous, state)


def with_evidence(status: RunStatus, **changes: object) -> RunStatus:
    """The status with some of its evidence replaced."""
    return dataclasses.replace(status, evidence=dataclasses.replace(status.evidence, **changes))  # type: ignore[arg-type]
