"""`rename`, `pin`, `unpin`, `done`, `reopen`, `archive`, `restore`, `undo`: acts on a row (AB-070 … AB-077)."""

import json
from pathlib import Path
from typing import Any

import pytest

from agent_board.store.paths import StorePaths
from agent_board.store.records import ProcessState
from tests.cli.conftest import Cli
from tests.cli.makers import make_view, tear
from tests.cli.test_usage import one_sentence


@pytest.fixture
def view(store: StorePaths) -> str:
    return make_view(store, "aa11", meta={"name": "typos"})


def shown(cli: Cli, view_id: str = "aa11") -> dict[str, Any]:
    found: dict[str, Any] = cli("show", view_id, "--json").json
    return found


def test_rename(cli: Cli, view: str):
    done = cli("rename", "typos", "  fix the   typos ")
    assert (done.code, done.out) == (0, "“typos” is called “fix the typos” now.\n")
    told = cli("rename", view, "修复", "--json").json
    assert (told["viewId"], told["name"]) == (view, "修复")
    assert shown(cli)["name"] == "修复"


@pytest.mark.parametrize("name", ["", " \t", "a\x1b[31mb", "bell\x07", "x" * 300, "other", "a\u202eb"])
def test_a_name_that_can_not_be_is_refused(cli: Cli, store: StorePaths, view: str, name: str):
    make_view(store, "bb22", meta={"name": "other"})
    done = cli("rename", view, name)
    assert (done.code, done.out) == (2, "")
    assert one_sentence(done.err)
    assert shown(cli)["name"] == "typos"


def test_a_name_of_its_own_is_no_clash(cli: Cli, view: str):
    assert cli("rename", view, "typos").code == 0


def test_pin_and_unpin(cli: Cli, view: str):
    assert cli("pin", view).out == "“typos” is pinned.\n"
    assert cli("pin", view).code == 0
    assert shown(cli)["pinned"] is True
    assert cli("unpin", view, "--json").json["viewId"] == view
    assert shown(cli)["pinned"] is False


def test_done_and_reopen(cli: Cli, store: StorePaths):
    make_view(store, "ask1", "needs_input", meta={"name": "asks"}, question="Which?", needsInput=True)
    make_view(store, "done1", meta={"name": "ends"})
    assert cli("done", "asks", "--json").json["semanticState"] == "completed"
    assert shown(cli, "ask1")["verdict"]["state"] == "completed"
    assert cli("done", "asks").code == 1
    assert cli("reopen", "asks", "--json").json["semanticState"] == "needs_input"
    assert cli("reopen", "asks").code == 1
    assert cli("reopen", "ends", "--json").json["semanticState"] == "idle"
    assert cli("done", "ends", "--json").json["semanticState"] == "completed"


def test_archive_and_restore(cli: Cli, view: str):
    assert cli("archive", view).code == 0
    assert cli("list", "--json").json == []
    assert [found["id"] for found in cli("list", "--all", "--json").json if found["archivedAt"]] == [view]
    again = cli("archive", view)
    assert again.code == 1
    assert "archived already" in again.err
    assert cli("restore", "typos").out == "“typos” is back on the board.\n"
    assert [found["id"] for found in cli("list", "--json").json] == [view]
    assert cli("restore", "typos").code == 1


def test_undo_takes_the_last_act_back_and_then_the_one_before(cli: Cli, view: str):
    """FIELD-FAULTS 46: row, state, pin and name come back."""
    cli("pin", view)
    cli("rename", view, "other")
    cli("archive", view)
    assert cli("undo").out == "Undone: archive of “other”.\n"
    assert [found["name"] for found in cli("list", "--json").json] == ["other"]
    assert cli("undo", "--json").json == {"message": "Undone: rename of “typos”."}
    assert shown(cli)["pinned"] is True
    assert cli("undo").code == 0
    assert (shown(cli)["name"], shown(cli)["pinned"]) == ("typos", False)
    nothing = cli("undo")
    assert nothing.code == 1
    assert one_sentence(nothing.err)


def test_undo_of_what_was_deleted_since_is_a_sentence(cli: Cli, view: str):
    cli("pin", view)
    assert cli("delete", view, "--yes").code == 0
    done = cli("undo")
    assert done.code == 1
    assert "deleted since" in done.err


@pytest.mark.parametrize("act", ["done", "reopen", "archive", "delete"])
def test_a_living_row_is_left_alone(cli: Cli, store: StorePaths, act: str, monkeypatch: pytest.MonkeyPatch):
    make_view(store, "aa11", "working", processState=ProcessState.ALIVE)
    monkeypatch.setattr("agent_board.runs.reconcile.reconcile", lambda *_: False)
    before = Path(store.view("aa11").meta).read_bytes()
    done = cli(act, "aa11", *(["--yes"] if act == "delete" else []))
    assert (done.code, done.out) == (1, "")
    assert one_sentence(done.err)
    assert "running" in done.err
    assert Path(store.view("aa11").meta).read_bytes() == before


def test_a_row_that_only_claims_to_live_is_made_true_first(cli: Cli, store: StorePaths):
    """AB-028: its runner died; nobody has to open the board before it can be archived."""
    make_view(store, "aa11", "working", processState=ProcessState.ALIVE)
    assert cli("archive", "aa11").code == 0


@pytest.mark.parametrize("torn", ["meta", "state"])
def test_an_unreadable_row_can_be_archived_and_restored(cli: Cli, store: StorePaths, view: str, torn: str):
    tear(getattr(store.view(view), torn))
    bytes_before = Path(getattr(store.view(view), torn)).read_bytes()
    assert cli("archive", view).code == 0
    assert cli("list", "--json").json == []
    assert cli("restore", view).code == 0
    assert [found["id"] for found in cli("list", "--json").json] == [view]
    assert Path(getattr(store.view(view), torn)).read_bytes() == bytes_before
    for act in (["rename", view, "x"], ["pin", view], ["done", view]):
        done = cli(*act)
        assert done.code == (1 if torn == "meta" or act[0] == "done" else 0)


@pytest.mark.parametrize("act", ["pin", "unpin", "done", "reopen", "archive", "restore", "delete", "retry", "attach"])
def test_an_unknown_view_is_a_sentence(cli: Cli, view: str, act: str):
    done = cli(act, "nothing")
    assert (done.code, done.out) == (1, "")
    assert "No task is called" in done.err


def test_a_newer_store_is_not_changed(cli: Cli, store: StorePaths, view: str):
    Path(store.roster).write_text(json.dumps({"version": 99, "views": [], "archived": []}))
    for arguments in (["pin", view], ["archive", view], ["undo"], ["delete", view, "--yes"], ["reply", view, "x"]):
        done = cli(*arguments)
        assert done.code == 1
        assert "newer" in done.err
