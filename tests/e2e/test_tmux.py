"""The board inside tmux, as most people keep it, while a shell beside it dispatches to the real Pi."""

import os
import secrets
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pyte
import pytest

from tests.support import acts, command
from tests.support.model_server import ModelServer, cut, held, refuse, report, say, silent, use
from tests.support.terminal import Cells
from tests.support.wait import wait_for

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("pi_home")]
MOMENT_S = 3.0
"""What a key may take to be seen."""


class Tmux:
    """A tmux server of its own, with one window."""

    def __init__(self, project: Path, columns: int = 120, rows: int = 36) -> None:
        self._name = f"agent-board-test-{secrets.token_hex(4)}"
        line = f"exec {' '.join(command.AGENT_BOARD)}"
        size = ("-x", str(columns), "-y", str(rows))
        self._tmux("-f", os.devnull, "-u", "new-session", "-d", "-s", "board", *size, "-c", str(project), line)
        self._tmux("set-option", "-g", "remain-on-exit", "on")

    def _tmux(self, *arguments: str) -> str:
        command_line = ["tmux", "-L", self._name, *arguments]
        done = subprocess.run(command_line, capture_output=True, text=True, timeout=20, env=command.environment())
        assert done.returncode == 0, f"tmux {arguments}: {done.stderr}"
        return done.stdout

    @property
    def screen(self) -> str:
        """What the window shows."""
        return self._tmux("capture-pane", "-p", "-t", "board")

    @property
    def pid(self) -> int:
        """The board's process."""
        return int(self._tmux("display-message", "-p", "-t", "board", "#{pane_pid}"))

    @property
    def dead(self) -> bool:
        """Whether the window's program has ended."""
        return self._tmux("display-message", "-p", "-t", "board", "#{pane_dead}").strip() == "1"

    def is_bold(self, text: str) -> bool:
        """Whether the window shows the text and it begins in bold."""
        cells = Cells(250, 100)
        pyte.Stream(cells).feed(self._tmux("capture-pane", "-e", "-p", "-t", "board").replace("\n", "\r\n"))
        return cells.is_bold(text)

    def send(self, *keys: str) -> None:
        """Keys by tmux's names."""
        self._tmux("send-keys", "-t", "board", *keys)

    def wait_until(self, fits: Callable[[str], object], timeout: float = 30.0) -> str:
        """Wait until the predicate is true of the window; returns what it shows."""
        try:
            return wait_for(lambda: screen if fits(screen := self.screen) else "", timeout)
        except AssertionError:
            raise AssertionError(f"tmux never showed it:\n{self.screen}") from None

    def wait_for(self, text: str, timeout: float = 30.0) -> str:
        """Wait until the window shows the text."""
        return self.wait_until(lambda screen: text in screen, timeout)

    def wait_for_row(self, name: str, text: str, timeout: float = 60.0) -> None:
        """Wait until a line with this name shows the text as well."""
        self.wait_until(lambda screen: any(name in line and text in line for line in screen.splitlines()), timeout)

    def say_yes(self, question: str, yes: str) -> None:
        """Answer a question on the board as soon as it hears a `y`: the key is bold from then on."""
        self.wait_for(question)
        self.wait_until(lambda _: self.is_bold(f"y {yes}"))
        self.send("y")
        self.wait_until(lambda screen: question not in screen)

    def press_until(self, key: str, fits: Callable[[str], bool]) -> None:
        """Press a key until the screen is as wanted: it may come too early to be heard, and must not act twice."""

        def pressed() -> bool:
            self.send(key)
            with suppress(AssertionError):
                wait_for(lambda: fits(self.screen), MOMENT_S)
            return fits(self.screen)

        wait_for(pressed, 30, f"{key} to do it")

    def resize(self, columns: int, rows: int) -> None:
        """Change the window's size."""
        self._tmux("resize-window", "-t", "board", "-x", str(columns), "-y", str(rows))

    def restart(self) -> None:
        """Start the board again in the same window."""
        self._tmux("respawn-pane", "-k", "-t", "board")

    def close(self) -> None:
        """End this server and what runs in it."""
        subprocess.run(["tmux", "-L", self._name, "kill-server"], capture_output=True, timeout=20)


@pytest.fixture
def tmux(project: Path, store: object) -> Iterator[Tmux]:
    assert shutil.which("tmux"), "the full tier needs tmux; .ci/run installs it"
    made = Tmux(project)
    yield made
    made.close()


