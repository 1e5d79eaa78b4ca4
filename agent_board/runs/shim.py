"""The shim: owns one run from the handed-over view lock to its last status (DESIGN 3 and 5)."""

import dataclasses
import os
import selectors
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress

from agent_board.agents.base import Agent
from agent_board.agents.events import Noticed, PromptAccepted, SessionStarted
from agent_board.agents.registry import agent as agent_named
from agent_board.errors import BoardError
from agent_board.runs import worktree
from agent_board.runs.followups import good_end, hold_and_release, hold_behind, next_or_release
from agent_board.runs.lease import Lease, Ticket
from agent_board.runs.lines import LineSplitter
from agent_board.runs.processes import become_subreaper, belonging_to, identify
from agent_board.runs.recorder import Recorder, with_evidence
from agent_board.runs.sessions import keep_session, unnamed_session
from agent_board.runs.status import first_status, job_of, transcript_size
from agent_board.runs.succession import begin, next_request
from agent_board.runs.talk import Talk
from agent_board.runs.worker import Ending, Worker, environment
from agent_board.states.decide import derive
from agent_board.store import plain
from agent_board.store.files import now_ms
from agent_board.store.logs import CappedLog
from agent_board.store.paths import RunPaths, StorePaths
from agent_board.store.records import (
    VERSION,
    Identity,
    Meta,
    ProcessState,
    RunRequest,
    RunStatus,
    ShimPid,
)

_CHUNK = 1 << 16
_CHUNKS_A_TURN = 16
_LOOK_FOR_STOP_S = 1.0
_STDERR_KEPT = 16 << 10
_LEASE_POLL_S = 0.2
_PROMPT_HEAD = 4096
# An agent that has said that it has ended and doesn't go would look like working for ever.
_LINGER_S = 30.0
_DRAIN_MOST = 32 << 20
_LAST_WORDS_TRIES = 60


def main(argv: list[str]) -> int:
    """Run the shim of one run.

    `argv`: the store's root, view id, run id, the view lock's descriptor, the one to say ready on and, from a
    predecessor in the same checkout, the lease's.
    """
    root, view_id, run_id, lock, ready, *lease = argv
    for fd in (lock, ready, *lease):
        os.set_inheritable(int(fd), False)
    become_subreaper()
    paths = StorePaths(root)
    view = paths.view(view_id)
    run = view.run(run_id)
    request = plain.read(RunRequest, run.request)
    if not isinstance(request, RunRequest):
        _log(f"{run.request} {getattr(request, 'why', 'is missing')}")
        return 1
    me = identify(os.getpid())
    assert me is not None
    plain.write(run.pid, ShimPid(VERSION, now_ms(), me), sync=True)
    with suppress(OSError):  # a launcher that died meanwhile changes nothing
        os.write(int(ready), b"1")
    os.close(int(ready))
    shim = Shim(paths, run, request, me, lease_fd=int(lease[0]) if lease else None)
    shim.run_to_the_end()
    shim.hand_over(int(lock))
    return 0


