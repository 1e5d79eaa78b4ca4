"""The living processes of this user, for adapters that look for their own programs among them."""

import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache

from agent_board.agents.running import LiveProcess
from agent_board.runs.processes import MARKER

_WRITABLE = os.O_WRONLY | os.O_RDWR


def live_processes() -> Sequence[LiveProcess]:
    """Those that this user could have started in a terminal: not the board's own runs, none in a container."""
    if sys.platform == "darwin":  # pragma: no cover - no such machine in CI
        from agent_board.runs import darwin

        found: Sequence[LiveProcess] = darwin.live()
    else:
        found = _in_proc()
    return [process for process in found if process.pid != os.getpid() and process.variable(MARKER) is None]


def _in_proc() -> "list[_Process]":
    here, found = _link("/proc/self/ns/mnt"), []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError, ValueError):
            with open(f"/proc/{name}/stat", "rb") as file:
                raw = file.read()
            fields = raw[raw.rindex(b")") + 2 :].split()
            # Another mount namespace has other files by the same names.
            ours = os.stat(f"/proc/{name}").st_uid == os.getuid() and _link(f"/proc/{name}/ns/mnt") == here
            if ours and fields[0] not in (b"Z", b"X"):
                found.append(_Process(int(name), int(fields[1]), int(fields[19])))
    return found


class _Process:
    """One of them, in /proc."""

    def __init__(self, pid: int, parent: int, ticks: int) -> None:
        self.pid = pid
        self.parent = parent
        self._ticks = ticks
        self._environ: dict[bytes, bytes] | None = None

    @property
    def title(self) -> str:
        return _bytes(f"/proc/{self.pid}/cmdline").rstrip(b"\0 ").replace(b"\0", b" ").decode("utf-8", "replace")

    @property
    def program(self) -> str:
        return _link(f"/proc/{self.pid}/exe")

    @property
    def cwd(self) -> str:
        return _link(f"/proc/{self.pid}/cwd")

    @property
    def started_at(self) -> int:
        return _boot_ms() + self._ticks * 1000 // os.sysconf("SC_CLK_TCK")

    def variable(self, name: str) -> str | None:
        if self._environ is None:
            pairs = (entry.partition(b"=") for entry in _bytes(f"/proc/{self.pid}/environ").split(b"\0"))
            self._environ = {key: value for key, _, value in pairs}
        value = self._environ.get(os.fsencode(name))
        return None if value is None else os.fsdecode(value)

    def writing(self, below: str) -> list[str]:
        folder, found = f"/proc/{self.pid}/fd", []
        with suppress(OSError):
            for number in os.listdir(folder):
                path = _link(f"{folder}/{number}")
                if path.startswith(below + os.sep) and _opened_to_write(f"/proc/{self.pid}/fdinfo/{number}"):
                    found.append(path)
        return found


@cache
def _boot_ms() -> int:
    """When the machine was started, by the clock as it goes now; asked once, so that no process seems to move."""
    return int((time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)) * 1000)


def _opened_to_write(info: str) -> bool:
    for line in _bytes(info).splitlines():
        if line.startswith(b"flags:"):
            return bool(int(line.split()[1], 8) & _WRITABLE)
    return False


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
