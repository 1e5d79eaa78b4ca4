"""`logs`: for people, for scripts and byte for byte, over the segments of a capped log, and while it grows."""

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest

from agent_board.cli.tailing import LineTail, LogTail
from agent_board.store.logs import CappedLog
from agent_board.store.paths import RunPaths, StorePaths
from tests.cli.conftest import Cli
from tests.cli.makers import AT, make_view, write_events
from tests.support import command
from tests.support.wait import wait_for


@pytest.fixture
def run(store: StorePaths) -> RunPaths:
    make_view(store, "aa11")
    return store.view("aa11").run("0001-aa11")


def test_events_are_told_in_order(cli: Cli, run: RunPaths):
    write_events(
        run,
        {"type": "SessionStarted", "at": AT, "sessionId": "x"},
        {"type": "PromptAccepted", "at": AT, "text": "Fix it\nplease"},
        {"type": "AssistantMessage", "at": AT, "text": "Looking.", "stop": "tool"},
        {"type": "ToolStarted", "at": AT, "id": "1", "name": "edit", "target": "a.py"},
        {"type": "ToolEnded", "at": AT, "id": "1", "name": "edit", "isError": True, "result": "no such file"},
        {"type": "RetryStarted", "at": AT, "attempt": 2, "most": 3, "error": "503"},
        {"type": "RequestOpened", "at": AT, "id": "q", "text": "Which?", "choices": ["a", "b"]},
        {"type": "Reported", "at": AT, "status": "blocked", "summary": "Stuck.", "question": "Which?"},
        {"type": "NewInALaterVersion", "at": AT},
        {"type": "Settled", "at": AT, "aborted": False},
    )
    lines = [line[10:] for line in cli("logs", "aa11").out.splitlines()]
    assert lines == [
        "> Fix it",
        "> please",
        "Looking.",
        "* edit a.py",
        "  failed: no such file",
        "retrying 2/3: 503",
        "? Which?",
        "  1. a",
        "  2. b",
        "= blocked: Stuck. Which?",
    ]


def test_no_control_byte_gets_out(cli: Cli, run: RunPaths):
    """Invariant 9."""
    nasty = "\x1b]0;title\x07\x9b31m\x08text\r\n\u202eend"
    for event in ("PromptAccepted", "AssistantMessage", "RequestOpened", "Noticed"):
        write_events(run, {"type": event, "at": AT, "text": nasty})
        out = cli("logs", "aa11").out
        assert "text" in out
        assert not set(out) & set("\x1b\x07\x9b\x08\r\u202e")
    with open(run.stderr, "wb") as file:
        file.write(nasty.encode() + b"\xff\n")
    assert not set(cli("logs", "aa11").out) & set("\x1b\x07\x9b\x08\r\u202e")


@pytest.mark.parametrize(
    "event",
    [
        {"type": "AssistantMessage"},
        {"type": "AssistantMessage", "text": 5, "at": "x"},
        {"type": "RequestOpened", "choices": 3, "at": 10**30},
        {"type": "ToolStarted", "name": None, "at": None},
        {"type": []},
        {},
    ],
)
def test_odd_events_are_no_error(cli: Cli, run: RunPaths, event):
    write_events(run, event, {"type": "Noticed", "at": AT, "text": "after"})
    done = cli("logs", "aa11")
    assert done.code == 0
    assert done.out.endswith("- after\n")


def test_torn_lines_are_passed_over(cli: Cli, run: RunPaths):
    with open(run.events, "wb") as file:
        file.write(
            b'{"type": "Noticed", "at": 1, "te\n\x00\n[]\n{"type": "Noticed", "at": 1, "text": "whole"}\n{"type"'
        )
    assert cli("logs", "aa11").out.endswith("- whole\n")
    assert cli("logs", "aa11").out.count("\n") == 1