class Shim:
    """One run: starts the worker behind its gate, drains it, writes down what it does, ends it, settles it."""

    def __init__(
        self, paths: StorePaths, run: RunPaths, request: RunRequest, me: Identity, *, lease_fd: int | None = None
    ) -> None:
        view = paths.view(request.view_id)
        self._paths = paths
        self._view = view
        self._me = me
        self._run = run
        self._request = request
        self._agent: Agent = agent_named(request.agent)
        self._job = job_of(request)
        self._reader = self._agent.reader_for(self._job)
        self._recorder = Recorder(
            view,
            run,
            first_status(request, self._agent, run),
            stall_after_s=request.stall_after_ms / 1000,
            notify=request.notify,
        )
        self._selector = selectors.DefaultSelector()
        self._talk = Talk(run, self._reader, self._selector, self._recorder.see)
        self._lines = {"out": LineSplitter(), "err": LineSplitter()}
        self._logs = {"out": CappedLog(run.stdout), "err": CappedLog(run.stderr)}
        self._stderr_tail = b""
        self._begun = time.monotonic()
        self._worker: Worker | None = None
        self._ending: Ending | None = None
        self._told_to_end = False
        self._lease_fd = lease_fd
        self._kept_session: str | None = None
        self._looked_for_stop = 0.0

    def run_to_the_end(self) -> None:
        """Everything, until the last status is on disk."""
        self._install_signals()
        if self._start():
            self._watch()
            self._drain()
        self._conclude()

    # Starting

    def _start(self) -> bool:
        """Steps 3 to 5; False when the run has ended before the commit point."""
        if not self._take_lease() or not self._prepare_worktree():
            return False
        try:
            worker = Worker(
                [*self._request.wrap, *self._agent.command(self._job)],
                cwd=self._request.cwd,
                environ=environment(self._agent, self._run.run_id),
                started=self._run.started,
                prompt=self._run.prompt,
                channel=self._agent.channel,
                terminal=self._agent.terminal,
            )
        except FileNotFoundError:
            self._never_started(startup_error=f"The directory {self._request.cwd} is gone.")
            return False
        except (OSError, BoardError) as error:
            self._never_started(startup_error=f"The agent can't be started: {getattr(error, 'strerror', error)}.")
            return False
        self._worker = worker
        try:
            self._record_worker(worker)
        except OSError as error:
            worker.close_gate()
            self._never_started(
                startup_error=f"The prompt was not sent: the store can't be written ({error.strerror})."
            )
            return False
        self._selector.register(worker.stdout, selectors.EVENT_READ, self._read_stdout)
        if worker.stderr is not None:
            self._selector.register(worker.stderr, selectors.EVENT_READ, self._read_stderr)
        self._open_gate(worker)
        return True

    def _open_gate(self, worker: Worker) -> None:
        """Step 5."""
        with open(self._run.prompt, "rb") as file:  # before the point of no return
            prompt = file.read(-1 if self._agent.channel else _PROMPT_HEAD)
        if self._agent.channel:
            line = self._agent.first_line(prompt)
            self._talk.begin(worker.open_gate_to_channel(), line)
        else:
            worker.open_gate()
        for event in self._reader.opened(prompt[:_PROMPT_HEAD].decode("utf-8", "ignore")):
            self._recorder.see(event)

    def _take_lease(self) -> bool:
        """Wait for the right to write in the checkout; False when the run was ended meanwhile."""
        request = self._request
        lease = Lease(self._paths, request.checkout) if request.checkout is not None else None
        if lease is not None and self._lease_fd is not None:
            lease.say_held(request.view_id, request.run_id)
        ticket: Ticket | None = None
        try:
            while not self._stop_wanted() and not self._told_to_end:
                if lease is None or self._lease_fd is not None:
                    return True
                if ticket is None:
                    ticket = Ticket(lease, request.run_id, self._me)
                if ticket.is_first():
                    self._lease_fd = lease.try_take(request.view_id, request.run_id)
                if self._lease_fd is None:
                    self._say_waiting(f"waits for {lease.held_by()}")
        except (OSError, BoardError) as error:
            self._never_started(startup_error=f"The prompt was not sent: {error}")
            return False
        finally:
            if ticket is not None:
                ticket.give_back()
        wanted = self._stop_wanted()
        self._never_started(stop_requested=wanted, startup_error=None if wanted else "Ended while it was waiting.")
        return False

    def _prepare_worktree(self) -> bool:
        """The view's own worktree, made before its first run; False when there is none or nobody wants it any more."""
        if not self._request.worktree:
            return True
        try:
            warnings = worktree.prepare(
                self._view,
                self._request,
                cancelled=lambda: self._told_to_end or self._stop_wanted(),
                progress=lambda what: self._say_queued(f"worktree: {what}"),
            )
        except BoardError as error:
            self._never_started(stop_requested=self._stop_wanted(), startup_error=str(error))
            return False
        for warning in warnings:
            self._recorder.see(Noticed(warning))
        return True

    def _say_queued(self, reason: str) -> None:
        if self._recorder.status.queue_reason != reason:
            self._recorder.change(lambda status: dataclasses.replace(status, queue_reason=reason))
            self._recorder.write()

    def _say_waiting(self, reason: str) -> None:
        """Show what the row waits for, and let some time pass."""
        self._say_queued(reason)
        for key, _ in self._selector.select(_LEASE_POLL_S):
            key.data()

    def _record_worker(self, worker: Worker) -> None:
        """Step 4: nothing may run unrecorded."""
        mark = transcript_size(self._request.agent, self._job)

        def record(status: RunStatus) -> RunStatus:
            return dataclasses.replace(
                status,
                pid=worker.pid,
                worker_identity=worker.identity,
                process_state=ProcessState.ALIVE,
                transcript_mark=mark,
                durations={**status.durations, "toWorker": self._elapsed_ms()},
            )

        self._recorder.change(record)
        self._recorder.commit()

    def _never_started(self, *, startup_error: str | None = None, stop_requested: bool = False) -> None:
        self._recorder.change(
            lambda status: with_evidence(
                status, started=False, startup_error=startup_error, stop_requested=stop_requested
            )
        )

    # Watching

    def _watch(self) -> None:
        assert self._worker is not None
        while self._worker.exit_code is None or (self._ending is not None and not self._ending.done):
            for key, _ in self._selector.select(self._patience()):
                handler: Callable[[], None] = key.data
                handler()
            self._worker.reap()
            if time.monotonic() - self._looked_for_stop >= _LOOK_FOR_STOP_S:
                self._look_for_stop()
            if self._ending is not None:
                self._ending.step(time.monotonic(), worker_gone=self._worker.exit_code is not None)
            else:
                self._talk.step(self._recorder.status.evidence, self._recorder.silent_s())
            self._recorder.heartbeat()

    def _patience(self) -> float:
        """Seconds that the loop may sleep; signals and output wake it."""
        if self._ending is not None:
            return Ending.SWEEP_S
        return min(_LOOK_FOR_STOP_S, self._recorder.due_in(), self._talk.patience(self._recorder.status.evidence))

    def _look_for_stop(self) -> None:
        self._looked_for_stop = time.monotonic()
        assert self._worker is not None
        if self._ending is not None or self._worker.exit_code is not None:
            return
        wanted = self._stop_wanted()
        if wanted or self._told_to_end:
            evidence = self._recorder.status.evidence
            if evidence.report is None and not evidence.settled:
                self._recorder.change(lambda status: with_evidence(status, stop_requested=wanted, outside=not wanted))
            self._end("user" if wanted else "outside")
        elif self._recorder.status.evidence.settled and self._recorder.silent_s() > _LINGER_S:
            self._end("lingering")

    def _end(self, why: str) -> None:
        assert self._worker is not None
        self._recorder.change(lambda status: dataclasses.replace(status, stop_reason=why))
        self._ending = Ending(
            self._run.run_id,
            self._worker.identity,
            self._agent.first_signal,
            root=self._me,
            now=time.monotonic(),
        )

    def _stop_wanted(self) -> bool:
        return os.path.exists(self._run.stop)

    def _read_stdout(self) -> None:
        assert self._worker is not None
        self._read(self._worker.stdout, "out", _CHUNKS_A_TURN)

    def _read_stderr(self) -> None:
        assert self._worker is not None
        assert self._worker.stderr is not None
        self._read(self._worker.stderr, "err", _CHUNKS_A_TURN)

    def _read(self, fd: int, name: str, most_chunks: int) -> None:
        for _ in range(most_chunks):
            try:
                chunk = os.read(fd, _CHUNK)
            except BlockingIOError:
                return
            except OSError:  # a pseudo-terminal that nobody writes to any more
                chunk = b""
            if not chunk:
                with suppress(KeyError):
                    self._selector.unregister(fd)
                return
            self._take(name, chunk)

    def _take(self, name: str, chunk: bytes) -> None:
        if name == "err":
            self._stderr_tail = (self._stderr_tail + chunk)[-_STDERR_KEPT:]
        for line in self._lines[name].feed(chunk):
            self._logs[name].write(line.data + b"\n")
            if name == "out" and not line.dropped:
                self._hear(line.data)

    def _hear(self, line: bytes) -> None:
        for event in self._reader.feed(line):
            if not self._recorder.status.durations.get("toFirstEvent"):
                self._recorder.change(
                    lambda status: dataclasses.replace(
                        status, durations={**status.durations, "toFirstEvent": self._elapsed_ms()}
                    )
                )
            self._recorder.see(event)
            if isinstance(event, SessionStarted):
                self._keep_session()

    def _keep_session(self) -> None:
        """Replies and attaches need the id that the agent gave its session, also when this process dies."""
        session_id = self._recorder.status.session_id
        if session_id != self._kept_session and keep_session(self._paths, self._request, session_id):
            self._kept_session = session_id

    # Ending

    def _drain(self) -> None:
        """Take what the worker left in its pipes. What a leftover process goes on writing is not the run's."""
        assert self._worker is not None
        self._talk.end()
        for fd, name in ((self._worker.stdout, "out"), (self._worker.stderr, "err")):
            if fd is not None:
                self._read(fd, name, _DRAIN_MOST // _CHUNK)
            for line in self._lines[name].flush():
                self._logs[name].write(line.data)
                if name == "out" and not line.dropped:
                    self._hear(line.data)
            self._logs[name].close()
        code = self._worker.exit_code
        told = self._reader.exited(code) if code is not None and self._ending is None else []
        for event in [*self._reader.close(), *told]:
            self._recorder.see(event)
        if self._recorder.status.session_id is None and (found := unnamed_session(self._request)):
            self._recorder.see(SessionStarted(found))
        self._keep_session()

    def _look_for_delivery(self) -> None:
        """A worker that was killed may have taken the prompt without a word: its transcript tells."""
        status = self._recorder.status
        if status.evidence.prompt_accepted or status.transcript_mark is None:
            return
        events = self._agent.transcript_events(self._job, status.transcript_mark)
        if any(isinstance(event, PromptAccepted) for event in events):
            self._recorder.change(lambda status: with_evidence(status, prompt_accepted=True))

    def _conclude(self) -> None:
        worker = self._worker
        code = worker.exit_code if worker is not None else None
        self._look_for_delivery()
        evidence = self._recorder.status.evidence
        startup_error = evidence.startup_error
        if evidence.started and code and not evidence.settled:
            startup_error = self._agent.startup_error(self._stderr_tail.decode("utf-8", "replace"))
        leftovers = belonging_to(self._run.run_id, self._me) if worker is not None else []

        def conclude(status: RunStatus) -> RunStatus:
            ended = dataclasses.replace(
                status,
                ended_at=now_ms(),
                exit_code=code,
                process_state=ProcessState.EXITED,
                current_tool=None,
                leftovers=leftovers,
                durations={**status.durations, "run": self._elapsed_ms()},
            )
            return with_evidence(ended, exited=True, exit_code=code, startup_error=startup_error)

        if self._request.worktree:
            worktree.release(self._view)
        self._recorder.change(lambda status: derive(conclude(status)))
        for _ in range(_LAST_WORDS_TRIES):
            try:
                ended = self._recorder.status
                self._recorder.held_prompts = hold_behind(self._paths, self._run, ended, goes_on=good_end(ended))
                self._recorder.finish()
                return
            except (OSError, BoardError) as error:
                _log(f"The end of {self._run.dir} can't be written: {error}")
                time.sleep(1)

    def hand_over(self, lock_fd: int) -> None:
        """Deliver the next waiting prompt by a successor that inherits the view lock; else give the lock back.

        After a bad end nothing is sent: what waits is held. The lock also goes with this process.
        """
        if not good_end(self._recorder.status):
            hold_and_release(self._paths, self._view, lock_fd)
            return
        meta = plain.read(Meta, self._view.meta)
        if not isinstance(meta, Meta) or meta.archived_at is not None:
            return
        try:
            item = next_or_release(self._paths, self._view, lock_fd)
            if item is not None:
                request = next_request(
                    self._view, self._request, meta, prompt_id=item.id, kind="followup", text=item.text
                )
                begin(self._paths, request, item.text.encode(), lock_fd, lease_fd=self._lease_fd)
        except BoardError as error:
            _log(f"The next prompt of {self._view.dir} was not sent: {error}")

    def _elapsed_ms(self) -> int:
        return round((time.monotonic() - self._begun) * 1000)

    def _install_signals(self) -> None:
        """Python handlers, never SIG_IGN: an ignored signal would stay ignored in the worker."""
        woken_in, woken_out = os.pipe()
        os.set_blocking(woken_in, False)
        os.set_blocking(woken_out, False)
        signal.set_wakeup_fd(woken_out, warn_on_full_buffer=False)
        self._selector.register(woken_in, selectors.EVENT_READ, lambda: _empty(woken_in))
        signal.signal(signal.SIGHUP, lambda *_: None)
        signal.signal(signal.SIGINT, lambda *_: None)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: self._on_term())

    def _on_term(self) -> None:
        self._told_to_end = True
        self._looked_for_stop = 0.0


def _log(message: str) -> None:
    """To the product's log, which is this process's stderr."""
    sys.stderr.write(f"{now_ms()} {message}\n")


def _empty(fd: int) -> None:
    with suppress(BlockingIOError):
        while os.read(fd, 4096):
            pass
