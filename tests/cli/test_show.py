"""`show`, `explain` and `stop`."""

import os
from pathlib import Path

import pytest

from agent_board.store.paths import StorePaths
from tests.cli.conftest import Cli
from tests.cli.makers import AT, make_run, make_view, tear
from tests.cli.test_list import KEYS
from tests.cli.test_usage import one_sentence
from tests.support.wait import wait_for

RUN_KEYS = {
    "runId",
    "kind",
    "semanticState",
    "exitCode",
    "startedAt",
    "endedAt",
    "promptPreview",
    "workerPid",
    "shimPid",
}


@pytest.fixture(autouse=True)
def here(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(project)
    return project


def test_show_is_the_listed_object_and_its_runs(cli: Cli, store: StorePaths):
    make_view(store, "aa11")
    (listed,) = cli("list", "--json").json
    shown = cli("show", "aa11", "--json").json
    (run,) = shown.pop("runs")
    assert shown == listed
    assert set(shown) >= KEYS
    assert set(run) >= RUN_KEYS
    assert (run["runId"], run["kind"], run["semanticState"], run["exitCode"]) == ("0001-aa11", "prompt", "completed", 0)
    assert (run["startedAt"], run["endedAt"], run["promptPreview"]) == (AT + 1, AT + 2, "prompt 1")
    assert (run["workerPid"], run["shimPid"]) == (4242, None)


def test_runs_come_in_the_order_in_which_they_were_asked_for(cli: Cli, store: StorePaths):
    make_view(store, "aa11")
    for seq in (10, 3, 2):
        make_run(store, "aa11", f"{seq:04d}-{seq:x}", seq=seq)
    assert [run["seq"] for run in cli("show", "aa11", "--json").json["runs"]] == [1, 2, 3, 10]


@pytest.mark.parametrize("name", ["request", "status"])
def test_an_unreadable_run_says_so(cli: Cli, store: StorePaths, name: str):
    make_view(store, "aa11")
    tear(getattr(store.view("aa11").run("0001-aa11"), name))
    (run,) = cli("show", "aa11", "--json").json["runs"]
    assert run["unreadable"].startswith(f"{name}.json ")
    assert set(run) >= RUN_KEYS
    assert cli("show", "aa11").code == 0


def test_show_in_plain_words(cli: Cli, store: StorePaths):
    make_view(store, "aa11", "failed", meta={"name": "a\x1b[1mb"}, error="It broke.", summary="It broke.")
    out = cli("show", "aa11").out
    assert "state       failed" in out
    assert "error       It broke." in out
    assert "run 1 0001-aa11: failed" in out or "run 1 0001-aa11: completed" in out
    assert "\x1b" not in out


@pytest.mark.parametrize("arguments", [["show"], ["explain"], ["logs"]])
@pytest.mark.parametrize("json", [[], ["--json"]])
@pytest.mark.parametrize("name", ["meta", "state"])
def test_an_unreadable_view_is_shown_and_says_so(cli: Cli, store: StorePaths, arguments, json, name: str):
    make_view(store, "aa11")
    tear(getattr(store.view("aa11"), name))
    done = cli(*arguments, "aa11", *json)
    assert done.code == 0
    assert f"{name}.json" in done.out + done.err


@pytest.mark.parametrize("command", ["show", "explain", "logs", "stop", "wait"])
def test_an_unknown_view_is_one_sentence(cli: Cli, store: StorePaths, command: str):
    make_view(store, "aa11")
    make_view(store, "aa22")
    for word in ("nothing", "aa"):
        done = cli(command, word)
        assert done.code == 1
        assert one_sentence(done.err)
        assert "aa11" in done.err


def test_explain_gives_rule_and_evidence(cli: Cli):
    cli("dispatch", "--agent", "demo", "--name", "t", "--wait", "demo: report failed The build is red")
    told = cli("explain", "t", "--json").json
    assert (told["semanticState"], told["reason"], told["unreadable"]) == ("failed", "report", None)
    assert told["explanation"]
    assert cli("explain", "t").out.splitlines() == told["explanation"]


def test_explain_before_the_first_state(cli: Cli, store: StorePaths):
    make_view(store, "aa11")
    os.unlink(store.view("aa11").state)
    os.rename(store.view("aa11").run("0001-aa11").dir, f"{store.view('aa11').dir}/away")
    done = cli("explain", "aa11")
    assert done.code == 0
    assert "no state yet" in done.out
    assert cli("show", "aa11", "--json").json["semanticState"] == "queued"


@pytest.mark.parametrize("json", [[], ["--json"]])
def test_stop_ends_a_task(cli: Cli, json: list[str]):
    """AB-054."""
    cli("dispatch", "--agent", "demo", "--name", "t", "demo: say a; hang")
    wait_for(lambda: cli("show", "t", "--json").json["semanticState"] == "working")
    done = cli("stop", "t", *json)
    assert done.code == 0, done.err
    if json:
        assert set(done.json) == {"viewId", "semanticState", "message"}
        assert done.json["semanticState"] == "stopped"
    shown = cli("show", "t", "--json").json
    assert (shown["semanticState"], shown["processState"]) == ("stopped", "exited")


def test_stop_of_a_settled_task_fails(cli: Cli):
    cli("dispatch", "--agent", "demo", "--name", "t", "--wait", "demo: report completed")
    done = cli("stop", "t")
    assert done.code == 1
    assert done.out == ""
    assert one_sentence(done.err)


def test_stop_makes_no_store(cli: Cli, tmp_path: Path):
    place = tmp_path / "nowhere"
    assert cli("stop", "t", "--home", str(place)).code == 1
    assert not place.exists()
