"""`agent-board demo` in a real terminal."""

import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_board.demo.script import WORLD
from tests.conftest import StartBoard
from tests.support import processes

GROUPS = ("NEEDS YOU", "FAILED", "WORKING", "QUEUED", "COMPLETED", "IDLE", "STOPPED")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The world is made here, so that what is left of it is seen."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    monkeypatch.undo()
    tempfile.tempdir = None


def all_groups(screen: str) -> bool:
    return all(group in screen for group in GROUPS)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
def test_every_state_is_on_one_screen_within_ten_seconds(board: StartBoard, place: Path, size: tuple[int, int]) -> None:
    """UX 4; on the smallest terminal that the screen is made for, too."""
    terminal = board("demo", size=size)
    terminal.wait_for(all_groups, timeout=10)
    (world,) = place.iterdir()
    assert processes.marked(str(world), WORLD)
    terminal.send("q")
    terminal.wait_exit()
    assert not processes.marked(str(world), WORLD)
    assert os.listdir(place) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_ended_from_outside_it_leaves_nothing(board: StartBoard, place: Path, number: signal.Signals) -> None:
    terminal = board("demo")
    terminal.wait_for("WORKING")
    (world,) = place.iterdir()
    terminal.process.send_signal(number)
    assert terminal.wait_exit() == 128 + number, terminal.text
    assert not processes.marked(str(world), WORLD)
    assert os.listdir(place) == []


def test_a_lost_terminal_leaves_nothing(board: StartBoard, place: Path) -> None:
    terminal = board("demo")
    terminal.wait_for("WORKING")
    (world,) = place.iterdir()
    terminal.hang_up()
    terminal.process.wait(20)
    assert not processes.marked(str(world), WORLD)
    assert os.listdir(place) == []


def test_a_lost_terminal_ends_the_plain_board_too(board: StartBoard) -> None:
    """A board without a terminal would wait for it for ever, and nobody would see that it does."""
    terminal = board()
    terminal.wait_for("agent-board")
    terminal.hang_up()
    assert terminal.process.wait(20) == 128 + signal.SIGHUP
