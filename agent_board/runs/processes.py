"""Identities of processes, whether they live, and signals that can't hit anybody else (invariants 2 and 3)."""

import ctypes
import os
import signal
import sys
import time
from contextlib import suppress
from enum import Enum
from functools import cache

from agent_board.store.records import Identity

MARKER = "AGENT_BOARD_RUN"
"""In the environment of a run's shim, worker and whatever the worker starts: the run's id."""
_PR_SET_CHILD_SUBREAPER = 36
_NEW_PROGRAM_S = 0.01
"""While a process takes on a new program, Linux shows its environment as empty: it is looked at again after this."""


def become_subreaper() -> None:
    """On Linux, orphans of the worker become children of this process, so that stop and sweep can find them."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class Liveness(Enum):
    """Three answers; unknown is never taken for either of the others."""

    ALIVE = "alive"
    GONE = "gone"
    UNKNOWN = "unknown"


@cache
def _host() -> tuple[str, str, str]:
    """Machine id, boot id and pid namespace of this process."""
    if sys.platform == "darwin":  # pragma: no cover - no such machine in CI
        from agent_board.runs import darwin

        return darwin.machine_id(), darwin.boot_id(), ""
    return _first_line("/etc/machine-id"), _first_line("/proc/sys/kernel/random/boot_id"), _pid_namespace()


def _first_line(path: str) -> str:
    with suppress(OSError), open(path, encoding="ascii", errors="replace") as file:
        return file.readline().strip()
    return ""


def _pid_namespace() -> str:
    with suppress(OSError):
        return os.readlink("/proc/self/ns/pid")
    return ""


def _stat(pid: int) -> tuple[str, int, int] | None:
    """State letter, parent and start ticks of a process; None when there is none.

    Raises OSError (not FileNotFoundError) or ValueError when it can't be told.
    """
    if sys.platform == "darwin":  # pragma: no cover
        from agent_board.runs import darwin

        return darwin.stat(pid)
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            raw = file.read()
    except (FileNotFoundError, ProcessLookupError):
        os.stat("/proc/self/stat")  # no /proc at all is an OSError too: unknown, not gone
        return None
    fields = raw[raw.rindex(b")") + 2 :].split()
    return fields[0].decode(), int(fields[1]), int(fields[19])


def identify(pid: int) -> Identity | None:
    """The identity of a living process, None when it is gone."""
    found = _stat(pid)
    if found is None:
        return None
    machine, boot, namespace = _host()
    return Identity(machine, boot, namespace, pid, found[2])


def probe(identity: Identity) -> Liveness:
    """Whether exactly this process lives. Never raises; a zombie is gone."""
    machine, boot, namespace = _host()
    if identity.machine_id != machine:
        return Liveness.UNKNOWN
    if identity.boot_id != boot:
        return Liveness.GONE
    if identity.pid_ns != namespace:
        return Liveness.UNKNOWN
    try:
        found = _stat(identity.pid)
    except (OSError, ValueError):
        return Liveness.UNKNOWN
    if found is None or found[2] != identity.start_ticks or found[0] in "ZX":
        return Liveness.GONE
    return Liveness.ALIVE


def signal_process(identity: Identity, number: int, *, group: bool = False) -> bool:
    """Send a signal to exactly this process (with `group`: to the group it leads); False when it is gone."""
    try:
        handle = os.pidfd_open(identity.pid) if hasattr(os, "pidfd_open") else None
    except ProcessLookupError:
        return False
    except OSError:  # an old kernel or a container that forbids it
        handle = None
    try:
        # The handle pins the process, so what is checked here is what gets the signal.
        if probe(identity) is not Liveness.ALIVE:
            return False
        if group and os.getpgid(identity.pid) == identity.pid:
            os.killpg(identity.pid, number)
        elif handle is not None:
            signal.pidfd_send_signal(handle, number)
        else:
            os.kill(identity.pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    finally:
        if handle is not None:
            os.close(handle)
    return True


def all_parents() -> dict[int, int]:
    """Parent by pid, for every process that can be seen."""
    if sys.platform == "darwin":  # pragma: no cover
        from agent_board.runs import darwin

        return darwin.parents()
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError, ValueError):
                found = _stat(int(name))
                if found is not None and found[0] not in "ZX":
                    parents[int(name)] = found[1]
    return parents


def marker_of(pid: int) -> str | None:
    """The run id in a process's environment, None when it has none or it can't be read."""
    if sys.platform == "darwin":  # pragma: no cover
        from agent_board.runs import darwin

        return darwin.environment(pid).get(MARKER)
    prefix = MARKER.encode() + b"="
    with suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
        for entry in file.read().split(b"\0"):
            if entry.startswith(prefix):
                return entry[len(prefix) :].decode(errors="replace")
    return None


def marked(run_id: str) -> list[Identity]:
    """The living processes that carry a run's marker, the oldest first: where the record of its worker is lost."""
    found = []
    for pid in all_parents():
        with suppress(OSError, ValueError):
            identity = identify(pid) if marker_of(pid) == run_id else None
            if identity is not None:
                found.append(identity)
    return sorted(found, key=lambda identity: identity.start_ticks)


def belonging_to(run_id: str, root: Identity) -> list[Identity]:
    """The processes that are provably a run's own, without the asker.

    They are `root` while it lives, its descendants (on Linux the shim is subreaper, so orphans stay below it) and
    whatever carries the run's marker. A process marked for another run is that run's, and so is all below it: an
    agent may dispatch work of its own.
    """
    top = root.pid if probe(root) is Liveness.ALIVE else None
    parents = all_parents()
    marks = {pid: marker_of(pid) for pid in parents}
    own = _tree(run_id, top, parents, marks)
    unmarked = [pid for pid in own if pid != top and marks.get(pid) is None]
    if unmarked:
        time.sleep(_NEW_PROGRAM_S)
        marks.update((pid, marker_of(pid)) for pid in unmarked)
        own = _tree(run_id, top, parents, marks)
    own.discard(os.getpid())
    found = []
    for pid in sorted(own & parents.keys()):
        with suppress(OSError, ValueError):
            identity = identify(pid)
            if identity is not None:
                found.append(identity)
    return found


def _tree(run_id: str, top: int | None, parents: dict[int, int], marks: dict[int, str | None]) -> set[int]:
    """`top`, what carries the mark, and all below them but what is marked for another run."""
    children: dict[int, list[int]] = {}
    for pid, parent in parents.items():
        children.setdefault(parent, []).append(pid)
    waiting = [pid for pid, mark in marks.items() if mark == run_id or pid == top]
    own: set[int] = set()
    while waiting:
        pid = waiting.pop()
        if pid in own or (pid != top and marks.get(pid) not in (None, run_id)):
            continue
        own.add(pid)
        waiting.extend(children.get(pid, ()))
    return own
