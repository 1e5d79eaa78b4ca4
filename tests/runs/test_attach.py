"""Attach: the agent's own program in a real terminal, as a run of the view (DESIGN 5; AB-026, AB-093)."""

import dataclasses
import os
import signal
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from agent_board.runs import followups
from agent_board.runs.dispatch import Order, dispatch
from agent_board.runs.life import archive, done, rename
from agent_board.runs.reconcile import reconcile
from agent_board.runs.reply import reply
from agent_board.runs.stop import stop
from agent_board.states.view import shown
from agent_board.store import plain
from agent_board.store.paths import StorePaths
from agent_board.store.records import Meta, ProcessState, RunRequest, SemanticState, State
from agent_board.store.views import change_meta
from tests.git.repo import git, make_repo
from tests.runs.views import own_processes, received, settled, start, state_of, status_of, working
from tests.support import command
from tests.support.terminal import Terminal
from tests.support.wait import wait_for

HERE = "Empty line: leave."
ASKS = "ask Keep the old name or drop it?"

Attach = Callable[..., Terminal]


@pytest.fixture(autouse=True)
def quick_demo(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_BOARD_DEMO_SPEED", "100")


@pytest.fixture
def attach(project: Path) -> Iterator[Attach]:
    """Starts `agent-board attach` in terminals of their own; all are closed at the end."""
    with ExitStack() as opened:

        def begin(view_id: str, *options: str, inside: bool = True, shell: bool = False) -> Terminal:
            line = [*command.AGENT_BOARD, "attach", view_id, *options]
            if shell:  # not the terminal's first process, as at home
                line = ["/bin/sh", "-c", f"{' '.join(line)}; echo left with $?; cat"]
            terminal = opened.enter_context(Terminal(line, size=(100, 30), cwd=project))
            if inside:
                terminal.wait_for(lambda screen: HERE in screen and "\n>" in screen)
            return terminal

        yield begin


@pytest.fixture
def asking(store: StorePaths, project: Path) -> str:
    """A settled row that asks."""
    view_id = start(store, project, ASKS).view_id
    settled(store, view_id)
    rename(store, view_id, "work")
    return view_id


def runs_of(store: StorePaths, view_id: str) -> list[str]:
    return sorted(os.listdir(store.view(view_id).runs))


def meta_of(store: StorePaths, view_id: str) -> Meta:
    meta = plain.read(Meta, store.view(view_id).meta)
    assert isinstance(meta, Meta)
    return meta


def untimed(state: State) -> State:
    """All that a state says but for when it was written."""
    return dataclasses.replace(state, updated_at=0)


def test_a_row_that_was_only_looked_at_stays_as_it_was(store: StorePaths, asking: str, attach: Attach) -> None:
    """DESIGN 5: state, verdict and current run stay; a mark says that somebody is there."""
    done(store, asking)
    before, verdict = state_of(store, asking), meta_of(store, asking).verdict
    terminal = attach(asking)
    assert terminal.line_with("attached to work") == "attached to work: leave it with an empty line or ctrl+d"
    assert terminal.title == "work"
    inside = state_of(store, asking)
    assert (inside.attached, inside.process_state) == (True, ProcessState.ALIVE)
    assert (inside.semantic_state, inside.question) == (before.semantic_state, before.question)
    assert not reconcile(store, asking)
    terminal.send("enter")
    assert terminal.wait_exit() == 0
    assert untimed(state_of(store, asking)) == untimed(before)
    meta = meta_of(store, asking)
    assert (meta.verdict, meta.seen_seq) == (verdict, before.change_seq)
    assert shown(meta, state_of(store, asking)).state is SemanticState.COMPLETED
    run = runs_of(store, asking)[-1]
    request = plain.read_or_none(RunRequest, store.view(asking).run(run).request)
    assert request is not None
    assert (request.kind, request.seq) == ("attach", 2)
    assert status_of(store, asking, run).exit_code == 0
    assert own_processes(run) == []


@pytest.mark.parametrize(
    ("script", "state", "question"),
    [
        ("say All is done.", SemanticState.COMPLETED, None),
        (ASKS, SemanticState.NEEDS_INPUT, "Keep the old name or drop it?"),
        ("report failed It broke.", SemanticState.FAILED, None),
        ("wait 0", SemanticState.IDLE, None),
    ],
)
def test_a_message_typed_inside_makes_the_row_follow(
    store: StorePaths, asking: str, attach: Attach, script: str, state: SemanticState, question: str | None
) -> None:
    """The row is derived from what the transcript holds behind the mark; an older verdict is outdated."""
    done(store, asking)
    before = state_of(store, asking)
    terminal = attach(asking)
    terminal.send(f"demo: {script}", "enter")
    wait_for(lambda: len(received(store, asking)) == 2, what="the message")
    terminal.wait_for(lambda screen: screen.count(">") >= 2)
    terminal.send("enter")
    assert terminal.wait_exit() == 0
    after = state_of(store, asking)
    assert (after.semantic_state, after.question, after.attached) == (state, question, False)
    assert after.current_run_id == runs_of(store, asking)[-1]
    assert after.change_seq == before.change_seq + 1
    meta = meta_of(store, asking)
    assert shown(meta, after).state is state
    assert not shown(meta, after).unread
    answer = reply(store, asking, b"demo: say On from there.")
    assert settled(store, asking, run_id=answer.run_id).summary == "On from there."


def test_a_running_row_asks_first_and_enter_is_no(store: StorePaths, project: Path, attach: Attach) -> None:
    task = start(store, project, "say Going.; hang")
    working(store, task.view_id)
    rename(store, task.view_id, "work")
    for answer in (("enter",), ("n", "enter"), ("ctrl+d",)):
        terminal = attach(task.view_id, inside=False)
        terminal.wait_for("“work” is running. Interrupt and attach? (y/N)")
        terminal.send(*answer)
        assert terminal.wait_exit() == 1
        assert "nothing was attached" in terminal.text
    assert state_of(store, task.view_id).semantic_state is SemanticState.WORKING
    assert own_processes(task.run_id)
    terminal = attach(task.view_id, inside=False)
    terminal.wait_for("(y/N)")
    terminal.send("y", "enter")
    terminal.wait_for(lambda screen: HERE in screen and "\n>" in screen)
    assert status_of(store, task.view_id, task.run_id).semantic_state is SemanticState.STOPPED
    wait_for(lambda: own_processes(task.run_id) == [], what="the run to be gone")
    terminal.send("enter")
    assert terminal.wait_exit() == 0
    assert state_of(store, task.view_id).semantic_state is SemanticState.STOPPED


def test_interrupt_stops_the_run_without_asking(store: StorePaths, project: Path, attach: Attach) -> None:
    """The real end is waited for: an agent that is deaf to TERM is there for seconds."""
    task = start(store, project, "stubborn; say Going.; hang")
    working(store, task.view_id)
    waiting = reply(store, task.view_id, b"demo: say Later.").followup_id
    terminal = attach(task.view_id, "--interrupt")
    wait_for(lambda: own_processes(task.run_id) == [], what="the run to be gone")
    terminal.send("enter")
    assert terminal.wait_exit() == 0
    assert [(item.id, item.state) for item in followups.listed(store.view(task.view_id))] == [(waiting, "held")]
    assert len(received(store, task.view_id)) == 1


def test_ctrl_c_is_the_program_s_affair(store: StorePaths, asking: str, attach: Attach) -> None:
    before = state_of(store, asking)
    terminal = attach(asking, shell=True)
    terminal.send("ctrl+c")  # the demo ends with 130 by it; what the user does is no failure
    terminal.wait_for(lambda screen: "left with" in screen or "^C" in screen)
    wait_for(lambda: not state_of(store, asking).attached, what="the end")
    assert status_of(store, asking, runs_of(store, asking)[-1]).exit_code == 130
    assert untimed(state_of(store, asking)) == untimed(before)


def test_the_program_is_told_of_no_ci_job(
    attach: Attach, asking: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent may end at once where these are set; whoever attaches is there."""
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    terminal = attach(asking)
    terminal.send("demo: run echo ${CI-none} ${GITHUB_ACTIONS-none} >told", "enter")
    wait_for((project / "told").exists)
    terminal.send("enter")
    assert terminal.wait_exit() == 0
    assert (project / "told").read_text() == "none none\n"


def test_a_program_that_breaks_is_said_and_leaves_the_terminal_whole(
    store: StorePaths, asking: str, attach: Attach
) -> None:
    terminal = attach(asking)
    tty = os.readlink(f"/proc/{terminal.pid}/fd/0")
    before = termios.tcgetattr(terminal._master)
    terminal.send(f"demo: run stty -F {tty} raw -echo; die", "enter")
    assert terminal.wait_exit() == 1
    terminal.wait_for("agent-board: The agent's program ended with signal 9.")
    assert termios.tcgetattr(terminal._master) == before
    after = state_of(store, asking)
    assert (after.attached, after.process_state) == (False, ProcessState.EXITED)
    assert (after.semantic_state, after.error) == (SemanticState.IDLE, None)


def test_the_terminal_goes_away(store: StorePaths, asking: str, attach: Attach) -> None:
    """A lost line ends the program and the attach; the row is true without anybody's help."""
    before = state_of(store, asking)
    terminal = attach(asking)
    terminal.hang_up()
    terminal.wait_exit()
    assert untimed(state_of(store, asking)) == untimed(before)
    assert own_processes(runs_of(store, asking)[-1]) == []


def test_a_program_that_is_deaf_to_the_hangup_is_ended(store: StorePaths, asking: str, attach: Attach) -> None:
    terminal = attach(asking)
    terminal.send("demo: stubborn; say Deaf.; hang", "enter")
    terminal.wait_for("\nDeaf.")  # said, not only typed
    run = runs_of(store, asking)[-1]
    terminal.hang_up()
    terminal.wait_exit()
    assert own_processes(run) == []
    assert not state_of(store, asking).attached


def test_a_killed_attach_is_found_out(store: StorePaths, asking: str, attach: Attach) -> None:
    """The attach is the terminal's first process, so the program goes with it; reconcile makes the row true."""
    before = state_of(store, asking)
    terminal = attach(asking)
    run = runs_of(store, asking)[-1]
    terminal.kill(signal.SIGKILL)
    wait_for(lambda: own_processes(run) == [], what="the program to be gone")
    wait_for(lambda: reconcile(store, asking), what="reconcile to notice")
    assert untimed(state_of(store, asking)) == untimed(before)
    assert not reconcile(store, asking)


def test_a_program_that_outlives_its_attach_keeps_the_session(store: StorePaths, asking: str, attach: Attach) -> None:
    """Invariant 1: alive is not free. Nobody else gets in, a reply waits, stop ends it."""
    terminal = attach(asking, shell=True)
    run = runs_of(store, asking)[-1]
    status = status_of(store, asking, run)
    (owner,) = (pid for pid in _parents(status.pid or 0) if "attach" in _command_line(pid))
    os.kill(owner, signal.SIGKILL)
    terminal.wait_for("left with 137")
    assert not reconcile(store, asking)
    assert state_of(store, asking).attached
    second = attach(asking, inside=False)
    assert second.wait_exit() == 1
    assert "attached in another terminal" in second.text
    waiting = reply(store, asking, b"demo: say Later.").followup_id
    assert waiting
    assert os.path.exists(f"/proc/{status.pid}")
    stop(store, asking)
    wait_for(lambda: not state_of(store, asking).attached, what="the row to be true")
    assert own_processes(run) == []
    assert [(item.id, item.state) for item in followups.listed(store.view(asking))] == [(waiting, "held")]
    assert len(received(store, asking)) == 1


def _parents(pid: int) -> list[int]:
    stat = Path(f"/proc/{pid}/stat").read_text()
    return [int(stat.rpartition(")")[2].split()[1])]


def _command_line(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()


def test_the_second_attach_refuses_and_the_first_goes_on(store: StorePaths, asking: str, attach: Attach) -> None:
    first = attach(asking)
    for options in ((), ("--interrupt",)):
        second = attach(asking, *options, inside=False)
        assert second.wait_exit() == 1
        assert "“work” is attached in another terminal" in second.text
    first.send("demo: say Still here.", "enter")
    first.wait_for("Still here.")
    first.send("enter")
    assert first.wait_exit() == 0


def test_a_reply_while_attached_waits_and_is_held(store: StorePaths, asking: str, attach: Attach) -> None:
    """DESIGN 5: an attach delivers no follow-ups."""
    terminal = attach(asking)
    answer = reply(store, asking, b"demo: say From outside.")
    assert answer.followup_id
    terminal.send("demo: say From inside.", "enter")
    terminal.wait_for("From inside.")
    terminal.send("enter")
    assert terminal.wait_exit() == 0
    state = state_of(store, asking)
    assert (state.semantic_state, state.held_prompts) == (SemanticState.COMPLETED, 1)
    assert [item.state for item in followups.listed(store.view(asking))] == ["held"]
    assert received(store, asking)[1:] == ["demo: say From inside."]


def test_stop_from_elsewhere_ends_it_well(store: StorePaths, asking: str, attach: Attach) -> None:
    before = state_of(store, asking)
    terminal = attach(asking)
    assert stop(store, asking) == "Stopping."
    assert terminal.wait_exit() == 0
    assert untimed(state_of(store, asking)) == untimed(before)


def test_told_to_end_it_ends_the_program(store: StorePaths, asking: str, attach: Attach) -> None:
    before = state_of(store, asking)
    terminal = attach(asking)
    run = runs_of(store, asking)[-1]
    terminal.process.terminate()
    assert terminal.wait_exit() == 1
    assert own_processes(run) == []
    assert untimed(state_of(store, asking)) == untimed(before)


def test_leaving_is_no_news(
    store: StorePaths, project: Path, attach: Attach, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who was there needs no notification."""
    told = home / "told"
    config = home / ".config" / "agent-board" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'notify = ["sh", "-c", "echo $AGENT_BOARD_STATE >> {told}"]')
    task = command.ok("dispatch", "--agent", "demo", "--json", f"demo: {ASKS}", cwd=project).json
    settled(store, task["viewId"])
    wait_for(lambda: told.exists() and told.read_text() == "needs_input\n", what="the first notification")
    terminal = attach(task["viewId"])
    terminal.send("demo: say All done.", "enter")
    terminal.wait_for("All done.")
    terminal.send("enter")
    assert terminal.wait_exit() == 0
    assert state_of(store, task["viewId"]).semantic_state is SemanticState.COMPLETED
    command.ok("reply", task["viewId"], "demo: say Again.")
    wait_for(lambda: told.read_text().count("\n") == 2, what="the reply's notification")
    assert told.read_text() == "needs_input\ncompleted\n"


def refused(attach: Attach, view_id: str) -> str:
    terminal = attach(view_id, inside=False)
    assert terminal.wait_exit() == 1
    (line,) = (line for line in " ".join(terminal.lines).split("agent-board: ")[1:])
    return line.strip()


def test_what_can_not_be_attached_is_one_sentence(
    store: StorePaths, project: Path, asking: str, attach: Attach, no_agents: Path
) -> None:
    before = runs_of(store, asking)
    Path(store.session(asking)).rename(f"{store.session(asking)}.away")
    assert "no session yet" in refused(attach, asking)
    Path(f"{store.session(asking)}.away").rename(store.session(asking))
    project.rename(f"{project}.away")
    project.parent.joinpath("elsewhere").mkdir()
    assert "does not exist" in _refused_elsewhere(asking, project.parent / "elsewhere").replace("\n", "")
    Path(f"{project}.away").rename(project)
    change_meta(store, asking, lambda raw: raw.update(agent="pi"))
    assert "not installed" in refused(attach, asking)
    change_meta(store, asking, lambda raw: raw.update(agent="demo"))
    archive(store, asking)
    assert "archived; restore it first" in refused(attach, asking)
    assert runs_of(store, asking) == before


def _refused_elsewhere(view_id: str, cwd: Path) -> str:
    with Terminal([*command.AGENT_BOARD, "attach", view_id], cwd=cwd, size=(300, 24)) as terminal:
        assert terminal.wait_exit() == 1
        return terminal.text


def test_a_worktree_is_made_anew_and_locked_while_somebody_is_there(
    store: StorePaths, tmp_path: Path, attach: Attach
) -> None:
    """DESIGN 8: an attach is a run, and its worktree must not be removed under it."""
    repo = make_repo(tmp_path / "api")
    task = dispatch(store, Order(b"demo: say Done.", str(repo), agent="demo", worktree="on"))
    settled(store, task.view_id)
    git(repo, "worktree", "remove", task.worktree_path or "")
    terminal = attach(task.view_id)
    run_id = runs_of(store, task.view_id)[-1]
    assert f"locked agent-board: agent-board run {run_id}" in git(repo, "worktree", "list", "--porcelain")
    terminal.send("enter")
    assert terminal.wait_exit() == 0
    assert "\nlocked" not in git(repo, "worktree", "list", "--porcelain")


def test_without_a_terminal_it_refuses(store: StorePaths, asking: str) -> None:
    result = command.run("attach", asking)
    assert (result.code, result.out) == (1, "")
    assert "terminal" in result.err
    assert len(runs_of(store, asking)) == 1


OFTEN = """
import os, sys
from agent_board.runs.attach import attach
from agent_board.store.paths import StorePaths
paths, view_id, times = StorePaths(os.environ["AGENT_BOARD_HOME"]), sys.argv[1], int(sys.argv[2])
held = []
for turn in range(times):
    result = attach(paths, view_id)
    assert result.exit_code == 0 and not result.grew
    held.append(len(os.listdir("/proc/self/fd")))
assert held[0] == held[-1], held
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("no child is left", flush=True)
"""


@pytest.mark.parametrize("times", [10, pytest.param(50, marks=pytest.mark.full)])
def test_many_times_in_a_row_leave_nothing_behind(store: StorePaths, project: Path, asking: str, times: int) -> None:
    """In one process, as a board does it: no descriptor, no child, no process, and the row as it was."""
    before = state_of(store, asking)
    with Terminal([sys.executable, "-c", OFTEN, asking, str(times)], size=(100, 400), cwd=project) as terminal:
        for turn in range(1, times + 1):
            terminal.wait_for(lambda screen, turn=turn: screen.count(HERE) == turn)  # type: ignore[misc]
            terminal.send("enter")
        terminal.wait_for("no child is left")
        assert terminal.wait_exit() == 0
    assert untimed(state_of(store, asking)) == untimed(before)
    runs = runs_of(store, asking)
    assert len(runs) == times + 1
    assert not any(own_processes(run) for run in runs)
