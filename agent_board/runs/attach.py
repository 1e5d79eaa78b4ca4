"""Attach: the agent's own program on the user's terminal, as a run of kind attach (DESIGN 5).

This process is its shim, in the foreground: same lock, same gate, same files.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from agent_board.agents.base import Agent
from agent_board.agents.registry import agent as agent_named
from agent_board.errors import BoardError, BusyError
from agent_board.runs import worktree
from agent_board.runs.attached import attached_state, settle_attach
from agent_board.runs.claim import claim, run_ids
from agent_board.runs.followups import hold_and_release, new_prompt_id
from agent_board.runs.foreground import lent_terminal
from agent_board.runs.lease import Lease
from agent_board.runs.processes import identify
from agent_board.runs.reconcile import claims_a_process, reconcile, settle_and_free
from agent_board.runs.reply import mark_seen, replyable
from agent_board.runs.status import first_status, has_session, job_of, transcript_size
from agent_board.runs.stop import stop
from agent_board.runs.succession import next_request
from agent_board.runs.worker import Ending, TerminalWorker, environment
from agent_board.store import locks, plain
from agent_board.store.files import disk_errors, now_ms
from agent_board.store.paths import RunPaths, StorePaths
from agent_board.store.records import (
    VERSION,
    Meta,
    ProcessState,
    RunRequest,
    RunStatus,
    ShimPid,
    State,
)
from agent_board.text import clean_line

_END_WITHIN_S = 10.0
_LEASE_PATIENCE_S = 0.3
_POLL_S = 0.05
_LOOK_FOR_STOP_S = 0.5


_LEFT = frozenset({0, 128 + signal.SIGINT, -signal.SIGINT, 128 + signal.SIGHUP, -signal.SIGHUP})


@dataclass(frozen=True, slots=True)
class Attached:
    """How an attach ended: the program's exit code (negative: a signal), and whether it said anything new."""

    exit_code: int
    grew: bool
    stopped: bool = False
    """The user said stop, from here or from elsewhere."""

    @property
    def well(self) -> bool:
        """It ended by itself without an error, or because the user wanted it to."""
        return self.stopped or self.exit_code in _LEFT

    @property
    def ending(self) -> str:
        """How the program ended, in two or three words."""
        return f"exit code {self.exit_code}" if self.exit_code >= 0 else f"signal {-self.exit_code}"


