"""Invariants 4 and 11: a row whose run is dead says so, whatever its other files have become."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_board.runs import followups
from agent_board.runs.reconcile import reconcile
from agent_board.runs.reply import reply
from agent_board.store import plain
from agent_board.store.files import Unreadable, read_json
from agent_board.store.load import load_view
from agent_board.store.paths import StorePaths
from agent_board.store.records import ProcessState, SemanticState, State
from agent_board.store.views import archived_ids, view_ids
from tests.invariants.worlds import dead, kill, request_of, shim_of, worker_of
from tests.runs.views import settled, start, state_of, working
from tests.support import command

BYTES = [b"", b'{"version":1,"items"', b'{"version":1,"items":[5]}', b'{"version":99,"items":[]}', bytes(range(256))]


@pytest.mark.parametrize("content", BYTES, ids=["empty", "torn", "wrong shape", "newer", "foreign"])
def test_unreadable_followups_keep_no_row_from_ending(store: StorePaths, project: Path, content: bytes) -> None:
    """Its bytes stay as they are: nobody knows what the user had written there."""
    task = dead(store, project)
    path = Path(store.view(task.view_id).followups)
    path.write_bytes(content)
    assert reconcile(store, task.view_id)
    state = state_of(store, task.view_id)
    assert (state.semantic_state, state.process_state) == (SemanticState.FAILED, ProcessState.EXITED)
    assert path.read_bytes() == content


def test_an_unsent_prompt_goes_before_followups_that_cannot_be_read(store: StorePaths, project: Path) -> None:
    """The torn bytes are kept beside, the prompt is held."""
    task = dead(store, project)
    view = store.view(task.view_id)
    os.unlink(view.run(task.run_id).started)
    Path(view.followups).write_bytes(b"torn")
    assert reconcile(store, task.view_id)
    assert [waiting.state for waiting in followups.listed(view)] == ["not-sent"]
    (kept,) = Path(view.dir).glob("followups.json.unreadable-*")
    assert kept.read_bytes() == b"torn"


@pytest.mark.parametrize("content", [None, b"\xff\xfe not UTF-8"])
@pytest.mark.parametrize("torn_status", [False, True])
def test_a_prompt_that_is_gone_or_spoilt_keeps_no_row_from_ending(
    store: StorePaths, project: Path, content: bytes | None, torn_status: bool
) -> None:
    """And nothing that the user did not write waits for him (invariant 5)."""
    task = dead(store, project)
    run = store.view(task.view_id).run(task.run_id)
    os.unlink(run.started)
    if content is None:
        os.unlink(run.prompt)
    else:
        Path(run.prompt).write_bytes(content)
    if torn_status:
        Path(run.status).write_bytes(b"{")
    assert reconcile(store, task.view_id)
    assert state_of(store, task.view_id).reason == "not-sent"
    assert followups.listed(store.view(task.view_id)) == []
    refused = command.run("retry", task.view_id)
    assert (refused.code, "can't be read" in refused.err) == (1, True)


def test_the_reserve_is_there_while_a_run_goes_on_and_no_longer(store: StorePaths, project: Path) -> None:
    """DESIGN 4: 64 KB, so that the last status has its place on a full disk; also for who settles a dead run."""
    task = start(store, project, "say Going.; hang")
    reserve = Path(store.view(task.view_id).run(task.run_id).dir, ".reserve")
    working(store, task.view_id)
    assert reserve.stat().st_size == 64 << 10
    kill(shim_of(store, task), worker_of(store, task))
    assert reconcile(store, task.view_id)
    assert not reserve.exists()
    done = start(store, project, "say Done.")
    settled(store, done.view_id)
    assert not Path(store.view(done.view_id).run(done.run_id).dir, ".reserve").exists()


def pipe(path: str) -> None:
    os.mkfifo(path)


def endless(path: str) -> None:
    os.symlink("/dev/zero", path)


def loop(path: str) -> None:
    os.symlink(path, path)


@pytest.mark.parametrize("odd", [pipe, endless, loop])
def test_what_is_no_file_is_unreadable_and_holds_nobody_up(tmp_path: Path, odd: Callable[[str], None]) -> None:
    path = str(tmp_path / "meta.json")
    odd(path)
    assert isinstance(read_json(path), Unreadable)


def test_odd_entries_among_the_views_are_passed_over(store: StorePaths) -> None:
    loop(f"{store.views}/loop")
    pipe(f"{store.views}/pipe")
    assert view_ids(store) == []
    Path(store.roster).write_text('{"version":1,"views":[],"archived":[["x"],{},"a"]}')
    assert archived_ids(store) == {"a"}


@pytest.mark.parametrize("acts", ["5", '"ab"', "[5]", '[{"viewId":"x"}]', '[{"viewId":1,"act":1,"before":1}]'])
def test_a_journal_of_another_shape_stops_no_act(store: StorePaths, project: Path, acts: str) -> None:
    view_id = start(store, project, "say Done.").view_id
    settled(store, view_id)
    Path(store.root, "undo.json").write_text(f'{{"version":1,"acts":{acts}}}')
    assert command.run("undo").err == "agent-board: There is nothing to undo.\n"
    command.ok("rename", view_id, "other")
    command.ok("undo")


def test_a_copied_view_is_a_view_of_its_own(store: StorePaths, project: Path) -> None:
    """Whoever copies a view by hand gets a second row; settling it and replying to it leaves the first alone."""
    first = dead(store, project)
    shutil.copytree(store.view(first.view_id).dir, store.view("copy").dir)
    before = Path(store.view(first.view_id).state).read_bytes()
    record = load_view(store, "copy")
    assert getattr(record, "meta").id == "copy"  # noqa: B009
    assert reconcile(store, "copy")
    assert Path(store.view(first.view_id).state).read_bytes() == before
    copied = plain.read(State, store.view("copy").state)
    assert isinstance(copied, State)
    assert copied.semantic_state is SemanticState.FAILED
    answer = reply(store, "copy", b"demo: say Done.")
    assert answer.run_id is not None
    assert request_of(store, "copy", answer.run_id).view_id == "copy"
    settled(store, "copy", run_id=answer.run_id)
    assert Path(store.view(first.view_id).state).read_bytes() == before