def test_json_is_one_event_a_line_and_stderr_too(cli: Cli, run: RunPaths):
    write_events(run, {"type": "Noticed", "at": AT, "text": "\x1b好"})
    with open(run.stderr, "wb") as file:
        file.write(b"warning: \xff\nlast")
    lines = cli("logs", "aa11", "--json").out.splitlines()
    assert all(line.isascii() and line.isprintable() for line in lines)
    assert [json.loads(line) for line in lines] == [
        {"type": "Noticed", "at": AT, "text": "\x1b好"},
        {"type": "Stderr", "at": None, "text": "warning: \ufffd"},
        {"type": "Stderr", "at": None, "text": "last"},
    ]


def test_raw_is_stdout_byte_for_byte(cli: Cli, run: RunPaths, capfdbinary):
    data = b"\x00\xff\x1b[31m no newline"
    with open(run.stdout, "wb") as file:
        file.write(data)
    from agent_board.cli.main import main

    capfdbinary.readouterr()
    assert main(["logs", "aa11", "--raw"]) == 0
    assert capfdbinary.readouterr().out == data


def test_raw_on_a_terminal_is_clean_text(run: RunPaths):
    with open(run.stdout, "wb") as file:
        file.write(b"\x1b[31mred\x07\nend")
    ours, theirs = pty.openpty()
    try:
        subprocess.run([*command.AGENT_BOARD, "logs", "aa11", "--raw"], stdout=theirs, check=True)
        assert os.read(ours, 1000) == b"[31mred\r\nend\r\n"
    finally:
        os.close(ours)
        os.close(theirs)


def test_without_a_run_or_a_log_it_says_nothing_wrong(cli: Cli, run: RunPaths):
    assert (cli("logs", "aa11").code, cli("logs", "aa11").out) == (0, "")
    assert cli("logs", "aa11", "--raw").code == 0


def test_segments_are_read_as_one(tmp_path: Path):
    path = str(tmp_path / "log")
    log = CappedLog(path, segment_bytes=100)
    written = [f"line {number}\n".encode() for number in range(25)]
    for line in written:
        log.write(line)
    assert b"".join(LogTail(path).chunks()) == b"".join(written)


def test_a_growing_log_is_followed_over_its_segments(tmp_path: Path):
    path = str(tmp_path / "log")
    log, tail = CappedLog(path, segment_bytes=64), LineTail(path)
    seen: list[bytes] = []
    written: list[bytes] = []
    for number in range(200):
        written.append(f"line {number}".encode())
        log.write(written[-1][:3])
        seen += tail.lines()
        log.write(written[-1][3:] + b"\n")
        seen += tail.lines()
    assert seen == written
    assert tail.last() == b""


def test_what_the_cap_dropped_is_passed_over(tmp_path: Path):
    path = str(tmp_path / "log")
    log, tail = CappedLog(path, segment_bytes=64), LogTail(path)
    log.write(b"first\n")
    assert b"".join(tail.chunks()) == b"first\n"
    for number in range(200):
        log.write(f"line {number}\n".encode())
    assert b"".join(tail.chunks()).endswith(b"line 199\n")
    assert list(tail.chunks()) == []


def test_follow_goes_on_until_the_run_has_ended(cli: Cli, project: Path, monkeypatch):
    monkeypatch.chdir(project)
    script = f"demo: say First words.; until {project}/go; say Last words.; report completed"
    assert cli("dispatch", "--agent", "demo", "--name", "t", script).code == 0
    following = command.start("logs", "t", "--follow")
    told = following.stdout
    assert told is not None
    wait_for(lambda: b"First words." in told.readline())
    (project / "go").touch()
    out, err = following.communicate(timeout=30)
    assert (following.returncode, err) == (0, b"")
    assert b"Last words." in out
    assert b"= completed" in out


def test_follow_of_an_ended_run_is_over_at_once(cli: Cli, run: RunPaths):
    write_events(run, {"type": "Noticed", "at": AT, "text": "x"})
    assert cli("logs", "aa11", "--follow").out.endswith("- x\n")
