"""All that the list shows: rows, scope, filter, grouping, folding, selection. Changed here, drawn elsewhere."""

import os
from collections.abc import Callable, Iterable, Mapping

from agent_board.board.model.filter import Filter
from agent_board.board.model.groups import ELSEWHERE, GroupKey
from agent_board.board.model.index import Entry, Grouping, Kind, RowIndex
from agent_board.board.model.row import Row
from agent_board.board.model.selection import Selection, nearest, successor
from agent_board.store.records import SemanticState

Changes = Mapping[str, Row | None]
"""Rows by id; None for one that is gone or archived."""


class Listing:
    """The rows of the store, and those of them that scope and filter let through in their groups."""

    def __init__(self, here: str = "") -> None:
        self.here = here
        """The project that the board was opened in, for the scope."""
        self.rows: dict[str, Row] = {}
        self.index = RowIndex()
        self.selection = Selection()
        self.filter = Filter()
        self.only_here = False
        self.marked: set[str] = set()
        """Rows that the next act is taken on together; each is one of `rows`."""
        self.revisions: dict[str, int] = {}
        """Grows with each change of a row: what was drawn of an older revision is stale."""
        self.needs_you = 0
        """Rows of the whole store that need the user, whatever is shown."""

    def apply(self, changes: Changes, now_ms: float) -> None:
        """Take over changed rows. The selection stays on its row, or goes to the next when the row is gone."""
        selected = self.selection.entry
        line = self.index.line_of(selected) if selected is not None else None
        leaving = {row_id for row_id, row in changes.items() if row is None or not self._shows(row)}
        touched = selected is not None and line is not None and selected.row_id in changes
        following = successor(self.index, selected, leaving) if touched and selected is not None else None
        for row_id, row in changes.items():
            self._change(row_id, row, listed=row_id not in leaving)
        self.index.hold(self.selection.row_id)
        if self._keep_selection(line, following) and touched:
            self.selection.vanished(now_ms)

    def _change(self, row_id: str, row: Row | None, *, listed: bool) -> None:
        for known, sign in ((self.rows.get(row_id), -1), (row, 1)):
            if known is not None and known.state is SemanticState.NEEDS_INPUT:
                self.needs_you += sign
        if row is None:
            self.rows.pop(row_id, None)
            self.marked.discard(row_id)
            self.revisions.pop(row_id, None)
        else:
            self.rows[row_id] = row
            self.revisions[row_id] = self.revisions.get(row_id, 0) + 1
        if row is not None and listed:
            self.index.put(row)
        else:
            self.index.drop(row_id)

    def _keep_selection(self, line: int | None, following: Entry | None = None) -> bool:
        """Select something that is drawn; True when the selection had to move."""
        entry = self.selection.entry
        if entry is not None and self.index.line_of(entry) is not None:
            if entry.kind is Kind.ROW:
                entry = Entry(Kind.ROW, self.index.group_of(entry.row_id).key, entry.row_id)
            self.selection.choose(self.index, entry)
            return False
        if following is None or self.index.line_of(following) is None:
            start = min(line or 0, self.index.lines - 1)
            following = nearest(self.index, start, 1) or nearest(self.index, start, -1)
        self.selection.choose(self.index, following)
        return True

    def _shows(self, row: Row) -> bool:
        return (not self.only_here or self._is_here(row)) and self.filter.matches(row)

    def _is_here(self, row: Row) -> bool:
        return any(path == self.here or path.startswith(self.here + os.sep) for path in (row.project_path, row.cwd))

    def _rebuild(self, grouping: Grouping | None = None) -> None:
        old, selected = self.index, self.selection.entry
        line = old.line_of(selected) if selected is not None else None
        self.index = RowIndex(grouping or old.grouping, old.gap)
        if self.index.grouping is old.grouping:
            self.index.keep_folds(old.folds())
        else:
            self.index.keep_folds({key: folds for key, folds in old.folds().items() if key == ELSEWHERE})
            if self.selection.row_id is None:
                self.selection.entry = None
        self.index.fill(row for row in self.rows.values() if self._shows(row))
        self.index.hold(self.selection.row_id)
        self._keep_selection(line)

    def set_filter(self, wanted: Filter) -> None:
        """Show only the rows that pass."""
        if wanted != self.filter:
            self.filter = wanted
            self._rebuild()

    def set_scope(self, *, only_here: bool) -> None:
        """Show every project, or the one that the board was opened in."""
        if only_here != self.only_here:
            self.only_here = only_here
            self._rebuild()

    def set_grouping(self, grouping: Grouping) -> None:
        """Group by state or by project."""
        if grouping is not self.index.grouping:
            self._rebuild(grouping)

    def set_gap(self, gap: int) -> None:
        """Blank lines between groups."""
        if gap != self.index.gap:
            self.index.gap = gap
            self.index.hold(self.selection.row_id)

    def select(self, entry: Entry | None) -> None:
        """Select an entry."""
        self.selection.choose(self.index, entry)

    def select_row(self, row_id: str) -> bool:
        """Select a row, opening its group; False when it isn't listed."""
        if row_id not in self.index:
            return False
        group = self.index.group_of(row_id)
        if group.folded:
            self.index.fold(group.key, folded=False)
        self.select(Entry(Kind.ROW, group.key, row_id))
        return True

    def fold(self, entry: Entry, *, folded: bool | None = None, unfolded: bool | None = None) -> None:
        """Close or open the group of an entry; the cursor goes to what is left of it."""
        selected, key = self.selection.entry, self._group_of(entry)
        inside = selected is not None and self._group_of(selected) == key
        line = self.index.line_of(selected) if selected is not None else None
        self.index.fold(key, folded=folded, unfolded=unfolded)
        if inside and folded:
            self.select(Entry(Kind.HEADER, key))
        elif inside and folded is False:
            start = self.index.line_of(Entry(Kind.HEADER, key)) or 0
            self.select(nearest(self.index, start + 1, 1))
        self._keep_selection(line)

    def _group_of(self, entry: Entry) -> GroupKey:
        return self.index.grouping.key(self.rows[entry.row_id]) if entry.kind is Kind.ROW else entry.group

    def selected_row(self) -> Row | None:
        """The selected row."""
        row_id = self.selection.row_id
        return self.rows.get(row_id) if row_id is not None else None

    def mark(self, row_id: str) -> None:
        """Mark a row, or take its mark away."""
        self.marked ^= {row_id}

    def marked_rows(self) -> list[Row]:
        """The marked rows, those first that come first in the list."""
        drawn = [row for row in self.index.rows() if row.id in self.marked] if self.marked else []
        hidden = self.marked.difference(row.id for row in drawn)
        return drawn + [self.rows[row_id] for row_id in sorted(hidden)]

    def next_that_needs_you(self) -> Row | None:
        """The first row after the selected one, in the list's order and round its end, that needs the user."""
        return self._next(lambda row: row.state is SemanticState.NEEDS_INPUT)

    def _next(self, wanted: Callable[[Row], bool]) -> Row | None:
        rows = [row for row in self.index.rows() if wanted(row) or row.id == self.selection.row_id]
        at = next((number for number, row in enumerate(rows) if row.id == self.selection.row_id), -1)
        ordered = rows[at + 1 :] + rows[: at + 1]
        return next((row for row in ordered if wanted(row)), None)

    def working(self) -> int:
        """How many runs go on by themselves if the board is left now."""
        return sum(1 for row in self.rows.values() if row.claims_process)

    def recent_directories(self, first: Iterable[str] = ()) -> list[str]:
        """Directories of tasks, the most recently used first, after those in `first`."""
        tasks = (row for row in self.rows.values() if row.outside is None)
        used = sorted(tasks, key=lambda row: row.created_at, reverse=True)
        return list(dict.fromkeys([*first, *(row.cwd for row in used if row.cwd)]))
