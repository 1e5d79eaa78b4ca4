"""`list`: the flat objects that scripts rely on, and the table for people."""

import json
import os
import re

import pytest

from agent_board.cli.table import age, table
from agent_board.store.paths import StorePaths
from agent_board.store.views import view_ids
from agent_board.text import cells
from tests.cli.conftest import Cli
from tests.cli.makers import AT, make_view, tear

META_KEYS = (
    "id name cwd sessionFile createdAt updatedAt pinned kind defaultModel worktreeMode worktreePath source agent "
    "sessionId repoRoot baseRef branch readOnly archivedAt verdict seenSeq"
).split()
STATE_KEYS = (
    "viewId currentRunId semanticState processState summary lastActivityAt updatedAt needsInput hasError "
    "latestAssistantPreview latestTool stateSince question choices error reason queueReason stalledSince attached "
    "heldPrompts changeSeq usage"
).split()
KEYS = {*META_KEYS, *STATE_KEYS, "unread", "unreadable"}


def test_the_object_has_these_keys_and_no_version(cli: Cli, store: StorePaths):
    """AB-032, AB-033: keys are an interface; add to this list, never rename or remove."""
    make_view(store, "aa11")
    (found,) = cli("list", "--json").json
    assert set(found) >= KEYS
    assert "version" not in found


def test_values_come_from_both_files(cli: Cli, store: StorePaths):
    make_view(store, "aa11", meta={"createdAt": AT, "updatedAt": AT + 900}, updatedAt=AT + 50, summary="All done.")
    make_view(store, "bb22", meta={"createdAt": AT + 1, "updatedAt": AT + 10}, updatedAt=AT + 50)
    first, second = cli("list", "--json").json
    assert (first["createdAt"], first["updatedAt"]) == (AT, AT + 900)
    assert second["updatedAt"] == AT + 50
    assert first["name"] == "task-aa11"
    assert first["agent"] == "demo"
    assert first["summary"] == "All done."
    assert first["usage"] == {"input": None, "output": None, "cacheRead": None, "cacheWrite": None, "costUsd": None}
    assert (first["attached"], first["stalledSince"], first["heldPrompts"]) == (False, None, 0)
    assert (first["queueReason"], first["verdict"], first["unreadable"]) == (None, None, None)


def test_unread_means_changed_since_last_seen(cli: Cli, store: StorePaths):
    make_view(store, "aa11", meta={"seenSeq": 1}, changeSeq=2)
    make_view(store, "bb22", meta={"seenSeq": 2}, changeSeq=2)
    assert [view["unread"] for view in cli("list", "--json").json] == [True, False]


def test_the_verdict_shows_while_its_run_is_the_current_one(cli: Cli, store: StorePaths):
    verdict = {"state": "completed", "runId": "0001-aa11", "at": AT}
    make_view(store, "aa11", "needs_input", meta={"verdict": verdict}, question="Which?", needsInput=True)
    make_view(store, "bb22", "needs_input", meta={"verdict": {**verdict, "runId": "0000-x"}}, question="Which?")
    states = {view["id"]: view for view in cli("list", "--json").json}
    assert (states["aa11"]["semanticState"], states["aa11"]["needsInput"]) == ("completed", False)
    assert states["aa11"]["verdict"] == verdict
    assert (states["bb22"]["semanticState"], states["bb22"]["needsInput"]) == ("needs_input", True)


def test_order_is_the_boards(cli: Cli, store: StorePaths):
    for view_id, state, pinned, created in [
        ("a1", "completed", False, 1),
        ("a2", "stopped", False, 1),
        ("a3", "needs_input", False, 9),
        ("a4", "failed", False, 1),
        ("a5", "completed", True, 5),
        ("a6", "idle", False, 1),
        ("a7", "needs_input", False, 8),
    ]:
        make_view(store, view_id, state, meta={"pinned": pinned, "createdAt": created}, question="?", error="e")
    assert [view["id"] for view in cli("list", "--json").json] == ["a7", "a3", "a4", "a5", "a1", "a6", "a2"]


def test_state_filters_by_what_is_shown(cli: Cli, store: StorePaths):
    make_view(store, "aa11", "failed", error="broke")
    make_view(store, "bb22", "needs_input", question="?")
    assert [view["id"] for view in cli("list", "--json", "--state", "failed").json] == ["aa11"]
    assert [view["id"] for view in cli("list", "--json", "--state", "needs-input").json] == ["bb22"]
    assert cli("list", "--json", "--state", "idle").json == []


