"""Invariant 11: wall times decide nothing, and durations don't come from them."""

import os
from pathlib import Path

import pytest

from agent_board.runs import claim, launch
from agent_board.runs.claim import run_ids
from agent_board.runs.reply import reply
from agent_board.runs.stop import stop
from agent_board.store.files import write_bytes
from agent_board.store.paths import StorePaths
from agent_board.store.records import SemanticState
from tests.runs.views import settled, start, status_of, working


def test_runs_under_a_clock_that_jumps_back(store: StorePaths, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs and a stop: states, order and durations are those of a steady clock."""
    runner = Path(__file__).with_name("jumping_runner.py")
    monkeypatch.setattr(launch, "JOB_RUNNER", str(runner))
    task = start(store, project, "say Done.")
    assert settled(store, task.view_id).semantic_state is SemanticState.COMPLETED
    status = status_of(store, task.view_id, task.run_id)
    assert status.ended_at is not None
    assert status.ended_at < status.started_at
    assert set(status.durations) == {"toWorker", "toFirstEvent", "run"}
    assert all(0 <= duration < 120_000 for duration in status.durations.values()), status.durations
    answer = reply(store, task.view_id, b"demo: say Going.; hang")
    working(store, task.view_id)
    stop(store, task.view_id)
    state = settled(store, task.view_id, run_id=answer.run_id)
    assert (state.semantic_state, state.stalled_since) == (SemanticState.STOPPED, None)


def test_the_order_of_runs_is_their_number(store: StorePaths, project: Path) -> None:
    """Whatever the times of their files say."""
    task = start(store, project, "say Done.")
    settled(store, task.view_id)
    answer = reply(store, task.view_id, b"demo: say Done again.")
    settled(store, task.view_id, run_id=answer.run_id)
    view = store.view(task.view_id)
    os.utime(view.run(task.run_id).dir, (4_000_000_000, 4_000_000_000))
    assert run_ids(view) == [task.run_id, answer.run_id]
    assert claim.next_seq(view) == 3


def test_what_must_survive_a_power_cut_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """First the bytes, then the name, then the directory."""
    done: list[str] = []
    real_sync, real_replace = os.fsync, os.replace

    def syncing(fd: int) -> None:
        done.append("directory" if os.path.isdir(f"/dev/fd/{fd}") else "bytes")
        real_sync(fd)

    def replacing(source: str, target: str) -> None:
        done.append("name")
        real_replace(source, target)

    monkeypatch.setattr(os, "fsync", syncing)
    monkeypatch.setattr(os, "replace", replacing)
    write_bytes(str(tmp_path / "prompt"), b"words", sync=True)
    assert done == ["bytes", "name", "directory"]
