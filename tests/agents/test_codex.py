"""Codex: its command lines, where it is found, its threads' files, its running totals."""

import json
import signal
import tomllib
from pathlib import Path

import pytest

from agent_board.agents.base import Job
from agent_board.agents.codex import Codex
from agent_board.agents.codex_errors import plain_error, startup_sentence
from agent_board.agents.events import (
    AssistantMessage,
    Event,
    PromptAccepted,
    RequestClosed,
    SessionStarted,
    Settled,
    ToolEnded,
    ToolStarted,
    UsageReported,
)

CODEX = Codex()
THREAD = "01900000-0000-7000-8000-000000000031"


def entry(kind: str, **payload: object) -> dict[str, object]:
    return {"timestamp": "2026-11-30T10:00:00.000Z", "type": kind, "payload": payload}


def item(kind: str, **more: object) -> dict[str, object]:
    return entry("event_msg", type="item_completed", item={"type": kind, "id": f"{kind}-1", **more})


def counted(total: int, last: int) -> dict[str, object]:
    def usage(tokens: int) -> dict[str, int]:
        return {"input_tokens": tokens, "cached_input_tokens": tokens // 2, "output_tokens": tokens // 10}

    info = {"total_token_usage": usage(total), "last_token_usage": usage(last)}
    return entry("event_msg", type="token_count", info=info)


def turn(prompt: str, answer: str, total: int) -> list[dict[str, object]]:
    return [
        item("UserMessage", content=[{"type": "text", "text": prompt}]),
        item("AgentMessage", content=[{"type": "Text", "text": "First a look."}]),
        item("CommandExecution", command=["/bin/bash", "-lc", "ls"], exit_code=2, aggregated_output="none\n"),
        item("FileChange", changes={"/home/user/a.py": {"type": "add"}}, status="completed"),
        counted(total - 1000, 1000),
        counted(total - 1000, 1000),
        item("AgentMessage", content=[{"type": "Text", "text": answer}]),
        counted(total, 1000),
        entry("event_msg", type="task_complete", last_agent_message=answer),
    ]


@pytest.fixture
def rollout(home: Path) -> Path:
    folder = home / ".codex" / "sessions" / "2026" / "11" / "30"
    folder.mkdir(parents=True)
    path = folder / f"rollout-2026-11-30T10-00-00-{THREAD}.jsonl"
    head = [entry("session_meta", id=THREAD, cwd="/home/user/project"), entry("response_item", type="message")]
    put(path, [*head, *turn("sort them\n", "Sorted.", 2000)])
    return path


def put(path: Path, entries: list[dict[str, object]]) -> None:
    with path.open("a") as file:
        file.writelines(json.dumps(each) + "\n" for each in entries)


def test_a_new_task_and_a_reply():
    """The sandbox stands before `resume`; the prompt in neither."""
    new = CODEX.command(Job(cwd="/", model="gpt-5.5"))
    assert new[:3] == ["codex", "exec", "--json"]
    assert new[-1] == "-"
    assert "resume" not in new
    reply = CODEX.command(Job(cwd="/", session_id=THREAD, resume=True, model="gpt-5.5"))
    assert reply[-3:] == ["resume", THREAD, "-"]
    assert reply[reply.index("-m") + 1] == "gpt-5.5"
    assert 'sandbox_mode="workspace-write"' in reply[: reply.index("resume")]


def test_the_users_flags_choose_the_sandbox_but_never_for_a_reading_task():
    args = ("-s", "danger-full-access", "--approve-for-me", "-c", "x=1", "--sandbox=workspace-write")
    written = CODEX.command(Job(cwd="/", args=args))
    assert written.index("-s") > written.index('sandbox_mode="workspace-write"')
    reading = CODEX.command(Job(cwd="/", read_only=True, args=args))
    assert [word for word in reading if "danger" in word or "workspace" in word or "approve" in word] == []
    assert reading[reading.index("-s") + 1] == "read-only"
    assert reading[reading.index("x=1") - 1] == "-c"


def test_a_mode_is_the_sandbox_of_runs_and_of_attaching():
    job = Job(cwd="/", session_id=THREAD, mode="danger-full-access", args=("--sandbox", "read-only", "-c", "x=1"))
    for line in (CODEX.command(job), CODEX.attach_command(job)):
        assert [word for word in line if "sandbox" in word or word in CODEX.modes] == ["danger-full-access"]
        assert line[line.index("danger-full-access") - 1] == "-s"
        assert line[line.index("x=1") - 1] == "-c"
    assert "danger-full-access" not in CODEX.command(Job(cwd="/", mode="danger-full-access", read_only=True))


def test_attaching_starts_no_daemon():
    line = CODEX.attach_command(Job(cwd="/", session_id=THREAD, read_only=True))
    assert line[:3] == ["codex", "resume", "--no-daemon"]
    assert line[-1] == THREAD
    assert "read-only" in line


def test_it_names_its_threads_and_is_asked_to_end_as_a_group():
    assert CODEX.new_session("v1", "/", "/ours") == (None, None)
    assert (CODEX.first_signal.number, CODEX.first_signal.group) == (signal.SIGINT, True)


def test_the_version_is_read_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package = tmp_path / "node_modules" / "@openai" / "codex"
    (package / "bin").mkdir(parents=True)
    (package / "package.json").write_text('{"name": "@openai/codex", "version": "0.171.0"}')
    program = package / "bin" / "codex.js"
    program.write_text("#!/bin/sh\nexit 9\n")
    program.chmod(0o755)
    (tmp_path / "codex").symlink_to(program)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = CODEX.find()
    assert found is not None
    assert found.version == "0.171.0"
    assert "node" in (found.problem or "")
    (tmp_path / "node").write_text("#!/bin/sh\n")
    (tmp_path / "node").chmod(0o755)
    found = CODEX.find()
    assert found is not None
    assert found.problem is None
    monkeypatch.setenv("PATH", "/nowhere")
    assert CODEX.find() is None


def test_a_rollout_tells_what_the_stream_told(rollout: Path):
    events = CODEX.transcript_events(Job(cwd="/", session_id=THREAD), 0)
    assert events[:2] == [SessionStarted(THREAD, "/home/user/project"), PromptAccepted("sort them\n")]
    assert [event for event in events if isinstance(event, ToolStarted)] == [
        ToolStarted("CommandExecution-1", "bash", "ls"),
        ToolStarted("FileChange-1", "edit", "/home/user/a.py"),
    ]
    assert [event.is_error for event in events if isinstance(event, ToolEnded)] == [True, False]
    said = [(event.text, event.stop) for event in events if isinstance(event, AssistantMessage)]
    assert said == [("First a look.", "tool"), ("Sorted.", "stop")]
    assert events[-1] == Settled()
    used = [event.usage for event in events if isinstance(event, UsageReported)]
    assert (sum(u.input or 0 for u in used), sum(u.output or 0 for u in used)) == (1000, 200)


def test_behind_the_mark_only_what_came_later(rollout: Path):
    job = Job(cwd="/", session_id=THREAD)
    mark = CODEX.transcript_size(job)
    assert mark == rollout.stat().st_size
    assert CODEX.transcript_events(job, mark) == []
    put(rollout, turn("and again", "Sorted again.", 4000))
    events = CODEX.transcript_events(job, mark)
    assert events[0] == PromptAccepted("and again")
    assert sum(event.usage.output or 0 for event in events if isinstance(event, UsageReported)) == 200


def test_a_run_costs_what_it_adds_to_its_thread(rollout: Path):
    line = b'{"type":"turn.completed","usage":{"input_tokens":3000,"cached_input_tokens":1500,"output_tokens":300}}'
    usage = usage_in(CODEX.reader_for(Job(cwd="/", session_id=THREAD)).feed(line))
    assert (usage.input, usage.cache_read, usage.output) == (500, 500, 100)
    fresh = usage_in(CODEX.reader_for(Job(cwd="/")).feed(line))
    assert (fresh.input, fresh.cache_read, fresh.output) == (1500, 1500, 300)
    lost = line.replace(b"3000", b"100").replace(b"1500", b"50").replace(b"300", b"10")
    assert usage_in(CODEX.reader_for(Job(cwd="/", session_id=THREAD)).feed(lost)).output == 0


def usage_in(events: list[Event]):
    (usage,) = [event.usage for event in events if isinstance(event, AssistantMessage)]
    assert usage is not None
    return usage


def test_an_interrupted_turn_is_not_a_finished_one(rollout: Path):
    job = Job(cwd="/", session_id=THREAD)
    mark = CODEX.transcript_size(job)
    put(rollout, turn("again", "Never said", 4000)[:2])
    assert [e.stop for e in CODEX.transcript_events(job, mark) if isinstance(e, AssistantMessage)] == ["tool"]
    put(rollout, [entry("event_msg", type="turn_aborted", reason="interrupted")])
    assert CODEX.transcript_events(job, mark)[-1] == Settled(aborted=True)


def test_a_thread_is_recognised_by_its_file(rollout: Path, tmp_path: Path):
    """AB-094."""
    found = CODEX.foreign_session(str(rollout))
    assert found is not None
    assert (found.cwd, found.session_id, found.title) == ("/home/user/project", THREAD, "sort them\n")
    other = tmp_path / "other.jsonl"
    other.write_text('{"type":"session"}\n')
    assert CODEX.foreign_session(str(other)) is None
    assert CODEX.foreign_session(str(tmp_path / "none")) is None


def test_a_declined_command_is_counted():
    line = b'{"type":"item.completed","item":{"id":"item_1","type":"command_execution","status":"declined"}}'
    assert CODEX.reader().feed(line)[-1] == RequestClosed("item_1", denied=True)


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (
            "Missing environment variable: `SOME_KEY`.",
            "The environment variable SOME_KEY is missing; set it where the board is started, or run `codex login`.",
        ),
        (
            "unexpected status 404 Not Found: The model `x` does not exist, url: https://api.invalid/v1/responses",
            "404: The model `x` does not exist; choose another model, or mend the provider's address.",
        ),
        ("You've hit your usage limit. Try again at 3:00 PM.", "You've hit your usage limit. Try again at 3:00 PM."),
        ("", "The provider failed without saying why."),
    ],
)
def test_errors_are_one_sentence_that_says_what_to_do(said: str, sentence: str):
    assert plain_error(said) == sentence


