"""The report tool is there on every run, even after one that took it away (a Pi session remembers its tools)."""

import subprocess
from pathlib import Path

import pytest

from agent_board.agents import registry
from agent_board.agents.base import Job
from tests.support.model_server import ModelServer, say

pytestmark = pytest.mark.usefixtures("pi_home")


def _run(arguments: list[str], prompt: str, cwd: Path) -> None:
    done = subprocess.run(arguments, input=prompt.encode(), capture_output=True, cwd=cwd, timeout=60)
    assert done.returncode == 0, done.stderr


def test_a_later_run_has_it_after_one_without(project: Path, tmp_path: Path, model_server: ModelServer) -> None:
    model_server.script(say("Fine."), forever=True)
    session = str(tmp_path / "session.jsonl")
    pi = registry.agent("pi")
    _run(pi.command(Job(cwd=str(project), session_file=session)), "first", project)
    _run(["pi", "--mode", "json", "--offline", "--session", session], "by hand, without our extension", project)
    _run(pi.command(Job(cwd=str(project), session_file=session, resume=True)), "third", project)
    assert ["report" in request.tools for request in model_server.requests] == [True, False, True]


def test_a_reading_run_has_it_too(project: Path, tmp_path: Path, model_server: ModelServer) -> None:
    model_server.script(say("Fine."), forever=True)
    job = Job(cwd=str(project), session_file=str(tmp_path / "session.jsonl"), read_only=True)
    _run(registry.agent("pi").command(job), "look", project)
    assert "report" in model_server.requests[0].tools
    assert "write" not in model_server.requests[0].tools
