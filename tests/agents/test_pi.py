"""The Pi adapter: finding it, its commands, its lines, its errors (issue part 3)."""

import json
import os
import re
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_board.agents.base import Job
from agent_board.agents.events import (
    AssistantDelta,
    AssistantMessage,
    Noticed,
    PromptAccepted,
    Reported,
    RetryEnded,
    RetryStarted,
    SessionStarted,
    Settled,
    ToolEnded,
    ToolStarted,
    UsageReported,
)
from agent_board.agents.pi import Pi
from agent_board.agents.pi_errors import plain_error
from agent_board.agents.registry import agent
from agent_board.resources import REPORT_EXTENSION
from agent_board.store.records import Usage
from agent_board.text import clean_line

PI = Pi()


def line(**raw: object) -> bytes:
    return json.dumps(raw, ensure_ascii=False).encode()


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory that is the whole PATH (but for the shell's own)."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/nowhere")
    return folder


def install(programs: Path, version: str = "1.6.0", engines: object = ">=22.19.0") -> None:
    """A package as npm lays it out, with a link to its program on PATH."""
    package = programs.parent / "lib" / "node_modules" / "@earendil-works" / "pi-coding-agent"
    script(package / "dist" / "bundle" / "cli.js", "exit 3")
    (package / "package.json").write_text(
        json.dumps({"name": "@earendil-works/pi-coding-agent", "version": version, "engines": {"node": engines}})
    )
    (programs / "pi").symlink_to(package / "dist" / "bundle" / "cli.js")


def test_the_registry_knows_it():
    assert isinstance(agent("pi"), Pi)


def test_nothing_is_found_where_nothing_is(programs: Path):
    assert PI.find() is None


def test_it_is_found_with_its_version(programs: Path):
    install(programs)
    script(programs / "node", "echo v22.19.0")
    found = PI.find()
    assert found is not None
    assert (found.path, found.version, found.problem) == (str(programs / "pi"), "1.6.0", None)


def test_an_old_node_is_told_with_both_versions(programs: Path):
    install(programs)
    script(programs / "node", "echo v20.20.2")
    found = PI.find()
    assert found is not None
    assert found.problem is not None
    assert found.problem.startswith("Pi 1.6.0 needs Node 22.19 or newer; node here is 20.20.2: ")


@pytest.mark.parametrize("node", [None, "echo hello", "exit 1"])
def test_a_missing_or_broken_node_is_told(programs: Path, node: str | None):
    install(programs)
    if node is not None:
        script(programs / "node", node)
    found = PI.find()
    assert found is not None
    assert "no working `node` on PATH" in (found.problem or "")


def test_a_pi_too_old_for_our_flags_is_told(programs: Path):
    install(programs, "0.73.1", ">=20.6.0")
    script(programs / "node", "echo v22.19.0")
    found = PI.find()
    assert found is not None
    assert found.problem is not None
    assert found.problem.startswith("Pi 0.73.1 is too old: agent-board needs 1.1 or newer")


@pytest.mark.parametrize("says", ["echo 1.6.0", "echo 1.6.0 >&2"])
def test_without_a_package_it_is_asked_itself(programs: Path, says: str):
    """A wrapper or a compiled Pi has no package.json; old ones tell their version on stderr."""
    script(programs / "pi", says)
    found = PI.find()
    assert found is not None
    assert (found.version, found.problem) == ("1.6.0", None)


def test_a_program_that_does_not_run_is_a_problem(programs: Path):
    script(programs / "pi", "echo 'Error: no such thing' >&2; exit 1")
    found = PI.find()
    assert found is not None
    assert found.problem == f"{programs / 'pi'} does not run: no such thing."


@pytest.mark.parametrize("content", ["", "[]", "{", '{"name": 3}', '{"name": "pi-coding-agent", "engines": []}'])
def test_a_strange_package_raises_nothing(programs: Path, content: str):
    install(programs)
    package = (programs / "pi").resolve().parents[2] / "package.json"
    package.write_text(content)
    assert PI.find() is not None


def test_a_run_has_no_prompt_in_its_arguments():
    job = Job(cwd="/src", session_file="/s/v1.jsonl", model="prov/model")
    assert PI.command(job) == [
        *("pi", "--mode", "json", "--session", "/s/v1.jsonl", "--model", "prov/model"),
        *("--extension", REPORT_EXTENSION, "--tools", "+report"),
    ]


def test_a_read_only_run_gets_reading_tools_only():
    command = PI.command(Job(cwd="/src", session_file="/s/v1.jsonl", read_only=True))
    tools = command[command.index("--tools") + 1].split(",")
    assert tools == ["read", "grep", "find", "ls", "report", "mcp__none"]
    assert "--model" not in command


def test_attaching_keeps_the_report_tool():
    """A session remembers a choice of tools made without the extension: it is there in attach too."""
    command = PI.attach_command(Job(cwd="/src", session_file="/s/v1.jsonl"))
    assert command == ["pi", "--session", "/s/v1.jsonl", "--extension", REPORT_EXTENSION, "--tools", "+report"]


def test_the_extension_ships_and_needs_nothing():
    text = Path(REPORT_EXTENSION).read_text()
    assert not re.search(r"^import|require\(", text, re.MULTILINE)
    for word in ('"completed", "blocked", "failed"', "terminate: true", "session_start", "setActiveTools"):
        assert word in text


@pytest.mark.parametrize(
    ("prompt", "taken"),
    [
        ("/skill:x do", True),
        ("  \n/x", True),
        ("\ufeff/x", True),
        ("fix /etc/hosts", False),
        ("-x", False),
        ("", False),
    ],
)
def test_a_leading_slash_may_be_a_command(prompt: str, taken: bool):
    assert PI.takes_commands(prompt) is taken


def test_lines_become_events():
    reader = PI.reader()
    assert reader.feed(line(type="session", id="01a2", cwd="/src")) == [SessionStarted("01a2", "/src")]
    user = {"role": "user", "content": [{"type": "text", "text": "Say hello"}]}
    assert reader.feed(line(type="message_end", message=user)) == [PromptAccepted("Say hello")]
    delta = {"type": "text_delta", "delta": "He\u2028llo"}
    assert reader.feed(line(type="message_update", assistantMessageEvent=delta)) == [AssistantDelta("He\u2028llo")]
    thinking = {"type": "thinking_delta", "delta": "hm"}
    assert reader.feed(line(type="message_update", assistantMessageEvent=thinking)) == []
    tool = {"toolCallId": "c1", "toolName": "grep"}
    assert reader.feed(line(type="tool_execution_start", **tool, args={"path": "src", "pattern": "TODO"})) == [
        ToolStarted("c1", "grep", "TODO")
    ]
    result = {"content": [{"type": "text", "text": "a.py:1\nb.py:2\n"}]}
    assert reader.feed(line(type="tool_execution_end", **tool, result=result, isError=True)) == [
        ToolEnded("c1", "grep", True, "a.py:1 b.py:2")
    ]
    assert reader.feed(line(type="agent_settled", aborted=True)) == [Settled(aborted=True)]


@pytest.mark.parametrize(
    ("name", "args", "target"),
    [
        ("bash", {"command": "ls -la", "timeout": 3}, "ls -la"),
        ("edit", {"edits": [], "path": "a.py"}, "a.py"),
        ("write", {"content": "x" * 10, "path": "a.py"}, "a.py"),
        ("find", {"path": ".", "pattern": "*.py"}, "*.py"),
        ("mcp__x__y", {"n": 3, "what": "it"}, "it"),
        ("nothing", {}, None),
        ("broken", None, None),
    ],
)
def test_a_tool_is_told_with_what_it_works_on(name: str, args: object, target: str | None):
    started = PI.reader().feed(line(type="tool_execution_start", toolCallId="c", toolName=name, args=args))
    assert started == [ToolStarted("c", name, target)]


def reported(details: object, *, is_error: bool = False) -> list[object]:
    result = {"content": [], "details": details}
    raw = line(type="tool_execution_end", toolCallId="c", toolName="report", result=result, isError=is_error)
    return [event for event in PI.reader().feed(raw) if isinstance(event, Reported)]


def test_only_a_valid_report_counts():
    said = {"status": "blocked", "summary": "Need a choice", "question": "A or B?"}
    assert reported(said) == [Reported("blocked", "Need a choice", "A or B?")]
    assert reported(said, is_error=True) == []
    assert reported({"status": "great"}) == []
    assert reported(None) == []
    assert reported({"status": "completed", "summary": 3}) == [Reported("completed")]


def test_an_answer_carries_its_usage_and_a_plain_error():
    usage = {"input": 200, "output": 5, "cacheRead": 1000, "cacheWrite": 0, "cost": {"total": 0.5}}
    message = {"role": "assistant", "content": [{"type": "text", "text": "Hi"}], "stopReason": "stop", "model": "m"}
    assert PI.reader().feed(line(type="message_end", message={**message, "usage": usage})) == [
        AssistantMessage("Hi", "stop", None, "m", Usage(200, 5, 1000, 0, 0.5))
    ]
    failed = {"role": "assistant", "content": [], "stopReason": "error", "errorMessage": '401: {"message":"No"}'}
    zeros = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 0}}
    assert PI.reader().feed(line(type="message_end", message={**failed, "usage": zeros})) == [
        AssistantMessage("", "error", "401: No; run `pi` and use /login.")
    ]


