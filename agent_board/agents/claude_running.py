"""Which sessions of Claude Code run on this machine: its own program's listing."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Collection
from typing import Any

from agent_board.agents.running import Doing, NoListingError, RunningSession
from agent_board.errors import BoardError

ASK_S = 5.0
"""`claude agents --json` takes 0.2 s (2.1.332); later it is not waited for."""
_DOING = {"busy": Doing.WORKING, "waiting": Doing.WAITING, "idle": Doing.IDLE}


def listing(without: Collection[str]) -> bytes:
    """What `claude agents --json` prints, nothing when there is no such program.

    `without`: variables that would make it a child of another Claude.
    Raises NoListingError when it fails, BoardError when it is too slow.
    """
    program = shutil.which("claude")
    if program is None:
        return b""
    environment = {name: value for name, value in os.environ.items() if name not in without}
    try:
        done = subprocess.run(
            [program, "agents", "--json"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment,
            timeout=ASK_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BoardError(f"`claude agents --json` did not answer within {ASK_S:.0f} s.") from None
    except OSError as error:
        raise BoardError(f"{program} does not run: {error.strerror or error}.") from None
    if done.returncode:
        raise NoListingError(f"`claude agents --json` ended with exit code {done.returncode}.")
    return done.stdout


def sessions_in(said: bytes, file_of: Callable[[str], str | None]) -> list[RunningSession]:
    """The sessions in that listing; `file_of` finds the transcript of an id.

    What has no process, directory or id is left out. Raises NoListingError when it is no listing at all.
    """
    try:
        entries = json.loads(said or b"[]")
    except (ValueError, RecursionError):
        entries = None
    if not isinstance(entries, list):
        raise NoListingError("`claude agents --json` said something else than a list of sessions.")
    found = (_session(entry, file_of) for entry in entries if isinstance(entry, dict))
    return [session for session in found if session is not None]


def _session(entry: dict[str, Any], file_of: Callable[[str], str | None]) -> RunningSession | None:
    pid, cwd, session_id = entry.get("pid"), entry.get("cwd"), entry.get("sessionId")
    if type(pid) is not int or pid <= 0 or not isinstance(cwd, str) or not isinstance(session_id, str):
        return None
    if not cwd or not session_id:
        return None
    began, waits = entry.get("startedAt"), entry.get("waitingFor")
    doing = _DOING.get(str(entry.get("status")), Doing.UNKNOWN)
    return RunningSession(
        agent="claude",
        pid=pid,
        cwd=cwd,
        started_at=began if type(began) is int and began > 0 else 0,
        session_id=session_id,
        session_file=file_of(session_id),
        title=str(entry.get("name") or ""),
        doing=doing,
        detail=waits if isinstance(waits, str) and doing is Doing.WAITING else "",
    )
