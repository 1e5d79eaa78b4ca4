"""Where a task works, and who may write there (DESIGN 8; invariants 1, 6, 7; AB-005, AB-081, AB-088, AB-106)."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agent_board.errors import BoardError, UsageError
from agent_board.git.removal import WorkAtRiskError
from agent_board.runs.changes import view_changes
from agent_board.runs.delete import delete, plan_delete
from agent_board.runs.dispatch import Dispatched, Order, dispatch
from agent_board.runs.options import Options
from agent_board.runs.reply import reply
from agent_board.runs.stop import stop
from agent_board.store import plain
from agent_board.store.paths import StorePaths
from agent_board.store.records import Meta, SemanticState
from agent_board.store.views import view_ids
from tests.runs.views import own_processes, settled, state_of, working
from tests.support.wait import wait_for


def git(cwd: Path | str, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=cwd, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with one commit, a dirty file, a staged one and an untracked one."""
    folder = tmp_path / "src" / "api"
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    (folder / "notes.md").write_text("one\n")
    (folder / "sub").mkdir()
    (folder / "sub" / "x.txt").write_text("x\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    (folder / "notes.md").write_text("one\nmine\n")
    (folder / "staged.md").write_text("staged\n")
    git(folder, "add", "staged.md")
    (folder / "untracked.md").write_text("untracked\n")
    return folder


def fingerprint(folder: Path) -> dict[str, str]:
    """Tree, index and status of a checkout: what each consists of."""
    found = {}
    for base, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in (".git", ".worktrees")]
        for name in files:
            found[os.path.join(base, name)] = Path(base, name).read_text()
    found["index"] = hashlib.sha256((folder / ".git" / "index").read_bytes()).hexdigest()
    found["status"] = git(folder, "--no-optional-locks", "status", "--porcelain")
    return found


def start(store: StorePaths, cwd: Path, script: str, **order: object) -> Dispatched:
    prompt = f"work\ndemo: {script}".encode()
    return dispatch(store, Order(prompt, str(cwd), agent="demo", **order))  # type: ignore[arg-type]


def meta_of(store: StorePaths, done: Dispatched) -> Meta:
    meta = plain.read_or_none(Meta, store.view(done.view_id).meta)
    assert meta is not None
    return meta


def end(store: StorePaths, *views: Dispatched) -> None:
    for done in views:
        stop(store, done.view_id)
        settled(store, done.view_id)


def test_the_second_writer_gets_a_worktree_and_the_users_checkout_stays_as_it_is(store: StorePaths, repo: Path) -> None:
    """AB-109: run, reply and delete leave a dirty main checkout byte for byte."""
    first = start(store, repo, "say Going.; hang", name="first")
    working(store, first.view_id)
    before = fingerprint(repo)
    head = git(repo, "rev-parse", "HEAD")
    second = start(
        store,
        repo / "sub",
        "say Going.; run sh -c 'echo changed >> x.txt'; report completed Done.",
        name="Zweite Aufgabe!",
    )
    meta = meta_of(store, second)
    assert meta.worktree_mode == "on"
    assert meta.worktree_path == str(repo / ".worktrees" / (meta.branch or ""))
    assert (meta.base_ref, meta.repo_root) == (head, str(repo))
    assert settled(store, second.view_id).semantic_state is SemanticState.COMPLETED
    assert Path(meta.worktree_path or "", "sub", "x.txt").read_text() == "x\nchanged\n"
    answer = reply(store, second.view_id, b"demo: run sh -c 'echo again >> x.txt'; say Once more.")
    settled(store, second.view_id, run_id=answer.run_id)
    assert Path(meta.worktree_path or "", "sub", "x.txt").read_text() == "x\nchanged\nagain\n"
    with pytest.raises(WorkAtRiskError, match="would lose"):
        delete(store, second.view_id)
    assert Path(meta.worktree_path or "").is_dir()
    delete(store, second.view_id, shown=plan_delete(store, second.view_id), discard_work=True)
    assert not Path(meta.worktree_path or "").exists()
    assert second.view_id not in view_ids(store)
    assert fingerprint(repo) == before
    end(store, first)


def test_a_worktree_is_locked_while_a_run_works_in_it(store: StorePaths, repo: Path) -> None:
    """FIELD-FAULTS 14."""
    done = start(store, repo, "say Going.; work 60", worktree="on", name="locked")
    working(store, done.view_id)
    assert done.run_id in git(repo, "worktree", "list", "--porcelain")
    with pytest.raises(BoardError, match="still running"):
        delete(store, done.view_id)
    end(store, done)
    assert "\nlocked" not in git(repo, "worktree", "list", "--porcelain")
    delete(store, done.view_id)
    assert git(repo, "branch", "--list", "locked")  # the branch outlives the row


