"""Claude Code: where it is, how it is started and asked, where it keeps its sessions."""

import json
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from agent_board.agents.base import Agent, ForeignSession, Installation, Job, Reader
from agent_board.agents.claude_errors import startup_sentence
from agent_board.agents.claude_events import ClaudeReader, parsed, text_in, transcript
from agent_board.agents.events import Event, PromptAccepted
from agent_board.agents.words import given, without

if TYPE_CHECKING:
    from agent_board.agents.running import LiveProcess, RunningSession

_READING = "Read,Grep,Glob,WebFetch,WebSearch,AskUserQuestion"
_ASK_SECONDS = 15
_HEAD_LINES, _HEAD_BYTES = 60, 1 << 20
_TAIL_BYTES = 1 << 20
_VERSION = re.compile(r"\d+\.\d+\.\d+")
# From `claude --help`, 2.1.332; none of them is kept in the session.
_MODES = ("manual", "acceptEdits", "plan", "dontAsk", "auto", "bypassPermissions")
_NAMESPACE = "6b1f1d0e-5d7e-4f6c-9a55-0b6f0c4d7a31"
# Taken by the headless program alone.
_HEADLESS_ONLY = frozenset({"--max-turns", "--max-budget-usd"})
_MODE_FLAGS = frozenset({"--permission-mode", "--dangerously-skip-permissions"})
_RULES_FLAG = "--append-system-prompt"
_TOOL_FLAGS = frozenset({"--tools", "--allowedTools", "--allowed-tools", "--mcp-config"})


class Claude(Agent):
    """Claude Code, one process for each prompt, asked and answered over its stdio permission channel."""

    name: ClassVar[str] = "claude"
    kind: ClassVar[str] = "claude"
    title: ClassVar[str] = "Claude Code"
    install: ClassVar[str] = "npm install -g @anthropic-ai/claude-code"
    login: ClassVar[str] = "log in by `claude`, then /login"
    leave: ClassVar[str] = "ctrl+d or /exit"
    channel: ClassVar[bool] = True
    modes: ClassVar[tuple[str, ...]] = _MODES
    # With the second of them the interactive program keeps no transcript (2.1.332).
    child_marks: ClassVar[frozenset[str]] = frozenset(
        {
            "CLAUDECODE",
            "CLAUDE_CODE_CHILD_SESSION",
            "CLAUDE_CODE_CHILD_NOTES_DIR",
            "CLAUDE_CODE_ENTRYPOINT",
            "CLAUDE_CODE_EXECPATH",
            "CLAUDE_CODE_MESSAGING_SOCKET",
            "CLAUDE_CODE_MESSAGING_TOKEN",
            "CLAUDE_CODE_SESSION_ATTENDED",
            "CLAUDE_CODE_SESSION_ID",
            "CLAUDE_PID",
        }
    )

    def find(self) -> Installation | None:
        """See `Agent.find`. Starts `claude --version` when no package.json tells it."""
        import shutil  # not for the runner

        path = shutil.which("claude")
        return None if path is None else _installation(path)

    def logged_in(self) -> bool | None:
        """See `Agent.logged_in`: a key in the environment or credentials in a file; a keychain can't be seen."""
        if any(
            os.environ.get(name) for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
        ):
            return True
        return True if os.path.exists(os.path.join(_home(), ".credentials.json")) else None

    def new_session(self, view_id: str, cwd: str, ours: str) -> tuple[str | None, str | None]:
        """See `Agent.new_session`: any UUID that is new, and the file that Claude will make of it."""
        import uuid  # not for the runner

        session_id = str(uuid.uuid5(uuid.UUID(_NAMESPACE), view_id))
        return os.path.join(_projects(), _folder(cwd), f"{session_id}.jsonl"), session_id

    def command(self, job: Job) -> list[str]:
        """See `Agent.command`. Looks whether the session is there: an id can be chosen but once."""
        streams = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
        talk = [*streams, "--replay-user-messages", "--permission-prompt-tool", "stdio"]
        known = job.session_id is not None and _transcript(job) is not None
        session = ["--resume" if known else "--session-id", job.session_id] if job.session_id else []
        return ["claude", "-p", *talk, *session, *_choices(job), *_own_words(job)]

    def attach_command(self, job: Job) -> list[str]:
        """See `Agent.attach_command`: in the permission mode of the last prompt, or it would begin in its auto mode."""
        session = ["--resume", job.session_id] if job.session_id else []
        words = without(_own_words(job), _HEADLESS_ONLY)
        told = job.read_only or job.mode or any(word.partition("=")[0] in _MODE_FLAGS for word in words)
        mode = None if told else _last_mode(job)
        return ["claude", *session, *_choices(job), *(["--permission-mode", mode] if mode else []), *words]

    def first_line(self, prompt: bytes) -> bytes:
        """See `Agent.first_line`."""
        message = {"role": "user", "content": prompt.decode("utf-8", "replace")}
        return json.dumps({"type": "user", "message": message}).encode() + b"\n"

    def reader(self) -> Reader:
        """See `Agent.reader`."""
        return ClaudeReader()

    def transcript_size(self, job: Job) -> int:
        """See `Agent.transcript_size`."""
        path = _transcript(job)
        return os.stat(path).st_size if path is not None else 0

    def transcript_events(self, job: Job, mark: int) -> list[Event]:
        """See `Agent.transcript_events`."""
        path = _transcript(job)
        if path is None:
            return []
        try:
            with open(path, "rb") as file:
                file.seek(mark)
                return list(transcript(file))
        except OSError:
            return []

    def startup_error(self, stderr: str) -> str | None:
        """See `Agent.startup_error`."""
        return startup_sentence(stderr)

    def takes_commands(self, prompt: str) -> bool:
        """See `Agent.takes_commands`: a leading `/` is a command or a skill."""
        return prompt.lstrip().startswith("/")

    def foreign_session(self, path: str) -> ForeignSession | None:
        """See `Agent.foreign_session`: the first entries name session and directory."""
        try:
            with open(path, "rb") as file:
                lines = file.read(_HEAD_BYTES).split(b"\n")[:_HEAD_LINES]
        except OSError:
            return None
        entries = [entry for line in lines if (entry := parsed(line)) is not None]
        named = next(
            (e for e in entries if text_in(e.get("cwd")) and text_in(e.get("sessionId")) and "uuid" in e), None
        )
        if named is None:
            return None
        titles = [event.text for event in transcript(lines) if isinstance(event, PromptAccepted)]
        return ForeignSession(text_in(named["cwd"]), text_in(named["sessionId"]), next(iter(titles), None))

    def session_named(self, session_id: str) -> str | None:
        """See `Agent.session_named`."""
        return _transcript(Job(cwd="", session_id=session_id))

    def running_sessions(self, processes: "Sequence[LiveProcess]") -> "list[RunningSession]":
        """See `Agent.running_sessions`: `claude agents --json` knows them all, headless ones too."""
        from agent_board.agents.claude_running import listing, sessions_in  # not for the runner

        return sessions_in(listing(self.child_marks), self.session_named)


