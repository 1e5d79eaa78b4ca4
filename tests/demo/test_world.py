"""The demo's world: all states on one screen, real runs, and nothing left behind."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent_board.demo import leaving
from agent_board.demo.script import OWNER, WORLD
from agent_board.demo.seeds import IDLE, REPOSITORIES, SEEDS
from agent_board.demo.world import demo_world, start_directory
from agent_board.errors import BoardError
from agent_board.runs.dispatch import Order, dispatch
from agent_board.store.load import ViewRecord, load_view
from agent_board.store.paths import StorePaths
from agent_board.store.records import Meta, SemanticState, State
from agent_board.store.views import view_ids
from agent_board.text import cells
from tests.support import processes
from tests.support.wait import wait_for

ALL = set(SemanticState)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Worlds are made here, so that what is left of them is seen."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield folder
    monkeypatch.undo()
    tempfile.tempdir = None


def rows(paths: StorePaths) -> dict[str, tuple[Meta, State]]:
    """Meta and state by name, of views that have both."""
    found = {}
    for view_id in view_ids(paths):
        record = load_view(paths, view_id)
        if isinstance(record, ViewRecord) and isinstance(record.meta, Meta) and isinstance(record.state, State):
            found[record.meta.name] = (record.meta, record.state)
    return found


def states(paths: StorePaths) -> Counter[SemanticState]:
    return Counter(state.semantic_state for _, state in rows(paths).values())


def test_every_state_at_one_moment_within_ten_seconds_and_nothing_left(place: Path) -> None:
    """UX 4: every state is on one screen at some moment; at the end no process and no directory."""
    with demo_world() as paths:
        root = os.environ[WORLD]
        assert os.path.isdir(os.path.join(start_directory(paths), ".git"))
        wait_for(lambda: set(states(paths)) == ALL, timeout=10, what="every state at once")
        wait_for(lambda: all(stands(seed.name, paths) for seed in SEEDS), timeout=20, what="each task's own state")
        seen = rows(paths)
        check_variety(seen)
        check_truth(seen)
        assert processes.marked(root, WORLD)
        assert all(os.path.isdir(os.path.join(root, "src", name, ".git")) for name in REPOSITORIES)
        fresh = dispatch(paths, Order(b"Add a page about limits", start_directory(paths), agent="demo"))
        wait_for(lambda: settled(paths, fresh.name), timeout=40, what="a task of the user's own")
        assert SemanticState.FAILED is not rows(paths)[fresh.name][1].semantic_state
    assert not processes.marked(root, WORLD)
    assert os.listdir(place) == []
    assert WORLD not in os.environ


def stands(name: str, paths: StorePaths) -> bool:
    wanted = next(seed for seed in SEEDS if seed.name == name)
    found = rows(paths).get(name)
    if not found or found[1].semantic_state is not wanted.ends:
        return False
    return not wanted.seen or found[0].seen_seq == found[1].change_seq


def settled(paths: StorePaths, name: str) -> bool:
    return rows(paths)[name][1].semantic_state.settled


def check_variety(seen: dict[str, tuple[Meta, State]]) -> None:
    """Ages, unread, pinned, wide characters, a long summary, tokens and cost: what a board must cope with."""
    assert any(meta.pinned for meta, _ in seen.values())
    assert any(state.change_seq > meta.seen_seq for meta, state in seen.values())
    assert any(cells(name) > len(name) for name in seen)
    assert any(cells(state.summary) > 60 for _, state in seen.values())
    assert any(state.usage.cost_usd for _, state in seen.values())
    assert len({meta.cwd for meta, _ in seen.values()}) == len(REPOSITORIES)
    ages = {round((state.updated_at - state.state_since) / 1000) for _, state in seen.values()}
    assert ages
    since = [state.state_since for _, state in seen.values()]
    assert max(since) - min(since) > 3_600_000


def check_truth(seen: dict[str, tuple[Meta, State]]) -> None:
    question = seen["refresh-tokens"][1].question
    assert question
    assert "7 or 30" in question
    assert "flag?" in (seen["flaky-upload-test"][1].question or "")
    assert "429" in (seen["bump-deps"][1].error or "")
    assert seen[IDLE.name][1].current_run_id is None
    assert seen["支付回调重试"][1].semantic_state is SemanticState.WORKING


KILLED = """
import os, sys, time
from agent_board.demo.world import demo_world
from agent_board.store.views import view_ids
with demo_world() as paths:
    while len(view_ids(paths)) < 3:
        time.sleep(0.02)
    print(os.path.dirname(paths.root), flush=True)
    while True:  # not one long sleep: a signal that comes right before it is heard after it
        time.sleep(0.05)
"""


@contextmanager
def begun() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process with a world of its own, and that world's directory."""
    with subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_nothing_is_left_when_it_is_told_to_end(place: Path, number: signal.Signals) -> None:
    with begun() as (process, root):
        assert processes.marked(root, WORLD)
        process.send_signal(number)
        code = process.wait(20)
    assert code == (-number if number == signal.SIGINT else 128 + number)
    assert not processes.marked(root, WORLD)
    assert os.listdir(place) == []


def test_a_killed_demo_ends_by_itself_and_the_next_one_sweeps(place: Path) -> None:
    """`kill -9` runs no code of ours: its agents notice, and the next demo removes the directory."""
    with begun() as (process, root):
        process.kill()
    wait_for(lambda: not processes.marked(root, WORLD), timeout=20, what="the end of all that it had started")
    assert os.listdir(place) == [os.path.basename(root)]
    leaving.sweep()
    assert os.listdir(place) == []


def test_the_sweep_leaves_living_worlds_and_strange_directories_alone(place: Path) -> None:
    living = place / f"{leaving.PREFIX}living"
    living.mkdir()
    owner = leaving.own(str(living))
    strange = place / f"{leaving.PREFIX}strange"
    strange.mkdir()
    leaving.sweep()
    assert sorted(place.iterdir()) == [living, strange]
    os.close(owner)
    leaving.sweep()
    assert sorted(place.iterdir()) == [strange]
    assert not (living / OWNER).exists()


def test_an_exception_inside_leaves_nothing(place: Path) -> None:
    with pytest.raises(RuntimeError, match="board broke"), demo_world():
        raise RuntimeError("board broke")
    assert os.listdir(place) == []
    assert WORLD not in os.environ


def test_without_git_it_says_so(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(place))
    with pytest.raises(BoardError, match="git"), demo_world():
        pass
    assert os.listdir(place) == []


def test_the_users_git_settings_do_not_matter(place: Path, home: Path) -> None:
    (home / ".gitconfig").write_text("[init]\n\ttemplateDir = /nowhere\n[commit]\n\tgpgSign = true\n[broken\n")
    with demo_world() as paths:
        here = start_directory(paths)
        git = shutil.which("git")
        assert git
        log = subprocess.run(
            [git, "log", "--format=%an %s"],
            cwd=here,
            env={"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull},
            capture_output=True,
            text=True,
        ).stdout.splitlines()
    assert len(log) == 3
    assert all(line.startswith("Demo ") for line in log)
