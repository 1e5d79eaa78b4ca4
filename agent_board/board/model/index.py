"""Which line of the list shows what, and where a row is; a change costs the same with ten rows and ten thousand."""

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from agent_board.board.model.groups import ELSEWHERE, STATE_ORDER, Group, GroupKey, Standing
from agent_board.board.model.row import Row


class Kind(Enum):
    """What stands on a line."""

    GAP = "gap"
    HEADER = "header"
    ROW = "row"
    MORE = "more"


class Entry(NamedTuple):
    """What stands on one line: its kind, its group, and for a row its id."""

    kind: Kind
    group: GroupKey = None
    row_id: str = ""


GAP = Entry(Kind.GAP)


_RANKS: dict[GroupKey, int] = {standing: rank for rank, standing in enumerate(STATE_ORDER)}


class Grouping(Enum):
    """By what the rows are grouped."""

    STATE = "state"
    PROJECT = "project"
    NONE = "none"
    """All rows in one group."""

    def key(self, row: Row) -> GroupKey:
        """The group of a row."""
        if self is Grouping.NONE:
            return ""
        return row.standing if self is Grouping.STATE or row.outside is not None else row.project_path

    def rank(self, key: GroupKey) -> tuple[int, str]:
        """Groups are drawn in the order of this."""
        if self is Grouping.STATE:
            return (_RANKS[key], "")
        if key == ELSEWHERE:
            return (1, "")
        path = str(key)
        return (0, path.rstrip("/").rpartition("/")[2].casefold() + "\0" + path)


class RowIndex:
    """The groups that are drawn, their rows and their lines."""

    def __init__(self, grouping: Grouping = Grouping.STATE, gap: int = 0) -> None:
        self.grouping = grouping
        self.gap = gap
        """Blank lines between groups."""
        self.counts: Counter[Standing] = Counter()
        self.unread = 0
        self._groups: dict[GroupKey, Group] = {}
        self._ranks: list[tuple[tuple[int, str], Group]] = []
        self._rows: dict[str, Row] = {}
        self._folds: dict[GroupKey, tuple[bool, bool]] = {}
        self._holding: Group | None = None
        self._starts: list[int] | None = None
        self._lines = 0

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, row_id: str) -> bool:
        return row_id in self._rows

    def put(self, row: Row) -> bool:
        """Put a row in or replace it; True when lines may have moved, False when only the row's own line changed."""
        old = self._rows.get(row.id)
        if old is not None and old.place == row.place:
            self._rows[row.id] = row
            return False
        if old is not None:
            self.drop(row.id)
        key = self.grouping.key(row)
        group = self._groups.get(key) or self._new_group(key)
        group.add(row.order, spare=row.spare, unread=row.unread)
        self._rows[row.id] = row
        self.counts[row.standing] += 1
        self.unread += row.unread
        self._starts = None
        return True

    def drop(self, row_id: str) -> bool:
        """Take a row out; False when it wasn't there."""
        row = self._rows.pop(row_id, None)
        if row is None:
            return False
        key = self.grouping.key(row)
        group = self._groups[key]
        group.take(row.order, spare=row.spare, unread=row.unread)
        if not group:
            self._folds[key] = (group.folded, group.unfolded)
            del self._groups[key]
            self._ranks.pop(bisect_left(self._ranks, self.grouping.rank(key), key=lambda pair: pair[0]))
        self.counts[row.standing] -= 1
        self.unread -= row.unread
        self._starts = None
        return True

    def fill(self, rows: Iterable[Row]) -> None:
        """Put many rows in."""
        for row in rows:
            self.put(row)

    def _new_group(self, key: GroupKey) -> Group:
        group = self._groups[key] = Group(key)
        group.folded, group.unfolded = self._folds.get(key, (key == ELSEWHERE, False))
        insort(self._ranks, (self.grouping.rank(key), group), key=lambda pair: pair[0])
        return group

    def row(self, row_id: str) -> Row:
        """A row that is in the index."""
        return self._rows[row_id]

    def rows(self) -> Iterator[Row]:
        """All rows in the order of the list, folded ones included."""
        for _, group in self._ranks:
            for order in group.rows:
                yield self._rows[order[2]]

    def groups(self) -> list[Group]:
        """The groups that are drawn, in their order; none is empty."""
        return [group for _, group in self._ranks]

    def group(self, key: GroupKey) -> Group | None:
        """A group that is drawn."""
        return self._groups.get(key)

    def group_of(self, row_id: str) -> Group:
        """The group of a row that is in the index."""
        return self._groups[self.grouping.key(self._rows[row_id])]

    def fold(self, key: GroupKey, *, folded: bool | None = None, unfolded: bool | None = None) -> None:
        """Close or open a group, or draw its spare rows too."""
        group = self._groups[key]
        if folded is not None:
            group.folded = folded
        if unfolded is not None:
            group.unfolded = unfolded
        self._starts = None

    def folds(self) -> dict[GroupKey, tuple[bool, bool]]:
        """Which groups are closed and which are unfolded, those included that are empty just now."""
        return self._folds | {group.key: (group.folded, group.unfolded) for _, group in self._ranks}

    def keep_folds(self, folds: dict[GroupKey, tuple[bool, bool]]) -> None:
        """Take over the folding of another index before rows are put in."""
        self._folds = dict(folds)

    def hold(self, row_id: str | None) -> None:
        """Draw this row even where it would be folded away; it is the selected one."""
        if self._holding is not None:
            self._holding.extra = None
            self._holding = None
        if row_id is not None and row_id in self._rows:
            self._holding = self.group_of(row_id)
            self._holding.extra = self._rows[row_id].order
        self._starts = None

    def _placed(self) -> list[int]:
        if self._starts is None:
            starts, line = [], 0
            for number, (_, group) in enumerate(self._ranks):
                line += self.gap if number else 0
                starts.append(line)
                line += 1 + group.lines
            self._starts, self._lines = starts, line
        return self._starts

    @property
    def lines(self) -> int:
        """How many lines the list has."""
        self._placed()
        return self._lines

    def entry(self, line: int) -> Entry:
        """What stands on a line; a gap outside of the list."""
        starts = self._placed()
        number = bisect_right(starts, line) - 1
        if number < 0 or line >= self._lines:
            return GAP
        group = self._ranks[number][1]
        inside = line - starts[number] - 1
        if inside < 0:
            return Entry(Kind.HEADER, group.key)
        if inside >= group.lines:
            return GAP
        order = group.at(inside)
        return Entry(Kind.MORE, group.key) if order is None else Entry(Kind.ROW, group.key, order[2])

    def line_of(self, entry: Entry) -> int | None:
        """The line that shows an entry; None when it isn't drawn."""
        key = self.grouping.key(self._rows[entry.row_id]) if entry.row_id in self._rows else entry.group
        group = self._groups.get(key)
        if group is None or (entry.kind is Kind.ROW and entry.row_id not in self._rows):
            return None
        starts = self._placed()
        start = starts[bisect_left(self._ranks, self.grouping.rank(key), key=lambda pair: pair[0])]
        if entry.kind is Kind.HEADER:
            return start
        if entry.kind is Kind.MORE:
            return start + group.lines if group.can_unfold and not group.folded else None
        inside = group.line_of(self._rows[entry.row_id].order)
        return None if inside is None else start + 1 + inside
