"""`elsewhere`: the sessions that run outside the board."""

import os
from pathlib import Path

import pytest

from tests.agents.test_running import INTERACTIVE, WAITING
from tests.cli.conftest import Cli
from tests.cli.test_usage import one_sentence
from tests.support.claude_listing import fake_claude

KEYS = {"agent", "pid", "sessionId", "sessionFile", "mayHave", "cwd", "title", "status", "waitingFor", "startedAt"}


def test_they_are_printed_and_nothing_is_made(
    cli: Cli, home: Path, no_agents: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = WAITING | {"pid": os.getpid(), "sessionId": "32", "name": "sly\x1b[31m one"}
    fake_claude(home / "bin", monkeypatch, [INTERACTIVE, waiting])
    found = [one for one in cli("elsewhere", "--json").json if one["agent"] == "claude"]
    assert [set(one) for one in found] == [KEYS, KEYS]
    assert {one["status"]: one["waitingFor"] for one in found} == {"working": None, "waiting": "permission prompt"}
    done = cli("elsewhere")
    assert done.code == 0
    assert f"claude (pid {os.getpid()}), waiting for you: permission prompt, in /home/user/proj\n" in done.out
    assert "    sly [31m one\n" in done.out
    assert not Path(os.environ["AGENT_BOARD_HOME"]).exists()


def test_an_agent_that_does_not_answer_is_named(
    cli: Cli, home: Path, no_agents: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_claude(home / "bin", monkeypatch, script="exit 3")
    done = cli("elsewhere", "--json")
    assert done.code == 0
    assert one_sentence(done.err)
    assert "claude agents" in done.err
    assert isinstance(done.json, list)


def test_none_is_one_sentence(cli: Cli, monkeypatch: pytest.MonkeyPatch, no_agents: Path) -> None:
    monkeypatch.setattr("agent_board.runs.elsewhere.live_processes", list)  # others' tests run Pi, too
    done = cli("elsewhere")
    assert (done.code, done.out, done.err) == (0, "No session runs outside the board.\n", "")
    assert cli("elsewhere", "--json").json == []
