"""Which changes are worth the bell: once for each transition, and not for what is being looked at (UX 5)."""

from collections.abc import Iterable, Mapping

from agent_board.board.model import words
from agent_board.board.model.row import Row
from agent_board.store.records import SemanticState

_WORDS = {
    SemanticState.NEEDS_INPUT: ("needs you", "need you"),
    SemanticState.FAILED: ("failed", "failed"),
    SemanticState.COMPLETED: ("is done", "are done"),
}


LOOKS_S = 20.0
"""In a terminal that never says whether it has the focus, a key this recent tells that somebody is there."""


def looks(*, focused: bool, tells: bool, since_key_s: float) -> bool:
    """Whether the user is taken to look at the board. `tells`: the terminal has said at least once how it stands."""
    return focused and (tells or since_key_s < LOOKS_S)


def worth_telling(changes: Mapping[str, Row | None], before: Mapping[str, Row]) -> list[Row]:
    """The changed rows that now need the user, failed or are done by a transition of their own.

    `before` is what was known of them until now; a row that was not known has not changed. A verdict, a rename or a
    poll is no transition.
    """
    found = []
    for row_id, row in changes.items():
        old = before.get(row_id)
        if row is None or old is None or row.unreadable or old.unreadable:
            continue
        if row.change_seq > old.change_seq and row.state in _WORDS and not row.attached:
            found.append(row)
    return found


def sentence(rows: Iterable[Row]) -> str:
    """`auth needs you`, or for several `2 need you, 1 is done`."""
    told = list(rows)
    if len(told) == 1:
        return f"{told[0].name} {_WORDS[told[0].state][0]}"
    numbers = {state: sum(row.state is state for row in told) for state in _WORDS}
    return ", ".join(words.count(number, *_WORDS[state]) for state, number in numbers.items() if number)
