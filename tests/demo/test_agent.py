"""The scripted agent as a process, read by its adapter."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from agent_board.agents import registry
from agent_board.agents.base import Agent, Job
from agent_board.agents.events import (
    EVENTS,
    AssistantDelta,
    AssistantMessage,
    AssistantStarted,
    Event,
    Noticed,
    PromptAccepted,
    Reported,
    RequestClosed,
    RequestOpened,
    RetryEnded,
    RetryStarted,
    SessionStarted,
    Settled,
    ToolEnded,
    ToolStarted,
    UsageReported,
)
from agent_board.store.records import Usage
from tests.support.wait import wait_for


@pytest.fixture
def agent() -> Agent:
    return registry.agent("demo")


@pytest.fixture
def job(tmp_path: Path) -> Job:
    work = tmp_path / "work"
    work.mkdir()
    (work / "README.md").write_text("# work\n")
    return Job(cwd=str(work), session_file=str(tmp_path / "session.jsonl"))


def start(agent: Agent, job: Job, **environ: str) -> subprocess.Popen[bytes]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("AGENT_BOARD")}
    return subprocess.Popen(
        agent.command(job),
        cwd=job.cwd,
        env={**clean, "AGENT_BOARD_DEMO_SPEED": "200", **environ},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def events_of(agent: Agent, output: bytes) -> list[Event]:
    reader = agent.reader()
    return [event for line in output.split(b"\n") for event in reader.feed(line)]


def play(agent: Agent, job: Job, prompt: str, **environ: str) -> tuple[list[Event], int, str]:
    with start(agent, job, **environ) as process:
        out, err = process.communicate(prompt.encode(), timeout=60)
    return events_of(agent, out), process.returncode, err.decode()


def quiet(events: list[Event]) -> list[Event]:
    """Without the pieces of streamed answers."""
    return [event for event in events if not isinstance(event, AssistantDelta | AssistantStarted)]


def kinds(events: list[Event]) -> list[str]:
    return [type(event).__name__ for event in quiet(events)]


def words(events: list[Event]) -> list[str]:
    said = [event.text for event in events if isinstance(event, AssistantMessage)]
    return said + [event.summary for event in events if isinstance(event, Reported)]


SAID = '{"type":"answer","text":"a","stop":"stop","usage":{"input":1,"costUsd":0.5},"model":"m"}'
LINES: list[tuple[str, Event]] = [
    ('{"type":"session","id":"s","cwd":"/w","version":1}', SessionStarted("s", "/w")),
    ('{"type":"prompt","text":"问"}', PromptAccepted("问")),
    ('{"type":"answer-start"}', AssistantStarted()),
    ('{"type":"delta","text":"x"}', AssistantDelta("x")),
    (SAID, AssistantMessage("a", "stop", None, "m", Usage(input=1, cost_usd=0.5))),
    ('{"type":"tool","id":"1","name":"edit","target":"a.md"}', ToolStarted("1", "edit", "a.md")),
    ('{"type":"tool-end","id":"1","name":"edit","error":true,"result":"r"}', ToolEnded("1", "edit", True, "r")),
    (
        '{"type":"request","id":"q","kind":"choice","text":"?","choices":["a","b"]}',
        RequestOpened("q", "choice", "?", ("a", "b")),
    ),
    ('{"type":"request-end","id":"q","denied":true}', RequestClosed("q", True)),
    ('{"type":"report","status":"blocked","summary":"s","question":"?"}', Reported("blocked", "s", "?")),
    ('{"type":"retry","attempt":1,"most":3,"error":"503","delayMs":5}', RetryStarted(1, 3, "503", 5)),
    ('{"type":"retry-end","ok":false,"error":"503"}', RetryEnded(False, "503")),
    ('{"type":"usage","usage":{"output":2}}', UsageReported(Usage(output=2))),
    ('{"type":"notice","text":"n"}', Noticed("n")),
    ('{"type":"settled"}', Settled()),
]


@pytest.mark.parametrize(("line", "event"), LINES)
def test_one_line_is_one_event(agent: Agent, line: str, event: Event) -> None:
    assert agent.reader().feed(line.encode()) == [event]


def test_every_event_has_its_line() -> None:
    assert {type(event).__name__ for _, event in LINES} == set(EVENTS)


@pytest.mark.parametrize(
    "line",
    [b"", b"{", b"[1]", b"7", b'{"type":"moon"}', b'{"type":"prompt"}', b'{"type":"retry","attempt":"x"}', b"\xff\xfe"],
)
def test_what_is_no_line_of_ours_is_passed_over(agent: Agent, line: bytes) -> None:
    assert agent.reader().feed(line) == []


def test_a_whole_run_edits_tests_and_reports(agent: Agent, job: Job) -> None:
    events, code, err = play(
        agent,
        job,
        "Tidy the notes\ndemo: say Looking.; read README.md; edit notes.md; test\ndemo: report completed Tidied it",
    )
    assert (code, err) == (0, "")
    assert kinds(events) == [
        "SessionStarted",
        "PromptAccepted",
        "AssistantMessage",
        *["ToolStarted", "ToolEnded"] * 3,
        "ToolStarted",
        "Reported",
        "ToolEnded",
        "Settled",
    ]
    said = next(event for event in events if isinstance(event, AssistantMessage))
    assert said.stop == "tool"
    assert said.usage
    assert said.usage.input
    assert said.usage.cost_usd
    assert Path(job.cwd, "notes.md").read_text() == "- Tidy the notes\n"
    assert not any(event.is_error for event in events if isinstance(event, ToolEnded))


def test_the_transcript_holds_the_conversation_and_goes_on(agent: Agent, job: Job) -> None:
    first, _, _ = play(agent, job, "demo: say Hm.; edit a.md; ask Which one?")
    assert job.session_file
    mark = os.path.getsize(job.session_file)
    second, _, _ = play(agent, job, "the second one")
    behind = agent.transcript_events(job, mark)
    kept = [e for e in quiet(second) if not isinstance(e, SessionStarted | Settled)]
    assert behind == kept
    assert behind[0] == PromptAccepted("the second one")
    whole = agent.transcript_events(job, 0)
    assert kinds(whole).count("SessionStarted") == 1
    assert whole[: len(quiet(first)) - 1] == quiet(first)[:-1]
    assert isinstance(behind[-2], Reported), "a reply goes on to completion"


def test_a_torn_end_of_the_transcript_spoils_nothing(agent: Agent, job: Job) -> None:
    play(agent, job, "demo: say one")
    assert job.session_file
    with open(job.session_file, "ab") as file:
        file.write(b'{"type":"prom')
    mark = os.path.getsize(job.session_file)
    play(agent, job, "demo: say two")
    assert kinds(agent.transcript_events(job, mark)) == ["PromptAccepted", "AssistantMessage"]


def test_the_prompt_is_in_the_transcript_before_the_answer(agent: Agent, job: Job, tmp_path: Path) -> None:
    with start(agent, job) as process:
        assert process.stdin
        process.stdin.write(f"demo: until {tmp_path}/go; say hello".encode())
        process.stdin.close()
        wait_for(lambda: agent.transcript_events(job, 0)[1:], what="the prompt in the transcript")
        assert kinds(agent.transcript_events(job, 0)) == ["SessionStarted", "PromptAccepted"]
        (tmp_path / "go").touch()
        assert process.wait(20) == 0


@pytest.mark.parametrize(
    ("script", "code", "expected"),
    [
        ("fail", 1, [*["RetryStarted"] * 3, "RetryEnded", "AssistantMessage", "Settled"]),
        ("retry 2 503; say fine", 0, [*["RetryStarted"] * 2, "RetryEnded", "AssistantMessage", "Settled"]),
        ("cut", 0, ["AssistantMessage", "Settled"]),
        ("crash boom", 1, []),
        ("exit 4", 4, []),
        ("die", -9, []),
        ("settle; exit 3", 3, ["Settled"]),
        ("fly", 1, []),
        ("wait long", 1, []),
        (
            "permit May I?; close denied; report blocked Need a word | A or B?",
            0,
            ["RequestOpened", "RequestClosed", "ToolStarted", "Reported", "ToolEnded", "Settled"],
        ),
    ],
)
def test_endings(agent: Agent, job: Job, script: str, code: int, expected: list[str]) -> None:
    events, left_with, err = play(agent, job, f"demo: {script}")
    assert left_with == code
    assert kinds(events) == ["SessionStarted", "PromptAccepted", *expected]
    assert bool(err) == (code == 1 and script != "fail")


def test_a_refused_start_takes_no_prompt(agent: Agent, job: Job) -> None:
    events, code, err = play(agent, job, "demo: refuse Not logged in")
    assert (events, code) == ([], 1)
    assert agent.startup_error(err) == "Not logged in"
    assert job.session_file
    assert not os.path.exists(job.session_file)


def test_term_takes_a_running_command_along(agent: Agent, job: Job, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    with start(agent, job) as process:
        assert process.stdin
        process.stdin.write(f"demo: run sleep 300 & echo $! > {pid_file} && wait".encode())
        process.stdin.close()
        child = int(wait_for(lambda: (pid_file.exists() and pid_file.read_text().strip()) or "", what="the command"))
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 143
    wait_for(lambda: not alive(child), what="the end of the command")


def test_the_stubborn_one_needs_kill(agent: Agent, job: Job) -> None:
    with start(agent, job) as process:
        assert process.stdin
        process.stdin.write(b"demo: stubborn; say Deaf.; hang")
        process.stdin.close()
        wait_for(lambda: "AssistantMessage" in kinds(agent.transcript_events(job, 0)), what="deafness")
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.2)
        process.kill()
        assert process.wait(20) == -9


def test_it_goes_on_when_nobody_reads_any_more(agent: Agent, job: Job, tmp_path: Path) -> None:
    with start(agent, job) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(f"demo: until {tmp_path}/go; say on my own; edit a.md; say done".encode())
        process.stdin.close()
        process.stdout.close()
        (tmp_path / "go").touch()
        assert process.wait(20) == 0
    assert kinds(agent.transcript_events(job, 0))[-1] == "AssistantMessage"


def test_read_only_and_outside_paths_are_not_written(agent: Agent, job: Job, tmp_path: Path) -> None:
    events, code, _ = play(agent, Job(cwd=job.cwd, read_only=True), "demo: edit README.md")
    assert code == 0
    assert [event.is_error for event in events if isinstance(event, ToolEnded)] == [True]
    events, _, _ = play(agent, job, "demo: edit ../outside.md")
    assert [event.is_error for event in events if isinstance(event, ToolEnded)] == [True]
    assert not (tmp_path / "outside.md").exists()
    assert Path(job.cwd, "README.md").read_text() == "# work\n"


@pytest.mark.parametrize("prompt", ["fix the login bug", "add tests", "修复登录页的报错", "/help", "why?", "-x", "@a"])
def test_free_text_outside_the_world_touches_nothing(agent: Agent, job: Job, prompt: str) -> None:
    """Invariant 7: an agent that nobody directed has no business in a user's files."""
    events, code, _ = play(agent, job, prompt)
    assert code == 0
    assert os.listdir(job.cwd) == ["README.md"]
    assert Path(job.cwd, "README.md").read_text() == "# work\n"
    again, _, _ = play(agent, Job(cwd=job.cwd), prompt)
    assert words(again) == words(events), "the same text plays the same script"