def test_the_lock_goes_when_its_run_is_gone(store: StorePaths, repo: Path) -> None:
    done = start(store, repo, "say Going.; work 60", worktree="on", name="gone")
    working(store, done.view_id)
    for pid in own_processes(done.run_id):
        os.kill(pid, signal.SIGKILL)
    assert settled(store, done.view_id).semantic_state is SemanticState.FAILED
    assert done.run_id not in git(repo, "worktree", "list", "--porcelain")


def test_a_reply_in_place_waits_for_the_other_writer_and_then_starts_by_itself(store: StorePaths, repo: Path) -> None:
    """Dispatch, reply and follow-up pass the same gate, in order."""
    first = start(store, repo, "say Done.", name="first")
    settled(store, first.view_id)
    second = start(store, repo, "say Done.", name="second")
    settled(store, second.view_id)
    assert meta_of(store, second).worktree_mode == "off"
    go = repo.parent / "go"
    reply(store, first.view_id, f"demo: say Going.; until {go}; say First.".encode())
    wait_for(lambda: state_of(store, first.view_id).semantic_state is SemanticState.WORKING, what="the first to work")
    reply(store, second.view_id, b"demo: say Second.")
    third = start(store, repo, "say Third.", name="third", worktree="off")
    for done in (second, third):
        wait_for(
            lambda done=done: state_of(store, done.view_id).queue_reason == f"waits for first in {repo}",  # type: ignore[misc]
            what="the row to say whom it waits for",
        )
        assert state_of(store, done.view_id).semantic_state is SemanticState.QUEUED
    go.touch()
    wait_for(lambda: state_of(store, third.view_id).summary == "Third.", 20, "the last in line")
    assert state_of(store, second.view_id).summary == "Second."


def test_a_waiting_run_can_be_stopped_and_leaves_the_line(store: StorePaths, project: Path) -> None:
    first = start(store, project, "say Going.; work 60", name="first")
    working(store, first.view_id)
    second, third = (start(store, project, "say Later.", name=name) for name in ("second", "third"))
    wait_for(lambda: state_of(store, second.view_id).queue_reason != "starting", what="the second to wait")
    stop(store, second.view_id)
    assert settled(store, second.view_id).semantic_state is SemanticState.STOPPED
    end(store, first)
    assert settled(store, third.view_id).summary == "Later."


def test_reading_runs_wait_for_nobody(store: StorePaths, repo: Path) -> None:
    first = start(store, repo, "say Going.; work 60", name="first")
    working(store, first.view_id)
    reading = start(store, repo, "say Read.", name="reading", read_only=True)
    assert settled(store, reading.view_id).semantic_state is SemanticState.COMPLETED
    assert meta_of(store, reading).worktree_mode == "off"
    end(store, first)