def test_archived_ones_only_with_all(cli: Cli, store: StorePaths):
    make_view(store, "aa11")
    make_view(store, "bb22", meta={"archivedAt": AT})
    assert [view["id"] for view in cli("list", "--json").json] == ["aa11"]
    assert {view["id"]: view["archivedAt"] for view in cli("list", "--json", "--all").json} == {
        "aa11": None,
        "bb22": AT,
    }


def test_archived_without_a_roster(cli: Cli, store: StorePaths):
    make_view(store, "bb22", meta={"archivedAt": AT})
    os.unlink(store.roster)
    assert cli("list", "--json").json == []


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"version": "x"}', b"\x00\xff", b'{"version": 1, "name": 5}'])
@pytest.mark.parametrize("name", ["meta", "state"])
def test_unreadable_views_are_listed_and_say_so(cli: Cli, store: StorePaths, name: str, data: bytes):
    make_view(store, "aa11")
    torn = getattr(store.view("aa11"), name)
    tear(torn, data)
    done = cli("list", "--json")
    assert done.code == 0
    (found,) = done.json
    assert set(found) >= KEYS
    assert (found["id"], found["semanticState"]) == ("aa11", None)
    assert found["name"] == (None if name == "meta" else "task-aa11")
    assert found["unreadable"].startswith(f"{name}.json ")
    assert "unreadable" in cli("list").out
    with open(torn, "rb") as file:
        assert file.read() == data


def test_a_record_of_a_newer_version_is_shown_and_left_alone(cli: Cli, store: StorePaths):
    make_view(store, "aa11")
    tear(store.view("aa11").state, b'{"version": 99}')
    (found,) = cli("list", "--json").json
    assert "newer" in found["unreadable"]


def test_no_store_is_an_empty_list_and_is_not_made(cli: Cli, tmp_path):
    place = tmp_path / "nowhere"
    assert cli("list", "--json", "--home", str(place)).json == []
    assert cli("list", "--home", str(place)).code == 0
    assert not place.exists()


def test_directories_that_hold_no_view_are_passed_over(cli: Cli, store: StorePaths):
    os.makedirs(f"{store.views}/stray")
    os.makedirs(f"{store.views}/.building")
    tear(f"{store.views}/file")
    assert cli("list", "--json").json == []


def test_json_holds_no_control_byte_and_nothing_but_ascii(cli: Cli, store: StorePaths):
    """Invariant 9."""
    nasty = "a\x1b[31m\x9b\x7f\u202e\ud800好"
    make_view(store, "aa11", meta={"name": nasty}, summary=nasty)
    done = cli("list", "--json")
    assert re.fullmatch(r"[\n\x20-\x7e]*", done.out)
    assert json.loads(done.out)[0]["name"] == nasty


def test_the_table_is_clean_text(cli: Cli, store: StorePaths):
    make_view(store, "aa11", meta={"name": "a\x1b[31m\x07b", "cwd": "/x/a\x1bpi"}, summary="one\x1b]0;t\x07\ntwo")
    out = cli("list").out
    assert re.fullmatch(r"[^\x00-\x09\x0b-\x1f\x7f-\x9f]*", out)
    assert out.count("\n") == 1


def test_the_table_is_cut_by_cells(store: StorePaths, cli: Cli):
    make_view(store, "aa11", meta={"name": "修复测试" * 12}, summary="好" * 200)
    make_view(store, "bb22", summary="x" * 200)
    views = cli("list", "--json").json
    assert all(cells(line) <= 80 for line in table(views, 80))
    assert all(cells(line) > 200 for line in table(views, None))


@pytest.mark.parametrize(
    ("since", "text"),
    [(0, "0s"), (-9, "0s"), (59, "59s"), (60, "1m"), (3600, "1h"), (90_000, "1d"), (None, "")],
)
def test_age_is_short(since: int | None, text: str):
    assert age(None if since is None else AT - since * 1000, AT) == text


def test_a_row_whose_processes_are_gone_is_not_shown_as_working(cli: Cli, store: StorePaths):
    """Invariant 4: reconciled before it is shown."""
    make_view(store, "aa11", "working", processState="alive")
    (found,) = cli("list", "--json").json
    assert found["semanticState"] not in ("working", "queued")
    assert found["processState"] == "exited"


def test_a_thousand_views_are_read_without_pydantic_and_textual(store: StorePaths):
    from tests.cli.test_robust import modules_of

    make_view(store, "aa11")
    loaded = modules_of("list", "--json")
    assert not loaded & {"textual", "rich", "pydantic", "watchfiles", "psutil", "git", "shtab", "asyncio"}
    assert view_ids(store) == ["aa11"]
