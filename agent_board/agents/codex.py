"""Codex: where it is, how it is started, where it keeps its threads."""

import glob
import json
import os
import signal
from typing import ClassVar

from agent_board.agents.base import Agent, FirstSignal, ForeignSession, Installation, Job, Reader
from agent_board.agents.codex_errors import startup_sentence
from agent_board.agents.codex_events import CodexReader, last_total, transcript
from agent_board.agents.events import Event, PromptAccepted, SessionStarted
from agent_board.agents.programs import installed
from agent_board.agents.words import without
from agent_board.store.records import Usage

_HEAD = 1 << 20
_TAIL = 256 << 10
_SANDBOX = (
    "-s",
    "--sandbox",
    "--dangerously-bypass-approvals-and-sandbox",
    "--approve-for-me",
    "--full-auto",
    "--yolo",
)
_INSTRUCTIONS = "developer_instructions"
# Without it a provider out of reach is tried for ever.
_BOUNDED = ("-c", "features.unbounded_connection_retries=false")


class Codex(Agent):
    """Codex in its headless mode; it may write in its directory unless the task only reads."""

    name: ClassVar[str] = "codex"
    kind: ClassVar[str] = "codex"
    title: ClassVar[str] = "Codex"
    install: ClassVar[str] = "npm install -g @openai/codex"
    login: ClassVar[str] = "log in with `codex login`"
    leave: ClassVar[str] = "ctrl+c twice or /quit"
    modes: ClassVar[tuple[str, ...]] = ("read-only", "workspace-write", "danger-full-access")
    child_marks: ClassVar[frozenset[str]] = frozenset(
        {"CODEX_CI", "CODEX_SANDBOX", "CODEX_SESSION_ID", "CODEX_THREAD_ID", "CODEX_TOOL_CALL_ID"}
    )
    # TERM leaves a running command behind; the launcher alone is not the agent.
    first_signal: ClassVar[FirstSignal] = FirstSignal(signal.SIGINT, group=True)

    def find(self) -> Installation | None:
        """See `Agent.find`."""
        return installed("codex", ("@openai/codex",), self.title)

    def logged_in(self) -> bool | None:
        """See `Agent.logged_in`: a provider of the user's own needs no login, so that no file says nothing."""
        there = os.path.exists(os.path.join(_home(), "auth.json"))
        return True if there or os.environ.get("CODEX_API_KEY") else None

    def new_session(self, view_id: str, cwd: str, ours: str) -> tuple[str | None, str | None]:
        """See `Agent.new_session`: Codex names its threads."""
        return None, None

    def command(self, job: Job) -> list[str]:
        """See `Agent.command`. The sandbox stands before the word `resume`, behind which Codex takes no such flag."""
        start = ["codex", "exec", "--json", "--skip-git-repo-check", *_BOUNDED, *_choices(job)]
        return [*start, *(["resume", job.session_id, "-"] if job.session_id else ["-"])]

    def attach_command(self, job: Job) -> list[str]:
        """See `Agent.attach_command`. A daemon would hold the thread after the terminal was left."""
        return ["codex", "resume", "--no-daemon", *_choices(job), *([job.session_id] if job.session_id else [])]

    def reader(self) -> Reader:
        """See `Agent.reader`."""
        return CodexReader()

    def reader_for(self, job: Job) -> Reader:
        """See `Agent.reader_for`: Codex counts a thread's tokens on, so that a run's are the difference."""
        return CodexReader(_used(job))

    def transcript_size(self, job: Job) -> int:
        """See `Agent.transcript_size`: bytes of the thread's rollout file."""
        path = _rollout(job)
        return os.stat(path).st_size if path else 0

    def transcript_events(self, job: Job, mark: int) -> list[Event]:
        """See `Agent.transcript_events`."""
        path = _rollout(job)
        if path is None:
            return []
        try:
            with open(path, "rb") as file:
                file.seek(mark)
                return list(transcript(file))
        except OSError:
            return []

    def foreign_session(self, path: str) -> ForeignSession | None:
        """See `Agent.foreign_session`: the first entry names the thread and its directory."""
        try:
            with open(path, "rb") as file:
                lines = file.read(_HEAD).split(b"\n")
        except OSError:
            return None
        if b'"session_meta"' not in lines[0]:
            return None
        events = list(transcript(lines))
        began = next((event for event in events if isinstance(event, SessionStarted)), None)
        if began is None or began.session_id is None or began.cwd is None:
            return None
        prompts = [event.text for event in events if isinstance(event, PromptAccepted) and event.text.strip()]
        return ForeignSession(began.cwd, began.session_id, next(iter(prompts), None))

    def startup_error(self, stderr: str) -> str | None:
        """See `Agent.startup_error`."""
        return startup_sentence(stderr)


def _choices(job: Job) -> list[str]:
    """Sandbox, model, rules, and the user's own flags, which win except against what the task was given."""
    model = [*(["-m", job.model] if job.model else []), *_rules(job)]
    sandbox = "read-only" if job.read_only else job.mode
    if sandbox:
        return ["-s", sandbox, *model, *without(job.args, _SANDBOX)]
    return ["-c", 'sandbox_mode="workspace-write"', *model, *job.args]


def _rules(job: Job) -> list[str]:
    """As instructions beside the user's AGENTS.md; none where he has given such himself, for these would replace them.

    A thread keeps those of its first run (0.171).
    """
    if not job.rules or any(_INSTRUCTIONS in word for word in job.args) or _instructed(job.cwd):
        return []
    return ["-c", f"{_INSTRUCTIONS}={json.dumps(' '.join(job.rules))}"]


def _instructed(cwd: str) -> bool:
    """Whether any settings that may count there have such instructions, or can't be read."""
    home = glob.escape(_home())
    for path in (*glob.glob(f"{home}/*config.toml"), os.path.join(cwd, ".codex", "config.toml")):
        try:
            with open(path, "rb") as file:
                if _INSTRUCTIONS.encode() in file.read():
                    return True
        except FileNotFoundError:
            continue
        except OSError:
            return True
    return False


def _home() -> str:
    return os.environ.get("CODEX_HOME") or os.path.expanduser("~/.codex")


def _rollout(job: Job) -> str | None:
    """The thread's file, which is filed under the day on which it began."""
    if job.session_file or not job.session_id:
        return job.session_file
    name = f"rollout-*-{glob.escape(job.session_id)}.jsonl"
    found = glob.glob(os.path.join(glob.escape(_home()), "sessions", "*", "*", "*", name))
    return found[0] if found else None


def _used(job: Job) -> Usage | None:
    """The thread's total so far; most often the end of its file tells."""
    path = _rollout(job)
    if path is None:
        return None
    try:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            for tail in (_TAIL, size):
                file.seek(max(0, size - tail))
                if total := last_total(file):
                    return total
    except OSError:
        pass
    return None
