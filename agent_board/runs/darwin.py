"""The same questions about processes, asked of macOS (there is no /proc)."""

import os
import subprocess
import uuid
from functools import cache
from typing import Any

import psutil


def machine_id() -> str:
    """The hardware address: the same for every boot of this machine."""
    return f"{uuid.getnode():012x}"


@cache
def boot_id() -> str:
    """The kernel's own id of this boot."""
    answer = subprocess.run(
        ["/usr/sbin/sysctl", "-n", "kern.bootsessionuuid"], capture_output=True, text=True, check=False
    )
    return answer.stdout.strip()


def stat(pid: int) -> tuple[str, int, int] | None:
    """State letter, parent and start time in microseconds; None when there is no such process."""
    try:
        process = psutil.Process(pid)
        with process.oneshot():
            state = "Z" if process.status() == psutil.STATUS_ZOMBIE else "R"
            return state, process.ppid(), int(process.create_time() * 1_000_000)
    except psutil.NoSuchProcess:
        return None
    except psutil.AccessDenied as error:
        raise PermissionError(f"process {pid} can't be looked at") from error


def parents() -> dict[int, int]:
    """Parent by pid, for every process of this user."""
    found = {}
    for process in psutil.process_iter(["pid", "ppid", "uids"]):
        if process.info["uids"] and process.info["uids"].real == os.getuid():
            found[process.info["pid"]] = process.info["ppid"]
    return found


def environment(pid: int) -> dict[str, str]:
    """The environment that a process was started with; empty when it can't be read."""
    try:
        return dict(psutil.Process(pid).environ())
    except (psutil.Error, OSError):
        return {}


def holder(path: str) -> int | None:
    """A process of this user, not this one, that has the file open."""
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and any(file.path == path for file in process.open_files()):
                return int(process.pid)
        except (psutil.Error, OSError):
            continue
    return None


class _Process:
    """A living process; every question is answered with nothing when it has ended meanwhile."""

    def __init__(self, process: psutil.Process, parent: int) -> None:
        self.pid = process.pid
        self.parent = parent
        self._process = process

    @property
    def title(self) -> str:
        return " ".join(self._asked("cmdline") or []).strip()

    @property
    def program(self) -> str:
        return self._asked("exe") or ""

    @property
    def cwd(self) -> str:
        return self._asked("cwd") or ""

    @property
    def started_at(self) -> int:
        return int((self._asked("create_time") or 0) * 1000)

    def variable(self, name: str) -> str | None:
        return (self._asked("environ") or {}).get(name)

    def writing(self, below: str) -> list[str]:
        # Nothing here says whether it was opened for writing, and a reader must not be taken for the session's owner.
        return []

    def _asked(self, what: str) -> Any:
        try:
            return getattr(self._process, what)()
        except (psutil.Error, OSError):
            return None


def live() -> list[_Process]:
    """The processes of this user that can be asked."""
    found = []
    for process in psutil.process_iter(["ppid", "uids"]):
        if process.info["uids"] and process.info["uids"].real == os.getuid():
            found.append(_Process(process, process.info["ppid"]))
    return found
