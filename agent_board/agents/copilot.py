"""GitHub Copilot CLI: all of it, as the other agents, in one file. As of 1.0."""

import os
import signal
import uuid
from collections.abc import Iterable, Iterator
from typing import ClassVar

from agent_board.agents.base import Agent, FirstSignal, Installation, Job, Reader
from agent_board.agents.events import (
    AssistantMessage,
    AssistantStarted,
    Event,
    PromptAccepted,
    RetryStarted,
    SessionStarted,
    Settled,
    ToolEnded,
    ToolStarted,
)
from agent_board.agents.programs import installed
from agent_board.agents.provider_errors import one_line, sentence
from agent_board.agents.raw import Raw, count_of, dict_of, first_text, object_of, text_of
from agent_board.text import preview

LOG_IN = "run `copilot` and use /login"
_TARGETS = ("path", "command", "pattern", "query", "url", "description")


class CopilotReader(Reader):
    """Reads one run's stdout, or the same events as the session's file keeps them."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._failure: tuple[int | None, str] = (None, "")
        self._tries = 0

    def feed(self, line: bytes) -> list[Event]:
        """See `Reader.feed`."""
        raw = object_of(line)
        return list(self._told(raw.get("type"), dict_of(raw.get("data")), raw))

    def _told(self, kind: object, data: Raw, raw: Raw) -> Iterator[Event]:
        match kind:
            case "user.message":
                yield PromptAccepted(text_of(data.get("content")))
            case "assistant.turn_start":
                yield AssistantStarted()
            case "assistant.message":
                self._tries = 0
                stop = "tool" if data.get("toolRequests") else "stop"
                yield AssistantMessage(text_of(data.get("content")), stop, model=text_of(data.get("model")) or None)
            case "tool.execution_start" | "tool.execution_complete":
                yield self._tool(kind == "tool.execution_start", data)
            case "model.call_failure":
                self._failure = (count_of(data.get("statusCode")) or None, text_of(data.get("errorMessage")))
            case "assistant.turn_retry":
                self._tries += 1
                yield RetryStarted(self._tries, self._tries, sentence(*self._failure, LOG_IN).rstrip("."))
            case "session.error":
                status = count_of(data.get("statusCode")) or None
                yield AssistantMessage(stop="error", error=sentence(status, _first(data.get("message")), LOG_IN))
            case "abort":
                yield AssistantMessage(stop="aborted")
            case "assistant.idle":
                yield Settled(aborted=data.get("aborted") is True)
            case "result":
                yield SessionStarted(text_of(raw.get("sessionId")) or None)

    def _tool(self, begins: bool, data: Raw) -> Event:
        key = text_of(data.get("toolCallId"))
        if begins:
            self._names[key] = name = text_of(data.get("toolName")) or "tool"
            return ToolStarted(key, name, first_text(data.get("arguments"), _TARGETS))
        result = text_of(dict_of(data.get("result")).get("content")).strip()
        return ToolEnded(key, self._names.pop(key, "tool"), data.get("success") is False, preview(result))


def _first(message: object) -> str:
    """Its advice on environment variables fills lines of their own."""
    return text_of(message).strip().split("\n")[0]


class Copilot(Agent):
    """Copilot CLI in its headless mode; all tools are its to use unless the task only reads."""

    name: ClassVar[str] = "copilot"
    kind: ClassVar[str] = "copilot"
    title: ClassVar[str] = "GitHub Copilot CLI"
    install: ClassVar[str] = "npm install -g @github/copilot"
    login: ClassVar[str] = "log in by /login in `copilot`"
    leave: ClassVar[str] = "ctrl+c twice or /exit"
    child_marks: ClassVar[frozenset[str]] = frozenset({"COPILOT_AGENT_SESSION_ID", "COPILOT_CLI", "COPILOT_LOADER_PID"})
    # A signal to the launcher alone leaves the agent itself running.
    first_signal: ClassVar[FirstSignal] = FirstSignal(signal.SIGINT, group=True)

    def find(self) -> Installation | None:
        """See `Agent.find`."""
        return installed("copilot", ("@github/copilot",), self.title)

    def new_session(self, view_id: str, cwd: str, ours: str) -> tuple[str | None, str | None]:
        """See `Agent.new_session`: the id is ours, and tells the place."""
        session_id = str(uuid.uuid4())
        return os.path.join(_home(), "session-state", session_id, "events.jsonl"), session_id

    def command(self, job: Job) -> list[str]:
        """See `Agent.command`."""
        return ["copilot", "--output-format", "json", "--stream", "off", *_session(job), *_choices(job)]

    def attach_command(self, job: Job) -> list[str]:
        """See `Agent.attach_command`."""
        return ["copilot", *_session(job), *_choices(job)]

    def reader(self) -> Reader:
        """See `Agent.reader`."""
        return CopilotReader()

    def transcript_events(self, job: Job, mark: int) -> list[Event]:
        """See `Agent.transcript_events`."""
        try:
            with open(job.session_file or "", "rb") as file:
                file.seek(mark)
                return list(_events(file))
        except OSError:
            return []

    def startup_error(self, stderr: str) -> str | None:
        """See `Agent.startup_error`."""
        said = [line for line in stderr.split("\n") if line.strip()]
        return one_line(said[0].removeprefix("Error: ")) if said else None


def _events(lines: Iterable[bytes]) -> Iterator[Event]:
    reader = CopilotReader()
    for line in lines:
        yield from reader.feed(line)


def _home() -> str:
    return os.environ.get("COPILOT_HOME") or os.path.expanduser("~/.copilot")


def _session(job: Job) -> list[str]:
    """A session exists from the moment on when its agent has written it down."""
    if job.session_id is None:
        return []
    return (
        [f"--resume={job.session_id}"] if os.path.exists(job.session_file or "") else ["--session-id", job.session_id]
    )


def _choices(job: Job) -> list[str]:
    model = ["--model", job.model] if job.model else []
    if job.read_only:
        return [*model, "--deny-tool=write", "--deny-tool=shell"]
    return [*model, "--allow-all-tools", *job.args]
