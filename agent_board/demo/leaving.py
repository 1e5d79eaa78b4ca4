"""Ending what a demo's world started, and removing what an earlier demo could not remove because it was killed."""

import fcntl
import os
import shutil
import signal
import tempfile
import threading
import time
from contextlib import suppress
from types import FrameType

from agent_board.demo.script import OWNER, WORLD

_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
PREFIX = "agent-board-demo-"
_PATIENCE_S = 5.0


class Signals:
    """TERM and HUP end the demo by an exception, once; after that, and while it cleans up, nothing interrupts it."""

    def __init__(self) -> None:
        """Install the handlers; only the main thread can, in any other nothing is changed."""
        mine = threading.current_thread() is threading.main_thread()
        self._before = {number: signal.getsignal(number) for number in _ENDING} if mine else {}
        for number in self._before:
            if number != signal.SIGINT:
                signal.signal(number, self._leave)

    def _leave(self, number: int, _: FrameType | None) -> None:
        self.ignore()
        raise SystemExit(128 + number)

    def ignore(self) -> None:
        """From here on they are not heard."""
        for number in self._before:
            signal.signal(number, signal.SIG_IGN)

    def restore(self) -> None:
        """Put back what was there before."""
        for number, handler in self._before.items():
            signal.signal(number, handler)


def own(world: str) -> int:
    """Lock the world for as long as this process lives; agents in it end by themselves once the lock is free."""
    made = os.path.join(world, f".{OWNER}")
    fd = os.open(made, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(fd, fcntl.LOCK_EX)
    os.rename(made, os.path.join(world, OWNER))  # locked before it has its name: never seen free while we live
    return fd


def end_all(world: str) -> None:
    """Kill every process that was born in this world, until two looks in a row find none."""
    deadline = time.monotonic() + _PATIENCE_S
    clean = 0
    while clean < 2 and time.monotonic() < deadline:
        clean = 0 if _kill_once(world) else clean + 1
        time.sleep(0.02)


def _kill_once(world: str) -> bool:
    import psutil

    found = False
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and process.environ().get(WORLD) == world:
                process.kill()
                found = True
    return found


def remove(world: str) -> None:
    """Remove the directory; a process that was just killed may have made a last file in it."""
    deadline = time.monotonic() + _PATIENCE_S
    while os.path.exists(world) and time.monotonic() < deadline:
        shutil.rmtree(world, ignore_errors=True)


def sweep() -> None:
    """Remove worlds of this user that nobody owns any more."""
    place = os.path.realpath(tempfile.gettempdir())
    with suppress(OSError):
        for entry in os.scandir(place):
            if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False):
                with suppress(OSError):
                    _sweep_one(entry.path)


def _sweep_one(world: str) -> None:
    if os.stat(world).st_uid != os.getuid():
        return
    fd = os.open(os.path.join(world, OWNER), os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        end_all(world)
        remove(world)
    finally:
        os.close(fd)
