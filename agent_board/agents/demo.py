"""The scripted agent that ships with the product. How to direct it: see the text of demo/agent.py."""

import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar

from agent_board.agents import events
from agent_board.agents.base import Agent, ForeignSession, Installation, Job, Reader
from agent_board.agents.events import Event
from agent_board.store.exact import exact
from agent_board.store.records import Usage

PROGRAM = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "demo", "agent.py")
VERSION = "1"
_HEAD = 64 << 10

Line = dict[str, Any]


def _usage(line: Line) -> Usage | None:
    return exact(Usage, line["usage"]) if isinstance(line.get("usage"), dict) else None


def _answer(line: Line) -> Event:
    return events.AssistantMessage(
        text=str(line["text"]),
        stop=str(line["stop"]),
        error=line.get("error"),
        model=line.get("model"),
        usage=_usage(line),
    )


def _request(line: Line) -> Event:
    choices = tuple(str(choice) for choice in line.get("choices") or ())
    return events.RequestOpened(id=str(line["id"]), kind=str(line["kind"]), text=str(line["text"]), choices=choices)


def _tool_end(line: Line) -> Event:
    return events.ToolEnded(
        id=str(line["id"]), name=str(line["name"]), is_error=bool(line.get("error")), result=str(line.get("result", ""))
    )


def _retry(line: Line) -> Event:
    return events.RetryStarted(
        attempt=int(line["attempt"]), most=int(line["most"]), error=str(line["error"]), delay_ms=line.get("delayMs")
    )


_MEANING: dict[str, Callable[[Line], Event]] = {
    "session": lambda line: events.SessionStarted(session_id=line.get("id"), cwd=line.get("cwd")),
    "prompt": lambda line: events.PromptAccepted(text=str(line["text"])),
    "answer-start": lambda _: events.AssistantStarted(),
    "delta": lambda line: events.AssistantDelta(text=str(line["text"])),
    "answer": _answer,
    "tool": lambda line: events.ToolStarted(id=str(line["id"]), name=str(line["name"]), target=line.get("target")),
    "tool-end": _tool_end,
    "request": _request,
    "request-end": lambda line: events.RequestClosed(id=str(line["id"]), denied=bool(line.get("denied"))),
    "report": lambda line: events.Reported(
        status=str(line["status"]), summary=str(line.get("summary", "")), question=line.get("question")
    ),
    "retry": _retry,
    "retry-end": lambda line: events.RetryEnded(ok=bool(line["ok"]), error=line.get("error")),
    "usage": lambda line: events.UsageReported(usage=_usage(line) or Usage()),
    "notice": lambda line: events.Noticed(text=str(line["text"])),
    "settled": lambda line: events.Settled(aborted=bool(line.get("aborted"))),
}


def _events(data: bytes) -> list[Event]:
    try:
        line = json.loads(data)
        meaning = _MEANING.get(line["type"])
        return [meaning(line)] if meaning else []
    except (ValueError, TypeError, KeyError, RecursionError):
        return []


class DemoReader(Reader):
    """One line is one event."""

    def feed(self, line: bytes) -> list[Event]:
        """The event of one line, if it is one of ours."""
        return _events(line)


class Demo(Agent):
    """The scripted agent: runs with the interpreter that runs the board, so it is always here."""

    name: ClassVar[str] = "demo"
    kind: ClassVar[str] = "demo"
    title: ClassVar[str] = "Demo"
    install: ClassVar[str] = "agent-board demo"
    leave: ClassVar[str] = "an empty line or ctrl+d"

    def find(self) -> Installation | None:
        """Always here."""
        return Installation(path=PROGRAM, version=VERSION)

    def command(self, job: Job) -> list[str]:
        """The scripted run; -I -S because it needs nothing but the standard library and starts in half the time."""
        return [*_base(job), *(["--read-only"] if job.read_only else [])]

    def attach_command(self, job: Job) -> list[str]:
        """A small chat over the same transcript."""
        return [*self.command(job), "--attach"]

    def reader(self) -> Reader:
        """Lines carry no state from one to the next."""
        return DemoReader()

    def transcript_events(self, job: Job, mark: int) -> list[Event]:
        """The transcript's lines are those of stdout that make up the conversation."""
        if job.session_file is None:
            return []
        try:
            with open(job.session_file, "rb") as file:
                file.seek(mark)
                data = file.read()
        except OSError:
            return []
        return [event for line in data.split(b"\n") for event in _events(line)]

    def foreign_session(self, path: str) -> ForeignSession | None:
        """The header line of our transcripts; the first prompt may follow."""
        try:
            with open(path, "rb") as file:
                head = _objects(file.read(_HEAD))
        except OSError:
            return None
        if not head or head[0].get("type") != "session" or "version" not in head[0]:
            return None
        cwd = head[0].get("cwd")
        if not isinstance(cwd, str) or "timestamp" in head[0]:
            return None
        title = next((str(line.get("text")) for line in head if line.get("type") == "prompt"), None)
        return ForeignSession(cwd, str(head[0].get("id") or "") or None, title)


def _objects(data: bytes) -> list[Line]:
    """The whole lines that are JSON objects."""
    found = []
    for line in data.split(b"\n"):
        with suppress(ValueError, RecursionError):
            found.append(json.loads(line))
    return [line for line in found if isinstance(line, dict)]


def _base(job: Job) -> list[str]:
    session = ["--session", job.session_file] if job.session_file else []
    model = ["--model", job.model] if job.model else []
    return [sys.executable, "-I", "-S", PROGRAM, *session, *model]
