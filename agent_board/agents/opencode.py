"""OpenCode: where it is, how it is started, how its store is read without it."""

import json
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, ClassVar

from agent_board.agents.base import Agent, Installation, Job, Reader
from agent_board.agents.events import Event
from agent_board.agents.opencode_events import OpenCodeReader, conversation
from agent_board.agents.programs import installed
from agent_board.agents.provider_errors import one_line
from agent_board.agents.words import without

if TYPE_CHECKING:
    import sqlite3

_READING = {"*": "deny", "read": "allow", "grep": "allow", "glob": "allow", "list": "allow"}
# What the user's settings allow an agent of his counts for more than `OPENCODE_PERMISSION` (1.18.33); not for this one.
_SETTINGS = "OPENCODE_CONFIG_CONTENT"
_READER = "agent-board-reads"
_READER_SETTINGS = {"agent": {_READER: {"mode": "primary", "permission": _READING}}}
_PATIENCE_S = 1.0


class OpenCode(Agent):
    """OpenCode in its headless mode. Its sessions are in a database, and its commands outlive it unless swept."""

    name: ClassVar[str] = "opencode"
    kind: ClassVar[str] = "opencode"
    title: ClassVar[str] = "OpenCode"
    install: ClassVar[str] = "npm install -g opencode-ai"
    login: ClassVar[str] = "log in with `opencode auth login`"
    leave: ClassVar[str] = "ctrl+c or /exit"
    modes: ClassVar[tuple[str, ...]] = ("auto", "plan")
    # It says nothing of its retries, which take 66 to 79 s, nor while a tool runs (1.18.33).
    stall_after_s: ClassVar[float] = 45.0
    child_marks: ClassVar[frozenset[str]] = frozenset({"OPENCODE", "OPENCODE_PID"})

    def find(self) -> Installation | None:
        """See `Agent.find`."""
        return installed("opencode", ("opencode",), self.title)

    def logged_in(self) -> bool | None:
        """See `Agent.logged_in`: keys may also be in its settings or in the environment."""
        return True if os.path.exists(os.path.join(_data(), "auth.json")) else None

    def new_session(self, view_id: str, cwd: str, ours: str) -> tuple[str | None, str | None]:
        """See `Agent.new_session`: OpenCode names its sessions."""
        return None, None

    def command(self, job: Job) -> list[str]:
        """See `Agent.command`. The title is how a session is found that was never named on stdout."""
        session = ["--session", job.session_id] if job.session_id else ["--title", _title(job)]
        start = [*_reading(job), "opencode", "run", "--format", "json", *session, *_model(job), *_mode(job)]
        return [*start, *(without(job.args, {"--agent", "--auto"}) if job.read_only or job.mode else job.args)]

    def attach_command(self, job: Job) -> list[str]:
        """See `Agent.attach_command`."""
        session = ["--session", job.session_id] if job.session_id else []
        return [*_reading(job), "opencode", *session, *_model(job), *_mode(job)]

    def reader(self) -> Reader:
        """See `Agent.reader`."""
        return OpenCodeReader()

    def find_session(self, job: Job) -> str | None:
        """See `Agent.find_session`."""
        with _store() as store:
            if store is None:
                return None
            found = store.execute(
                "SELECT id FROM session WHERE title = ? AND parent_id IS NULL ORDER BY time_created", (_title(job),)
            ).fetchone()
        return str(found[0]) if found else None

    def transcript_size(self, job: Job) -> int:
        """See `Agent.transcript_size`: the number of messages."""
        with _store() as store:
            if store is None or not job.session_id:
                return 0
            query = "SELECT count(*) FROM message WHERE session_id = ?"
            return int(store.execute(query, (job.session_id,)).fetchone()[0])

    def transcript_events(self, job: Job, mark: int) -> list[Event]:
        """See `Agent.transcript_events`; `mark` is a number of messages."""
        with _store() as store:
            if store is None or not job.session_id:
                return []
            messages = store.execute(
                "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id LIMIT -1 OFFSET ?",
                (job.session_id, mark),
            ).fetchall()
            parts = "SELECT data FROM part WHERE message_id = ? ORDER BY id"
            kept = [(data, [row[0] for row in store.execute(parts, (key,))]) for key, data in messages]
        return list(conversation(kept))

    def startup_error(self, stderr: str) -> str | None:
        """See `Agent.startup_error`."""
        if "Session not found" in stderr:
            return "OpenCode no longer has this session; start a new task."
        said = [line.strip() for line in stderr.split("\n") if line.strip()]
        return one_line(said[-1].removeprefix("Error: ")) if said else None


def _title(job: Job) -> str:
    return f"agent-board {job.tag}"


def _model(job: Job) -> list[str]:
    return ["--model", job.model] if job.model else []


def _mode(job: Job) -> list[str]:
    """`auto` allows what it would ask for; `plan` is its agent that changes nothing. A session keeps neither."""
    if job.read_only:
        return ["--agent", _READER] if _may_add_settings() else []
    if job.mode is None:
        return []
    return ["--auto"] if job.mode == "auto" else ["--agent", job.mode]


def _reading(job: Job) -> list[str]:
    """Reading tools only: it takes permissions and agents from the environment."""
    if not job.read_only:
        return []
    agent = [f"{_SETTINGS}={json.dumps(_READER_SETTINGS)}"] if _may_add_settings() else []
    return ["env", f"OPENCODE_PERMISSION={json.dumps(_READING)}", *agent]


def _may_add_settings() -> bool:
    """Settings that the user has in his environment are his: not replaced, and not put where others can read them."""
    return _SETTINGS not in os.environ


def _data() -> str:
    base = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return os.path.join(base, "opencode")


@contextmanager
def _store() -> "Iterator[sqlite3.Connection | None]":
    """Its database, for reading; None when there is none. Raises OSError when it can't be read."""
    import sqlite3  # for the few readers

    path = os.path.join(_data(), "opencode.db")
    if not os.path.exists(path):
        yield None
        return
    from urllib.parse import quote

    try:
        with closing(sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True, timeout=_PATIENCE_S)) as store:
            yield store
    except sqlite3.Error as error:
        raise OSError(f"{path} can't be read: {error}") from None
