"""Adopt: a session from elsewhere becomes a row, once; a reply continues it (AB-104; FIELD-FAULTS 27, 34)."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from agent_board.agents.registry import agent
from agent_board.errors import BoardError
from agent_board.runs.adopt import Adopted, adopt
from agent_board.runs.delete import delete
from agent_board.runs.life import archive, done
from agent_board.runs.reconcile import reconcile
from agent_board.runs.reply import reply
from agent_board.runs.stop import stop
from agent_board.runs.worktree import LEAVE_WORKTREES
from agent_board.states.view import shown
from agent_board.store import plain
from agent_board.store.paths import StorePaths
from agent_board.store.records import Meta, ProcessState, RunRequest, SemanticState
from agent_board.store.views import view_ids
from tests.git.repo import make_repo
from tests.runs.views import settled, start, state_of, working
from tests.support.wait import wait_for

NAMED = {"type": "session_info", "id": "2", "name": "Upload tests"}


@pytest.fixture(autouse=True)
def quick_demo(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_BOARD_DEMO_SPEED", "100")


def pi_session(path: Path, cwd: Path, *more: object, prompt: str = "Why is it flaky?") -> Path:
    """A file as Pi begins one."""
    entries = [
        {"type": "session", "version": 3, "id": "0199-abc", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": str(cwd)},
        {"type": "model_change", "id": "1", "modelId": "some-model"},
        *more,
        {"type": "message", "id": "3", "message": {"role": "user", "content": [{"type": "text", "text": prompt}]}},
    ]
    path.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries))
    return path


def demo_session(path: Path, cwd: Path) -> Path:
    """A conversation that the scripted agent had without a board."""
    program = agent("demo").command
    from agent_board.agents.base import Job

    subprocess.run(
        program(Job(cwd=str(cwd), session_file=str(path))), input=b"Hello there\ndemo: say Hello.", cwd=cwd, check=True
    )
    return path


def meta_of(store: StorePaths, adopted: Adopted) -> Meta:
    meta = plain.read(Meta, store.view(adopted.view_id).meta)
    assert isinstance(meta, Meta)
    return meta


def test_a_pi_session_becomes_an_idle_row(store: StorePaths, project: Path, tmp_path: Path) -> None:
    path = pi_session(tmp_path / "old.jsonl", project)
    before = path.read_bytes()
    adopted = adopt(store, str(path))
    assert (adopted.new, adopted.name) == (True, "why-is-it-flaky")
    meta, state = meta_of(store, adopted), state_of(store, adopted.view_id)
    assert (meta.agent, meta.kind, meta.session_file) == ("pi", "pi-session", str(path))
    assert (meta.cwd, meta.session_id) == (str(project), "0199-abc")
    assert (state.semantic_state, state.process_state) == (SemanticState.IDLE, ProcessState.EXITED)
    assert state.current_run_id is None
    assert not shown(meta, state).unread
    assert not reconcile(store, adopted.view_id)
    assert path.read_bytes() == before
    done(store, adopted.view_id)  # a verdict needs no run
    assert shown(meta_of(store, adopted), state).state is SemanticState.COMPLETED


def test_a_session_with_a_name_keeps_it(store: StorePaths, project: Path, tmp_path: Path) -> None:
    assert adopt(store, str(pi_session(tmp_path / "old.jsonl", project, NAMED))).name == "upload-tests"


def test_it_is_adopted_once(store: StorePaths, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By any of its names, and also while it is archived."""
    path = pi_session(tmp_path / "old.jsonl", project)
    first = adopt(store, str(path))
    (tmp_path / "link.jsonl").symlink_to(path)
    monkeypatch.chdir(tmp_path)
    again = [adopt(store, name) for name in (str(path), "old.jsonl", "link.jsonl", f"../{tmp_path.name}/old.jsonl")]
    assert again == [Adopted(first.view_id, first.name, new=False)] * 4
    archive(store, first.view_id)
    assert adopt(store, str(path)).view_id == first.view_id
    assert view_ids(store) == [first.view_id]


def test_a_row_of_the_board_is_known_by_its_transcript(store: StorePaths, project: Path) -> None:
    task = start(store, project, "say Done.")
    settled(store, task.view_id)
    assert adopt(store, store.session(task.view_id)) == Adopted(task.view_id, task.name, new=False)


