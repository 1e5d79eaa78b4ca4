"""`wait`: returns when all have settled or are in S; 0, 3 or 4."""

import json
import os
import signal
from pathlib import Path

import pytest

from agent_board.store.files import write_json
from agent_board.store.paths import StorePaths
from tests.cli.conftest import Cli
from tests.cli.makers import make_view, tear
from tests.support import command
from tests.support.wait import wait_for


@pytest.fixture(autouse=True)
def here(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(project)
    return project


def start(cli: Cli, name: str, script: str) -> str:
    done = cli("dispatch", "--json", "--agent", "demo", "--read-only", "--name", name, f"demo: {script}")
    assert done.code == 0, done.err
    view_id: str = done.json["viewId"]
    return view_id


@pytest.mark.parametrize(
    ("states", "option", "code"),
    [
        (["completed"], None, 0),
        (["completed", "completed"], None, 0),
        (["completed", "failed"], None, 4),
        (["needs_input"], None, 4),
        (["idle"], None, 4),
        (["stopped"], None, 4),
        (["needs_input"], "needs_input", 0),
        (["completed", "needs_input"], "needs_input", 0),
        (["failed", "needs_input"], "needs_input", 4),
    ],
)
def test_exit_codes_of_what_has_settled(cli: Cli, store: StorePaths, states: list[str], option: str | None, code: int):
    ids = [make_view(store, f"a{at}", state, question="?", error="e") for at, state in enumerate(states)]
    done = cli("wait", *ids, "--json", *(["--state", option] if option else []))
    assert done.code == code
    assert [view["semanticState"] for view in done.json] == states


def test_it_waits_for_the_last_one(cli: Cli, here: Path):
    start(cli, "slow", f"say a; until {here}/go; report completed")
    start(cli, "quick", "report completed")
    waiting = command.start("wait", "slow", "quick", "--json")
    assert cli("wait", "quick", "--timeout", "30").code == 0
    assert waiting.poll() is None
    (here / "go").touch()
    out, err = waiting.communicate(timeout=30)
    assert (waiting.returncode, err) == (0, b"")
    assert [view["semanticState"] for view in json.loads(out)] == ["completed", "completed"]


def test_in_a_state_is_enough(cli: Cli):
    start(cli, "long", "say a; hang")
    assert cli("wait", "long", "--state", "working", "--timeout", "30").code == 0
    assert cli("stop", "long").code == 0


@pytest.mark.parametrize("option", [[], ["--json"]])
def test_the_time_is_over(cli: Cli, option: list[str]):
    start(cli, "long", "say a; hang")
    done = cli("wait", "long", "--timeout", "0.1", *option)
    assert done.code == 3
    assert done.out
    assert bool(done.err) == (not option)
    assert cli("stop", "long").code == 0


def test_a_killed_runner_and_worker_are_noticed(cli: Cli):
    """Nobody writes that a killed pair is dead; the wait finds it by itself."""
    start(cli, "doomed", "work 100000")
    shown = wait_for(lambda: _worker(cli, "doomed"))
    waiting = command.start("wait", "doomed")
    os.kill(shown["shimPid"], signal.SIGKILL)
    os.kill(shown["workerPid"], signal.SIGKILL)
    waiting.communicate(timeout=30)
    assert waiting.returncode == 4
    assert cli("show", "doomed", "--json").json["semanticState"] == "failed"


def _worker(cli: Cli, name: str):
    shown = cli("show", name, "--json").json
    return shown["runs"][0] if shown["semanticState"] == "working" else None


def test_an_unreadable_view_has_settled_otherwise(cli: Cli, store: StorePaths):
    make_view(store, "aa11")
    tear(store.view("aa11").state)
    done = cli("wait", "aa11")
    assert done.code == 4
    assert "unreadable" in done.out


def test_a_verdict_counts(cli: Cli, store: StorePaths):
    verdict = {"state": "completed", "runId": "0001-aa11", "at": 1}
    make_view(store, "aa11", "failed", meta={"verdict": verdict}, error="e")
    assert cli("wait", "aa11").code == 0


def test_one_named_twice_is_one(cli: Cli, store: StorePaths):
    make_view(store, "aa11")
    assert len(cli("wait", "aa11", "task-aa11", "aa", "--json").json) == 1


def test_a_view_that_is_deleted_meanwhile(cli: Cli, store: StorePaths):
    start(cli, "long", "say a; hang")
    make_view(store, "bb22", "queued", processState="alive")
    waiting = command.start("wait", "long")
    meta = store.view(cli("show", "long", "--json").json["id"]).meta
    os.rename(meta, f"{meta}.away")
    _, err = waiting.communicate(timeout=30)
    os.rename(f"{meta}.away", meta)
    assert waiting.returncode == 1
    assert b"gone" in err or b"No task" in err
    assert cli("stop", "long").code == 0


def test_unknown_views_are_refused_before_waiting(cli: Cli, store: StorePaths):
    make_view(store, "aa11", "queued")
    write_json(store.roster, {"version": 1, "views": ["aa11"], "archived": []})
    done = cli("wait", "aa11", "nothing")
    assert done.code == 1
    assert "nothing" in done.err
