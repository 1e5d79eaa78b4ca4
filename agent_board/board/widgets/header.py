"""The top line: what needs the user, what works, and what the list is narrowed to."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from agent_board.board.model.groups import STATE_ORDER, STATE_TITLES, Standing
from agent_board.store.records import SemanticState

_COLOURS: dict[Standing, str] = {
    SemanticState.NEEDS_INPUT: "bold $warning",
    SemanticState.FAILED: "$error",
    SemanticState.WORKING: "$primary",
}
_TITLE = "agent-board"
_URGENT = 3
"""So many counts are said before the right side is."""


class Facts(NamedTuple):
    """What the header says. Counts are the lengths of the groups."""

    counts: Mapping[Standing, int] = MappingProxyType({})
    unread: int = 0
    archived: int = 0
    scope: str = ""
    notes: tuple[str, ...] = ()
    """Said on the right before the scope: polling, the filter."""
    dot: str = "-"


def counted(facts: Facts) -> list[tuple[str, str]]:
    """The counts as (text, style), the most urgent first."""
    parts = []
    for state in STATE_ORDER:
        number = facts.counts.get(state, 0)
        if state is SemanticState.COMPLETED and facts.unread:
            parts.append((f"{facts.unread} unread", "bold $foreground"))
        if number:
            verb = "need" if number > 1 else "needs"
            words = f"{verb} you" if state is SemanticState.NEEDS_INPUT else STATE_TITLES[state]
            parts.append((f"{number} {words}", _COLOURS.get(state, "$foreground-muted")))
    return parts


def header_line(facts: Facts, width: int) -> list[tuple[str, str]]:
    """The line as (text, style): the right side gives way first, then the least urgent counts."""
    right, parts = [part for part in (*facts.notes, facts.scope) if part], counted(facts)
    left = f" {_TITLE}   " if width >= 50 else " "
    joint = f" {facts.dot} "
    while True:
        tail = joint.join(right)
        taken = cell_len(left + joint.join(text for text, _ in parts)) + (cell_len(tail) + 2 if tail else 0) + 1
        if taken <= width:
            break
        if len(parts) > _URGENT:
            parts.pop()
        elif right:
            right.pop()
        elif len(parts) > 1:
            parts.pop()
        elif len(left) > 1:
            left = " "
        else:
            break
    line = [(left, "bold $foreground")]
    for number, (text, style) in enumerate(parts):
        line.extend([(joint, "$foreground-disabled")] if number else [])
        line.append((text, style))
    used = sum(cell_len(text) for text, _ in line)
    line.append((" " * max(0, width - used - cell_len(tail) - 1), ""))
    line.append((f"{tail} ", "$foreground-muted"))
    return line


class Header(Widget):
    """One line, painted only when it says something else."""

    def __init__(self) -> None:
        super().__init__(id="header")
        self._facts = Facts()

    def show(self, facts: Facts) -> None:
        """Say this."""
        if facts != self._facts:
            self._facts = facts
            self.refresh()

    def render(self) -> Content:
        """The line for the present width."""
        return Content.assemble(*header_line(self._facts, self.size.width))
