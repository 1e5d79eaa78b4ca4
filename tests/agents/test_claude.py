"""The Claude Code adapter: commands, sessions, transcripts, what it asks and how it is answered."""

import json
import os
from pathlib import Path

import pytest

from agent_board.agents.base import Answer, Job
from agent_board.agents.claude import Claude
from agent_board.agents.claude_errors import plain_error, startup_sentence
from agent_board.agents.claude_events import ClaudeReader
from agent_board.agents.events import (
    AssistantMessage,
    PromptAccepted,
    RequestClosed,
    RequestOpened,
    Settled,
    ToolEnded,
    ToolStarted,
)
from agent_board.errors import UsageError

CLAUDE = Claude()


def line(**fields: object) -> bytes:
    return json.dumps(fields).encode()


def text(said: str, message: str = "m1") -> bytes:
    return line(type="assistant", message={"id": message, "model": "m", "content": [{"type": "text", "text": said}]})


def call(tool_id: str, name: str = "Write", **given: object) -> bytes:
    block = {"type": "tool_use", "id": tool_id, "name": name, "input": given}
    return line(type="assistant", message={"id": "m1", "model": "m", "content": [block]})


def asked(request_id: str, tool_id: str, name: str = "Write", **given: object) -> bytes:
    request = {"subtype": "can_use_tool", "tool_name": name, "tool_use_id": tool_id, "input": given}
    return line(type="control_request", request_id=request_id, request=request)


def result(**fields: object) -> bytes:
    return line(**{"type": "result", "subtype": "success", "is_error": False, "num_turns": 1, **fields})


def test_an_id_is_chosen_once_and_its_file_is_known(project: Path, home: Path) -> None:
    file, session_id = CLAUDE.new_session("a1b2c3", str(project), "unused")
    assert (file, session_id) == CLAUDE.new_session("a1b2c3", str(project), "unused")
    assert session_id != CLAUDE.new_session("a1b2c4", str(project), "unused")[1]
    assert file is not None
    assert Path(file).is_relative_to(home / ".claude" / "projects")
    job = Job(str(project), file, session_id)
    assert CLAUDE.command(job)[-2:] == ["--session-id", session_id]
    Path(file).parent.mkdir(parents=True)
    Path(file).touch()
    assert CLAUDE.command(job)[-2:] == ["--resume", session_id]


def test_a_transcript_in_another_folder_is_found(project: Path, home: Path) -> None:
    session_id = "11111111-0000-4000-8000-000000000000"
    folder = home / ".claude" / "projects" / "elsewhere"
    folder.mkdir(parents=True)
    (folder / f"{session_id}.jsonl").write_text('{"type":"user","message":{"role":"user","content":"hello"}}\n')
    job = Job(str(project), "/nowhere", session_id)
    assert CLAUDE.transcript_size(job) > 0
    assert CLAUDE.transcript_events(job, 0) == [PromptAccepted("hello")]


def test_reading_only_gives_no_tool_that_writes(project: Path) -> None:
    words = CLAUDE.command(Job(str(project), read_only=True))
    assert not {"Bash", "Write", "Edit"} & set(words[words.index("--tools") + 1].split(","))
    assert "--strict-mcp-config" in words


def test_the_users_own_words_count_for_attaching_as_well(project: Path) -> None:
    job = Job(str(project), None, "id", args=("--permission-mode", "acceptEdits", "--max-turns", "3"))
    assert CLAUDE.command(job)[-4:] == list(job.args)
    assert CLAUDE.attach_command(job) == ["claude", "--resume", "id", "--permission-mode", "acceptEdits"]


def test_a_mode_counts_more_than_the_users_own_words_and_reading_only_more_than_both(project: Path) -> None:
    args = (
        "--dangerously-skip-permissions",
        "--permission-mode=plan",
        "--add-dir",
        "a",
        "b",
        "--tools",
        "Bash",
        "Write",
    )
    asked = CLAUDE.command(Job(str(project), None, "id", mode="acceptEdits", args=args))
    assert [word for word in asked if "mode" in word or "danger" in word] == ["--permission-mode"]
    assert asked[asked.index("--permission-mode") + 1] == "acceptEdits"
    assert asked[-6:] == list(args[-6:])
    reading = CLAUDE.command(Job(str(project), None, "id", mode="bypassPermissions", read_only=True, args=args))
    assert not [word for word in reading if "permission-mode" in word or "danger" in word or "bypass" in word]
    assert reading.count("--tools") == 1
    assert reading[-3:] == ["--add-dir", "a", "b"]


def test_rules_are_one_flag_and_the_users_own_words_stay_in_it(project: Path) -> None:
    """Of several such flags Claude Code takes the last."""
    args = ("--append-system-prompt", "- Be brief.", "--max-turns", "3")
    words = CLAUDE.command(Job(str(project), rules=("Leave it.", "Say so."), args=args))
    assert words.count("--append-system-prompt") == 1
    assert words[words.index("--append-system-prompt") + 1] == "- Be brief.\n\nLeave it.\n\nSay so."
    assert words[-2:] == ["--max-turns", "3"]
    assert CLAUDE.command(Job(str(project), args=args))[-4:] == list(args)


def test_attaching_without_a_mode_takes_that_of_the_last_prompt(tmp_path: Path) -> None:
    """Measured with 2.1.332: the terminal program would begin in its auto mode and ask for nothing."""
    transcript = tmp_path / "id.jsonl"
    entries = [{"type": "user", "permissionMode": mode} for mode in ("plan", "default")]
    transcript.write_text("".join(json.dumps(entry) + "\n" for entry in [*entries, {"type": "assistant"}]))
    line = CLAUDE.attach_command(Job(str(tmp_path), str(transcript), "id"))
    assert line == ["claude", "--resume", "id", "--permission-mode", "default"]
    assert "default" not in CLAUDE.attach_command(Job(str(tmp_path), str(transcript), "id", mode="plan"))
    assert "default" not in CLAUDE.attach_command(Job(str(tmp_path), str(transcript), "id", read_only=True))