def test_retries_compactions_and_extensions_are_told():
    reader = PI.reader()
    start = line(type="auto_retry_start", attempt=2, maxAttempts=3, delayMs=4000, errorMessage='503: {"message":"x"}')
    assert reader.feed(start) == [RetryStarted(2, 3, "503: x", 4000)]
    assert reader.feed(line(type="auto_retry_end", success=True, attempt=2)) == [RetryEnded(True)]
    assert reader.feed(line(type="auto_retry_end", success=False, finalError="503: x")) == [RetryEnded(False, "503: x")]
    usage = {"input": 7, "output": 1}
    assert reader.feed(line(type="compaction_end", result={"usage": usage})) == [UsageReported(Usage(7, 1, 0, 0, None))]
    entry = {"type": "custom_message", "content": "Call report now.", "display": True}
    assert reader.feed(line(type="entry_appended", entry=entry)) == [Noticed("Call report now.")]
    assert reader.feed(line(type="entry_appended", entry={"type": "context_edit"})) == []


@pytest.mark.parametrize(
    "broken",
    [b"", b"hello", b"{", b"[]", b'"x"', b"null", b'{"type":3}', b'{"type":"message_end"}', b'{"type":"agent_settled"'],
)
def test_a_broken_line_gives_nothing(broken: bytes):
    assert PI.reader().feed(broken) == []


