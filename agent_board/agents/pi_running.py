"""Which sessions of Pi run on this machine. Pi 1.6 tells nobody, so this is what processes and files prove.

It appends to its session file and closes it again, so that no descriptor tells which one it has. What does:
a file that a process holds open for writing all the same (another version, a program built on Pi's library);
`PI_SESSION_FILE` in the environment of the commands that it runs; a file that was begun when the process began. Else
the files of its directory that were written since are what it may have.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple

from agent_board.agents.base import ForeignSession
from agent_board.agents.raw import object_of
from agent_board.agents.running import Doing, LiveProcess, RunningSession

_TITLES = frozenset({"pi", "pi-rpc"})
"""What Pi makes of its command line."""
_RUNTIMES = re.compile(r"(node|nodejs|bun)[\d.]*")
_SESSION_FILE = "PI_SESSION_FILE"
_BEGUN_WITH_MS = 5_000
"""A session that is begun so soon after a process is that process's own."""
_CLOCK_MS = 2_000
"""So far off may be when a process is said to have begun."""
_TAIL_BYTES = 1 << 16
_MOST = 9
_DOING = {"stop": Doing.IDLE, "aborted": Doing.IDLE, "toolUse": Doing.WORKING}

Read = Callable[[str], ForeignSession | None]
"""What a session file says of itself."""


class _Written(NamedTuple):
    """A session file that was written since a process began."""

    path: str
    begun: int
    """By its header, epoch milliseconds; 0 when it can't be told."""


def sessions_dir(variable: Callable[[str], str | None]) -> str:
    """Below which Pi keeps its sessions, by the environment of a process."""
    home = variable("HOME") or os.path.expanduser("~")

    def place(name: str) -> str | None:
        given = variable(name)
        return os.path.join(home, given[2:]) if given and given.startswith("~/") else given

    above = place("PI_CODING_AGENT_DIR") or os.path.join(home, ".pi", "agent")
    return place("PI_CODING_AGENT_SESSION_DIR") or os.path.join(above, "sessions")


def session_named(session_id: str) -> str | None:
    """The file of a session in Pi's directory, by its id."""
    root, ending = sessions_dir(os.environ.get), f"_{session_id}.jsonl"
    folders = [root]
    with suppress(OSError):
        folders += sorted(folder.path for folder in os.scandir(root) if folder.is_dir())
    return next((path for folder in folders for path in _files(folder) if path.endswith(ending)), None)


def running(processes: Sequence[LiveProcess], read: Read, is_program: Callable[[str], bool]) -> list[RunningSession]:
    """The sessions that these processes have open. `is_program`: whether a path is Pi's own, not a runtime's."""
    by_pid = {process.pid: process for process in processes}
    pis = {process.pid: process for process in processes if _is_pi(process, is_program)}
    # Between fork and exec, what Pi starts has its name.
    pis = {pid: process for pid, process in pis.items() if process.parent not in pis}
    held = dict(_held(processes))
    told = dict(_told(processes, by_pid, pis))
    shared = [process.cwd for process in pis.values()]
    found = [_proven(process, held[pid], read) for pid, process in by_pid.items() if pid in held]
    for pid, process in pis.items():
        if pid in told:
            found.append(_proven(process, told[pid], read, doing=Doing.WORKING))
        elif pid not in held and process.cwd:
            taken = {*held.values(), *told.values()}
            found.append(_by_files(process, read, taken, alone=shared.count(process.cwd) == 1))
    return found


def _is_pi(process: LiveProcess, is_program: Callable[[str], bool]) -> bool:
    if process.title not in _TITLES:
        return False
    program = process.program.removesuffix(" (deleted)")
    return bool(_RUNTIMES.fullmatch(os.path.basename(program))) or is_program(program)


def _held(processes: Iterable[LiveProcess]) -> Iterator[tuple[int, str]]:
    root = os.path.realpath(sessions_dir(os.environ.get))
    if os.path.isdir(root):
        for process in processes:
            yield from ((process.pid, path) for path in process.writing(root) if path.endswith(".jsonl"))


def _told(
    processes: Iterable[LiveProcess], by_pid: dict[int, LiveProcess], pis: dict[int, LiveProcess]
) -> Iterator[tuple[int, str]]:
    """By a Pi's pid, the session that a command which it runs now was told of."""
    for process in processes:
        pid, steps = process.parent, 0
        while pid in by_pid and pid not in pis and steps < 64:
            pid, steps = by_pid[pid].parent, steps + 1
        if pid in pis and (path := process.variable(_SESSION_FILE)):
            yield pid, os.path.realpath(path)


def _proven(process: LiveProcess, path: str, read: Read, doing: Doing | None = None) -> RunningSession:
    session = read(path)
    return RunningSession(
        agent="pi",
        pid=process.pid,
        cwd=session.cwd if session else process.cwd,
        started_at=process.started_at,
        session_id=session.session_id if session else None,
        session_file=path,
        title=(session.title or "") if session else "",
        doing=doing or _doing(path),
    )


def _by_files(process: LiveProcess, read: Read, taken: set[str], *, alone: bool) -> RunningSession:
    began = process.started_at
    written = [file for file in _written_since(process, began - _CLOCK_MS) if file.path not in taken]
    own = [file for file in written if -_CLOCK_MS <= file.begun - began <= _BEGUN_WITH_MS]
    if alone and len(written) == 1 and own:
        return _proven(process, own[0].path, read)
    may_have = tuple(file.path for file in written[:_MOST])
    return RunningSession("pi", process.pid, process.cwd, began, may_have=may_have)


def _written_since(process: LiveProcess, since: int) -> list[_Written]:
    """The last written first."""
    folder = sessions_dir(process.variable)
    if not process.variable("PI_CODING_AGENT_SESSION_DIR"):
        folder = os.path.join(folder, _folder(process.cwd))
    found = []
    for path in _files(folder):
        with suppress(OSError):
            at = os.stat(path).st_mtime_ns // 1_000_000
            header = _header(path) if at >= since else {}
            if header.get("type") == "session" and header.get("cwd") == process.cwd:
                found.append((at, _Written(os.path.realpath(path), _epoch_ms(header.get("timestamp")))))
    return [file for _, file in sorted(found, reverse=True)]


def _folder(cwd: str) -> str:
    """How Pi calls a directory's folder of sessions."""
    return f"--{re.sub(r'[/:]', '-', cwd.removeprefix('/'))}--"


def _files(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.path for entry in entries if entry.name.endswith(".jsonl")]
    except OSError:
        return []


def _header(path: str) -> dict[str, Any]:
    with open(path, "rb") as file:
        return object_of(file.readline(1 << 16))


def _epoch_ms(text: object) -> int:
    try:
        return int(datetime.fromisoformat(str(text)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return 0


def _doing(path: str) -> Doing:
    """By the last message in the file; an error may be tried again, so that only says that it runs."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.stat(path).st_size - _TAIL_BYTES))
            lines = file.read().split(b"\n")
    except OSError:
        return Doing.UNKNOWN
    messages = (object_of(line).get("message") for line in reversed(lines) if b'"message"' in line)
    last = next((message for message in messages if isinstance(message, dict)), {})
    if last.get("role") == "assistant":
        return _DOING.get(str(last.get("stopReason")), Doing.UNKNOWN)
    return Doing.WORKING if last.get("role") in ("user", "toolResult") else Doing.UNKNOWN
