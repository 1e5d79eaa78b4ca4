"""Dispatching: what is asked arrives byte for byte, in private; a bad order is one sentence (AB-023, AB-090)."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_board.errors import BoardError, UsageError
from agent_board.runs.dispatch import Dispatched, Order, dispatch
from agent_board.runs.options import AgentOptions, Options
from agent_board.store import plain
from agent_board.store.paths import StorePaths
from agent_board.store.records import Meta, RunRequest, RunStatus, SemanticState, State
from agent_board.store.views import open_store, view_ids
from tests.support.wait import wait_for

DONE = b"demo: say ok"


def settled(store: StorePaths, done: Dispatched, timeout: float = 20) -> State:
    def look() -> State | None:
        state = plain.read_or_none(State, store.view(done.view_id).state)
        return state if state and state.semantic_state.settled else None

    return wait_for(look, timeout, "the run to settle")


@pytest.mark.parametrize(
    "prompt",
    [
        b"plain\n",
        b"no newline at the end",
        b"  - leading dash\n\n",
        b"--help",
        b"@file and /command",
        "日本語 🙂 \u2028 \u202e".encode(),
        b"NUL \x00 and \x1b[31m escape \r\n",
        b"\xef\xbb\xbfBOM",
        b"x" * (2 << 20),
    ],
    ids=["lf", "no lf", "dash", "option", "at", "unicode", "control", "bom", "2 MB"],
)
def test_the_workers_stdin_is_what_the_user_typed(store: StorePaths, project: Path, prompt: bytes) -> None:
    """Invariant 5: a wrapper copies what it is given; the prompt reaches it as a file, whole."""
    copy = project / "copy"
    options = Options(agents={"demo": AgentOptions(wrap=("sh", "-c", f"cat >{copy}; echo done", "wrap"))})
    done = dispatch(store, Order(prompt, str(project), agent="demo"), options)
    settled(store, done)
    assert copy.read_bytes() == prompt
    assert Path(store.view(done.view_id).run(done.run_id).prompt).read_bytes() == prompt


def test_a_dispatch_makes_the_durable_files(store: StorePaths, project: Path) -> None:
    """AB-030, AB-101."""
    done = dispatch(store, Order(DONE, str(project), agent="demo", model="m1"))
    assert settled(store, done).semantic_state is SemanticState.COMPLETED
    view, run = store.view(done.view_id), store.view(done.view_id).run(done.run_id)
    meta = plain.read_or_none(Meta, view.meta)
    assert meta is not None
    assert (meta.name, meta.cwd, meta.agent, meta.default_model) == ("demo-say-ok", str(project), "demo", "m1")
    request = plain.read_or_none(RunRequest, run.request)
    assert request is not None
    assert (request.prompt_id, request.seq, request.prompt_bytes) == (done.run_id, 1, len(DONE))
    status = plain.read_or_none(RunStatus, run.status)
    assert status is not None
    assert status.exit_code == 0
    assert status.durations.keys() == {"toWorker", "toFirstEvent", "run"}
    for path in (run.started, run.pid, run.events, run.stdout, run.inbox):
        assert os.path.exists(path), path
    assert os.path.getsize(store.session(done.view_id)) > 0


def test_everything_is_private_and_holds_no_secret(
    store: StorePaths, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Invariant 10, FIELD-FAULTS 47: no prompt in any argument list, no environment value in any file."""
    monkeypatch.setenv("FOO_TOKEN", "canary-value")
    done = dispatch(store, Order(b"canary-prompt\ndemo: say Working.; wait 1.5; say ok", str(project), agent="demo"))
    run = store.view(done.view_id).run(done.run_id)
    wait_for(lambda: os.path.exists(run.started), what="the gate to open")
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            arguments = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        assert b"canary-" not in arguments
    settled(store, done)
    for folder, _, files in os.walk(store.root):
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
        for name in files:
            path = Path(folder) / name
            assert b"canary-value" not in path.read_bytes(), path
            if Path(folder) != Path(store.sessions):  # the agent's own file has the agent's mode
                assert stat.S_IMODE(os.stat(path).st_mode) == 0o600, path


