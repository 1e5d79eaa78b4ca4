"""Prompts that wait: added, held, edited, dropped, taken (DESIGN 5). All changes under the store lock.

A waiting prompt is delivered by the shim that has just settled the run before it. That shim looks for the last time
and gives the view lock back in one hold of the store lock, so a prompt added meanwhile is either seen by it or finds
the view lock free.
"""

import dataclasses
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from agent_board.errors import BoardError
from agent_board.runs.claim import run_ids
from agent_board.store import locks, plain
from agent_board.store.exact import exact
from agent_board.store.files import (
    Missing,
    Raw,
    Unreadable,
    disk_errors,
    keep_unreadable,
    now_ms,
    read_json,
    write_json,
)
from agent_board.store.paths import RunPaths, StorePaths, ViewPaths
from agent_board.store.records import VERSION, FollowUp, FollowUps, RunRequest, RunStatus, SemanticState, State, encode
from agent_board.store.views import change_json

UNSENT = ("not-sent", "maybe-received")
_ENDED_BY_OTHERS = ("signal", "outside")
_GOES_ON = (SemanticState.COMPLETED, SemanticState.IDLE)


@dataclass(frozen=True, slots=True)
class WaitingPrompt:
    """One prompt as the user sees it. `state`: waiting, held, not-sent or maybe-received."""

    id: str
    text: str
    state: str


def listed(view: ViewPaths) -> list[WaitingPrompt]:
    """The prompts that wait in a view, in order, without those that a run has claimed."""
    found = plain.read_or_none(FollowUps, view.followups)
    if found is None or not found.items:
        return []
    claimed = claimed_ids(view)
    return [
        WaitingPrompt(item.id, item.text, item.origin or ("held" if item.held else "waiting"))
        for item in found.items
        if item.id not in claimed
    ]


def claimed_ids(view: ViewPaths) -> set[str]:
    """The prompt ids that requests name: those prompts wait no longer, whatever followups.json says."""
    requests = (plain.read_or_none(RunRequest, view.run(run_id).request) for run_id in run_ids(view))
    return {request.prompt_id for request in requests if request is not None}


def add(paths: StorePaths, view: ViewPaths, text: str) -> str:
    """Accept a prompt that has to wait: on disk, with an id, when this returns."""
    item = FollowUp(new_prompt_id(), text, now_ms())
    _change(paths, view, lambda items: items.append(encode(item)))
    return item.id


def new_prompt_id() -> str:
    """Eight hexadecimal digits, unique within a view."""
    return secrets.token_hex(4)


def edit(paths: StorePaths, view: ViewPaths, prompt_id: str, text: str) -> None:
    """Replace the text of a prompt that still waits. Raises BoardError when it does no longer."""

    def change(items: list[Raw]) -> None:
        _of_id(view, items, prompt_id)["text"] = text

    _change(paths, view, change)


def drop(paths: StorePaths, view: ViewPaths, prompt_id: str) -> str:
    """Take a waiting prompt away; returns its text. Raises BoardError when it waits no longer."""
    dropped: list[str] = []

    def change(items: list[Raw]) -> None:
        item = _of_id(view, items, prompt_id)
        dropped.append(str(item["text"]))
        items.remove(item)

    _change(paths, view, change)
    return dropped[0]


def forget(paths: StorePaths, view: ViewPaths, prompt_id: str) -> None:
    """After a claim: the prompt leaves the file. Nothing happens if it has left already."""
    if os.path.exists(view.followups):
        _change(paths, view, lambda items: _remove(items, prompt_id))


def _remove(items: list[Raw], prompt_id: str) -> None:
    items[:] = [item for item in items if item.get("id") != prompt_id]


def _of_id(view: ViewPaths, items: list[Raw], prompt_id: str) -> Raw:
    claimed = claimed_ids(view)
    for item in items:
        if item.get("id") == prompt_id and prompt_id not in claimed:
            return item
    raise BoardError(f"No prompt {prompt_id} waits here any more; it was sent or dropped.")


