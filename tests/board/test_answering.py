"""A waiting agent is answered from peek: the marked choice, once, to the request that was painted."""

import json
import os
from pathlib import Path

import pytest

from agent_board.board.widgets.peek import DEAF_S
from tests.conftest import StartBoard
from tests.support import acts, command, fake_claude
from tests.support.terminal import Terminal
from tests.support.wait import wait_for


@pytest.fixture
def heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the fake Claude on PATH has been told."""
    folder = fake_claude.install(tmp_path / "fake-bin")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_CLAUDE_HEARD", str(tmp_path / "heard"))
    return tmp_path / "heard"


def answers(heard: Path) -> list[dict[str, object]]:
    lines = [json.loads(line) for line in heard.read_text().splitlines()]
    return [line["response"]["response"] for line in lines if line["type"] == "control_response"]


def asking(board: StartBoard, project: Path, script: str, question: str) -> tuple[str, Terminal]:
    """A task that asks, and a board with it in peek, past the moment in which keys do nothing."""
    task = acts.dispatch(f"fake: {script}", "--name", "asks", cwd=project, agent="claude")
    acts.until(task.view, lambda shown: shown["semanticState"] == "needs_input")
    terminal = board()
    terminal.wait_for("NEEDS YOU 1")
    terminal.send("space")
    terminal.wait_for(lambda screen: screen.count(question) >= 2 and "held: it asks" in screen)
    return task.view, terminal


def mark(terminal: Terminal, digit: str) -> None:
    """Mark a choice that is on the screen, once: a second digit takes the mark away, and one too early does nothing."""
    terminal.wait_quiet(DEAF_S + 0.1)
    terminal.send(digit)
    terminal.wait_for("send it")


def test_a_permission_is_allowed_by_its_digit_and_enter(board: StartBoard, project: Path, heard: Path) -> None:
    view, terminal = asking(board, project, "ask Write notes.txt; say I wrote it.", "Allow Write: notes.txt")
    mark(terminal, "1")
    terminal.send("enter")
    terminal.wait_for("COMPLETED 1")
    assert [answer["behavior"] for answer in answers(heard)] == ["allow"]
    assert acts.show(view)["summary"] == "I wrote it."


def test_a_denial_takes_the_words_in_the_input_along(board: StartBoard, project: Path, heard: Path) -> None:
    view, terminal = asking(board, project, "ask Write notes.txt; say I left it.", "Allow Write: notes.txt")
    mark(terminal, "2")
    terminal.send("r")
    terminal.wait_for("keep for later")
    terminal.send("not in this folder")
    terminal.wait_for("not in this folder")
    terminal.wait_for("denies it, with these words")
    terminal.wait_quiet(0.2)  # a new line right behind a burst of letters belongs to a paste
    terminal.send("enter")
    terminal.wait_for("COMPLETED 1")
    assert answers(heard) == [{"behavior": "deny", "message": "not in this folder"}]
    assert len(acts.show(view)["runs"]) == 1


def test_a_question_takes_its_option_and_a_reply_to_it_waits(board: StartBoard, project: Path, heard: Path) -> None:
    view, terminal = asking(board, project, "choose SQLite|Postgres; say Chosen.", "Which of SQLite|Postgres?")
    terminal.send("r")
    terminal.wait_for("keep for later")
    terminal.send("fake: say Later.")
    terminal.wait_for("fake: say Later.")
    terminal.wait_quiet(0.2)
    terminal.send("enter")
    wait_for(lambda: command.ok("followups", view, "--json").json, what="the reply to wait")
    assert answers(heard) == []
    mark(terminal, "2")
    terminal.send("enter")
    wait_for(lambda: len(acts.show(view)["runs"]) == 2, 20, "the reply after the answer")
    (answer,) = answers(heard)
    assert answer["updatedInput"]["answers"] == {"Which of SQLite|Postgres?": "Postgres"}  # type: ignore[index]


def test_a_shell_command_from_the_bar_and_again(board: StartBoard, project: Path) -> None:
    terminal = board()
    terminal.wait_for("all keys")
    terminal.send("n")
    terminal.wait_for("keep for later")
    terminal.send("! echo started >> log; echo one-line; sleep 0.2; exit 3")
    terminal.wait_for("sleep 0.2; exit 3")
    terminal.wait_for("a shell command: it runs here")
    terminal.wait_quiet(0.2)
    terminal.send("enter")
    terminal.wait_for("FAILED 1")
    terminal.wait_for("Exit code 3: one-line")
    (view,) = acts.listed()
    terminal.send("space")
    terminal.wait_for("took")
    terminal.send("R")
    wait_for(lambda: (project / "log").read_text() == "started\n" * 2, 20, "it to run again")
    assert len(acts.settled(view)["runs"]) == 2
