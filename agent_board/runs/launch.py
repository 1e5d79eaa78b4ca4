"""Starting a shim: detached, holding the view lock from the first moment, leaving no zombie behind."""

import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping

from agent_board.errors import BoardError
from agent_board.resources import JOB_RUNNER
from agent_board.runs.logout import scope_prefix
from agent_board.runs.processes import MARKER
from agent_board.store.paths import StorePaths

READY_WITHIN_S = 15.0
# Without site-packages the runner starts in half the time; macOS needs psutil from there.
_PYTHON_FLAGS = ["-I", "-S"] if sys.platform != "darwin" else ["-I"]


def launch(
    paths: StorePaths,
    view_id: str,
    run_id: str,
    lock_fd: int,
    *,
    lease_fd: int | None = None,
    environ: Mapping[str, str] = os.environ,
) -> None:
    """Start the shim of a claimed run and return once it owns the run (its pid.json is on disk).

    The shim inherits the locked descriptors; the caller closes its own copies afterwards. The run's environment is
    this process's. Raises BoardError when the shim could not be started: nothing was sent then.
    """
    ready_in, ready_out = os.pipe()
    inherited = [lock_fd, ready_out, *([lease_fd] if lease_fd is not None else [])]
    command = [
        *scope_prefix(run_id, environ),
        sys.executable,
        *_PYTHON_FLAGS,
        JOB_RUNNER,
        *(paths.root, view_id, run_id),
        *map(str, inherited),
    ]
    try:
        try:
            _start(command, {**environ, MARKER: run_id}, inherited, f"{paths.log}/runner.log")
        finally:
            os.close(ready_out)
        if not _says_ready(ready_in):
            raise BoardError(f"The runner did not start; see {paths.log}/runner.log. The prompt was not sent.")
    except OSError as error:
        raise BoardError(f"The runner can't be started: {error.strerror}. The prompt was not sent.") from error
    finally:
        os.close(ready_in)


def _start(command: list[str], environ: dict[str, str], inherited: list[int], log_path: str) -> None:
    """Start the process that forks the shim and ends at once, so waiting for it is short and complete."""
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        starter = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env=environ,
            pass_fds=inherited,
            start_new_session=True,
        )
    finally:
        os.close(log)
    starter.wait()


def _says_ready(ready_in: int) -> bool:
    """False when the shim has died: nobody holds the pipe's other end any more.

    One that is only slow is left to itself: it has the lock, and may be about to send the prompt.
    """
    deadline = time.monotonic() + READY_WITHIN_S
    while (left := deadline - time.monotonic()) > 0:
        if select.select([ready_in], [], [], left)[0]:
            return os.read(ready_in, 1) == b"1"
    return True
