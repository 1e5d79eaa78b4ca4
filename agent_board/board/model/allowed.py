"""Which acts a row allows now, and why not: one sentence each. The act itself checks again, on the files."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from agent_board.board.model.row import Row
from agent_board.store.records import SemanticState

MANY = frozenset({"stop", "archive", "pin", "done", "retry"})
"""Acts that are taken on all marked rows at once."""

_ON_READABLE = {
    "attach": "attached",
    "pin": "pinned",
    "rename": "renamed",
    "done": "marked as done",
    "retry": "tried again",
    "open": "opened",
    "changes": "compared",
    "merge": "merged",
}
_WHEN_ENDED = {
    "archive": "archive it",
    "retry": "try it again",
    "merge": "merge it",
}


def why_not(act: str, row: Row) -> str | None:
    """Why this act can't be taken on this row; None when it can, or when only the files know."""
    done = _ON_READABLE.get(act)
    if row.unreadable and done:
        return f"{row.name} can't be {done}: its files can't be read. Archive it with x."
    if act == "attach" and row.attached:
        return f"{row.name} is attached in another terminal; leave it there first."
    if act == "done":
        return f"{row.name} is {doing(row)}; your verdict comes when it has ended." if row.claims_process else None
    if act in _WHEN_ENDED and row.claims_process:
        return f"{row.name} is {doing(row)}; stop it first (s) to {_WHEN_ENDED[act]}."
    if act == "merge" and not row.worktree:
        return f"{row.name} works in place; its changes are there already."
    if act == "stop" and not row.claims_process:
        return f"{row.name} is not running."
    return None


def doing(row: Row) -> str:
    """What a living row is at, in one or two words."""
    if row.attached:
        return "attached in another terminal"
    if row.state is SemanticState.QUEUED:
        return "queued"
    return "waiting for your answer" if row.state is SemanticState.NEEDS_INPUT else "still running"


class Choice(NamedTuple):
    """The rows of a selection that an act is taken on, and the first reason of those that it isn't."""

    rows: tuple[Row, ...]
    left_out: int = 0
    reason: str = ""


def choose(act: str, rows: Sequence[Row]) -> Choice:
    """Split marked rows by whether the act can be taken on them."""
    reasons = [(row, why_not(act, row)) for row in rows]
    can = tuple(row for row, reason in reasons if reason is None)
    return Choice(can, len(rows) - len(can), next((reason for _, reason in reasons if reason), ""))


def all_pinned(rows: Iterable[Row]) -> bool:
    """Then the act `pin` takes the pins away."""
    return all(row.pinned for row in rows)


def all_completed(rows: Iterable[Row]) -> bool:
    """Then the act `done` reopens."""
    return all(row.state is SemanticState.COMPLETED for row in rows)
