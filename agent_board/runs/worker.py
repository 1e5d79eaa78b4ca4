"""The worker behind its gate (DESIGN 5, steps 3 to 5)."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO, Any

from agent_board.agents.base import Agent, FirstSignal
from agent_board.runs.processes import MARKER, Liveness, belonging_to, identify, probe, signal_process
from agent_board.store.records import Identity

# Blocks on stdin, a pipe. One byte (an LF) opens it; end of file, because the shim died, closes it for good. Then
# `started` is made exclusively, and the agent takes this process over with the prompt's file as its stdin.
_GATE = """\
IFS= read -r go || exit 97
(umask 077; set -C; : >"$1") || exit 98
stdin=$2
shift 2
exec "$@" <"$stdin"
"""
# The same for a program on the user's terminal, which it may write to through its stdin, too.
_TERMINAL_GATE = _GATE.replace('<"$stdin"', '<>"$stdin"')
# For an agent with a channel: the pipe itself stays its stdin. `read` takes the one byte and nothing behind it.
_CHANNEL_GATE = _GATE.replace(' <"$stdin"', "")
# For a command on a pseudo-terminal: the prompt's file is its last argument, and nobody answers what it asks.
_JOB_GATE = _GATE.replace('"$@" <"$stdin"', '"$@" "$stdin" </dev/null')
_GO = b"\n"
_PTY_SIZE = (40, 120)


# Gemini CLI (0.61) reads these as "nobody is there", on a terminal too, and ends because it finds no prompt.
_NOBODY_THERE = frozenset({"CI", "GITHUB_ACTIONS"})


def environment(agent: Agent, run_id: str, *, user_is_there: bool = False) -> dict[str, str]:
    """What a run's worker finds: what this process has, and the run's marker, also where an agent began it all.

    Where the user is at the terminal, whatever says otherwise is left out.
    """
    without = agent.child_marks | _NOBODY_THERE if user_is_there else agent.child_marks
    return {**{name: value for name, value in os.environ.items() if name not in without}, MARKER: run_id}


class Gate:
    """One agent process, held back until `open_gate`."""

    def __init__(self, script: str, stdin: str, argv: Sequence[str], *, started: str, **options: Any) -> None:
        """Start the gate. Raises OSError when the directory is gone or the system refuses."""
        gate_in, self._gate = os.pipe()
        command = ["/bin/sh", "-c", script, "agent-board-gate", started, stdin, *argv]
        try:
            self._process = subprocess.Popen(command, stdin=gate_in, bufsize=0, **options)
        except OSError:
            os.close(self._gate)
            raise
        finally:
            os.close(gate_in)
        self.pid = self._process.pid
        # The child of this process, not yet waited for: it can't be gone, whatever it does.
        identity = identify(self.pid)
        assert identity is not None
        self.identity: Identity = identity
        self.exit_code: int | None = None

    def open_gate(self) -> None:
        """The commit point: from here on the prompt counts as sent."""
        with suppress(BrokenPipeError):
            os.write(self._gate, _GO)
        self.close_gate()

    def open_gate_to_channel(self) -> int:
        """The commit point of an agent with a channel; the pipe, not blocking, is the caller's from here on."""
        with suppress(BrokenPipeError):
            os.write(self._gate, _GO)
        os.set_blocking(self._gate, False)
        channel, self._gate = self._gate, -1
        return channel

    def close_gate(self) -> None:
        """Without `open_gate` before it: the agent never starts."""
        if self._gate != -1:
            os.close(self._gate)
            self._gate = -1

    def reap(self) -> None:
        """Take the worker's status if it has ended: sets `exit_code` (negative: a signal)."""
        self._take(self.pid)

    def _take(self, which: int) -> None:
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(which, os.WNOHANG)
                if pid == 0:
                    return
                if pid == self.pid:
                    self.exit_code = os.waitstatus_to_exitcode(status)
                    self._process.returncode = self.exit_code


