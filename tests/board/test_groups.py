"""The lines of the list: what stands where must be what a plain walk over the rows would give."""

from hypothesis import given
from hypothesis import strategies as st

from agent_board.board.model.groups import KEPT_SPARE, Group
from agent_board.board.model.index import Entry, Grouping, Kind, RowIndex
from agent_board.board.model.row import Row
from agent_board.store.records import SemanticState
from tests.support.rows import row

STATES = st.sampled_from(list(SemanticState))


@st.composite
def rows(draw: st.DrawFn) -> Row:
    state = draw(STATES)
    number = draw(st.integers(0, 60))
    return Row(
        id=f"v{number:02d}",
        name=f"n{number}",
        project=draw(st.sampled_from(("api", "web"))),
        project_path=draw(st.sampled_from(("/src/api", "/src/web", "/lib/api"))),
        cwd="/src/api",
        agent="pi",
        state=state,
        alive=False,
        summary="s",
        since=0,
        created_at=draw(st.integers(0, 9)),
        pinned=draw(st.booleans()) and draw(st.booleans()),
        unread=draw(st.booleans()) and draw(st.booleans()),
        unreadable=draw(st.integers(0, 20)) == 0,
    )


def plain_lines(index: RowIndex, held: str | None) -> list[tuple[Kind, object, str]]:
    """What the list must show, by walking over every row of every group."""
    lines: list[tuple[Kind, object, str]] = []
    for number, group in enumerate(index.groups()):
        lines += [(Kind.GAP, None, "")] * (index.gap if number else 0)
        lines.append((Kind.HEADER, group.key, ""))
        if group.folded:
            continue
        inside = sorted((index.row(order[2]) for order in group.rows), key=lambda row: row.order)
        spare = [row for row in inside if row.spare]
        folds = len(spare) >= KEPT_SPARE + 3
        away = {row.id for row in spare[:-KEPT_SPARE]} - {held} if folds and not group.unfolded else set()
        lines += [(Kind.ROW, group.key, row.id) for row in inside if row.id not in away]
        lines += [(Kind.MORE, group.key, "")] if folds else []
    return lines


CHANGES = st.lists(
    st.one_of(rows(), st.integers(0, 60).map(lambda number: f"v{number:02d}"), st.sampled_from(("fold", "unfold"))),
    max_size=120,
)


@given(CHANGES, st.sampled_from(list(Grouping)), st.integers(0, 1), st.integers(0, 60))
def test_every_line_is_what_a_walk_over_all_rows_gives(
    changes: list[Row | str], grouping: Grouping, gap: int, held: int
) -> None:
    """AB-066, AB-077: groups in order, rows by pin, creation and id, long ones folded, however they got there."""
    index = RowIndex(grouping, gap)
    for change in changes:
        if isinstance(change, Row):
            index.put(change)
        elif change in ("fold", "unfold"):
            for group in index.groups()[:2]:
                index.fold(group.key, folded=change == "fold", unfolded=change == "unfold")
        else:
            index.drop(change)
    index.hold(f"v{held:02d}")
    expected = plain_lines(index, f"v{held:02d}")
    entries = [index.entry(line) for line in range(index.lines)]
    assert [(entry.kind, entry.group, entry.row_id) for entry in entries] == expected
    for line, entry in enumerate(entries):
        if entry.kind is not Kind.GAP:
            assert index.line_of(entry) == line


@given(CHANGES)
def test_the_header_counts_are_the_lengths_of_the_groups(changes: list[Row | str]) -> None:
    """One number, not two: what the header says and what stands under each title can't differ."""
    index = RowIndex()
    for change in changes:
        if isinstance(change, Row):
            index.put(change)
        else:
            index.drop(change)
    assert {key: number for key, number in index.counts.items() if number} == {
        group.key: len(group) for group in index.groups()
    }
    assert index.unread == sum(group.unread for group in index.groups())


def test_a_change_inside_the_group_says_that_no_line_moved() -> None:
    index = RowIndex()
    assert index.put(row(1, SemanticState.WORKING))
    assert not index.put(row(1, SemanticState.WORKING, summary="Running tests"))
    assert index.put(row(1, SemanticState.COMPLETED))
    assert index.lines == 2


def test_a_long_finished_group_folds_its_oldest_read_rows() -> None:
    index = RowIndex()
    index.fill(row(number, SemanticState.COMPLETED, unread=number == 3) for number in range(50))
    more = Entry(Kind.MORE, SemanticState.COMPLETED)
    shown = [index.entry(line).row_id for line in range(index.lines) if index.entry(line).kind is Kind.ROW]
    assert shown == ["v03", *(f"v{number:02d}" for number in range(38, 50))]
    assert index.line_of(more) == index.lines - 1
    group = index.group(SemanticState.COMPLETED)
    assert group is not None
    assert group.hidden == 37
    index.hold("v00")
    assert index.line_of(Entry(Kind.ROW, SemanticState.COMPLETED, "v00")) == 1
    assert group.hidden == 36


def test_groups_that_need_attention_never_fold() -> None:
    group = Group(SemanticState.FAILED)
    for number in range(100):
        failed = row(number, SemanticState.FAILED)
        group.add(failed.order, spare=failed.spare, unread=False)
    assert group.hidden == 0
    assert not group.can_unfold
