"""Reply, retry and the sending of held prompts: a new run on the same session, or a prompt that waits its turn."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from agent_board.agents.registry import agent as agent_named
from agent_board.errors import BoardError, BusyError
from agent_board.git.repository import checkout_path, identify
from agent_board.runs import followups
from agent_board.runs.claim import run_ids
from agent_board.runs.dispatch import checked_directory, checked_mode, checked_prompt, usable_agent
from agent_board.runs.options import AgentOptions, Options
from agent_board.runs.processes import Liveness, probe
from agent_board.runs.reconcile import settle_and_free
from agent_board.runs.succession import begin, next_request
from agent_board.store import locks, plain
from agent_board.store.files import Missing, Unreadable, write_bytes
from agent_board.store.paths import StorePaths, ViewPaths
from agent_board.store.records import Meta, ProcessState, RunRequest, ShimPid, State
from agent_board.store.views import change_meta

_SHORT_S = 0.05


@dataclass(frozen=True, slots=True)
class Replied:
    """What became of a reply: a run of its own, or a follow-up that waits."""

    view_id: str
    run_id: str | None
    followup_id: str | None


def reply(paths: StorePaths, view_id: str, prompt: bytes, options: Options | None = None) -> Replied:
    """Send a reply: at once to a settled row, else accepted to wait until its run has ended.

    Raises UsageError for a reply that is empty or not UTF-8, BoardError when this row can't be replied to.
    """
    text = checked_prompt(prompt)
    meta = replyable(paths, view_id)
    if not (agent := agent_named(meta.agent)).takes_replies:
        raise BoardError(f"{agent.title} jobs take no replies; retry runs “{meta.name}” again, dispatch a new one.")
    answered = _send_or_wait(paths, meta, text, options, kind="reply")
    with suppress(BoardError):  # what was answered has been seen; the mark is not worth an error
        mark_seen(paths, view_id)
    return answered


def retry(paths: StorePaths, view_id: str, options: Options | None = None) -> Replied:
    """Send the last prompt once more. Raises BoardError on a living row and when there is no prompt."""
    meta = replyable(paths, view_id)
    view = paths.view(view_id)
    if _running(view):
        raise BoardError("This task is still running; stop it first, or reply.")
    runs = run_ids(view)
    kept = next((item for item in followups.listed(view) if item.state in followups.UNSENT), None)
    if kept is not None:  # the last prompt is the one that was kept
        return send(paths, view_id, kept.id, options)
    for run_id in reversed(runs):
        request = plain.read_or_none(RunRequest, view.run(run_id).request)
        if request is not None and request.kind != "attach":
            text = followups.prompt_text(view.run(run_id))
            if text is None:
                raise BoardError(f"{view.run(run_id).prompt} can't be read; reply with the prompt instead.")
            return _send_or_wait(paths, meta, text, options, kind="retry")
    raise BoardError("This task has had no prompt yet; reply to it instead.")


def send(paths: StorePaths, view_id: str, prompt_id: str, options: Options | None = None) -> Replied:
    """Send one held prompt now. Raises BoardError when the row lives or the prompt waits no longer."""
    meta = replyable(paths, view_id)
    with _held_when_settled(paths, meta) as lock:
        if lock is None:
            raise BoardError("The task is still running; the prompt is sent when its run has ended well.")
        item = followups.item_of(paths.view(view_id), prompt_id)
        run_id = _begin(paths, meta, item.text, options, prompt_id=item.id, kind="followup", lock=lock)
        return Replied(view_id, run_id, None)


def replyable(paths: StorePaths, view_id: str) -> Meta:
    """The view, if a prompt can be sent to it. Raises BoardError with the reason why not."""
    meta = plain.read(Meta, paths.view(view_id).meta)
    if isinstance(meta, Missing):
        raise BoardError(f"There is no task {view_id} any more.")
    if isinstance(meta, Unreadable):
        raise BoardError(f"This task can't be used: its meta.json {meta.why}.")
    if meta.archived_at is not None:
        raise BoardError(f"“{meta.name}” is archived; restore it first.")
    meta.id = view_id  # a copied view's file names the one that it was copied from
    state = plain.read(State, paths.view(view_id).state)
    if isinstance(state, Unreadable):
        raise BoardError(f"“{meta.name}” can't be used: its state.json {state.why}.")
    usable_agent(meta.agent)
    if meta.worktree_path is None or not os.path.isdir(meta.worktree_path):
        checked_directory(meta.cwd)  # a worktree that is gone is made anew from there, on its own branch
    return meta


def mark_seen(paths: StorePaths, view_id: str) -> None:
    """The user has seen how the view stands: it is no longer unread. Writes only if it was."""
    view = paths.view(view_id)
    state, meta = plain.read_or_none(State, view.state), plain.read_or_none(Meta, view.meta)
    if state is not None and meta is not None and state.change_seq > meta.seen_seq:
        seen = state.change_seq
        change_meta(paths, view_id, lambda raw: raw.update(seenSeq=max(seen, int(raw.get("seenSeq") or 0))))


def save_draft(paths: StorePaths, view_id: str, text: str) -> None:
    """Keep a half-typed reply; an empty one is removed. Raises OSError."""
    path = paths.view(view_id).draft
    if text:
        write_bytes(path, text.encode("utf-8", "surrogatepass"))
        return
    with suppress(FileNotFoundError):
        os.unlink(path)


def load_draft(paths: StorePaths, view_id: str) -> str:
    """The half-typed reply; empty when there is none."""
    with suppress(OSError), open(paths.view(view_id).draft, encoding="utf-8", errors="replace", newline="") as file:
        return file.read()
    return ""


def _send_or_wait(paths: StorePaths, meta: Meta, text: str, options: Options | None, *, kind: str) -> Replied:
    view = paths.view(meta.id)
    prompt_id = followups.new_prompt_id()
    if not _running(view):
        with _held_when_settled(paths, meta) as lock:
            if lock is not None:
                run_id = _begin(paths, meta, text, options, prompt_id=prompt_id, kind=kind, lock=lock)
                return Replied(meta.id, run_id, None)
    prompt_id = followups.add(paths, view, text)
    # The shim may have looked for the last time before this was on disk; then the lock is free.
    with _held_when_settled(paths, meta, patience=_SHORT_S) as lock:
        if lock is not None and _sent_now(view, prompt_id):
            run_id = _begin(paths, meta, text, options, prompt_id=prompt_id, kind="followup", lock=lock)
            return Replied(meta.id, run_id, None)
    return Replied(meta.id, None, prompt_id)


def _sent_now(view: ViewPaths, prompt_id: str) -> bool:
    """Whether that prompt still waits and nothing that came earlier does."""
    waiting = [item for item in followups.listed(view) if item.state == "waiting"]
    return bool(waiting) and waiting[0].id == prompt_id


def _running(view: ViewPaths) -> bool:
    """A hint that the view lock is held for long; the lock itself decides."""
    runs = run_ids(view)
    owner = plain.read_or_none(ShimPid, view.run(runs[-1]).pid) if runs else None
    if owner is None or probe(owner.identity) is not Liveness.ALIVE:
        return False
    state = plain.read_or_none(State, view.state)
    return state is None or not state.semantic_state.settled or state.process_state is ProcessState.ALIVE


@contextmanager
def _held_when_settled(paths: StorePaths, meta: Meta, patience: float = locks.PATIENCE_S) -> Iterator[int | None]:
    """The view lock, or None while anybody holds it or a worker runs on (alive and unknown are not free)."""
    view = paths.view(meta.id)
    try:
        lock = locks.acquire(view.lock, patience=patience, what="the task")
    except BusyError:
        yield None
        return
    except FileNotFoundError:
        raise BoardError(f"There is no task {meta.id} any more.") from None
    try:
        free = False
        with suppress(OSError):
            free = settle_and_free(paths, view, delivering=True)
        yield lock if free else None
    finally:
        locks.release(lock)


def _begin(
    paths: StorePaths, meta: Meta, text: str, options: Options | None, *, prompt_id: str, kind: str, lock: int
) -> str:
    view = paths.view(meta.id)
    runs = run_ids(view)
    last = plain.read_or_none(RunRequest, view.run(runs[-1]).request) if runs else None
    request = next_request(view, last, meta, prompt_id=prompt_id, kind=kind, text=text)
    wishes = (options or Options()).agents.get(meta.agent, AgentOptions())
    if last is None and not meta.read_only:  # adopted: nobody has asked yet whose checkout it is, or for a mode
        request.checkout = checkout_path(identify(request.cwd))
        request.mode = checked_mode(agent_named(meta.agent), request.mode, wishes.mode)
    if options is not None:
        request.wrap, request.args = list(wishes.wrap), list(wishes.args)
        request.stall_after_ms = round((wishes.stall_after_s or agent_named(meta.agent).stall_after_s) * 1000)
        request.notify = list(options.notify)
    begin(paths, request, text.encode(), lock)
    return request.run_id