def test_deep_and_huge_lines_are_fine():
    reader = PI.reader()
    assert reader.feed(b'{"type":' + b"[" * 100_000 + b"]" * 100_000 + b"}") == []
    text = "x" * 5_000_000
    message = {"role": "assistant", "content": [{"type": "text", "text": text}], "stopReason": "stop"}
    [answer] = reader.feed(line(type="message_end", message=message))
    assert isinstance(answer, AssistantMessage)
    assert len(answer.text) == len(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)
KEYS = ("message", "result", "args", "entry", "assistantMessageEvent", "toolName", "isError", "usage", "errorMessage")
TYPES = st.sampled_from(
    "session message_start message_update message_end tool_execution_start tool_execution_end auto_retry_start"
    " auto_retry_end compaction_end entry_appended agent_end extension_error x".split(" ")
)
BLOCKS = st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "toolResult"]), "content": JSON}) | JSON


@given(TYPES, st.dictionaries(st.sampled_from(KEYS), BLOCKS))
def test_no_line_of_any_shape_raises(kind: str, fields: dict[str, object]):
    PI.reader().feed(line(type=kind, **fields))


@given(
    st.lists(st.fixed_dictionaries({"type": st.sampled_from(["message", "compaction", "session"]), "message": BLOCKS}))
)
def test_no_session_entry_of_any_shape_raises(entries: list[dict[str, object]]):
    from agent_board.agents.pi_events import transcript

    list(transcript(line(**entry) for entry in entries))


