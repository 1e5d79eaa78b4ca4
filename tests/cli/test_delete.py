"""`delete`: shows exactly what goes, asks, and never follows a link (AB-074; FIELD-FAULTS 13, 17, 46)."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_board.store.paths import StorePaths
from agent_board.store.views import view_ids
from tests.cli.conftest import Cli
from tests.cli.makers import make_view, tear
from tests.cli.test_usage import one_sentence
from tests.git.repo import add_worktree, commit, make_repo, write
from tests.support import command
from tests.support.terminal import Terminal


@pytest.fixture
def view(store: StorePaths) -> str:
    made = make_view(store, "aa11", meta={"name": "typos"})
    Path(store.session(made)).write_text("{}\n")
    return made


def test_off_a_terminal_it_needs_yes(cli: Cli, store: StorePaths, view: str):
    done = cli("delete", view, stdin=b"y\n")
    assert (done.code, done.out) == (1, "")
    assert "--yes" in done.err
    assert view_ids(store) == [view]


def test_with_yes_all_that_was_made_goes_and_is_named(cli: Cli, store: StorePaths, view: str):
    told = cli("delete", "typos", "--yes", "--json").json
    assert told["viewId"] == view
    assert told["goes"] == [store.view(view).dir, store.session(view)]
    assert told["stays"] == []
    assert told["bytes"] > 0
    assert not Path(store.session(view)).exists()
    assert cli("list", "--all", "--json").json == []
    assert list(Path(store.views).iterdir()) == []
    assert cli("delete", "typos", "--yes").code == 1


def test_discard_work_is_taken_where_nothing_would_be_lost(cli: Cli, view: str):
    assert cli("delete", view, "--yes", "--discard-work").out == "Deleted “typos”.\n"


@pytest.mark.parametrize("torn", ["meta", "state"])
def test_what_can_not_be_read_can_be_deleted(cli: Cli, store: StorePaths, view: str, torn: str):
    """FIELD-FAULTS 17: no row can never be deleted."""
    tear(getattr(store.view(view), torn))
    assert cli("delete", view, "--yes").code == 0
    assert view_ids(store) == []
    assert not Path(store.session(view)).exists()


def test_an_archived_one_can_be_deleted(cli: Cli, store: StorePaths, view: str):
    cli("archive", view)
    assert cli("delete", "typos", "--yes").code == 0
    assert view_ids(store) == []


def test_a_view_without_its_files_can_be_deleted(cli: Cli, store: StorePaths, view: str):
    shutil.rmtree(store.view(view).runs)
    Path(store.view(view).meta).unlink()
    assert cli("delete", view, "--yes").code == 0
    assert view_ids(store) == []


@pytest.fixture
def asking(store: StorePaths, view: str, tmp_path: Path) -> Iterator[Terminal]:
    foreign = tmp_path / "mine.jsonl"
    foreign.write_text("{}\n")
    make_view(store, "bb22", meta={"name": "adopted", "sessionFile": str(foreign)})
    with Terminal([*command.AGENT_BOARD, "delete", "adopted"], size=(200, 24)) as terminal:
        terminal.wait_for("(y/N)")
        yield terminal


def test_on_a_terminal_it_shows_and_asks(asking: Terminal, store: StorePaths, tmp_path: Path):
    screen = asking.text
    assert f"goes:  {store.view('bb22').dir}" in screen.replace("goes: ", "goes:  ").replace("goes:   ", "goes:  ")
    assert f"{tmp_path}/mine.jsonl" in asking.line_with("stays")
    assert "Delete “adopted” for good?" in screen
    asking.send("y", "enter")
    asking.wait_for("Deleted “adopted”.")
    assert asking.wait_exit() == 0
    assert view_ids(store) == ["aa11"]
    assert (tmp_path / "mine.jsonl").exists()


@pytest.mark.parametrize("answer", ["", "n", "Y es", "yeah", "ctrl+d"])
def test_nothing_but_a_plain_yes_deletes(asking: Terminal, store: StorePaths, answer: str):
    """FIELD-FAULTS 46: Enter never confirms."""
    asking.send(answer, *([] if answer == "ctrl+d" else ["enter"]))
    asking.wait_for("Nothing was deleted.")
    assert asking.wait_exit() == 1
    assert sorted(view_ids(store)) == ["aa11", "bb22"]


def test_interrupted_at_the_question_nothing_goes(asking: Terminal, store: StorePaths):
    assert asking.leave("ctrl+c") == 130
    assert sorted(view_ids(store)) == ["aa11", "bb22"]


def test_only_stdout_in_a_file_still_asks(store: StorePaths, view: str, tmp_path: Path):
    out = tmp_path / "out.json"
    line = ["sh", "-c", f"'{sys.executable}' -m agent_board delete {view} --json > '{out}'"]
    with Terminal(line, size=(120, 24)) as terminal:
        terminal.wait_for("(y/N)")
        terminal.send("yes", "enter")
        assert terminal.wait_exit() == 0
    assert '"viewId": "aa11"' in out.read_text()
    assert view_ids(store) == []


def test_it_refuses_with_one_sentence(cli: Cli, store: StorePaths):
    done = cli("delete", "nothing", "--yes")
    assert done.code == 1
    assert one_sentence(done.err)


def test_what_would_be_lost_is_named_item_by_item(cli: Cli, store: StorePaths, tmp_path: Path):
    """Invariant 6: also to somebody who said beforehand that he agrees."""
    worktree = add_worktree(make_repo(tmp_path / "api"))
    commit(worktree, {"src/new.py": "1\n", "README.md": "mine\n"}, "Mine")
    write(worktree, {"src/new.py": "2\n", "run.log": "x\n"})
    make_view(store, "cc33", meta={"name": "work", "worktreePath": str(worktree), "branch": "task"})
    refused = cli("delete", "work", "--yes")
    assert refused.code == 1
    for line in ("1 changed file, nowhere else\n    src/new.py", "1 ignored file, nowhere else\n    run.log"):
        assert line in refused.err
    assert "Mine" not in refused.err  # the branch keeps it
    done = cli("delete", "work", "--yes", "--discard-work")
    assert done.code == 0, done.err
    assert "1 commit only on the branch task, nowhere else" in done.err