def test_many_at_once_make_one_row(store: StorePaths, project: Path, tmp_path: Path) -> None:
    path = pi_session(tmp_path / "old.jsonl", project)
    adopted: list[Adopted] = []
    threads = [threading.Thread(target=lambda: adopted.append(adopt(store, str(path)))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(adopted) == 8
    assert sorted(each.new for each in adopted) == [False] * 7 + [True]
    assert view_ids(store) == [adopted[0].view_id]


def test_a_reply_continues_it(store: StorePaths, project: Path, tmp_path: Path) -> None:
    path = demo_session(tmp_path / "mine.jsonl", project)
    adopted = adopt(store, str(path))
    assert adopted.name == "hello-there-demo-say-hello"
    answer = reply(store, adopted.view_id, b"Go on\ndemo: say Gone on.")
    assert settled(store, adopted.view_id, run_id=answer.run_id).summary == "Gone on."
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    assert [entry["text"] for entry in entries if entry["type"] == "prompt"] == [
        "Hello there\ndemo: say Hello.",
        "Go on\ndemo: say Gone on.",
    ]
    assert not os.path.exists(store.session(adopted.view_id))
    assert delete(store, adopted.view_id).stays == (str(path),)
    assert path.exists()


def test_a_file_that_a_process_has_open_is_refused(store: StorePaths, project: Path, tmp_path: Path) -> None:
    """Invariant 1: two writers on one session would spoil it."""
    path = pi_session(tmp_path / "old.jsonl", project)
    holding = f"file = open({str(path)!r}, 'a'); print('open', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", holding], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(BoardError, match=rf"Process {holder.pid} has .* open"):
            adopt(store, str(path))
        assert view_ids(store) == []
        holder.communicate("\n")
    assert adopt(store, str(path)).new


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"not json\n",
        b"\x00\xff\xfe\n",
        b"[" * 100_000,
        b"[]\n",
        b'{"type": "session"}\n',
        b'{"type": "session", "cwd": 5, "timestamp": "x"}\n',
        b'{"type": "session", "version": 1, "cwd": null}\n',
        b'{"type": "message", "message": {"role": "user", "content": "x"}}\n',
        b"x" * 3_000_000,
    ],
    ids=["empty", "blank", "text", "bytes", "deep", "list", "bare", "number", "null", "headless", "long"],
)
def test_what_is_no_session_is_refused(store: StorePaths, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file.jsonl"
    path.write_bytes(content)
    with pytest.raises(BoardError, match="not a session file of an agent"):
        adopt(store, str(path))
    assert view_ids(store) == []
    assert os.listdir(store.views) == []
    assert path.read_bytes() == content


def test_what_is_no_file_is_refused(store: StorePaths, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing.jsonl", Path("/dev/null")):
        with pytest.raises(BoardError, match="There is no session file"):
            adopt(store, str(path))
    assert view_ids(store) == []


def test_a_session_whose_directory_is_gone_says_so_on_reply(store: StorePaths, tmp_path: Path) -> None:
    adopted = adopt(store, str(demo_session(tmp_path / "mine.jsonl", tmp_path)))
    elsewhere = json.loads((tmp_path / "mine.jsonl").read_text().splitlines()[0]) | {"cwd": "/nonexistent/place"}
    other = tmp_path / "other.jsonl"
    other.write_text(f"{json.dumps(elsewhere)}\n")
    lost = adopt(store, str(other))
    assert lost.view_id != adopted.view_id
    with pytest.raises(BoardError, match="/nonexistent/place does not exist"):
        reply(store, lost.view_id, b"Hello")


def test_a_title_from_elsewhere_is_only_text(store: StorePaths, project: Path, tmp_path: Path) -> None:
    """Invariant 9."""
    path = pi_session(tmp_path / "old.jsonl", project, prompt="\x1b[31mred\x07 \u202eevil [bold]x[/]\nsecond line " * 9)
    name = adopt(store, str(path)).name
    assert name.isprintable()
    assert len(name) <= 40


def test_its_replies_wait_for_other_writers(store: StorePaths, project: Path, tmp_path: Path) -> None:
    """AB-088: no flow passes by the lease of the checkout."""
    repo = make_repo(tmp_path / "api")
    adopted = adopt(store, str(demo_session(tmp_path / "mine.jsonl", repo / "src")))
    meta = meta_of(store, adopted)
    assert (meta.checkout, meta.repo_root) == (str(repo), str(repo))
    first = start(store, repo, "say Going.; hang")
    working(store, first.view_id)
    answer = reply(store, adopted.view_id, b"demo: say Gone on.")
    waits = f"waits for {first.name} in {repo}"
    wait_for(lambda: state_of(store, adopted.view_id).queue_reason == waits, what="the reply to wait")
    stop(store, first.view_id)
    assert settled(store, adopted.view_id, run_id=answer.run_id).summary == "Gone on."
    request = plain.read(RunRequest, store.view(adopted.view_id).run(answer.run_id or "").request)
    assert isinstance(request, RunRequest)
    assert request.rules == [LEAVE_WORKTREES]