def test_the_prompt_is_one_line_whatever_is_in_it() -> None:
    sent = CLAUDE.first_line('two\nlines \u2028 "é"'.encode())
    assert sent.count(b"\n") == 1
    assert json.loads(sent)["message"]["content"] == 'two\nlines \u2028 "é"'


def test_what_else_the_model_says_does_not_close_what_it_asks() -> None:
    """Two calls of one message; the first one asks while the second is still coming (DESIGN 7)."""
    reader = ClaudeReader()
    events = [*reader.feed(call("t1", file_path="a")), *reader.feed(asked("r1", "t1", file_path="a"))]
    assert [type(event) for event in events[-2:]] == [ToolStarted, RequestOpened]
    later = [*reader.feed(text("And b.")), *reader.feed(call("t2", file_path="b"))]
    assert not any(isinstance(event, AssistantMessage | Settled) for event in later)
    ended = reader.feed(line(type="user", message={"content": [{"type": "tool_result", "tool_use_id": "t2"}]}))
    assert RequestClosed("r1") not in ended
    answer, told = reader.answer("r1", Answer("allow"))
    assert told == [RequestClosed("r1")]
    assert json.loads(answer)["response"]["response"] == {"behavior": "allow", "updatedInput": {"file_path": "a"}}
    assert AssistantMessage("And b.", "tool", model="m") in reader.feed(text("Done.", "m2"))


def test_a_request_is_closed_by_its_own_tools_end() -> None:
    reader = ClaudeReader()
    reader.feed(asked("r1", "t1", file_path="a"))
    told = reader.feed(line(type="user", message={"content": [{"type": "tool_result", "tool_use_id": "t1"}]}))
    assert RequestClosed("r1") in told
    assert any(isinstance(event, ToolEnded) for event in told)
    with pytest.raises(UsageError):
        reader.answer("r1", Answer("allow"))


def test_it_hangs_up_only_when_nothing_can_be_asked_any_more() -> None:
    reader = ClaudeReader()
    reader.feed(line(type="system", subtype="init"))
    reader.feed(line(type="system", subtype="background_tasks_changed", tasks=[{"task_id": "x"}]))
    assert Settled() not in reader.feed(result())
    assert not reader.may_hang_up(60)
    reader.feed(line(type="system", subtype="background_tasks_changed", tasks=[]))
    assert not reader.may_hang_up(0)
    assert reader.may_hang_up(60)
    reader.feed(line(type="system", subtype="init"))
    assert Settled() in reader.feed(result())
    assert reader.may_hang_up(0)


def test_other_control_requests_are_not_for_the_user() -> None:
    reader = ClaudeReader()
    assert reader.feed(line(type="control_request", request_id="x", request={"subtype": "hook_callback"})) == []
    assert reader.feed(line(type="control_request", request_id=7, request=None)) == []


@pytest.mark.parametrize(
    ("said", "status", "sentence"),
    [
        (
            "Not logged in · Please run /login",
            None,
            "Claude is not logged in (Not logged in); run `claude` and use /login.",
        ),
        (
            "Claude AI usage limit reached|1796077266",
            None,
            "Claude's quota is used up: Claude AI usage limit reached; wait for its reset, or see /usage in `claude`.",
        ),
        (
            "Credit balance is too low",
            400,
            "Claude's quota is used up: Credit balance is too low; wait for its reset, or see /usage in `claude`.",
        ),
        ("API Error: 529 overloaded", None, "529: overloaded; the provider is overloaded; wait a while, then retry."),
        ("", None, "the provider refused without saying why."),
    ],
)
def test_errors_say_what_to_do(said: str, status: int | None, sentence: str) -> None:
    assert plain_error(said, status) == sentence


def test_of_stderr_the_telling_line_is_taken() -> None:
    assert startup_sentence("warning: x\nError: Session ID a is already in use.\n") == "Session ID a is already in use."
    assert startup_sentence("\n \n") is None


def test_a_session_started_elsewhere_tells_its_directory_and_prompt(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    entry = {"type": "user", "uuid": "u", "cwd": "/srv/app", "sessionId": "abc", "message": {"content": "Fix it"}}
    file.write_text(json.dumps({"type": "queue-operation"}) + "\n" + json.dumps(entry) + "\n")
    found = CLAUDE.foreign_session(str(file))
    assert found is not None
    assert (found.cwd, found.session_id, found.title) == ("/srv/app", "abc", "Fix it")
    file.write_text('{"type":"session","cwd":"/x"}\n')
    assert CLAUDE.foreign_session(str(file)) is None


def test_logging_in_is_told_as_far_as_files_tell(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert CLAUDE.logged_in() is None
    os.makedirs(home / ".claude")
    (home / ".claude" / ".credentials.json").touch()
    assert CLAUDE.logged_in() is True


def test_the_wish_to_leave_plan_mode_shows_the_plan_of_the_call_before_it() -> None:
    reader = ClaudeReader()
    block = {"type": "tool_use", "id": "t1", "name": "ExitPlanMode", "input": {"plan": "1. Write it"}}
    reader.feed(line(type="assistant", message={"content": [block], "model": "m"}))
    wish = {"subtype": "can_use_tool", "tool_name": "ExitPlanMode", "input": {}, "tool_use_id": "t1"}
    (event,) = reader.feed(line(type="control_request", request_id="r1", request=wish))
    assert isinstance(event, RequestOpened)
    assert event.text == "Go ahead with this plan? 1. Write it"