@pytest.mark.parametrize("rounds", [3, pytest.param(40, marks=pytest.mark.full)])
def test_of_two_dispatches_at_one_instant_exactly_one_is_in_place(store: StorePaths, repo: Path, rounds: int) -> None:
    script = (
        "import sys\n"
        "from agent_board.runs.dispatch import Order, dispatch\n"
        "from agent_board.store.paths import StorePaths\n"
        "print('there', flush=True); sys.stdin.readline()\n"
        "order = Order(b'demo: say Going.; work 60', sys.argv[2], agent='demo')\n"
        "print(dispatch(StorePaths(sys.argv[1]), order).view_id)\n"
    )
    for _ in range(rounds):
        both = [
            subprocess.Popen(
                [sys.executable, "-c", script, store.root, str(repo)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(2)
        ]
        for process in both:
            assert process.stdout is not None
            process.stdout.readline()
        for process in both:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        started = [Dispatched(process.communicate(timeout=60)[0].strip(), "", "") for process in both]
        assert sorted(meta_of(store, done).worktree_mode for done in started) == ["off", "on"]
        checkouts = {meta_of(store, done).checkout for done in started}
        assert len(checkouts) == 2
        for done in started:
            working(store, done.view_id)
        end(store, *started)


def test_no_commit_no_repository_and_bare_are_said_plainly(store: StorePaths, tmp_path: Path, project: Path) -> None:
    """FIELD-FAULTS 20: an explicit outcome, never silently unisolated."""
    unborn, bare = tmp_path / "unborn", tmp_path / "bare.git"
    git(tmp_path, "init", "-q", str(unborn))
    git(tmp_path, "init", "-q", "--bare", str(bare))
    for cwd, why in ((unborn, "no commit yet"), (project, "not in a git repository"), (bare, "no commit yet")):
        with pytest.raises(BoardError, match=why):
            start(store, cwd, "say x", worktree="on")
    with pytest.raises(BoardError, match="bare repository"):
        start(store, bare, "say x", worktree="off")
    with pytest.raises(UsageError, match="auto, on, off"):
        start(store, project, "say x", worktree="perhaps")
    assert view_ids(store) == []


def test_a_worktree_that_cannot_be_made_fails_the_row_and_can_be_retried(store: StorePaths, repo: Path) -> None:
    (repo / ".worktrees").write_text("in the way")
    done = start(store, repo, "say Done.", worktree="on", name="blocked")
    state = settled(store, done.view_id)
    assert (state.semantic_state, state.reason, state.held_prompts) == (SemanticState.FAILED, "not-sent", 1)
    assert ".worktrees" in (state.error or "")
    (repo / ".worktrees").unlink()
    from agent_board.runs.reply import retry

    again = retry(store, done.view_id)
    assert settled(store, done.view_id, run_id=again.run_id).summary == "Done."


@pytest.mark.parametrize("how", ["removed", "replaced by a file", "replaced by a symlink", "repository gone"])
def test_a_row_can_always_be_deleted(store: StorePaths, repo: Path, tmp_path: Path, how: str) -> None:
    """FIELD-FAULTS 17: and what stands in the worktree's place is never touched."""
    done = start(store, repo, "say Done.", worktree="on", name="stray")
    settled(store, done.view_id)
    path = Path(meta_of(store, done).worktree_path or "")
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("keep me")
    shutil.rmtree(path)
    if how == "replaced by a file":
        path.write_text("keep me")
    elif how == "replaced by a symlink":
        path.symlink_to(precious)
    elif how == "repository gone":
        shutil.rmtree(repo)
    delete(store, done.view_id)
    assert done.view_id not in view_ids(store)
    assert (precious / "file").read_text() == "keep me"
    if how == "replaced by a file":
        assert path.read_text() == "keep me"


def test_a_plain_directory_above_a_writers_warns(store: StorePaths, project: Path) -> None:
    below = project / "below"
    below.mkdir()
    first = start(store, below, "say Going.; work 60", name="first")
    working(store, first.view_id)
    second = start(store, project, "say Done.", name="second")
    assert second.warnings == (f"“first” writes in {below}, below this directory.",)
    settled(store, second.view_id)
    end(store, first)


def test_worktrees_can_be_put_elsewhere(store: StorePaths, repo: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "trees"
    order = Order(b"demo: say Done.", str(repo), agent="demo", name="away", worktree="on")
    done = dispatch(
        store, order, Options(worktree_root=str(elsewhere), worktree_setup=("sh", "-c", "echo ready > set-up"))
    )
    settled(store, done.view_id)
    path = Path(meta_of(store, done).worktree_path or "")
    assert path.is_relative_to(elsewhere)
    assert (path / "set-up").read_text() == "ready\n"


def test_removed_while_it_ran_it_can_still_be_deleted(store: StorePaths, repo: Path) -> None:
    """FIELD-FAULTS 17: the lock of a run must not outlive it where the directory can't lead to it any more."""
    done = start(store, repo, "say Going.; work 60", worktree="on", name="lost")
    working(store, done.view_id)
    shutil.rmtree(meta_of(store, done).worktree_path or "")
    end(store, done)
    assert "\nlocked" not in git(repo, "worktree", "list", "--porcelain")
    delete(store, done.view_id)
    assert done.view_id not in view_ids(store)


def test_a_directory_without_commits_is_there_in_the_worktree_too(store: StorePaths, repo: Path) -> None:
    (repo / "new" / "deep").mkdir(parents=True)
    done = start(store, repo / "new" / "deep", "run pwd; say Done.", worktree="on", name="deep")
    assert settled(store, done.view_id).semantic_state is SemanticState.COMPLETED
    assert Path(meta_of(store, done).worktree_path or "", "new", "deep").is_dir()


def test_commits_made_in_place_are_shown(store: StorePaths, repo: Path) -> None:
    done = start(store, repo, "run sh -c 'echo x > new && git add new && git commit -qm Mine'; say Done.")
    settled(store, done.view_id)
    found = view_changes(store, done.view_id)
    assert [commit.subject for commit in found.commits] == ["Mine"]
    assert "new" in [file.path for file in found.files]
    git(repo, "stash", "-uq")
    git(repo, "switch", "-q", "--orphan", "elsewhere")
    assert view_changes(store, done.view_id).ahead == 0


def test_a_repository_below_a_plain_writer_warns(store: StorePaths, repo: Path) -> None:
    first = start(store, repo.parent, "say Going.; work 60", name="first")
    working(store, first.view_id)
    second = start(store, repo, "say Done.", name="second")
    assert second.warnings == (f"“first” writes in {repo.parent}, above this directory.",)
    settled(store, second.view_id)
    isolated = start(store, repo, "say Done.", name="third", worktree="on")
    settled(store, isolated.view_id)
    end(store, first)
