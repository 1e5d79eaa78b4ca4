"""Attach from the board, in a real terminal with the scripted agent: there and back, whatever happens between."""

import os
import signal
import stat
import termios
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from agent_board.store import plain
from agent_board.store.paths import StorePaths
from agent_board.store.records import Meta, RunRequest, SemanticState, State
from agent_board.store.views import change_meta
from tests.conftest import StartBoard
from tests.runs.views import own_processes, settled, start, state_of, working
from tests.support.command import AGENT_BOARD
from tests.support.terminal import Terminal
from tests.support.wait import wait_for

HERE = "Empty line: leave."


@pytest.fixture(autouse=True)
def quick_demo(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_BOARD_DEMO_SPEED", "100")
    settings(home, "")


def settings(home: Path, more: str) -> None:
    """A board that writes nothing while nothing happens."""
    folder = home / ".config" / "agent-board"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(f"spinner = false\n{more}")


@pytest.fixture
def asking(store: StorePaths, project: Path) -> str:
    """A settled row that asks."""
    view_id = start(store, project, "ask Keep the old name or drop it?").view_id
    settled(store, view_id)
    return view_id


def opened(board: StartBoard, text: str = "Keep the old name", **options: Any) -> Terminal:
    terminal = board(**options)
    terminal.wait_for(text)
    terminal.wait_for("enter attach")
    return terminal


def told(terminal: Terminal, sentence: str) -> None:
    """Wait for a toast, wherever its lines break."""
    terminal.wait_for(lambda screen: sentence in " ".join(screen.split()))


def go_in(terminal: Terminal) -> None:
    terminal.send("enter")
    terminal.wait_for(HERE)


def come_back(terminal: Terminal) -> None:
    terminal.send("enter")
    terminal.wait_gone(HERE)
    terminal.wait_for("all keys")


def wait_until_heard(terminal: Terminal, yes: str) -> None:
    """Wait until a question hears its `y`, which it wants a quiet keyboard for: the key is bold from then on."""
    terminal.wait_for(lambda _: terminal.is_bold(f"y {yes}"))


def modes(terminal: Terminal) -> list[Any]:
    return termios.tcgetattr(terminal._master)


def runs_of(store: StorePaths, view_id: str) -> list[str]:
    return sorted(os.listdir(store.view(view_id).runs))


def untrue(store: StorePaths, view_id: str) -> bool:
    return state_of(store, view_id).attached


def there_and_back(board: StartBoard, store: StorePaths, view_id: str, times: int) -> None:
    before = state_of(store, view_id)
    terminal = opened(board)
    process = psutil.Process(terminal.pid)
    go_in(terminal)
    meta = plain.read(Meta, store.view(view_id).meta)
    assert isinstance(meta, Meta)
    terminal.wait_for(lambda _: terminal.title == meta.name)
    come_back(terminal)
    drawn, handles, threads = modes(terminal), process.num_fds(), process.num_threads()
    for _ in range(times - 1):
        terminal.send("?")  # the first key after coming back
        terminal.wait_for("Rename in place")
        terminal.send("esc")
        terminal.wait_gone("Rename in place")
        go_in(terminal)
        come_back(terminal)
    assert modes(terminal) == drawn
    wait_for(lambda: process.num_fds() <= handles + 2, what="the files to be closed")
    wait_for(lambda: process.num_threads() <= threads + 4, what="the threads to end")
    assert not process.children(recursive=True)
    terminal.wait_for(lambda _: "❯" in terminal.line_with("Keep the old name"))
    terminal.wait_for(lambda _: terminal.title.endswith("agent-board"))
    runs = runs_of(store, view_id)
    assert len(runs) == 1 + times
    assert not any(own_processes(run) for run in runs)
    after = state_of(store, view_id)
    assert (after.semantic_state, after.state_since, after.attached) == (
        before.semantic_state,
        before.state_since,
        False,
    )
    terminal.send("q")
    assert terminal.wait_exit() == 0


def test_ten_times_there_and_back(board: StartBoard, store: StorePaths, asking: str) -> None:
    """FIELD-FAULTS 38, 43: keys work, modes are as they were, nothing is left; a look changes nothing (AB-072)."""
    there_and_back(board, store, asking, 10)


@pytest.mark.full
def test_fifty_times_there_and_back(board: StartBoard, store: StorePaths, asking: str) -> None:
    there_and_back(board, store, asking, 50)


def test_what_was_said_inside_is_on_the_board(board: StartBoard, store: StorePaths, asking: str) -> None:
    """AB-026."""
    terminal = opened(board)
    go_in(terminal)
    terminal.send("demo: say The old name is dropped.", "enter")
    terminal.wait_for("\nThe old name is dropped.\n")
    come_back(terminal)
    terminal.wait_for(lambda _: "❯" in terminal.line_with("The old name is dropped."))
    terminal.wait_for("COMPLETED 1")


def test_ctrl_c_inside_is_the_programs_affair(board: StartBoard, store: StorePaths, asking: str) -> None:
    terminal = opened(board)
    go_in(terminal)
    terminal.send("ctrl+c")
    terminal.wait_gone(HERE)
    terminal.wait_for("all keys")
    assert "exit code" not in terminal.text
    terminal.send("?")
    terminal.wait_for("Rename in place")
    assert terminal.process.poll() is None


def test_a_running_row_is_interrupted_only_by_y(board: StartBoard, store: StorePaths, project: Path) -> None:
    """AB-004."""
    task = start(store, project, "say Started.; hang")
    working(store, task.view_id)
    terminal = opened(board, "Started.")
    terminal.send("enter")
    terminal.wait_for("Interrupt and attach?")
    wait_until_heard(terminal, "interrupt and attach")
    for key in ("enter", "space"):
        terminal.send(key)
        with suppress(AssertionError):  # it is deaf for a moment only, which may go unseen
            terminal.wait_for(lambda _: not terminal.is_bold("y interrupt and attach"), 2.0)
        wait_until_heard(terminal, "interrupt and attach")
    assert state_of(store, task.view_id).semantic_state is SemanticState.WORKING
    terminal.send("y")
    terminal.wait_for(HERE)
    assert not own_processes(task.run_id)
    come_back(terminal)
    terminal.wait_for("STOPPED 1")
    assert state_of(store, task.view_id).semantic_state is SemanticState.STOPPED


def test_a_deaf_agent_is_waited_for_in_sight_and_the_wait_can_be_left(
    board: StartBoard, store: StorePaths, project: Path
) -> None:
    task = start(store, project, "stubborn; say Deaf.; hang")
    working(store, task.view_id)
    terminal = opened(board, "Deaf.")
    terminal.send("enter")
    terminal.wait_for("Interrupt and attach?")
    wait_until_heard(terminal, "interrupt and attach")
    terminal.send("y")
    terminal.wait_for("before attaching")
    terminal.send("esc")
    told(terminal, "stopped and not attached")
    terminal.wait_for("STOPPED 1")
    assert len(runs_of(store, task.view_id)) == 1


@pytest.mark.parametrize("shell", [False, True], ids=["first", "in-a-shell"])
def test_the_board_is_killed_during_it(
    board: StartBoard, store: StorePaths, asking: str, project: Path, shell: bool
) -> None:
    """AB-113: whoever dies, the row becomes true."""
    if shell:
        terminal = Terminal(["/bin/sh"], cwd=project)
        terminal.send(" ".join(AGENT_BOARD), "enter")
        terminal.wait_for("enter attach")
        pid = next(child.pid for child in psutil.Process(terminal.pid).children())
    else:
        terminal = opened(board)
        pid = terminal.pid
    go_in(terminal)
    wait_for(lambda: untrue(store, asking), what="the mark")
    os.kill(pid, signal.SIGKILL)
    if shell:
        terminal.send("enter", "enter")
    wait_for(lambda: settled(store, asking) and not untrue(store, asking), 20, "the row's truth")
    assert state_of(store, asking).semantic_state is SemanticState.NEEDS_INPUT
    assert not own_processes(runs_of(store, asking)[-1])
    terminal.close()


def test_the_terminal_is_closed_during_it(board: StartBoard, store: StorePaths, asking: str) -> None:
    """FIELD-FAULTS 35."""
    terminal = opened(board)
    go_in(terminal)
    wait_for(lambda: untrue(store, asking), what="the mark")
    terminal.hang_up()
    terminal.wait_exit(20)
    wait_for(lambda: not untrue(store, asking), 20, "the row's truth")
    assert state_of(store, asking).semantic_state is SemanticState.NEEDS_INPUT
    assert not own_processes(runs_of(store, asking)[-1])


def test_everything_is_killed_during_it(board: StartBoard, store: StorePaths, asking: str) -> None:
    terminal = opened(board)
    go_in(terminal)
    run = runs_of(store, asking)[-1]
    wait_for(lambda: untrue(store, asking), what="the mark")
    family = [psutil.Process(terminal.pid), *psutil.Process(terminal.pid).children(recursive=True)]
    for process in family:
        with suppress(psutil.NoSuchProcess):  # the end of one may be the end of the next
            process.kill()
    terminal.close()
    wait_for(lambda: not own_processes(run), what="the killed to be gone")
    opened(board)
    wait_for(lambda: not untrue(store, asking), 20, "the row's truth")
    assert state_of(store, asking).semantic_state is SemanticState.NEEDS_INPUT


# -- why not: said without leaving the screen


def test_no_session_yet(board: StartBoard, store: StorePaths, project: Path) -> None:
    task = start(store, project, "refuse not logged in")
    settled(store, task.view_id)
    terminal = opened(board, "not logged in")
    terminal.send("enter")
    told(terminal, "has no session yet")
    assert len(runs_of(store, task.view_id)) == 1


def test_a_missing_agent_and_a_missing_directory(
    board: StartBoard, store: StorePaths, asking: str, project: Path, no_agents: Path, tmp_path: Path
) -> None:
    terminal = opened(board, cwd=tmp_path)
    change_meta(store, asking, lambda raw: raw.update(agent="pi"))
    terminal.send("enter")
    told(terminal, "is not installed")
    change_meta(store, asking, lambda raw: raw.update(agent="demo"))
    terminal.send("j")
    project.rename(tmp_path / "moved")
    terminal.send("enter")
    told(terminal, "does not exist")
    assert len(runs_of(store, asking)) == 1


def test_attached_elsewhere(board: StartBoard, store: StorePaths, asking: str) -> None:
    first, second = opened(board), opened(board)
    go_in(first)
    second.wait_for("⇄")
    second.send("enter")
    told(second, "attached in another terminal; leave it there first.")
    come_back(first)
    second.wait_gone("⇄")
    second.send("j")
    go_in(second)
    come_back(second)


def test_the_program_that_fails_is_told(board: StartBoard, store: StorePaths, asking: str, tmp_path: Path) -> None:
    request = store.view(asking).run(runs_of(store, asking)[-1]).request
    last = plain.read_or_none(RunRequest, request)
    assert last is not None
    wrapper = tmp_path / "wrapper"
    wrapper.write_text("#!/bin/sh\nprintf '\\033[?1000h\\033[?25l\\033[?1049h'; stty raw -echo; exit 7\n")
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    last.wrap = [str(wrapper)]
    plain.write(request, last)
    terminal = opened(board)
    before = modes(terminal)
    terminal.send("enter")
    told(terminal, "The program of")
    assert modes(terminal) == before
    terminal.send("q")
    assert terminal.wait_exit() == 0


def test_a_row_that_is_opened(board: StartBoard, store: StorePaths, asking: str, home: Path) -> None:
    """A program from the settings gets the terminal and the row's path as one argument; one that is missing says so."""
    here = '["sh", "-c", "echo in $0; read x", "{path};$(id)"]'
    settings(home, f'[open]\nhere = {here}\nnowhere = ["/no/such/program"]\n')
    terminal = opened(board)
    terminal.send("o")
    terminal.wait_for("a shell")
    terminal.send("1")
    terminal.wait_for("project;$(id)")
    terminal.send("enter")
    terminal.wait_gone(";$(id)")
    terminal.wait_for("all keys")
    terminal.send("o")
    terminal.wait_for("nowhere")
    terminal.send("2")
    told(terminal, "/no/such/program could not be started")
    terminal.send("?")
    terminal.wait_for("Rename in place")


def test_state_is_read_again_after_coming_back(board: StartBoard, store: StorePaths, asking: str) -> None:
    """What changed meanwhile is on the screen at once."""
    terminal = opened(board)
    go_in(terminal)
    change_meta(store, asking, lambda raw: raw.update(name="called-otherwise"))
    come_back(terminal)
    terminal.wait_for("called-otherwise")
    assert isinstance(plain.read(State, store.view(asking).state), State)


def test_several_are_tried_again_after_a_question(board: StartBoard, store: StorePaths, project: Path) -> None:
    tasks = [start(store, project, f"crash broken {number}") for number in (1, 2)]
    for task in tasks:
        settled(store, task.view_id)
    terminal = opened(board, "broken 2")
    for number in (1, 2):
        terminal.send("m")
        terminal.wait_for(f"{number} marked")
    terminal.send("R")
    terminal.wait_for("Send the last prompt again to 2 tasks?")
    wait_until_heard(terminal, "send")
    terminal.send("y")
    told(terminal, "2 tasks tried again.")
    for task in tasks:
        assert len(runs_of(store, task.view_id)) == 2
        settled(store, task.view_id)
