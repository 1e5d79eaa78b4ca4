"""What is selected: an entry by its id, never a line, so that it stays itself whatever moves."""

from agent_board.board.model.index import Entry, Kind, RowIndex

QUIET_MS = 300
"""After the selected row has vanished, acts do nothing for this long: the key was meant for the row that is gone."""


class Selection:
    """The selected entry. Rows, closed headers and the line “… more” can be selected."""

    def __init__(self) -> None:
        self.entry: Entry | None = None
        self._quiet_until_ms = 0.0

    @property
    def row_id(self) -> str | None:
        """The selected row's id; None when a header or nothing is selected."""
        return self.entry.row_id if self.entry is not None and self.entry.kind is Kind.ROW else None

    def choose(self, index: RowIndex, entry: Entry | None) -> None:
        """Select an entry."""
        self.entry = entry
        index.hold(self.row_id)

    def vanished(self, now_ms: float) -> None:
        """The selected row has gone and the next one was selected: acts wait a moment."""
        self._quiet_until_ms = now_ms + QUIET_MS

    def may_act(self, now_ms: float) -> bool:
        """Whether an act may be taken for the row that is selected now."""
        return now_ms >= self._quiet_until_ms


def selectable(index: RowIndex, entry: Entry) -> bool:
    """Whether the cursor may stand on an entry."""
    if entry.kind is Kind.HEADER:
        group = index.group(entry.group)
        return group is not None and group.folded
    return entry.kind in (Kind.ROW, Kind.MORE)


def nearest(index: RowIndex, line: int, step: int) -> Entry | None:
    """The first selectable entry from a line on, downwards (1) or upwards (-1)."""
    while 0 <= line < index.lines:
        entry = index.entry(line)
        if selectable(index, entry):
            return entry
        line += step
    return None


def moved(index: RowIndex, current: Entry | None, distance: int) -> Entry | None:
    """The entry `distance` selectable steps away, or the last one in that direction."""
    line = index.line_of(current) if current is not None else None
    if line is None:
        return nearest(index, 0, 1)
    step = 1 if distance > 0 else -1
    found = current
    for _ in range(abs(distance)):
        following = nearest(index, line + step, step)
        if following is None:
            break
        found = following
        line = index.line_of(following) or 0
    return found


def successor(index: RowIndex, entry: Entry, leaving: set[str]) -> Entry | None:
    """What to select when `entry` is about to go: the next entry that stays, else the one before."""
    start = index.line_of(entry)
    if start is None:
        return None
    for step in (1, -1):
        line = start + step
        while (following := nearest(index, line, step)) is not None:
            if following.row_id not in leaving or following.kind is not Kind.ROW:
                return following
            line = (index.line_of(following) or 0) + step
    return None
