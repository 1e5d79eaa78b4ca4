"""Notifications: the shim tells once for each transition, with no board open (UX 5; FIELD-FAULTS 49)."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_board.config import load_settings
from agent_board.runs.dispatch import Dispatched, Order, dispatch
from agent_board.runs.notify import desktop_notifier, tell
from agent_board.runs.reconcile import reconcile
from agent_board.runs.reply import reply
from agent_board.runs.stop import stop
from agent_board.store.paths import StorePaths
from agent_board.store.records import VERSION, ProcessState, SemanticState, State
from tests.runs.test_reply import kill_shim
from tests.runs.views import own_processes, settled, start, state_of, status_of, working
from tests.support import command
from tests.support.wait import wait_for

ASKS = "ask Keep the old name or drop it?"
Begin = Callable[[str], Dispatched]


class Notifier:
    """A notifier that writes down what it was told."""

    def __init__(self, folder: Path) -> None:
        self.heard = folder / "heard"
        self.program = folder / "notifier"
        self.program.write_text(
            "#!/bin/sh\n"
            'printf "%s|%s|%s|%s|%s\\n" "$AGENT_BOARD_VIEW" "$AGENT_BOARD_NAME" "$AGENT_BOARD_STATE" '
            f'"$AGENT_BOARD_SUMMARY" "$*" >> {shlex.quote(str(self.heard))}\n'
        )
        self.program.chmod(0o755)

    @property
    def lines(self) -> list[list[str]]:
        return [line.split("|") for line in self.heard.read_text().splitlines()] if self.heard.exists() else []

    @property
    def states(self) -> list[str]:
        return [line[2] for line in self.lines]

    def wait(self, *states: str) -> None:
        """Until it has heard of exactly these."""
        wait_for(lambda: self.states == list(states), what=f"{states} to be told")


@pytest.fixture(autouse=True)
def quick_demo(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_BOARD_DEMO_SPEED", "100")


@pytest.fixture
def notifier(tmp_path: Path) -> Notifier:
    folder = tmp_path / "a notifier's folder"
    folder.mkdir()
    return Notifier(folder)


@pytest.fixture
def configure(home: Path) -> Callable[[str], None]:
    def write(line: str) -> None:
        path = home / ".config" / "agent-board" / "config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{line}\n")

    return write


@pytest.fixture
def begin(store: StorePaths, project: Path, notifier: Notifier, configure: Callable[[str], None]) -> Begin:
    """Dispatches by the settings, as every front end does."""
    configure(f'notify = ["{notifier.program}", "an argument"]')

    def dispatching(script: str) -> Dispatched:
        order = Order(f"work\ndemo: {script}".encode(), str(project), agent="demo", name="typos")
        return dispatch(store, order, load_settings().options(str(project)))

    return dispatching


@pytest.mark.parametrize(
    ("script", "state", "summary"),
    [
        (ASKS, "needs_input", "Keep the old name or drop it?"),
        ("fail 429 quota", "failed", "429 quota"),
        ("report completed All is well", "completed", "All is well"),
    ],
)
def test_a_transition_is_told_once(
    store: StorePaths, begin: Begin, notifier: Notifier, script: str, state: str, summary: str
) -> None:
    """Once for each transition, never for each look; what is told comes in the environment."""
    task = begin(script)
    settled(store, task.view_id)
    notifier.wait(state)
    assert notifier.lines == [[task.view_id, "typos", state, summary, "an argument"]]
    for _ in range(5):
        reconcile(store, task.view_id)
    assert command.ok("list", "--json").code == 0
    assert notifier.states == [state]


def test_a_question_in_the_middle_is_told_and_the_end_too(store: StorePaths, begin: Begin, notifier: Notifier) -> None:
    task = begin("say Going.; permit May I?; wait 20; close; report completed Done")
    settled(store, task.view_id)
    wait_for(lambda: state_of(store, task.view_id).semantic_state is SemanticState.COMPLETED, what="the end")
    notifier.wait("needs_input", "completed")


def test_the_same_state_of_the_next_run_is_told_again(store: StorePaths, begin: Begin, notifier: Notifier) -> None:
    task = begin("say One.")
    settled(store, task.view_id)
    notifier.wait("completed")
    answer = reply(store, task.view_id, b"demo: say Two.")  # without settings: as the last run
    settled(store, task.view_id, run_id=answer.run_id)
    notifier.wait("completed", "completed")


def test_a_stop_is_no_news(store: StorePaths, begin: Begin, notifier: Notifier) -> None:
    task = begin("say Going.; hang")
    working(store, task.view_id)
    stop(store, task.view_id)
    assert settled(store, task.view_id).semantic_state is SemanticState.STOPPED
    answer = reply(store, task.view_id, b"demo: say Two.")
    settled(store, task.view_id, run_id=answer.run_id)
    notifier.wait("completed")


def test_an_end_that_nobody_saw_is_told_by_who_finds_it(store: StorePaths, begin: Begin, notifier: Notifier) -> None:
    task = begin("say Going.; work 6000")
    working(store, task.view_id)
    kill_shim(store, task.view_id, task.run_id)
    os.kill(status_of(store, task.view_id, task.run_id).pid or 0, signal.SIGKILL)
    settled(store, task.view_id)
    notifier.wait("failed")


def test_it_can_be_switched_off(
    store: StorePaths, begin: Begin, notifier: Notifier, configure: Callable[[str], None], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    desktop = tmp_path / "bin"
    desktop.mkdir()
    (desktop / "notify-send").symlink_to(notifier.program)
    monkeypatch.setenv("PATH", f"{desktop}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("DISPLAY", ":99")
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")
    configure("notify = false")
    task = begin("say One.")
    settled(store, task.view_id)
    wait_for(lambda: own_processes(task.run_id) == [], what="the shim to have ended")
    configure("notify = true")  # the desktop's own
    answer = reply(store, task.view_id, b"demo: say Two.", load_settings().options("/"))
    settled(store, task.view_id, run_id=answer.run_id)
    notifier.wait("completed")
    assert "typos is done" in notifier.lines[0][4]
    assert "Two." not in notifier.lines[0][4]  # arguments can be read by every user of the machine


@pytest.mark.parametrize("program", ["/nonexistent/notifier", "/etc/hostname", ""])
def test_a_notifier_that_does_not_work_spoils_nothing(
    store: StorePaths, begin: Begin, configure: Callable[[str], None], program: str
) -> None:
    configure(f'notify = ["{program or "false"}"]')
    task = begin("say One.")
    assert settled(store, task.view_id).summary == "One."


def test_a_slow_notifier_holds_nobody_up_and_is_not_the_runs_own(
    store: StorePaths, begin: Begin, configure: Callable[[str], None], tmp_path: Path
) -> None:
    """FIELD-FAULTS 49 (players left running): it is neither waited for, nor a leftover, nor ended by stop."""
    pid, go = tmp_path / "pid", tmp_path / "go"
    configure(f"""notify = ["sh", "-c", "echo $$ > '{pid}'; until [ -e '{go}' ]; do sleep 0.05; done"]""")
    task = begin("say One.")
    settled(store, task.view_id)
    number = int(wait_for(lambda: pid.read_text().strip() if pid.exists() else "", what="the notifier"))
    wait_for(lambda: own_processes(task.run_id) == [], what="the shim to have ended")
    assert status_of(store, task.view_id, task.run_id).leftovers == []
    assert os.path.exists(f"/proc/{number}")
    answer = reply(store, task.view_id, b"demo: say Two.")
    settled(store, task.view_id, run_id=answer.run_id)
    go.touch()
    wait_for(lambda: not os.path.exists(f"/proc/{number}"), what="the notifier to end")


def test_a_name_is_never_a_command(store: StorePaths, project: Path, tmp_path: Path, notifier: Notifier) -> None:
    state = State(VERSION, "aa11", SemanticState.FAILED, ProcessState.EXITED, 1, 1, summary="$(touch owned)\x00 `id`")
    tell([str(notifier.program), "x; touch owned"], "$(touch owned); touch owned", state)  # a NUL can't be told
    state.summary = "$(touch owned) `id`"
    tell([str(notifier.program), "x; touch owned"], "$(touch owned); touch owned", state)
    notifier.wait("failed")
    assert notifier.lines[0][1] == "$(touch owned); touch owned"
    assert not list(tmp_path.rglob("owned"))


def test_the_desktops_own_needs_a_desktop(monkeypatch: pytest.MonkeyPatch, notifier: Notifier) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    everything: dict[str, Any] = {"DISPLAY": ":0", "DBUS_SESSION_BUS_ADDRESS": "x"}
    assert desktop_notifier("m", everything) == ["/usr/bin/notify-send", "--app-name=agent-board", "agent-board", "m"]
    assert desktop_notifier("m", {"DISPLAY": ":0"}) == []
    assert desktop_notifier("m", {}) == []
    monkeypatch.setattr(sys, "platform", "darwin")
    assert desktop_notifier('say "x" \\', {})[:2] == ["osascript", "-e"]
    assert '\\"x\\" \\\\' in desktop_notifier('say "x" \\', {})[2]


def test_nothing_is_left_of_it(store: StorePaths, begin: Begin, notifier: Notifier) -> None:
    """No zombie in the shim's place or ours."""
    task = begin("say One.")
    settled(store, task.view_id)
    notifier.wait("completed")
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    listing = subprocess.run(["ps", "-eo", "stat=,args="], capture_output=True, text=True, check=True).stdout
    assert not [line for line in listing.splitlines() if str(notifier.program) in line]


def test_no_settings_mean_the_desktop(store: StorePaths, project: Path) -> None:
    """Without one nothing is started and nothing breaks."""
    task = start(store, project, "say One.")
    assert settled(store, task.view_id).summary == "One."