def attach(paths: StorePaths, view_id: str, *, interrupt: bool = False) -> Attached:
    """Run the view's agent on this terminal until the user leaves it.

    With `interrupt` a running run is stopped first, and its real end waited for. Raises BoardError when there is no
    terminal, no session yet, no agent or directory, or somebody else holds the view.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BoardError("Attaching needs a terminal on stdin and stdout; run it in one.")
    meta = replyable(paths, view_id)
    if not has_session(meta):
        raise BoardError(f"“{meta.name}” has no session yet; there is nothing to attach to.")
    reconcile(paths, view_id)
    if claims_a_process(plain.read(State, paths.view(view_id).state)):
        _interrupt(paths, meta, interrupt)
    with _lock_to_attach(paths, meta), lent_terminal(meta.name, agent_named(meta.agent).leave):
        result = _Attach(paths, meta).run()
    with suppress(BoardError):  # who was there has seen it
        mark_seen(paths, view_id)
    return result


def _interrupt(paths: StorePaths, meta: Meta, interrupt: bool) -> None:
    state = plain.read_or_none(State, paths.view(meta.id).state)
    if state is not None and state.attached:
        raise BoardError(f"“{meta.name}” is attached in another terminal; leave it there first.")
    if not interrupt:
        raise BoardError(f"“{meta.name}” is running; add --interrupt to stop it and attach.")
    stop(paths, meta.id)
    deadline = time.monotonic() + _END_WITHIN_S
    while claims_a_process(plain.read(State, paths.view(meta.id).state)):
        if time.monotonic() > deadline:
            raise BoardError(f"“{meta.name}” did not end within {_END_WITHIN_S:.0f} s; nothing was attached.")
        time.sleep(_POLL_S)
        reconcile(paths, meta.id)


@contextmanager
def _lock_to_attach(paths: StorePaths, meta: Meta) -> Iterator[None]:
    view = paths.view(meta.id)
    try:
        lock = locks.acquire(view.lock, what="the task")
    except BusyError:
        raise BoardError(f"“{meta.name}” is in use by another run or terminal; try again when it has ended.") from None
    try:
        with disk_errors("attach"):
            free = settle_and_free(paths, view)
        if not free:
            raise BoardError(f"“{meta.name}” runs on without its runner; stop it first.")
        with _lease(paths, meta):
            yield
        held, lock = lock, -1
        hold_and_release(paths, view, held)
    finally:
        if lock != -1:
            locks.release(lock)


@contextmanager
def _lease(paths: StorePaths, meta: Meta) -> Iterator[None]:
    """The right to write in the checkout. An attach never waits for it: it refuses and names the holder."""
    if meta.checkout is None:
        yield
        return
    lease = Lease(paths, meta.checkout)
    fd = lease.try_take(meta.id, "attach", patience=_LEASE_PATIENCE_S)
    if fd is None:
        raise BoardError(f"Another task writes there now: {lease.held_by()}; attach when it has ended.")
    try:
        yield
    finally:
        locks.release(fd)


class _Attach:
    """One attach, from its claim to its last status. The caller holds the view lock."""

    def __init__(self, paths: StorePaths, meta: Meta) -> None:
        self._paths = paths
        self._view = paths.view(meta.id)
        self._agent: Agent = agent_named(meta.agent)
        runs = run_ids(self._view)
        last = plain.read_or_none(RunRequest, self._view.run(runs[-1]).request) if runs else None
        self._request = next_request(self._view, last, meta, prompt_id=new_prompt_id(), kind="attach", text="")
        self._told_to_end = False

    def run(self) -> Attached:
        """Everything between taking and giving back the lock."""
        me = identify(os.getpid())
        assert me is not None
        with disk_errors("attach"), _deaf(self._on_term):
            run = claim(self._view, self._request, b"")
            plain.write(run.pid, ShimPid(VERSION, now_ms(), me), sync=True)
            status = first_status(self._request, self._agent, run)
            try:
                worker = self._start(run, status)
            except BaseException:
                settle_attach(self._paths, run, self._request, replace(status, ended_at=now_ms()), None)
                raise
            self._wait(run, worker)
            status = plain.read_or_none(RunStatus, run.status) or status
            grew = settle_attach(self._paths, run, self._request, status, worker.exit_code)
        return Attached(worker.exit_code or 0, grew, stopped=os.path.exists(run.stop))

    def _start(self, run: RunPaths, status: RunStatus) -> TerminalWorker:
        request = self._request
        if request.worktree:
            for warning in worktree.prepare(self._view, request):
                sys.stderr.write(f"{clean_line(warning)}\n")
        try:
            worker = TerminalWorker(
                [*request.wrap, *self._agent.attach_command(job_of(request))],
                cwd=request.cwd,
                environ=environment(self._agent, run.run_id, user_is_there=True),
                started=run.started,
            )
        except FileNotFoundError:
            raise BoardError(f"The directory {request.cwd} is gone.") from None
        try:
            recorded = replace(
                status,
                pid=worker.pid,
                worker_identity=worker.identity,
                process_state=ProcessState.ALIVE,
                transcript_mark=transcript_size(request.agent, job_of(request)),
            )
            plain.write(run.status, recorded, sync=True)
            state = plain.read_or_none(State, self._view.state)
            plain.write(self._view.state, attached_state(request, state), sync=True)
        except OSError:
            worker.close_gate()
            raise
        worker.open_gate()
        return worker

    def _wait(self, run: RunPaths, worker: TerminalWorker) -> None:
        """Until the program has ended, by itself or because somebody wants it to."""
        ending: Ending | None = None
        looked = 0.0
        while worker.exit_code is None or (ending is not None and not ending.done):
            worker.reap()
            now = time.monotonic()
            if ending is not None:
                ending.step(now, worker_gone=worker.exit_code is not None)
            elif self._told_to_end or now - looked >= _LOOK_FOR_STOP_S:
                looked = now
                if self._told_to_end or os.path.exists(run.stop):
                    ending = Ending(
                        run.run_id, worker.identity, self._agent.first_signal, root=worker.identity, now=now
                    )
            if worker.exit_code is None:
                time.sleep(_POLL_S)

    def _on_term(self) -> None:
        self._told_to_end = True


@contextmanager
def _deaf(on_term: Callable[[], None]) -> Iterator[None]:
    """Keys that signal the whole foreground group are the program's affair; a lost terminal ends it, and then us."""
    handlers = {
        signal.SIGINT: lambda *_: None,
        signal.SIGQUIT: lambda *_: None,
        signal.SIGHUP: lambda *_: on_term(),
        signal.SIGTERM: lambda *_: on_term(),
    }
    # Python handlers are reset in the program by exec; an ignored signal would stay ignored there.
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
