"""Finding, by the environment that they were born with, the processes that tests have started."""

import contextlib
import os
import time

import psutil

MARK = "AGENT_BOARD_TEST"
"""Every process of a test has this in its environment: who started it."""


def marked(value: str, name: str = MARK) -> list[psutil.Process]:
    """Living processes, this one excepted, whose environment has `name` with a value that begins so."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(name, "\0").startswith(value) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return [process for process in found if process.pid != os.getpid()]


def describe(process: psutil.Process) -> str:
    """One line for a failure's text: pid, the test that started it, its run, its command."""
    try:
        environment = process.environ()
        test, run = environment.get(MARK, "?").partition(":")[2], environment.get("AGENT_BOARD_RUN", "-")
        return f"{process.pid} from {test} (run {run}): {' '.join(process.cmdline())[:200]}"
    except psutil.Error:
        return f"{process.pid} (just ended)"


def end(processes: list[psutil.Process]) -> None:
    """Kill these, one by one, and wait until they have ended; whoever started them reaps them."""
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.kill()
    deadline = time.monotonic() + 5
    while any(_lives(process) for process in processes) and time.monotonic() < deadline:
        time.sleep(0.01)


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
