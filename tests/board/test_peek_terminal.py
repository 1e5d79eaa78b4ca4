"""Peek and reply in a real terminal, with the demo agent at work."""

import os
import termios
import threading
from pathlib import Path

import pytest

from agent_board.store.paths import StorePaths
from agent_board.store.records import SemanticState
from tests.conftest import StartBoard
from tests.support import acts, command
from tests.support.fakestore import change_state, make_view, make_views
from tests.support.terminal import Terminal
from tests.support.wait import wait_for

QUESTION = "Keep the old name or drop it?"


def prompts(view: str) -> list[str]:
    """What each run of a view was asked, in order."""
    runs = sorted((Path(os.environ["AGENT_BOARD_HOME"]) / "views" / view / "runs").iterdir())
    return [(run / "prompt").read_text() for run in runs if not run.name.startswith(".")]


def draft(view: str) -> str:
    path = Path(os.environ["AGENT_BOARD_HOME"]) / "views" / view / "draft"
    return path.read_text() if path.exists() else ""


def waiting(view: str) -> list[str]:
    return [item["text"] for item in command.ok("followups", view, "--json").json]


def reply_to(terminal: Terminal, text: str) -> None:
    """Open the input, type, wait until it stands there."""
    terminal.send("r")
    terminal.wait_for("keep for later")
    terminal.send(text)
    terminal.wait_for(text[-20:])
    terminal.wait_quiet(0.2)  # a new line right behind a burst of letters belongs to a paste


def test_question_peek_reply_completed(board: StartBoard, project: Path) -> None:
    """AB-092, AB-105, AB-110."""
    task = acts.dispatch(f"demo: say I looked.; ask {QUESTION}", "--name", "rename", cwd=project, agent="demo")
    acts.settled(task.view)
    terminal = board()
    terminal.wait_for("NEEDS YOU 1")
    terminal.send("space")
    terminal.wait_for(lambda screen: screen.count(QUESTION) >= 2 and "sends at once" in screen)
    reply_to(terminal, "demo: say Dropped it as you wished.")
    terminal.send("enter")
    terminal.wait_for("COMPLETED 1", 30)
    terminal.wait_for("Dropped it as you wished.")
    assert prompts(task.view)[1:] == ["demo: say Dropped it as you wished."]
    assert acts.show(task.view)["semanticState"] == "completed"
    assert draft(task.view) == ""
    terminal.wait_for("sends at once")
    terminal.send("esc")
    terminal.wait_gone("sends at once")
    terminal.send("q")
    assert terminal.wait_exit() == 0


def test_a_draft_survives_kill_9_of_the_board(board: StartBoard, project: Path) -> None:
    task = acts.dispatch(f"demo: ask {QUESTION}", "--name", "rename", cwd=project, agent="demo")
    acts.settled(task.view)
    terminal = board()
    terminal.wait_for("NEEDS YOU 1")
    reply_to(terminal, "half a thought 想法")
    wait_for(lambda: draft(task.view) == "half a thought 想法")
    terminal.kill()
    again = board()
    again.wait_for("NEEDS YOU 1")
    again.send("space")
    again.wait_for("half a thought 想法")
    again.send("r")
    again.wait_for("keep for later")
    again.send(" goes on")
    again.wait_for("half a thought 想法 goes on")
    assert prompts(task.view) == [f"demo: ask {QUESTION}"], "nothing was sent"


def test_two_hundred_letters_while_fifty_rows_change(board: StartBoard, store: StorePaths) -> None:
    """Fields 38."""
    others = make_views(store, 50)
    make_view(
        store, "0", name="answer-me", state=SemanticState.NEEDS_INPUT, summary=QUESTION, age_ms=90_000_000, pinned=True
    )
    terminal = board()
    terminal.wait_for("answer-me")
    terminal.send("g", "r")
    terminal.wait_for("keep for later")
    text = "".join(chr(97 + number * 7 % 26) for number in range(200))
    enough = threading.Event()

    def change() -> None:
        turn = 0
        while not enough.is_set():
            change_state(store, others[turn % len(others)], summary=f"turn {turn}")
            turn += 1
            enough.wait(0.02)

    changing = threading.Thread(target=change)
    changing.start()
    try:
        for letter in text:
            seen = terminal.received
            terminal.send(letter)
            wait_for(lambda seen=seen: terminal.received != seen, 10)  # type: ignore[misc]
        wait_for(lambda: draft("0") == text, 20)
    finally:
        enough.set()
        changing.join()


