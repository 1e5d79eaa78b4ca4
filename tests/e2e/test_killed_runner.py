"""The runner is killed and the real agent goes on: its own record of the session settles the run (invariant 1)."""

import contextlib
import os
import signal
import threading
from pathlib import Path

import pytest

from tests.e2e.conftest import RealAgents
from tests.support import acts, command
from tests.support.model_server import ModelServer, held, say
from tests.support.wait import wait_for

pytestmark = [pytest.mark.full, pytest.mark.timeout(300)]
PATIENCE = 120.0
QUESTION = "Which one shall I keep, the old or the new?"
MODEL = {"claude": (), "codex": (), "opencode": (), "gemini": ("--model", "gemini-2.5-pro"), "copilot": ()}


@pytest.fixture(autouse=True)
def all_of_them(real_agents: RealAgents) -> None:
    real_agents("claude", "codex", "opencode", "gemini")


def kill_the_runner(task: acts.Dispatched, listen: contextlib.ExitStack | None = None) -> int:
    """Kill it once its worker is recorded; the worker's process. With `listen` what it says goes on being taken."""
    run = acts.run_of(acts.until(task.view, lambda shown: shown["processState"] == "alive", PATIENCE))
    if listen is not None:
        for number in (1, 2):
            pipe = os.open(f"/proc/{run['workerPid']}/fd/{number}", os.O_RDONLY | os.O_NONBLOCK)
            listen.callback(os.close, pipe)
    os.kill(run["shimPid"], signal.SIGKILL)
    wait_for(lambda: is_gone(run["shimPid"]), what="the runner's end")
    return int(run["workerPid"])


def _is_zombie(pid: int) -> bool:
    try:
        return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True


def is_gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists() or _is_zombie(pid)


@pytest.mark.parametrize("agent", MODEL)
def test_what_the_session_holds_settles_the_run(agent: str, project: Path, model_server: ModelServer) -> None:
    """It works on to its end, which nobody saw; a reply goes on there."""
    release = threading.Event()
    model_server.script(held(say(QUESTION), release), when="first", forever=True)
    model_server.script(say("Kept."), when="Keep", forever=True)
    task = acts.dispatch("Do the first thing", *MODEL[agent], cwd=project, agent=agent)
    model_server.wait_for_requests(1, PATIENCE)
    with contextlib.ExitStack() as listening:
        worker = kill_the_runner(task, listening)
        assert acts.until(task.view, lambda shown: shown["reason"] == "orphan")["processState"] == "alive"
        release.set()
        wait_for(lambda: is_gone(worker), PATIENCE, "the worker's end")
    shown = acts.settled(task.view)
    assert (shown["semanticState"], shown["processState"]) == ("needs_input", "exited"), shown["error"]
    assert shown["question"] == QUESTION
    command.ok("reply", task.view, "Keep the old one")
    shown = acts.settled(task.view, PATIENCE)
    assert (shown["semanticState"], shown["summary"]) == ("completed", "Kept.")
    assert QUESTION in str(model_server.requests[-1].body)


@pytest.mark.parametrize("agent", ["codex", "gemini"])
def test_some_end_with_the_pipe_that_nobody_reads(agent: str, project: Path, model_server: ModelServer) -> None:
    """They die of what they can't say, with or without having kept it: never working, and nothing is sent again."""
    release = threading.Event()
    model_server.script(held(say(QUESTION), release), forever=True)
    task = acts.dispatch("Do the first thing", *MODEL[agent], cwd=project, agent=agent)
    model_server.wait_for_requests(1, PATIENCE)
    worker = kill_the_runner(task)
    release.set()
    wait_for(lambda: is_gone(worker), PATIENCE, "the worker's end")
    shown = acts.settled(task.view)
    assert shown["processState"] == "exited"
    assert (shown["semanticState"], shown["reason"]) in (("failed", "lost"), ("needs_input", "question"))
    assert len(model_server.prompts) == 1
