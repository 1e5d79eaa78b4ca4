"""A shell command as a task: real pseudo-terminal, exit codes, stop, run again, output made harmless (DESIGN 11)."""

import os
import signal
from pathlib import Path

import pytest

from agent_board.board.acts import shell_command
from agent_board.errors import BoardError
from agent_board.runs.dispatch import Dispatched, Order, dispatch
from agent_board.runs.reply import reply, retry
from agent_board.runs.stop import stop
from agent_board.store.logs import segments, tail
from agent_board.store.paths import StorePaths
from agent_board.store.records import SemanticState, State
from agent_board.text import printed
from tests.runs.views import own_processes, settled, state_of, status_of
from tests.support import command as cli
from tests.support.wait import wait_for


def start(store: StorePaths, cwd: Path, text: str) -> Dispatched:
    return dispatch(store, Order(text.encode(), str(cwd), agent="shell", worktree="off"))


def done(store: StorePaths, cwd: Path, text: str) -> tuple[Dispatched, State]:
    task = start(store, cwd, text)
    return task, settled(store, task.view_id)


def output(store: StorePaths, task: Dispatched) -> str:
    return tail(store.view(task.view_id).run(task.run_id).stdout, 1 << 20).decode()


def test_a_command_runs_on_a_terminal_and_both_its_outputs_are_one(store: StorePaths, project: Path) -> None:
    task, state = done(
        store, project, 'test -t 1 && test -t 2 && pwd; echo oops >&2; stty size <&1 || true; read x; echo "end:$x"'
    )
    assert (state.semantic_state, state.summary) == (SemanticState.COMPLETED, "end:")
    assert output(store, task) == f"{project}\noops\n40 120\nend:\n"
    assert status_of(store, task.view_id, task.run_id).exit_code == 0


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("echo why; exit 3", 3, "Exit code 3: why"),
        ("false", 1, "Exit code 1."),
        ("kill -KILL $$", -signal.SIGKILL, "Ended by SIGKILL."),
        ("sh -c 'kill -TERM $$'", -signal.SIGTERM, "Ended by SIGTERM"),
        ("echo 'really?'; exit 1", 1, "Exit code 1: really?"),
    ],
)
def test_what_does_not_end_with_0_has_failed(store: StorePaths, project: Path, text: str, code: int, says: str) -> None:
    task, state = done(store, project, text)
    assert state.semantic_state is SemanticState.FAILED
    assert (state.error or "").startswith(says)
    assert status_of(store, task.view_id, task.run_id).exit_code == code


def test_output_that_asks_is_no_question(store: StorePaths, project: Path) -> None:
    _, state = done(store, project, "echo 'Shall I go on?'")
    assert (state.semantic_state, state.question) == (SemanticState.COMPLETED, None)


@pytest.mark.parametrize("text", ["no-such-command-here --now", "./no-such-file", "A=1 no-such-command-here"])
def test_a_missing_command_is_refused_at_dispatch(store: StorePaths, project: Path, text: str) -> None:
    with pytest.raises(BoardError, match="nothing was started"):
        start(store, project, text)
    assert os.listdir(store.views) == []


@pytest.mark.parametrize("text", ["for x in 1; do echo $x; done", "A=1 env", "(echo sub)", "cd /; pwd", 'echo "a\nb"'])
def test_all_of_the_shells_language_is_taken(store: StorePaths, project: Path, text: str) -> None:
    assert done(store, project, text)[1].semantic_state is SemanticState.COMPLETED


def test_it_is_seen_at_work_stopped_and_run_again(store: StorePaths, project: Path) -> None:
    task = start(store, project, "echo going; sleep 300 & sleep 300; echo never")
    wait_for(
        lambda: (state_of(store, task.view_id).latest_assistant_preview or "").strip() == "going",
        what="its output in the row",
    )
    assert state_of(store, task.view_id).semantic_state is SemanticState.WORKING
    stop(store, task.view_id)
    assert settled(store, task.view_id).semantic_state is SemanticState.STOPPED
    wait_for(lambda: not own_processes(task.run_id), what="all of it to end")
    with pytest.raises(BoardError, match="take no replies"):
        reply(store, task.view_id, b"go on")
    again = retry(store, task.view_id)
    assert again.run_id
    wait_for(lambda: state_of(store, task.view_id).semantic_state is SemanticState.WORKING, what="it to run again")
    stop(store, task.view_id)
    settled(store, task.view_id, run_id=again.run_id)


def test_endless_output_fills_no_disk(store: StorePaths, project: Path) -> None:
    task, state = done(
        store, project, "yes 0123456789012345678901234567890123456789 | head -c 12000000; echo; echo last"
    )
    assert (state.semantic_state, state.summary) == (SemanticState.COMPLETED, "last")
    log = store.view(task.view_id).run(task.run_id).stdout
    assert sum(os.path.getsize(path) for path in segments(log)) < 4 << 20


def test_the_command_stands_in_no_argument_list(store: StorePaths, project: Path) -> None:
    task = start(store, project, "sleep 300; echo secret-word-of-mine")
    pids = wait_for(lambda: own_processes(task.run_id), what="its processes")
    wait_for(lambda: state_of(store, task.view_id).semantic_state is SemanticState.WORKING, what="it to run")
    lines = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in pids]
    assert not any(b"secret-word-of-mine" in line for line in lines)
    stop(store, task.view_id)
    settled(store, task.view_id)


def test_no_control_byte_of_it_is_shown(store: StorePaths, project: Path) -> None:
    """Invariant 9; a progress line shows as it ended."""
    text = r"printf '\033[31mred\033[0m \033]0;title\007ok\n 10%%\r 90%%\r100%%\nb\bc\n\033[2J\0end\n'"
    task = cli.ok(
        "dispatch", "--agent", "shell", "--worktree", "off", "--json", "--wait", "-", stdin=text.encode(), cwd=project
    )
    assert cli.ok("logs", task.json["viewId"]).out == "red ok\n100%\nc\nend\n"
    assert "\x1b" not in cli.ok("show", task.json["viewId"]).out
    assert b"\x1b[31mred" in cli.ok("logs", "--raw", task.json["viewId"]).out.encode()


def test_the_command_line_takes_words(store: StorePaths, project: Path) -> None:
    ran = cli.run("dispatch", "--agent", "shell", "--wait", "--", "sh", "-c", "true;exit", "7", cwd=project)
    assert ran.code == 4
    refused = cli.run("dispatch", "--agent", "shell", "--", "no-such-command-here", cwd=project)
    assert (refused.code, refused.out) == (1, "")


@pytest.mark.parametrize(
    ("prompt", "command"),
    [("! pytest -q", "pytest -q"), ("!ls", "ls"), (" ! ls ", "ls"), ("fix it!", None), ("", None)],
)
def test_a_prompt_with_an_exclamation_mark_is_a_command(prompt: str, command: str | None) -> None:
    assert shell_command(prompt) == command


@pytest.mark.parametrize(
    "data", [b"\x1b", b"\x1b[", b"\x1b]0;x", b"\xff\xfe", b"\r\r\n", b"\x1b(B", b"a\x1b[?25lb", b"\x9b31m"]
)
def test_no_bytes_are_too_odd_to_print(data: bytes) -> None:
    assert all(char.isprintable() or char == "\n" for char in printed(data))
