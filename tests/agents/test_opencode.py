"""OpenCode: its command lines, and its store read without it."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent_board.agents.base import Job
from agent_board.agents.events import (
    AssistantMessage,
    PromptAccepted,
    RequestOpened,
    Settled,
    ToolEnded,
    ToolStarted,
)
from agent_board.agents.opencode import OpenCode

OPENCODE = OpenCode()
SESSION = "ses_00000000000000000000000001"
STEP = {"tokens": {"input": 10, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 0}}, "cost": 0.5}


@pytest.fixture
def store(home: Path) -> Path:
    path = home / ".local" / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as made, made:
        made.execute("CREATE TABLE session (id text, parent_id text, title text, time_created integer)")
        made.execute("CREATE TABLE message (id text, session_id text, time_created integer, data text)")
        made.execute("CREATE TABLE part (id text, message_id text, session_id text, data text)")
        made.execute("INSERT INTO session VALUES (?, NULL, 'agent-board 0001-abc', 1)", (SESSION,))
        made.execute("INSERT INTO session VALUES ('ses_child', ?, 'agent-board 0001-abc', 0)", (SESSION,))
    return path


def put(store: Path, number: int, message: dict[str, object], *parts: dict[str, object]) -> None:
    with closing(sqlite3.connect(store)) as opened, opened:
        key = f"msg_{number}"
        opened.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (key, SESSION, number, json.dumps(message)))
        for at, part in enumerate(parts):
            given = (f"prt_{number}_{at}", key, SESSION, json.dumps(part))
            opened.execute("INSERT INTO part VALUES (?, ?, ?, ?)", given)


def talk(store: Path, start: int, answer: str) -> None:
    state = {"status": "completed", "input": {"command": "ls"}, "output": "a\n", "metadata": {"exit": 1}}
    hidden = {"type": "text", "text": "a reminder", "synthetic": True}
    put(store, start, {"role": "user"}, {"type": "text", "text": "go"}, hidden)
    put(
        store,
        start + 1,
        {"role": "assistant"},
        {"type": "step-start"},
        {"type": "text", "text": "First."},
        {"type": "tool", "tool": "bash", "callID": "c1", "state": state},
        {"type": "step-finish", "reason": "tool-calls", **STEP},
    )
    put(
        store,
        start + 2,
        {"role": "assistant"},
        {"type": "step-start"},
        {"type": "text", "text": answer},
        {"type": "step-finish", "reason": "stop", **STEP},
    )


def test_a_new_task_can_be_found_again_by_its_title():
    line = OPENCODE.command(Job(cwd="/", tag="0001-abc", model="a/b", args=("--agent", "x")))
    assert line[:4] == ["opencode", "run", "--format", "json"]
    assert line[line.index("--title") + 1] == "agent-board 0001-abc"
    assert line[-4:] == ["--model", "a/b", "--agent", "x"]


def test_a_reply_and_an_attach_name_the_session():
    job = Job(cwd="/", session_id=SESSION, resume=True, tag="0002-abc")
    assert OPENCODE.command(job)[-2:] == ["--session", SESSION]
    assert OPENCODE.attach_command(job) == ["opencode", "--session", SESSION]


def test_a_reading_task_may_only_read():
    line = OPENCODE.command(Job(cwd="/", read_only=True))
    assert line[0] == "env"
    allowed = json.loads(line[1].removeprefix("OPENCODE_PERMISSION="))
    assert allowed.pop("*") == "deny"
    assert set(allowed) == {"read", "grep", "glob", "list"}


def test_no_agent_of_the_users_reads_in_its_place(monkeypatch: pytest.MonkeyPatch):
    """Measured with 1.18.33: what his settings allow an agent counts for more than the permissions beside it."""
    job = Job(cwd="/", session_id=SESSION, read_only=True, mode="auto", args=("--agent", "mine", "--auto", "--pure"))
    for line in (OPENCODE.command(job), OPENCODE.attach_command(job)):
        settings = json.loads(line[2].removeprefix("OPENCODE_CONFIG_CONTENT="))
        (name,) = settings["agent"]
        assert settings["agent"][name]["permission"]["*"] == "deny"
        assert line[line.index("--agent") + 1] == name
        assert not {"mine", "--auto"} & set(line)
    assert OPENCODE.command(job)[-1] == "--pure"
    monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", '{"provider": {"secret": "key"}}')
    assert not [word for word in OPENCODE.command(job) if "secret" in word or "CONFIG" in word or word == "--agent"]


def test_the_session_of_a_run_that_said_nothing_is_found(store: Path):
    assert OPENCODE.find_session(Job(cwd="/", tag="0001-abc")) == SESSION
    assert OPENCODE.find_session(Job(cwd="/", tag="0001-other")) is None


def test_without_a_store_there_is_nothing(home: Path):
    job = Job(cwd="/", session_id=SESSION, tag="t")
    assert OPENCODE.find_session(job) is None
    assert OPENCODE.transcript_size(job) == 0
    assert OPENCODE.transcript_events(job, 0) == []


def test_a_store_that_is_none_is_an_error_that_readers_expect(home: Path):
    folder = home / ".local" / "share" / "opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.db").write_text("nothing of the kind" * 100)
    with pytest.raises(OSError, match="can't be read"):
        OPENCODE.transcript_events(Job(cwd="/", session_id=SESSION), 0)


def test_the_store_tells_what_the_stream_told(store: Path):
    talk(store, 1, "Done.")
    job = Job(cwd="/", session_id=SESSION)
    events = OPENCODE.transcript_events(job, 0)
    assert events[0] == PromptAccepted("go")
    assert [event for event in events if isinstance(event, ToolStarted)] == [ToolStarted("c1", "bash", "ls")]
    assert [event.is_error for event in events if isinstance(event, ToolEnded)] == [True]
    said = [(event.text, event.stop) for event in events if isinstance(event, AssistantMessage)]
    assert said == [("First.", "tool"), ("Done.", "stop")]
    assert events[-1] == Settled()
    mark = OPENCODE.transcript_size(job)
    assert OPENCODE.transcript_events(job, mark) == []
    talk(store, 10, "Again.")
    later = OPENCODE.transcript_events(job, mark)
    assert [event.text for event in later if isinstance(event, PromptAccepted)] == ["go"]
    assert [event.text for event in later if isinstance(event, AssistantMessage)][-1] == "Again."


def test_an_answer_that_was_interrupted_or_failed(store: Path):
    put(store, 1, {"role": "user"}, {"type": "text", "text": "go"})
    put(store, 2, {"role": "assistant", "error": {"name": "MessageAbortedError", "data": {}}}, {"type": "step-start"})
    job = Job(cwd="/", session_id=SESSION)
    assert OPENCODE.transcript_events(job, 0)[-1] == Settled(aborted=True)
    put(store, 3, {"role": "assistant", "error": {"name": "APIError", "data": {"message": "no", "statusCode": 429}}})
    failed = [event for event in OPENCODE.transcript_events(job, 2) if isinstance(event, AssistantMessage)]
    assert failed[0].error is not None
    assert failed[0].error.startswith("429: no; the rate or usage limit")


def test_a_refused_permission_says_what_was_wanted():
    state = {
        "status": "error",
        "input": {"command": "touch /opt/x"},
        "error": "The user rejected permission to use it.",
    }
    part = {"type": "tool", "tool": "bash", "callID": "c1", "state": state}
    line = json.dumps({"type": "tool_use", "sessionID": SESSION, "part": part}).encode()
    (asked,) = [event for event in OPENCODE.reader().feed(line) if isinstance(event, RequestOpened)]
    assert "bash: touch /opt/x" in asked.text


def test_a_session_that_is_gone_is_said():
    assert OPENCODE.startup_error("Error: Session not found\n") == (
        "OpenCode no longer has this session; start a new task."
    )
    assert OPENCODE.startup_error("") is None