def hold_behind(paths: StorePaths, run: RunPaths, status: RunStatus, *, goes_on: bool) -> int:
    """What a run's end means for the prompts that wait; returns how many there are.

    With `goes_on` they stay as they are, for the shim will deliver them at once. Else they are held: the run asks
    something first, or broke, or nobody is there to deliver. A prompt that was not sent, or may have been received,
    joins them at the front, once.
    """
    view = run.view
    reason = _kept_as(status)
    text = prompt_text(run) if reason is not None else None
    found = plain.read(FollowUps, view.followups)
    if text is None and (goes_on or isinstance(found, Missing | Unreadable)):
        return len(listed(view))
    if isinstance(found, Unreadable):  # no run may be kept from ending by it
        if found.newer:
            return 0
        keep_unreadable(view.followups)

    def change(items: list[Raw]) -> None:
        for item in items:
            item["held"] = True
        if text is not None and not any(item.get("runId") == run.run_id for item in items):
            kept = FollowUp(new_prompt_id(), text, now_ms(), held=True, origin=reason, run_id=run.run_id)
            items.insert(0, encode(kept))

    _change(paths, view, change)
    return len(listed(view))


def _kept_as(status: RunStatus) -> str | None:
    """Why the run's own prompt is kept for the user, if it is: nobody knows that the agent took it."""
    if status.reason in UNSENT:
        return status.reason
    if status.reason in _ENDED_BY_OTHERS and not status.evidence.prompt_accepted:
        return "maybe-received"
    return None


def good_end(status: RunStatus) -> bool:
    """After this end the next waiting prompt may be sent without asking."""
    return status.semantic_state in _GOES_ON and status.reason not in UNSENT


def prompt_text(run: RunPaths) -> str | None:
    """The prompt of a run, None when its file is gone or isn't what was written: nothing else is ever sent for it."""
    with suppress(OSError, UnicodeDecodeError), open(run.prompt, encoding="utf-8", newline="") as file:
        return file.read()
    return None


def next_or_release(paths: StorePaths, view: ViewPaths, lock_fd: int) -> FollowUp | None:
    """The next prompt to deliver after a good end; if there is none, the view lock has been given back.

    Raises BoardError when the file can't be read; then the lock is kept.
    """
    with disk_errors("read what waits"), locks.held(paths.store_lock):
        found = plain.read(FollowUps, view.followups)
        if isinstance(found, FollowUps):
            claimed = claimed_ids(view)
            for item in found.items:
                if not item.held and item.id not in claimed:
                    return item
        locks.release(lock_fd)
        return None


def hold_and_release(paths: StorePaths, view: ViewPaths, lock_fd: int) -> None:
    """Give the view lock back behind an end after which nothing is delivered; what came since it was settled is held.

    Both in one hold of the store lock, so a prompt that is added later finds the view lock free. A store that can't
    be written changes nothing: then whoever reconciles holds it.
    """
    try:
        with suppress(BoardError, OSError), locks.held(paths.store_lock):
            _hold_late_ones(view)
            locks.release(lock_fd)
            lock_fd = -1
    finally:
        if lock_fd != -1:
            locks.release(lock_fd)


def _hold_late_ones(view: ViewPaths) -> None:
    found, state = plain.read_or_none(FollowUps, view.followups), plain.read_or_none(State, view.state)
    raw = read_json(view.followups)
    if found is None or state is None or not isinstance(raw, dict) or all(item.held for item in found.items):
        return
    for item in raw["items"]:
        item["held"] = True
    write_json(view.followups, raw, sync=True)
    plain.write(view.state, dataclasses.replace(state, held_prompts=len(listed(view))), sync=True)


def item_of(view: ViewPaths, prompt_id: str) -> FollowUp:
    """The waiting prompt of that id. Raises BoardError when none waits."""
    found = plain.read_or_none(FollowUps, view.followups)
    with suppress(StopIteration):
        if found is not None and prompt_id not in claimed_ids(view):
            return next(item for item in found.items if item.id == prompt_id)
    raise BoardError(f"No prompt {prompt_id} waits here any more; it was sent or dropped.")


def _change(paths: StorePaths, view: ViewPaths, change: Callable[[list[Raw]], None]) -> None:
    def items_of(raw: Raw) -> None:
        items = raw.setdefault("items", [])
        if not isinstance(items, list) or any(exact(FollowUp, item) is None for item in items):
            raise BoardError(f"{view.followups} has a wrong shape; nothing was changed.")
        change(items)

    change_json(paths, view.followups, items_of, fresh=lambda: {"version": VERSION, "items": []})
