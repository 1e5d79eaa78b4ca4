"""One group of rows: sorted, foldable, and able to say what stands on its n-th line without walking its rows.

A long group folds its finished, read, unpinned rows (“spare” ones), oldest first. In the sorted order the folded
ones are exactly the spare rows before a border, so a line is found by bisection however many rows there are.
"""

from bisect import bisect_left, insort
from collections.abc import Hashable
from typing import Literal

from agent_board.store.records import SemanticState

Order = tuple[bool, int, str]
"""Where a row stands in its group: pinned first, then by creation, then by id. Never by activity."""
GroupKey = Hashable

KEPT_SPARE = 12
"""How many of the newest spare rows a long group still draws."""
_LEAST_FOLDED = 3
_FIRST: Order = (False, -(1 << 63), "")

UNREADABLE: Literal["unreadable"] = "unreadable"
"""The group of views whose files can't be understood: nobody knows their state."""
ELSEWHERE: Literal["elsewhere"] = "elsewhere"
"""The group of sessions that run outside the board, however rows are grouped; the last one, and folded at first."""
Standing = SemanticState | Literal["unreadable", "elsewhere"]
STATE_ORDER: tuple[Standing, ...] = (
    SemanticState.NEEDS_INPUT,
    SemanticState.FAILED,
    UNREADABLE,
    SemanticState.WORKING,
    SemanticState.QUEUED,
    SemanticState.COMPLETED,
    SemanticState.IDLE,
    SemanticState.STOPPED,
    ELSEWHERE,
)
STATE_TITLES: dict[Standing, str] = {
    SemanticState.NEEDS_INPUT: "needs you",
    SemanticState.FAILED: "failed",
    UNREADABLE: "unreadable",
    SemanticState.WORKING: "working",
    SemanticState.QUEUED: "queued",
    SemanticState.COMPLETED: "completed",
    SemanticState.IDLE: "idle",
    SemanticState.STOPPED: "stopped",
    ELSEWHERE: "elsewhere",
}
SPARE_STATES = frozenset({SemanticState.COMPLETED, SemanticState.IDLE, SemanticState.STOPPED})


def remove_sorted(items: list[Order], item: Order) -> None:
    """Take one item that is in a sorted list out of it."""
    del items[bisect_left(items, item)]


class Group:
    """The rows of one group in their order. Lines are counted from 0, the header not included."""

    __slots__ = ("_spare", "_stay", "extra", "folded", "key", "rows", "unfolded", "unread")

    def __init__(self, key: GroupKey) -> None:
        self.key = key
        self.rows: list[Order] = []
        self._stay: list[Order] = []
        self._spare: list[Order] = []
        self.unread = 0
        self.folded = False
        """The user closed the group: only its header is drawn."""
        self.unfolded = False
        """The user wants the spare rows drawn too."""
        self.extra: Order | None = None
        """The selected row, drawn even if it would be folded away."""

    def __len__(self) -> int:
        return len(self.rows)

    def add(self, order: Order, *, spare: bool, unread: bool) -> None:
        """Put a row in."""
        insort(self.rows, order)
        insort(self._spare if spare else self._stay, order)
        self.unread += unread

    def take(self, order: Order, *, spare: bool, unread: bool) -> None:
        """Take out a row that was put in with the same words."""
        remove_sorted(self.rows, order)
        remove_sorted(self._spare if spare else self._stay, order)
        self.unread -= unread

    @property
    def _border(self) -> Order:
        """Spare rows before this one are folded away."""
        if self.unfolded or len(self._spare) < KEPT_SPARE + _LEAST_FOLDED:
            return _FIRST
        return self._spare[-KEPT_SPARE]

    def _extra_before(self, border: Order) -> Order | None:
        extra = self.extra
        if extra is None or extra >= border:
            return None
        place = bisect_left(self._spare, extra)
        return extra if place < len(self._spare) and self._spare[place] == extra else None

    @property
    def hidden(self) -> int:
        """How many rows the line “… more” stands for."""
        border = self._border
        return bisect_left(self._spare, border) - (self._extra_before(border) is not None)

    @property
    def can_unfold(self) -> bool:
        """Whether there are spare rows enough to fold."""
        return len(self._spare) >= KEPT_SPARE + _LEAST_FOLDED

    @property
    def drawn(self) -> int:
        """How many rows are drawn."""
        return 0 if self.folded else len(self.rows) - self.hidden

    @property
    def lines(self) -> int:
        """How many lines follow the header."""
        if self.folded:
            return 0
        return self.drawn + (self.can_unfold)

    def at(self, line: int) -> Order | None:
        """The row on a line; None for the line “… more”."""
        border = self._border
        head = bisect_left(self._stay, border)
        extra = self._extra_before(border)
        if extra is not None:
            place = bisect_left(self._stay, extra)
            if line == place:
                return extra
            if line > place:
                line -= 1
        if line < head:
            return self._stay[line]
        line += bisect_left(self.rows, border) - head
        return self.rows[line] if line < len(self.rows) else None

    def line_of(self, order: Order) -> int | None:
        """The line on which a row is drawn; None when it isn't."""
        if self.folded:
            return None
        border = self._border
        extra = self._extra_before(border)
        if order >= border:
            place = bisect_left(self.rows, order)
            if place == len(self.rows) or self.rows[place] != order:
                return None
            skipped = bisect_left(self.rows, border) - bisect_left(self._stay, border)
            return place - skipped + (extra is not None)
        place = bisect_left(self._stay, order)
        if order == extra:
            return place
        if place == len(self._stay) or self._stay[place] != order:
            return None
        return place + (extra is not None and extra < order)