def test_a_follow_up_waits_is_edited_and_dropped(board: StartBoard, project: Path) -> None:
    task = acts.dispatch("demo: say At it.; hang", "--name", "long-run", cwd=project, agent="demo")
    acts.until(task.view, lambda shown: shown["semanticState"] == "working")
    terminal = board()
    terminal.wait_for("WORKING 1")
    terminal.send("space")
    terminal.wait_for("waits until the run has ended")
    reply_to(terminal, "demo: say Also the docs")
    terminal.send("enter")
    terminal.wait_for("1 reply waits")
    assert waiting(task.view) == ["demo: say Also the docs"]
    terminal.send("h")
    terminal.wait_for("enter sends")
    terminal.send("e")
    terminal.wait_for("takes the place of the one that waits")
    terminal.send(" and tests")
    terminal.wait_for("docs and tests")
    terminal.wait_quiet(0.2)
    terminal.send("enter")
    wait_for(lambda: waiting(task.view) == ["demo: say Also the docs and tests"])
    terminal.wait_for("waits its turn  demo: say Also the docs")
    terminal.wait_for("r to reply")
    terminal.send("h")
    terminal.wait_for("enter sends")
    terminal.send("x")
    terminal.wait_gone("1 reply waits")
    assert waiting(task.view) == []
    acts.stop(task.view)
    assert prompts(task.view) == ["demo: say At it.; hang"]


def test_a_follow_up_is_delivered_when_the_run_has_ended(board: StartBoard, project: Path) -> None:
    task = acts.dispatch("demo: say First.; until go", "--name", "two-steps", cwd=project, agent="demo")
    acts.until(task.view, lambda shown: shown["semanticState"] == "working")
    terminal = board()
    terminal.wait_for("WORKING 1")
    reply_to(terminal, "demo: say Second.")
    terminal.send("enter")
    terminal.wait_for("1 reply waits")
    acts.stop(task.view)
    terminal.wait_for("STOPPED 1", 30)
    terminal.wait_for("held  demo: say Second.")
    terminal.send("h")
    terminal.wait_for("enter sends")
    terminal.send("enter")
    terminal.wait_for("COMPLETED 1", 30)
    assert prompts(task.view)[1:] == ["demo: say Second."]


def script(folder: Path, text: str) -> str:
    """An editor that does this to the file that it is given."""
    path = folder / "editor.sh"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("does", "shown"),
    [
        ('printf "%s\\nsecond line\\n" "$(cat "$1")" > "$1.new"; mv "$1.new" "$1"', "second line"),
        (
            'printf " by hand" >> "$1"; stty raw -echo; printf "\\033[?1000h\\033[?25l\\033[?1049h"; kill -9 $$',
            "by hand",
        ),
        ("exit 3", "ended with exit code 3"),
        ("kill -INT $PPID; sleep 0.2; printf ' calm' >> \"$1\"", "calm"),
    ],
    ids=["writes", "dies-and-leaves-a-mess", "fails", "interrupted"],
)
def test_the_draft_in_an_editor(
    board: StartBoard, store: StorePaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str, shown: str
) -> None:
    """The board comes back whole, and its first key works."""
    monkeypatch.setenv("VISUAL", script(tmp_path, does))
    make_view(store, "0", name="answer-me", state=SemanticState.NEEDS_INPUT, summary=QUESTION)
    terminal = board()
    terminal.wait_for("answer-me")
    reply_to(terminal, "typed")
    terminal.send("\x07")
    terminal.wait_for(lambda screen: shown in screen and "typed" in screen)
    terminal.send("Z")
    terminal.wait_for(lambda screen: "Z" in screen)
    terminal.send("esc")
    terminal.wait_for("enter attach")
    terminal.send("esc")
    terminal.wait_gone("sends at once")
    terminal.send("q")
    assert terminal.wait_exit() == 0
    assert "Z" in draft("0")
    flags = termios.tcgetattr(terminal._master)[3]
    assert flags & termios.ECHO
    assert flags & termios.ICANON


def test_an_editor_that_is_not_there_says_so(
    board: StartBoard, store: StorePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", "no-such-editor --wait")
    make_view(store, "0", name="answer-me", state=SemanticState.NEEDS_INPUT, summary=QUESTION)
    terminal = board()
    terminal.wait_for("answer-me")
    reply_to(terminal, "typed")
    terminal.send("\x07")
    terminal.wait_for("could not be started")
    terminal.send("!")
    terminal.wait_for("typed!")
