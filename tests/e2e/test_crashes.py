"""Killed at the worst moment, on the real Pi: the row tells the truth, nothing is sent twice, nothing is left over."""

import os
import signal
import threading
from pathlib import Path

import psutil
import pytest

from tests.conftest import StartBoard
from tests.support import acts, command, processes
from tests.support.acts import Dispatched, Shown
from tests.support.model_server import ModelServer, held, say, use
from tests.support.terminal import Terminal
from tests.support.wait import wait_for

pytestmark = pytest.mark.usefixtures("pi_home")


def _working(task: Dispatched) -> Shown:
    return acts.until(task.view, lambda shown: shown["semanticState"] == "working")


def _half_told(model_server: ModelServer) -> threading.Event:
    """A model that stops in the middle of its sentence until the event is set."""
    release = threading.Event()
    model_server.script(held(say("Half of it is told. The other half comes now."), release, at=2))
    return release


def _pid_in(path: Path) -> int:
    return int(wait_for(lambda: path.read_text().strip() if path.exists() else "", 30))


def _lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_the_board_is_killed_and_opened_again(project: Path, model_server: ModelServer, board: StartBoard) -> None:
    """AB-014, AB-103, AB-113: the run goes on, and the same screen comes back."""
    release = _half_told(model_server)
    first = board()
    task = acts.dispatch("Tell me both halves", "--name", "two-halves", cwd=project)
    _working(task)
    first.wait_for("two-halves")
    first.kill(signal.SIGKILL)
    assert acts.show(task.view)["semanticState"] == "working"
    second = board()
    second.wait_for("two-halves")
    release.set()
    second.wait_for("Half of it is told")
    assert acts.settled(task.view)["semanticState"] == "completed"
    third = board()
    third.wait_for("two-halves")
    assert model_server.prompts == ["Tell me both halves"]


def test_the_terminal_of_the_board_goes_away(project: Path, model_server: ModelServer, board: StartBoard) -> None:
    """AB-014: a lost line ends the board, not the work."""
    release = _half_told(model_server)
    task = acts.dispatch("Tell me both halves", "--name", "two-halves", cwd=project)
    terminal = board()
    terminal.wait_for("two-halves")
    terminal.hang_up()
    terminal.wait_exit()
    release.set()
    assert acts.settled(task.view)["semanticState"] == "completed"


def test_the_runner_is_killed_and_its_worker_lives(project: Path, model_server: ModelServer) -> None:
    """AB-028, invariants 1 and 3: alive is not free. The row says that it runs on without its runner; stop ends it."""
    _half_told(model_server)
    task = acts.dispatch("Tell me both halves", cwd=project)
    run = acts.run_of(_working(task))
    os.kill(run["shimPid"], signal.SIGKILL)
    shown = acts.until(task.view, lambda shown: shown["reason"] == "orphan")
    assert (shown["semanticState"], shown["processState"]) == ("working", "alive")
    assert shown["summary"] == "runs on without its runner"
    assert _lives(run["workerPid"])
    acts.stop(task.view)
    shown = acts.settled(task.view)
    assert (shown["semanticState"], shown["processState"]) == ("stopped", "exited")
    wait_for(lambda: not _lives(run["workerPid"]))
    assert model_server.prompts == ["Tell me both halves"]


def test_the_runner_is_killed_and_its_worker_ends_by_itself(project: Path, model_server: ModelServer) -> None:
    """AB-028: nobody saw it end (Pi dies when nobody reads what it writes), so its transcript settles the run."""
    release = threading.Event()
    model_server.script(held(use("bash", command="touch worked"), release), say("It is done."))
    task = acts.dispatch("Do it", cwd=project)
    model_server.wait_for_requests(1)
    run = acts.run_of(acts.until(task.view, lambda shown: shown["processState"] == "alive"))
    os.kill(run["shimPid"], signal.SIGKILL)
    wait_for(lambda: not _lives(run["shimPid"]))
    release.set()
    wait_for(lambda: not _lives(run["workerPid"]), 30)
    shown = acts.settled(task.view)
    assert (shown["semanticState"], shown["processState"]) == ("failed", "exited")
    assert shown["error"]
    assert model_server.prompts == ["Do it"]


def test_the_worker_is_killed(project: Path, model_server: ModelServer) -> None:
    """AB-053: a signal that wasn't ours is a failure with a reason."""
    _half_told(model_server)
    task = acts.dispatch("Tell me both halves", cwd=project)
    run = acts.run_of(_working(task))
    os.kill(run["workerPid"], signal.SIGKILL)
    shown = acts.settled(task.view)
    assert (shown["semanticState"], shown["processState"], shown["reason"]) == ("failed", "exited", "signal")
    assert shown["error"]
    assert acts.run_of(shown)["exitCode"] == -9
    assert model_server.prompts == ["Tell me both halves"]


def test_the_worker_is_killed_while_its_tool_runs(project: Path, model_server: ModelServer) -> None:
    """Invariant 8: what a dead Pi leaves of its tools is told, and stop ends it."""
    model_server.script(use("bash", command="echo $$ > tool.pid; exec sleep 300"), say("Never said."))
    task = acts.dispatch("Sleep", cwd=project)
    tool = _pid_in(project / "tool.pid")
    run = acts.run_of(acts.show(task.view))
    os.kill(run["workerPid"], signal.SIGKILL)
    assert acts.settled(task.view)["semanticState"] == "failed"
    if _lives(tool):
        command.ok("stop", task.view)
    wait_for(lambda: not _lives(tool))


def test_stop_ends_the_tools_as_well(project: Path, model_server: ModelServer) -> None:
    """Invariant 8: a tool in a session of its own, deaf to TERM, is the run's own all the same."""
    (project / "deaf.sh").write_text("trap '' TERM HUP INT; echo $$ > tool.pid; while :; do sleep 0.2; done")
    model_server.script(use("bash", command="setsid sh deaf.sh & wait"), say("Never said."))
    task = acts.dispatch("Never end", cwd=project)
    tool = _pid_in(project / "tool.pid")
    acts.stop(task.view)
    shown = acts.settled(task.view)
    assert (shown["semanticState"], shown["error"]) == ("stopped", None)
    wait_for(lambda: not _lives(tool))
    wait_for(lambda: processes.marked(os.environ[processes.MARK]) == [])


def test_the_shell_that_dispatched_is_gone(project: Path, model_server: ModelServer) -> None:
    """A hang-up of the whole terminal session does not reach the run."""
    release = _half_told(model_server)
    with Terminal(["/bin/sh"], cwd=project) as terminal:
        terminal.send(f"{' '.join(command.AGENT_BOARD)} dispatch --agent pi --name from-shell 'Tell me'", "enter")
        model_server.wait_for_requests(1)
        wait_for(acts.listed)
        terminal.hang_up()
        terminal.wait_exit()
    release.set()
    (view,) = acts.listed()
    assert acts.settled(view)["semanticState"] == "completed"