class Worker(Gate):
    """A headless agent: a session of its own, the prompt's file or the gate's pipe as stdin, its output read by us."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        environ: Mapping[str, str],
        started: str,
        prompt: str,
        channel: bool = False,
        terminal: bool = False,
    ) -> None:
        """See `Gate`. `channel` and `terminal` as in `Agent`. The agent's ends are its own; ours don't block."""
        script = _JOB_GATE if terminal else _CHANNEL_GATE if channel else _GATE
        master, slave = _pseudo_terminal() if terminal else (-1, subprocess.PIPE)
        try:
            super().__init__(
                script,
                prompt,
                argv,
                started=started,
                stdout=slave,
                stderr=slave,
                cwd=cwd,
                env=dict(environ),
                start_new_session=True,
            )
        except BaseException:
            if terminal:
                os.close(master)
            raise
        finally:
            if terminal:
                os.close(slave)
        self.stdout = master if terminal else _fileno(self._process.stdout)
        self.stderr = None if terminal else _fileno(self._process.stderr)
        """None where stdout has both."""
        for fd in (self.stdout, self.stderr):
            if fd is not None:
                os.set_blocking(fd, False)

    def reap(self) -> None:
        """See `Gate.reap`; takes adopted orphans, too: the shim is the only process that they are left to."""
        self._take(-1)


def _fileno(stream: IO[bytes] | None) -> int:
    assert stream is not None
    return stream.fileno()


def _pseudo_terminal() -> tuple[int, int]:
    """Our end and the program's, which changes nothing of what is written to it."""
    import fcntl  # these three for such runs only
    import struct
    import termios

    master, slave = os.openpty()
    modes = termios.tcgetattr(slave)
    modes[1] &= ~termios.OPOST
    termios.tcsetattr(slave, termios.TCSANOW, modes)
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *_PTY_SIZE, 0, 0))
    return master, slave


class TerminalWorker(Gate):
    """An interactive agent on the terminal of this process, in the foreground like this process.

    This process may be a board with children of its own, so only the worker is waited for and nothing is adopted.
    """

    def __init__(self, argv: Sequence[str], *, cwd: str, environ: Mapping[str, str], started: str) -> None:
        """See `Gate`. Stdin must be a terminal."""
        terminal = os.dup(sys.stdin.fileno())
        try:
            super().__init__(
                _TERMINAL_GATE,
                f"/dev/fd/{terminal}",
                argv,
                started=started,
                cwd=cwd,
                env=dict(environ),
                pass_fds=(terminal,),
            )
        finally:
            os.close(terminal)


class Ending:
    """Ending everything that is a run's own: first signal, 2 s, TERM, 1.5 s, KILL, sweep. Never blocks."""

    ASK_S = 2.0
    TERM_S = 1.5
    SWEEP_S = 0.1
    GIVE_UP_S = 1.5

    def __init__(self, run_id: str, worker: Identity, first: FirstSignal, *, root: Identity, now: float) -> None:
        """Send the first signal. Below `root`, the shim or else the worker, are the run's processes."""
        self._run_id = run_id
        self._worker = worker
        self._root = root
        self._phase = 0
        self._next = now + self.ASK_S
        self.done = False
        signal_process(worker, first.number, group=first.group)

    def step(self, now: float, *, worker_gone: bool | None = None) -> float:
        """Do what is due; returns the seconds after which to call again. `done` is set when nothing is left."""
        if worker_gone is None:
            worker_gone = probe(self._worker) is Liveness.GONE
        if self._phase == 0 and worker_gone:
            self._next = now
        if now < self._next:
            return self._next - now
        own = belonging_to(self._run_id, self._root)
        if not own and worker_gone:
            self.done = True
            return 0.0
        if self._phase == 0:
            self._send(own, signal.SIGTERM)
            self._phase, self._kill_at = 1, now + self.TERM_S
        if self._phase == 1 and now >= self._kill_at:
            self._phase, self._give_up_at = 2, now + self.GIVE_UP_S
        if self._phase == 2:
            self._send(own, signal.SIGKILL)
            self.done = now >= self._give_up_at
        self._next = now + self.SWEEP_S
        return self.SWEEP_S

    @staticmethod
    def _send(own: list[Identity], number: int) -> None:
        for identity in own:
            signal_process(identity, number)