def _home() -> str:
    return os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")


def _projects() -> str:
    return os.path.join(_home(), "projects")


def _folder(cwd: str) -> str:
    """How Claude calls a directory's folder of sessions."""
    return re.sub(r"[^A-Za-z0-9]", "-", os.path.realpath(cwd))


def _transcript(job: Job) -> str | None:
    """The session's file: where it is expected, or in the folder of another directory; None when there is none."""
    if job.session_file and os.path.exists(job.session_file):
        return job.session_file
    if not job.session_id:
        return None
    try:
        with os.scandir(_projects()) as folders:
            paths = [os.path.join(folder.path, f"{job.session_id}.jsonl") for folder in folders]
    except OSError:
        return None
    return next((path for path in paths if os.path.exists(path)), None)


def _last_mode(job: Job) -> str | None:
    """The permission mode in which the session had its last prompt, as far as the transcript's end tells."""
    path = _transcript(job)
    try:
        with open(path or "", "rb") as file:
            file.seek(max(0, os.stat(file.fileno()).st_size - _TAIL_BYTES))
            modes = [
                text_in((parsed(line) or {}).get("permissionMode")) for line in file if b'"permissionMode"' in line
            ]
    except OSError:
        return None
    return next((mode for mode in reversed(modes) if mode), None)


def _choices(job: Job) -> list[str]:
    """Model, what it may do, and rules of a run; none of them is kept in the session."""
    model = ["--model", job.model] if job.model else []
    if job.read_only:
        allowed = ["--tools", _READING, "--strict-mcp-config"]
    else:
        allowed = ["--permission-mode", job.mode] if job.mode else []
    return [*model, *allowed, *_rules(job)]


def _rules(job: Job) -> list[str]:
    """One flag for all, the user's own words among them: of several Claude takes the last."""
    if not job.rules:
        return []
    own = given(job.args, _RULES_FLAG)
    return [_RULES_FLAG, "\n\n".join([*([own] if own else []), *job.rules])]


def _own_words(job: Job) -> list[str]:
    """The user's flags, without those that would undo what this task may do or is told."""
    unwanted = {_RULES_FLAG} if job.rules else set()
    if job.read_only:
        unwanted |= _TOOL_FLAGS | _MODE_FLAGS
    elif job.mode:
        unwanted |= _MODE_FLAGS
    return without(job.args, unwanted)


def _installation(path: str) -> Installation:
    import subprocess  # not for the runner

    try:
        done = subprocess.run(
            [path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_ASK_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        why = getattr(error, "strerror", None) or f"it did not answer within {_ASK_SECONDS} s"
        return Installation(path, None, f"{path} does not run: {why}.")
    said = done.stdout.decode("utf-8", "replace")
    found = _VERSION.search(said)
    if done.returncode or not found:
        stderr = done.stderr.decode("utf-8", "replace")
        return Installation(
            path, None, f"{path} does not run: {(startup_sentence(stderr) or 'it says nothing').rstrip('.')}."
        )
    return Installation(path, found.group())