def test_huge_prompt_and_huge_output(agent: Agent, job: Job) -> None:
    events, code, _ = play(agent, job, "x" * 2_000_000 + "\ndemo: flood 2000; line 2000; say enough")
    assert code == 0
    assert isinstance(events[1], PromptAccepted)
    assert len(events[1].text) > 2_000_000
    assert sum(len(event.text) for event in events if isinstance(event, AssistantDelta)) > 1_900_000


def test_a_child_may_outlive_it(agent: Agent, job: Job, tmp_path: Path) -> None:
    events, code, _ = play(agent, job, "demo: spawn 300", AGENT_BOARD_RUN=str(tmp_path))
    assert code == 0
    ended = next(event for event in events if isinstance(event, ToolEnded))
    child = int(ended.result)
    assert alive(child)
    os.kill(child, signal.SIGKILL)


def test_attach_is_a_small_chat_over_the_same_transcript(agent: Agent, job: Job) -> None:
    play(agent, job, "demo: say one")
    clean = {key: value for key, value in os.environ.items() if not key.startswith("AGENT_BOARD")}
    done = subprocess.run(
        agent.attach_command(job),
        input=b"demo: say two\n\n",
        cwd=job.cwd,
        env={**clean, "AGENT_BOARD_DEMO_SPEED": "200"},
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0
    assert b"two" in done.stdout
    assert b'"type"' not in done.stdout
    assert kinds(agent.transcript_events(job, 0)).count("PromptAccepted") == 2


def test_a_chat_whose_terminal_was_taken_away_ends_without_a_word(agent: Agent, job: Job, tmp_path: Path) -> None:
    """Its board was killed: reading fails as it does from a terminal of another group."""
    with open(tmp_path / "unreadable", "wb") as unreadable:
        done = subprocess.run(
            agent.attach_command(job), stdin=unreadable, cwd=job.cwd, capture_output=True, text=True, timeout=60
        )
    assert (done.returncode, done.stderr) == (1, "")


def test_it_loads_little(agent: Agent, job: Job) -> None:
    """Tests and the demo start it often: nothing beyond a few standard modules."""
    python, *rest = agent.command(job)
    done = subprocess.run(
        [python, "-X", "importtime", *rest], input="demo: say Hello.", capture_output=True, text=True, timeout=60
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "agent_board.demo.script" in loaded
    assert not loaded & {"asyncio", "typing", "dataclasses", "pydantic", "textual", "subprocess", "pathlib"}


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"
