"""The filter: words that must all be found, and a few keys such as `s:failed`."""

from collections.abc import Callable
from typing import NamedTuple

from agent_board.board.model.row import Row

_STATE_WORDS = {
    "needs_input": ("needs_input", "needs you", "needs-you", "needs input"),
}

_MARKS: dict[str, Callable[[Row], bool]] = {
    "unread": lambda row: row.unread,
    "pinned": lambda row: row.pinned,
    "attached": lambda row: row.attached,
    "stalled": lambda row: row.stalled,
    "held": lambda row: row.held > 0,
}


def _state(row: Row, value: str) -> bool:
    standing = row.standing
    names = _STATE_WORDS.get(standing, (standing,))
    return any(name.startswith(value) for name in names)


def _mark(row: Row, value: str) -> bool:
    return any(test(row) for name, test in _MARKS.items() if name.startswith(value))


_KEYS: dict[str, Callable[[Row, str], bool]] = {
    "s": _state,
    "a": lambda row, value: row.agent.casefold().startswith(value),
    "p": lambda row, value: value in row.project.casefold(),
    "is": _mark,
}


class Filter(NamedTuple):
    """A parsed filter; every part must hold."""

    words: tuple[str, ...] = ()
    keys: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.words or self.keys)

    def matches(self, row: Row) -> bool:
        """Whether a row passes."""
        return all(word in row.haystack for word in self.words) and all(
            _KEYS[key](row, value) for key, value in self.keys
        )


def parse_filter(text: str) -> Filter:
    """Read what the user typed; a key without a value is still being typed and asks nothing."""
    words, keys = [], []
    for part in text.casefold().split():
        key, colon, value = part.partition(":")
        if colon and key in _KEYS:
            if value:
                keys.append((key, value))
        else:
            words.append(part)
    return Filter(tuple(words), tuple(keys))
