"""Selection, filter, scope, grouping and folding, without a screen."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_board.board.model.filter import parse_filter
from agent_board.board.model.index import Entry, Grouping, Kind
from agent_board.board.model.listing import Listing
from agent_board.board.model.row import Row
from agent_board.board.model.selection import moved
from agent_board.store.records import SemanticState
from tests.support.rows import row

S = SemanticState


def listing(*rows: Row, here: str = "") -> Listing:
    made = Listing(here)
    made.apply({shown.id: shown for shown in rows}, 0)
    return made


def test_the_first_row_is_selected_at_first() -> None:
    assert listing(row(2), row(1)).selection.row_id == "v01"


def test_the_selection_follows_its_row_into_another_group() -> None:
    made = listing(row(1, S.WORKING), row(2, S.WORKING))
    made.select_row("v02")
    made.apply({"v02": row(2, S.NEEDS_INPUT)}, 1)
    assert made.selection.row_id == "v02"
    assert made.selection.may_act(1)


def test_when_the_selected_row_vanishes_the_next_is_selected_and_acts_wait() -> None:
    """UX 1: a key that was meant for a row that has just gone does nothing to its neighbour."""
    made = listing(row(1), row(2), row(3), row(4))
    made.select_row("v02")
    made.apply({"v02": None, "v03": None}, 1_000)
    assert made.selection.row_id == "v04"
    assert not made.selection.may_act(1_299)
    assert made.selection.may_act(1_300)
    made.apply({"v04": None}, 2_000)
    assert made.selection.row_id == "v01"
    made.apply({"v01": None}, 3_000)
    assert made.selection.entry is None


def test_a_selected_row_that_moves_into_a_closed_group_leaves_the_selection_to_the_next() -> None:
    made = listing(row(1, S.WORKING), row(2, S.WORKING), row(3))
    made.fold(Entry(Kind.HEADER, S.COMPLETED), folded=True)
    made.select_row("v01")
    made.apply({"v01": row(1)}, 5)
    assert made.selection.row_id == "v02"
    assert not made.selection.may_act(6)


@given(st.integers(0, 2**32))
def test_the_selection_stays_on_its_row_under_random_changes(seed: int) -> None:
    """Fields 39: rows come, go and change their state; the cursor stays on the same task as long as it is there."""
    dice = random.Random(seed)
    made = listing(*(row(number, dice.choice(list(S))) for number in range(20)))
    made.select_row("v07")
    for _ in range(60):
        number = dice.randrange(30)
        gone = dice.random() < 0.2 and number != 7
        made.apply({f"v{number:02d}": None if gone else row(number, dice.choice(list(S)))}, 0)
        assert made.selection.row_id == "v07"
        assert made.selection.entry is not None
        assert made.index.line_of(made.selection.entry) is not None


@given(st.integers(0, 2**32))
def test_there_is_always_something_selected_that_is_drawn(seed: int) -> None:
    dice = random.Random(seed)
    made = listing()
    for step in range(80):
        number = dice.randrange(40)
        made.apply({f"v{number:02d}": None if dice.random() < 0.4 else row(number, dice.choice(list(S)))}, step)
        if dice.random() < 0.2 and made.selection.entry is not None:
            made.fold(made.selection.entry, folded=made.selection.entry.kind is not Kind.HEADER)
        if dice.random() < 0.1:
            made.set_grouping(dice.choice(list(Grouping)))
        if dice.random() < 0.3:
            made.select(moved(made.index, made.selection.entry, dice.choice((-3, 1, 5))))
        entry = made.selection.entry
        assert (entry is None) == (made.index.lines == 0)
        assert entry is None or made.index.line_of(entry) is not None


def test_closing_a_group_leaves_the_cursor_on_its_header_and_opening_puts_it_back_inside() -> None:
    made = listing(row(1), row(2), row(3, S.FAILED))
    made.select_row("v02")
    chosen = made.selection.entry
    assert chosen is not None
    made.fold(chosen, folded=True)
    assert made.selection.entry == Entry(Kind.HEADER, S.COMPLETED)
    made.fold(Entry(Kind.HEADER, S.COMPLETED), folded=False)
    assert made.selection.row_id == "v01"


def test_a_closed_group_stays_closed_when_it_was_empty_for_a_while() -> None:
    made = listing(row(1, S.STOPPED), row(2))
    made.fold(Entry(Kind.HEADER, S.STOPPED), folded=True)
    made.apply({"v01": row(1, S.WORKING)}, 0)
    made.apply({"v01": row(1, S.STOPPED)}, 0)
    group = made.index.group(S.STOPPED)
    assert group is not None
    assert group.folded


def test_the_next_that_needs_you_goes_round() -> None:
    made = listing(row(1, S.NEEDS_INPUT), row(2, S.NEEDS_INPUT), row(3))
    made.select_row("v03")
    assert (found := made.next_that_needs_you()) is not None
    assert found.id == "v01"
    made.select_row("v01")
    assert (found := made.next_that_needs_you()) is not None
    assert found.id == "v02"
    made.apply({"v01": row(1), "v02": row(2)}, 0)
    assert made.next_that_needs_you() is None
    assert made.needs_you == 0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {"v01", "v02", "v03"}),
        ("TOKENS", {"v01"}),
        ("api days", {"v01"}),
        ("web days", set()),
        ("s:failed", {"v02"}),
        ("s:f", {"v02"}),
        ("s:needs", {"v01"}),
        ("s:", {"v01", "v02", "v03"}),
        ("a:claude", {"v02"}),
        ("p:web", {"v03"}),
        ("is:unread", {"v03"}),
        ("is:pinned", {"v02"}),
        ("is:pinned s:completed", set()),
        ("a:claude infra", {"v02"}),
        ("x:y", set()),
        ("feature/login", {"v03"}),
    ],
)
def test_the_filter(text: str, found: set[str]) -> None:
    """AB-074."""
    made = listing(
        row(1, S.NEEDS_INPUT, haystack="refresh-tokens\napi\nshould they live 7 or 30 days?"),
        row(2, S.FAILED, agent="claude", pinned=True, haystack="bump-deps\ninfra\n429"),
        row(3, unread=True, project="web", haystack="login\nweb\ndone\nfeature/login"),
    )
    made.set_filter(parse_filter(text))
    assert {shown.id for shown in made.index.rows()} == found


def test_the_filter_keeps_the_selection_where_it_can() -> None:
    made = listing(row(1), row(2, haystack="yes"), row(3, haystack="yes"))
    made.select_row("v03")
    made.set_filter(parse_filter("yes"))
    assert made.selection.row_id == "v03"
    made.set_filter(parse_filter("nothing"))
    assert made.selection.entry is None
    made.set_filter(parse_filter(""))
    assert made.selection.row_id is not None


def test_a_row_that_changes_out_of_the_filter_leaves_the_list() -> None:
    made = listing(row(1, S.WORKING), row(2, S.WORKING))
    made.set_filter(parse_filter("s:working"))
    made.apply({"v01": row(1)}, 0)
    assert {shown.id for shown in made.index.rows()} == {"v02"}
    assert len(made.rows) == 2


def test_the_scope_is_the_project_here() -> None:
    """AB-001: every project by default."""
    made = listing(
        row(1),
        row(2, project_path="/src/web", cwd="/src/web"),
        row(3, project_path="/src/api", cwd="/src/api/sub"),
        row(4, project_path="/src/api-old", cwd="/src/api-old"),
        here="/src/api",
    )
    assert len(made.index) == 4
    made.set_scope(only_here=True)
    assert {shown.id for shown in made.index.rows()} == {"v01", "v03"}


def test_grouping_by_project_goes_by_the_path_and_keeps_the_selection() -> None:
    made = listing(
        row(1, project_path="/b/web"), row(2, project_path="/a/web"), row(3, S.FAILED, project_path="/z/api")
    )
    made.select_row("v02")
    made.set_grouping(Grouping.PROJECT)
    assert [group.key for group in made.index.groups()] == ["/z/api", "/a/web", "/b/web"]
    assert made.selection.row_id == "v02"


def test_runs_that_go_on_are_counted_for_leaving() -> None:
    made = listing(row(1, S.WORKING, alive=True), row(2, S.QUEUED), row(3), row(4, alive=True))
    assert made.working() == 3


def test_recent_directories_begin_with_the_latest_task() -> None:
    made = listing(row(1, cwd="/a"), row(3, cwd="/c"), row(2, cwd="/b"), row(4, cwd="/a"))
    assert made.recent_directories(["/here"]) == ["/here", "/a", "/c", "/b"]