def test_noise_is_no_reason():
    noise = "Reading additional input from stdin...\n2026-11-30T17:50:52Z ERROR codex_core: something\n"
    assert startup_sentence(noise) is None
    assert startup_sentence(noise + "Error: no such thing\n") == "Codex could not begin: no such thing"


def test_logged_in_as_far_as_files_tell(home: Path):
    assert CODEX.logged_in() is None
    (home / ".codex").mkdir()
    (home / ".codex" / "auth.json").write_text("{}")
    assert CODEX.logged_in() is True


RULES = ("Leave .worktrees alone.", 'Say "please".')


def test_rules_are_instructions_of_the_run(home: Path):
    """A developer message of the thread, as measured with 0.171; AGENTS.md stays what it is."""
    line = CODEX.command(Job(cwd=str(home), session_id=THREAD, rules=RULES))
    (given,) = [word for word in line if word.startswith("developer_instructions=")]
    assert tomllib.loads(given)["developer_instructions"] == " ".join(RULES)
    assert line.index(given) < line.index("resume")
    assert given in CODEX.attach_command(Job(cwd=str(home), session_id=THREAD, rules=RULES))


@pytest.mark.parametrize("where", [".codex/config.toml", ".codex/work.config.toml", "project/.codex/config.toml"])
def test_the_users_own_instructions_are_not_replaced_by_rules(home: Path, where: str):
    path = home / where
    path.parent.mkdir(parents=True)
    path.write_text('developer_instructions = "Be brief."\n')
    line = CODEX.command(Job(cwd=str(home / "project"), rules=RULES))
    assert not [word for word in line if "developer_instructions" in word]


def test_nor_are_those_among_his_flags(home: Path):
    own = ("-c", 'developer_instructions="Be brief."')
    line = CODEX.command(Job(cwd=str(home), rules=RULES, args=own))
    assert [word for word in line if "developer_instructions" in word] == [own[1]]