def test_the_worker_has_the_dispatchers_environment(
    store: StorePaths, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FIELD-FAULTS 48."""
    monkeypatch.setenv("SOME_SETTING", "of this shell")
    out = project / "env"
    script = f'printf "%s|%s|%s" "$SOME_SETTING" "$AGENT_BOARD_RUN" "$PWD" >{out}; umask >>{out}'
    options = Options(agents={"demo": AgentOptions(wrap=("sh", "-c", script, "wrap"))})
    done = dispatch(store, Order(DONE, str(project), agent="demo"), options)
    settled(store, done)
    umask = os.umask(0)
    os.umask(umask)
    assert out.read_text() == f"of this shell|{done.run_id}|{project}{umask:04o}\n"


@pytest.mark.parametrize("prompt", [b"", b" \n\t ", "\u3000".encode()])
def test_an_empty_prompt_starts_nothing(store: StorePaths, project: Path, prompt: bytes) -> None:
    with pytest.raises(UsageError, match="prompt is empty"):
        dispatch(store, Order(prompt, str(project), agent="demo"))
    assert view_ids(store) == []


def test_a_prompt_that_is_not_utf8_starts_nothing(store: StorePaths, project: Path) -> None:
    with pytest.raises(UsageError, match=r"not valid UTF-8 \(byte 2\)"):
        dispatch(store, Order(b"ab\xff", str(project), agent="demo"))


def test_a_directory_that_is_no_place_to_work(store: StorePaths, project: Path) -> None:
    (project / "file").write_text("x")
    for cwd, why in ((project / "none", "does not exist"), (project / "file", "is not a directory")):
        with pytest.raises(BoardError, match=why):
            dispatch(store, Order(DONE, str(cwd), agent="demo"))
    assert view_ids(store) == []


def test_an_agent_that_is_unknown_or_not_here(store: StorePaths, project: Path, no_agents: Path) -> None:
    with pytest.raises(UsageError, match="Unknown agent “nope”"):
        dispatch(store, Order(DONE, str(project), agent="nope"))
    with pytest.raises(BoardError, match="install it with"):
        dispatch(store, Order(DONE, str(project), agent="pi"))
    assert view_ids(store) == []


def test_without_an_agent_the_demo_serves(store: StorePaths, project: Path, no_agents: Path) -> None:
    done = dispatch(store, Order(DONE, str(project)))
    meta = plain.read_or_none(Meta, store.view(done.view_id).meta)
    assert meta is not None
    assert meta.agent == "demo"
    settled(store, done)


def test_a_name_that_is_taken_is_refused_and_a_made_one_gets_a_number(store: StorePaths, project: Path) -> None:
    first = dispatch(store, Order(DONE, str(project), agent="demo", name="mine"))
    with pytest.raises(UsageError, match="“mine” already"):
        dispatch(store, Order(DONE, str(project), agent="demo", name="mine"))
    names = [dispatch(store, Order(DONE, str(project), agent="demo")) for _ in range(2)]
    assert [done.name for done in names] == ["demo-say-ok", "demo-say-ok-2"]
    for done in (first, *names):
        settled(store, done)


def test_a_wrapper_that_is_not_there_fails_with_its_words(store: StorePaths, project: Path) -> None:
    options = Options(agents={"demo": AgentOptions(wrap=("no-such-wrapper",))})
    done = dispatch(store, Order(DONE, str(project), agent="demo"), options)
    state = settled(store, done)
    assert (state.semantic_state, state.reason) == (SemanticState.FAILED, "startup")
    assert "no-such-wrapper" in (state.error or "")


def test_a_runner_that_cannot_start_leaves_a_row_that_says_so(
    store: StorePaths, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent_board.runs.launch.JOB_RUNNER", str(project / "gone.py"))
    with pytest.raises(BoardError, match=r"runner did not start; see .*runner\.log"):
        dispatch(store, Order(DONE, str(project), agent="demo"))
    [view_id] = view_ids(store)
    state = plain.read_or_none(State, store.view(view_id).state)
    assert state is not None
    assert (state.semantic_state, state.reason) == (SemanticState.FAILED, "not-sent")


def test_five_at_once_each_do_their_own(store: StorePaths, project: Path) -> None:
    """AB-108."""
    script = (
        "import sys\n"
        "from agent_board.runs.dispatch import Order, dispatch\n"
        "from agent_board.store.paths import StorePaths\n"
        "done = dispatch(StorePaths(sys.argv[1]), Order(sys.argv[3].encode(), sys.argv[2], agent='demo'))\n"
        "print(done.view_id)\n"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", script, store.root, str(project), f"demo: say I am number {number}."],
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(5)
    ]
    for number, process in enumerate(running):
        view_id = process.communicate(timeout=60)[0].strip()
        state = settled(store, Dispatched(view_id, "", ""))
        assert state.summary == f"I am number {number}."


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte (needs root)."""
    folder = tmp_path / "small"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path) -> None:
    """Leave not a byte free."""
    with open(folder / "filler", "wb", buffering=0) as file:
        for size in (1 << 16, 1 << 10, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue


@pytest.mark.full
def test_a_disk_that_is_full_before_the_dispatch(small_disk: Path, project: Path) -> None:
    paths = open_store(str(small_disk / "store"))
    fill(small_disk / "store")
    with pytest.raises(BoardError, match="No space left on device"):
        dispatch(paths, Order(DONE, str(project), agent="demo"))
    assert view_ids(paths) == []


@pytest.mark.full
def test_a_disk_that_fills_up_during_the_run(small_disk: Path, project: Path) -> None:
    """FIELD-FAULTS 44: the agent goes on, no file is torn, and the last words have their place."""
    paths = open_store(str(small_disk / "store"))
    go = project / "go"
    done = dispatch(
        paths, Order(f"demo: say Going.; until {go}; say Done anyway.".encode(), str(project), agent="demo")
    )
    view = paths.view(done.view_id)

    def working() -> bool:
        state = plain.read_or_none(State, view.state)
        return state is not None and state.semantic_state is SemanticState.WORKING

    wait_for(working, what="it to work")
    fill(small_disk / "store")
    go.touch()
    state = settled(paths, done)
    assert (state.semantic_state, state.summary) == (SemanticState.COMPLETED, "Done anyway.")
    assert plain.read_or_none(RunStatus, view.run(done.run_id).status) is not None
