"""Gemini CLI: all of it, as the other agents, in one file. As of 0.61."""

import glob
import os
import re
import signal
import uuid
from collections.abc import Iterator
from typing import ClassVar

from agent_board.agents.base import Agent, FirstSignal, Installation, Job, Reader
from agent_board.agents.events import (
    AssistantDelta,
    AssistantMessage,
    Event,
    PromptAccepted,
    SessionStarted,
    Settled,
    ToolEnded,
    ToolStarted,
)
from agent_board.agents.programs import installed
from agent_board.agents.provider_errors import one_line, sentence
from agent_board.agents.raw import Raw, count_of, dict_of, first_text, list_of, object_of, text_of
from agent_board.agents.words import without
from agent_board.resources import GEMINI_READING
from agent_board.store.records import Usage
from agent_board.text import preview

LOG_IN = "run `gemini` and log in, or set GEMINI_API_KEY"
_TARGETS = ("file_path", "path", "absolute_path", "command", "pattern", "query", "url")
_CODE = re.compile(r'"code":\s*(\d{3})')
_APPROVAL = ("--approval-mode", "--yolo", "-y")
_NOISE = re.compile(r"^(?:Warning|\[STARTUP\]|YOLO mode|Ripgrep|Loaded cached|\s)")


class GeminiReader(Reader):
    """Reads one run's stdout: an answer comes in pieces and is whole when something else follows."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._names: dict[str, str] = {}

    def feed(self, line: bytes) -> list[Event]:
        """See `Reader.feed`."""
        raw = object_of(line)
        match raw.get("type"):
            case "init":
                return [SessionStarted(text_of(raw.get("session_id")) or None)]
            case "message":
                return self._message(raw)
            case "tool_use":
                key, name = text_of(raw.get("tool_id")), text_of(raw.get("tool_name"))
                self._names[key] = name
                return [*self.close(), ToolStarted(key, name, first_text(raw.get("parameters"), _TARGETS))]
            case "tool_result":
                key, is_error = text_of(raw.get("tool_id")), raw.get("status") != "success"
                result = preview(text_of(raw.get("output")).strip())
                return [ToolEnded(key, self._names.pop(key, "tool"), is_error, result)]
            case "result":
                return list(self._result(raw))
        return []

    def close(self) -> list[Event]:
        """See `Reader.close`: what was said before a tool, or before the end came too early."""
        text = self._text()
        return [AssistantMessage(text, stop="tool")] if text else []

    def _text(self) -> str:
        text, self._pieces = "".join(self._pieces), []
        return text

    def _message(self, raw: Raw) -> list[Event]:
        text = text_of(raw.get("content"))
        if raw.get("role") == "user":
            return [PromptAccepted(text)]
        self._pieces.append(text)
        return [AssistantDelta(text)]

    def _result(self, raw: Raw) -> Iterator[Event]:
        if raw.get("status") == "success":
            yield AssistantMessage(self._text(), stop="stop", usage=_usage(dict_of(raw.get("stats"))))
        else:
            yield from self.close()
            said = text_of(dict_of(raw.get("error")).get("message"))
            code = _CODE.search(said)
            yield AssistantMessage(stop="error", error=sentence(int(code[1]) if code else None, said, LOG_IN))
        yield Settled()


class Gemini(Agent):
    """Gemini CLI in its headless mode; tools that write are its to use unless the task only reads."""

    name: ClassVar[str] = "gemini"
    kind: ClassVar[str] = "gemini"
    title: ClassVar[str] = "Gemini CLI"
    install: ClassVar[str] = "npm install -g @google/gemini-cli"
    login: ClassVar[str] = "run `gemini` once to log in"
    leave: ClassVar[str] = "ctrl+c twice or /quit"
    modes: ClassVar[tuple[str, ...]] = ("default", "auto_edit", "yolo", "plan")
    child_marks: ClassVar[frozenset[str]] = frozenset({"GEMINI_CLI", "GEMINI_CLI_NO_RELAUNCH"})
    # The launcher ignores what is sent to it alone.
    first_signal: ClassVar[FirstSignal] = FirstSignal(signal.SIGINT, group=True)

    def find(self) -> Installation | None:
        """See `Agent.find`."""
        return installed("gemini", ("@google/gemini-cli",), self.title)

    def logged_in(self) -> bool | None:
        """See `Agent.logged_in`."""
        there = os.path.exists(os.path.expanduser("~/.gemini/oauth_creds.json"))
        return True if there or os.environ.get("GEMINI_API_KEY") else None

    def new_session(self, view_id: str, cwd: str, ours: str) -> tuple[str | None, str | None]:
        """See `Agent.new_session`."""
        return None, str(uuid.uuid4())

    def command(self, job: Job) -> list[str]:
        """See `Agent.command`."""
        return ["gemini", "--output-format", "stream-json", *_session(job), *_choices(job)]

    def attach_command(self, job: Job) -> list[str]:
        """See `Agent.attach_command`."""
        return ["gemini", *_session(job), *_choices(job)]

    def reader(self) -> Reader:
        """See `Agent.reader`."""
        return GeminiReader()

    def transcript_size(self, job: Job) -> int:
        """See `Agent.transcript_size`."""
        chat = _chat(job)
        return os.stat(chat).st_size if chat else 0

    def transcript_events(self, job: Job, mark: int) -> list[Event]:
        """See `Agent.transcript_events`. An answer that calls tools is followed by another."""
        chat = _chat(job)
        if chat is None:
            return []
        try:
            with open(chat, "rb") as file:
                file.seek(mark)
                return [event for line in file for event in _entry(object_of(line))]
        except OSError:
            return []

    def startup_error(self, stderr: str) -> str | None:
        """See `Agent.startup_error`."""
        said = [line for line in stderr.split("\n") if line.strip() and not _NOISE.match(line)]
        return one_line(said[0]) if said else None


def _entry(raw: Raw) -> Iterator[Event]:
    content = raw.get("content")
    text = text_of(content) or "".join(text_of(dict_of(part).get("text")) for part in list_of(content))
    if raw.get("type") == "user" and text:
        yield PromptAccepted(text)
    if raw.get("type") == "gemini":
        counts = dict_of(raw.get("tokens"))
        stop = "tool" if raw.get("toolCalls") else "stop"
        yield AssistantMessage(text, stop=stop, model=text_of(raw.get("model")) or None, usage=_tokens(counts))


def _session(job: Job) -> list[str]:
    """A session exists from the moment on when its agent has written it down."""
    if job.session_id is None:
        return []
    return ["--resume" if _chat(job) else "--session-id", job.session_id]


def _chat(job: Job) -> str | None:
    if not job.session_id:
        return None
    name = f"session-*-{glob.escape(job.session_id[:8])}.jsonl"
    found = glob.glob(os.path.join(glob.escape(os.path.expanduser("~/.gemini/tmp")), "*", "chats", name))
    return found[0] if found else None


def _choices(job: Job) -> list[str]:
    """Left to itself it offers no tool that writes but those that the user's settings allow, against which a policy is.

    Allowed to edit, it still has no shell, which the user may add.
    """
    model = ["--model", job.model] if job.model else []
    if job.read_only:
        return [*model, "--approval-mode", "default", "--admin-policy", GEMINI_READING]
    if job.mode:
        return [*model, *without(job.args, _APPROVAL), "--approval-mode", job.mode]
    chosen = any(word.partition("=")[0] in _APPROVAL for word in job.args)
    return [*model, *([] if chosen else ["--approval-mode", "auto_edit"]), *job.args]


def _usage(stats: Raw) -> Usage | None:
    fresh, read, output = (count_of(stats.get(key)) for key in ("input", "cached", "output_tokens"))
    return Usage(input=fresh, output=output, cache_read=read, cache_write=0) if fresh or read or output else None


def _tokens(counts: Raw) -> Usage | None:
    whole, read = count_of(counts.get("input")), count_of(counts.get("cached"))
    output = count_of(counts.get("output")) + count_of(counts.get("thoughts"))
    return Usage(input=max(0, whole - read), output=output, cache_read=read, cache_write=0) if whole or output else None