def test_a_missing_transcript_holds_nothing(tmp_path: Path):
    assert PI.transcript_events(Job(cwd="/", session_file=str(tmp_path / "none.jsonl")), 0) == []
    assert PI.transcript_events(Job(cwd="/", session_file=str(tmp_path)), 0) == []
    assert PI.transcript_events(Job(cwd="/"), 0) == []


def test_torn_lines_of_a_transcript_are_passed_over(tmp_path: Path):
    file = tmp_path / "s.jsonl"
    user = line(type="message", message={"role": "user", "content": "hi"})
    answer = line(type="message", message={"role": "assistant", "content": "yo", "stopReason": "stop"})
    file.write_bytes(user + b"\n" + answer[:-9] + b"\n" + answer + b"\n" + user[:20])
    events = PI.transcript_events(Job(cwd="/", session_file=str(file)), 0)
    assert events == [PromptAccepted("hi"), AssistantMessage("yo", "stop")]


OLD_NODE = """file:///usr/lib/node_modules/pi/dist/bundle/cli.js:2
import { createRequire, enableCompileCache } from "node:module";
                        ^^^^^^^^^^^^^^^^^^
SyntaxError: The requested module 'node:module' does not provide an export named 'enableCompileCache'
    at ModuleJob._instantiate (node:internal/modules/esm/module_job:213:21)

Node.js v20.20.2
"""
UNCAUGHT = """node:fs:1370
  const result = binding.mkdir(
                         ^

Error: EACCES: permission denied, mkdir '/home/user/.pi/agent'
    at mkdirSync (node:fs:1370:26) {
  errno: -13,
  code: 'EACCES'
}

Node.js v22.19.0
"""


@pytest.mark.parametrize(
    ("stderr", "sentence"),
    [
        (OLD_NODE, "Node 20.20.2 is too old for this Pi; install a newer Node and put it first on PATH."),
        (UNCAUGHT, "Pi's directory /home/user/.pi/agent can't be made: permission denied."),
        (
            "ENOSPC: no space left on device, write\n",
            "Pi can't write: the disk is full.",
        ),
        (
            "EACCES: permission denied, open '/s/v1.jsonl'\n",
            "Pi's session file /s/v1.jsonl can't be opened: permission denied.",
        ),
        (
            "Warning: something harmless\nError: Session file is not a valid pi session: /s/v1.jsonl\n",
            "Session file is not a valid pi session: /s/v1.jsonl",
        ),
        ("Warning: No models available. Use /login\n  /docs/models.md\n", None),
        ("", None),
        ("   at foo (bar.js:1)\n", None),
        ("ext says hi\n", "ext says hi"),
    ],
)
def test_stderr_is_told_in_one_sentence(stderr: str, sentence: str | None):
    assert PI.startup_error(stderr) == sentence


@pytest.mark.parametrize(
    ("message", "plain"),
    [
        ('503: {"error":{"message":"Overloaded","type":"x"}}', "503: Overloaded"),
        ("500 stub says 500", "500: stub says 500"),
        ("429: quota exhausted, resets 18:00", "429: quota exhausted, resets 18:00"),
        ("503:", "503: the provider refused"),
        ("terminated", "terminated"),
        ("", "The provider failed without saying why."),
        ("{broken", "{broken"),
    ],
)
def test_a_providers_error_is_told_plainly(message: str, plain: str):
    assert plain_error(message) == plain


@given(st.text())
def test_any_error_becomes_one_clean_line(text: str):
    for sentence in (plain_error(text), PI.startup_error(text)):
        assert sentence is None or (sentence and sentence == clean_line(sentence))


def test_finding_starts_no_program_of_the_working_directory(programs: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(programs.parent)
    script(programs.parent / "pi", "echo 9.9.9")
    assert os.access("pi", os.X_OK)
    assert PI.find() is None
