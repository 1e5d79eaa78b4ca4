"""Which processes have their working directory inside a directory that is about to go."""

import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass

from agent_board.text import clean_line

_LSOF_S = 10.0


@dataclass(frozen=True, slots=True)
class Inside:
    """A process that stands in the directory."""

    pid: int
    name: str


def processes_in(path: str) -> list[Inside]:
    """Processes, this one excepted, whose working directory is `path` or below it; another user's can't be seen."""
    real = os.path.realpath(path)
    found = _by_lsof() if sys.platform == "darwin" else _by_proc()
    return [
        Inside(pid, name)
        for pid, name, cwd in found
        if pid != os.getpid() and (cwd == real or cwd.startswith(f"{real}/"))
    ]


def mounts_in(path: str) -> list[str]:
    """Where something is mounted below `path`: removing that would reach into another file system."""
    real = os.path.realpath(path)
    found = []
    with suppress(OSError), open("/proc/self/mountinfo", "rb") as file:
        for line in file:
            point = os.fsdecode(line.split(b" ")[4].decode("unicode_escape").encode("latin-1"))
            if point == real or point.startswith(f"{real}/"):
                found.append(point)
    return found


def _by_proc() -> list[tuple[int, str, str]]:
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        with suppress(OSError):
            cwd = os.readlink(f"/proc/{entry}/cwd")
            with open(f"/proc/{entry}/comm", encoding="utf-8", errors="replace") as file:
                found.append((int(entry), clean_line(file.read()), cwd))
    return found


def _by_lsof() -> list[tuple[int, str, str]]:  # pragma: no cover - no such machine in CI
    with suppress(OSError, subprocess.SubprocessError):
        command = ["lsof", "-a", "-d", "cwd", "-Fpcn"]
        said = subprocess.run(
            command, capture_output=True, timeout=_LSOF_S, stdin=subprocess.DEVNULL, check=False
        ).stdout
        found, pid, name = [], 0, ""
        for line in os.fsdecode(said).split("\n"):
            kind, value = line[:1], line[1:]
            if kind == "p":
                pid = int(value)
            elif kind == "c":
                name = clean_line(value)
            elif kind == "n":
                found.append((pid, name, value))
        return found
    return []
