"""The board in a real terminal: what is written to it, what comes back from it, and how it is left."""

import os
import signal
import termios
from pathlib import Path

import psutil
import pytest

from agent_board.board.app import hung_up
from agent_board.store.paths import StorePaths
from agent_board.store.records import SemanticState
from tests.conftest import StartBoard
from tests.support.command import AGENT_BOARD
from tests.support.fakestore import change_state, make_view
from tests.support.terminal import Terminal
from tests.support.wait import wait_for

S = SemanticState


@pytest.fixture
def views(store: StorePaths) -> StorePaths:
    """Sixty settled views, more than a window shows; they claim no process, so nothing settles them anew."""
    for number in range(60):
        make_view(store, f"v{number:02d}", name=f"task-{number:02d}", state=S.FAILED, age_ms=9_000_000 - number * 1000)
    return store


def open_quiet(board: StartBoard) -> Terminal:
    terminal = board(size=(100, 24))
    terminal.wait_for("FAILED 60")
    terminal.wait_for("all keys")
    terminal.wait_quiet(1.0)
    return terminal


def test_a_change_sends_one_line_and_one_out_of_sight_sends_nothing(board: StartBoard, views: StorePaths) -> None:
    """UX 1 and fields 41: little is sent, so little flickers in tmux and over SSH."""
    terminal = open_quiet(board)
    before = terminal.received
    change_state(views, "v03", summary="this time for another reason")
    terminal.wait_for("this time for another reason")
    terminal.wait_quiet(0.3)
    assert terminal.received - before < 2_000
    before = terminal.received
    change_state(views, "v55", summary="out of sight")
    change_state(views, "v03", summary="in sight again")
    terminal.wait_for("in sight again")
    terminal.wait_quiet(0.3)
    assert terminal.received - before < 2_000
    assert "out of sight" not in terminal.text


def test_the_title_says_how_many_need_you(board: StartBoard, views: StorePaths) -> None:
    terminal = open_quiet(board)
    change_state(views, "v03", semanticState="needs_input", summary="7 or 30 days?")
    terminal.wait_for("NEEDS YOU 1")
    terminal.wait_for(lambda _: terminal.title == "(1) agent-board")


def test_a_paste_and_a_burst_of_keys_open_the_bar(board: StartBoard, views: StorePaths) -> None:
    terminal = open_quiet(board)
    terminal.paste("quit now\nand stop")
    terminal.wait_for("and stop")
    terminal.send("esc")
    terminal.wait_gone("keep for later")
    terminal.write(b"qqss yy\r")
    terminal.wait_for("qqss yy")
    assert terminal.process.poll() is None


def before_cursor(terminal: Terminal) -> str:
    column, row = terminal.cursor
    return terminal.lines[row][:column]


def test_the_cursor_is_where_one_types(board: StartBoard, views: StorePaths) -> None:
    """Fields 41: an input method opens its window there, also while rows change."""
    terminal = open_quiet(board)
    terminal.send("n")
    terminal.wait_for("keep for later")
    terminal.send("h")
    terminal.send("i")
    terminal.wait_for(lambda text: " hi" in text)
    for turn in range(5):
        change_state(views, "v03", summary=f"turn {turn} of five")
        terminal.wait_for(f"turn {turn} of five")
        terminal.wait_for(lambda _: before_cursor(terminal).endswith("hi"))


def is_usual(terminal: Terminal) -> bool:
    """Whether the terminal echoes and hands over lines, as a shell wants it."""
    wanted = termios.ECHO | termios.ICANON
    return bool(termios.tcgetattr(terminal._master)[3] & wanted == wanted)


def wait_for_bytes(terminal: Terminal, count: int) -> None:
    """Until so much has been written in all: the emulator has one screen, so what is drawn again looks the same."""
    terminal.wait_for(lambda _: terminal.received > count)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_told_to_end_it_gives_the_terminal_back(board: StartBoard, views: StorePaths, number: int) -> None:
    """Fields 35."""
    terminal = open_quiet(board)
    os.kill(terminal.pid, number)
    assert terminal.wait_exit(10) == 128 + number
    assert is_usual(terminal)
    written = terminal.written
    assert written.rindex(b"\x1b[?1049l") > written.rindex(b"\x1b[?1049h")
    assert written.rindex(b"\x1b[?25h") > written.rindex(b"\x1b[?25l")


def test_told_to_go_on_it_reads_the_keys_once_and_gives_the_terminal_back(board: StartBoard, views: StorePaths) -> None:
    """Fields 35: also when nothing, or a SIGSTOP, came before that SIGCONT."""
    terminal = open_quiet(board)
    threads = len(os.listdir(f"/proc/{terminal.pid}/task")) if os.path.isdir("/proc/self/task") else 0
    for stop in (signal.SIGCONT, signal.SIGSTOP, signal.SIGTSTP):
        os.kill(terminal.pid, stop)
        if stop != signal.SIGCONT:
            wait_for(lambda: psutil.Process(terminal.pid).status() == psutil.STATUS_STOPPED, what="the stop")
        drawn = terminal.received + 2_000
        os.kill(terminal.pid, signal.SIGCONT)
        wait_for_bytes(terminal, drawn)
        terminal.wait_quiet(0.5)
    if threads:
        assert len(os.listdir(f"/proc/{terminal.pid}/task")) <= threads + 1
    terminal.send("j", "q")
    assert terminal.wait_exit(10) == 0
    assert is_usual(terminal)


def test_ctrl_z_goes_back_to_the_shell_and_fg_brings_it_back(views: StorePaths, project: Path) -> None:
    job = 'set -m; "$@"; echo put aside; read line; fg; echo left'
    with Terminal(["/bin/sh", "-c", job, "sh", *AGENT_BOARD], size=(100, 24), cwd=project) as terminal:
        terminal.wait_for("FAILED 60")
        terminal.send("ctrl+z")
        terminal.wait_for("put aside")
        assert is_usual(terminal)
        drawn = terminal.received + 2_000
        terminal.send("enter")
        wait_for_bytes(terminal, drawn)
        terminal.send("G")
        terminal.wait_for("task-59")
        terminal.send("q")
        terminal.wait_for("left")


def test_ctrl_z_with_no_shell_behind_it_says_so(board: StartBoard, views: StorePaths) -> None:
    terminal = open_quiet(board)
    terminal.send("ctrl+z")
    terminal.wait_for("No shell is here")


def test_a_lost_line_ends_it(board: StartBoard, views: StorePaths) -> None:
    """Fields 35: no board is left behind that eats a processor."""
    terminal = open_quiet(board)
    terminal.hang_up()
    terminal.wait_exit(10)


def test_a_terminal_that_is_gone_is_noticed_without_being_told() -> None:
    near, far = os.openpty()
    assert not hung_up(far)
    os.close(near)
    assert hung_up(far)
    os.close(far)