def test_each_outcome_is_seen_on_the_board(project: Path, model_server: ModelServer, tmux: Tmux) -> None:
    """AB-065, AB-066, AB-069, AB-107: dispatched in one shell, seen on the board of another."""
    model_server.script(say("The cache was stale."), when="plain")
    model_server.script(use("write", path="made.txt", content="x"), say("Wrote made.txt."), when="edit")
    model_server.script(say("Which one should I keep, the old or the new?"), when="question")
    model_server.script(report("completed", "All reported fine."), when="reported")
    model_server.script(report("blocked", "Stuck.", "May I drop the table?"), when="blocked")
    model_server.script(report("failed", "The disk is full."), when="gave-up")
    model_server.script(refuse(401, "invalid key"), when="refused", forever=True)
    model_server.script(refuse(503, "overloaded"), say("Recovered."), when="recovers")
    model_server.script(cut("Never heard to its end, this."), say("Whole at last."), when="mended")
    expected = {
        "plain": "The cache was stale",
        "edit": "Wrote made.txt",
        "question": "Which one should I keep",
        "reported": "All reported fine",
        "blocked": "May I drop the table?",
        "gave-up": "The disk is full",
        "refused": "401",
        "recovers": "Recovered",
        "mended": "Whole at last",
    }
    tmux.wait_for("agent-board")
    for name in expected:
        acts.dispatch(f"case {name}", "--name", name, cwd=project)
    for name, text in expected.items():
        tmux.wait_for_row(name, text)
    states = {row["name"]: row["semanticState"] for row in acts.listed().values()}
    assert states == {
        "plain": "completed",
        "edit": "completed",
        "question": "needs_input",
        "reported": "completed",
        "blocked": "needs_input",
        "gave-up": "failed",
        "refused": "failed",
        "recovers": "completed",
        "mended": "completed",
    }


def test_killed_in_the_middle_and_opened_again(project: Path, model_server: ModelServer, tmux: Tmux) -> None:
    """AB-113: kill -9 of the board in the middle of a run, with the terminal left as it was."""
    release = threading.Event()
    model_server.script(held(say("Half of it is told. And the other half."), release, at=2))
    tmux.wait_for("agent-board")
    task = acts.dispatch("Tell me", "--name", "two-halves", cwd=project)
    tmux.wait_for("two-halves")
    acts.until(task.view, lambda shown: shown["semanticState"] == "working")
    os.kill(tmux.pid, 9)
    wait_for(lambda: tmux.dead)
    tmux.restart()
    tmux.wait_for("two-halves")
    release.set()
    assert acts.settled(task.view)["semanticState"] == "completed"
    tmux.wait_for("Half of it is told")
    assert model_server.prompts == ["Tell me"]


def place(project: Path, name: str) -> Path:
    """A directory of one task's own, so that it waits for no other writer."""
    folder = project / name
    folder.mkdir()
    return folder


def test_a_dead_runner_and_a_dead_worker(project: Path, model_server: ModelServer, tmux: Tmux) -> None:
    """AB-028: both are seen without a key being pressed; nothing says working without a live process."""
    for word in ("lone", "slain"):
        model_server.script(held(say("Half of it is told. And the other half."), threading.Event(), at=2), when=word)
    tmux.wait_for("agent-board")
    lone = acts.dispatch("be lone", "--name", "lone-worker", cwd=place(project, "lone"))
    slain = acts.dispatch("be slain", "--name", "slain-worker", cwd=place(project, "slain"))
    runs = {}
    for task in (lone, slain):
        runs[task] = acts.run_of(acts.until(task.view, lambda shown: shown["semanticState"] == "working"))
    tmux.wait_for_row("lone-worker", "Half of it")
    os.kill(runs[lone]["shimPid"], 9)
    tmux.wait_for_row("lone-worker", "runs on without its runner")
    os.kill(runs[slain]["workerPid"], 9)
    tmux.wait_until(lambda screen: "FAILED 1" in screen)
    error = acts.show(slain.view)["error"]
    tmux.wait_for_row("slain-worker", error[:30])
    acts.stop(lone.view)
    tmux.wait_until(lambda screen: "STOPPED 1" in screen and "WORKING" not in screen)


def test_five_at_once_with_a_silent_one(project: Path, model_server: ModelServer, tmux: Tmux) -> None:
    """Five rows at once; the silent one stays where it is until it is stopped."""
    words = ["alpha", "bravo", "charlie", "delta"]
    for word in words:
        model_server.script(use("bash", command=f"echo {word}"), say(f"Finished {word}."), when=word)
    model_server.script(silent(), when="nothing")
    tmux.wait_for("agent-board")
    quiet = acts.dispatch("say nothing", "--name", "task-nothing", cwd=place(project, "nothing"))
    for word in words:
        acts.dispatch(f"Write {word}", "--name", f"task-{word}", cwd=place(project, word))
    for word in words:
        tmux.wait_for_row(f"task-{word}", f"Finished {word}")
    assert acts.show(quiet.view)["semanticState"] in ("queued", "working")
    acts.stop(quiet.view)
    wait_for(lambda: acts.show(quiet.view)["semanticState"] == "stopped")
    tmux.wait_until(lambda screen: "STOPPED" in screen.upper())


def test_a_new_size_is_drawn_at_once(project: Path, model_server: ModelServer, tmux: Tmux) -> None:
    """AB-064."""
    model_server.script(say("Done."))
    tmux.wait_for("agent-board")
    task = acts.dispatch("Hello", "--name", "resized-row", cwd=project)
    acts.settled(task.view)
    tmux.wait_for("resized-row")
    for columns, rows in ((80, 24), (200, 60), (20, 5), (120, 36)):
        tmux.send("Escape")
        tmux.resize(columns, rows)
        tmux.wait_until(str.strip)
    tmux.wait_for("resized-row")
