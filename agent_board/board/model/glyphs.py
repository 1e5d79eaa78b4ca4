"""The signs of the list: one cell each, never East-Asian-ambiguous, with an ASCII set for other terminals."""

from collections.abc import Mapping
from typing import NamedTuple

from rich.cells import cell_len

from agent_board.store.records import SemanticState

_S = SemanticState

_STAND_INS = str.maketrans("“”‘’…⋯–—·⋅•‹›↑↓←→", "\"\"''~~----*<>^v<>")
"""As wide as what they stand for; the signs of the list have their own."""


class Glyphs(NamedTuple):
    """One set of signs. A state's pair is (filled: its process lives, hollow: it has exited)."""

    states: Mapping[SemanticState, tuple[str, str]]
    outside: tuple[str, str]
    """A session outside the board: one that runs, and one that has ended."""
    unreadable: str
    cursor: str
    unread: str
    pinned: str
    worktree: str
    attached: str
    marked: str
    folded: str
    opened: str
    ellipsis: str
    dot: str
    spinner: str
    only_ascii: bool = False
    """The terminal can't take anything else: texts of agents are reduced as well."""

    def of(self, state: SemanticState, alive: bool) -> str:
        """The sign of a state: its shape says which, its filling whether the process lives."""
        filled, hollow = self.states[state]
        return filled if alive else hollow

    def text(self, text: str) -> str:
        """A text as this terminal can show it, as wide as before."""
        if not self.only_ascii or text.isascii():
            return text
        text = text.translate(_STAND_INS)
        return "".join(char if char.isascii() else "?" * cell_len(char) for char in text)


UNICODE = Glyphs(
    states={
        _S.NEEDS_INPUT: ("⚑", "⚐"),
        _S.FAILED: ("✖", "✗"),
        _S.WORKING: ("▸", "▹"),
        _S.QUEUED: ("◉", "◌"),
        _S.COMPLETED: ("✔", "✓"),
        _S.IDLE: ("▮", "▯"),
        _S.STOPPED: ("▪", "▫"),
    },
    outside=("⧫", "◊"),
    unreadable="⊘",
    cursor="❯",
    unread="✦",
    pinned="⊤",
    worktree="⋎",
    attached="⇄",
    marked="✚",
    folded="▸",
    opened="▾",
    ellipsis="⋯",
    dot="⋅",
    spinner="⠋⠙⠹⠸⠼⠴⠦⠧",
)

_ASCII_STATES = {
    _S.NEEDS_INPUT: ("!", "?"),
    _S.FAILED: ("X", "x"),
    _S.WORKING: (">", "}"),
    _S.QUEUED: ("O", "o"),
    _S.COMPLETED: ("V", "v"),
    _S.IDLE: ("=", "-"),
    _S.STOPPED: ("#", "_"),
}


def _ascii(only: bool) -> Glyphs:
    return Glyphs(
        states=_ASCII_STATES,
        outside=("E", "e"),
        unreadable="%",
        cursor=">",
        unread="*",
        pinned="^",
        worktree="&",
        attached="@",
        marked="+",
        folded="+",
        opened="-",
        ellipsis="~",
        dot="-",
        spinner="|/-\\",
        only_ascii=only,
    )


ASCII = _ascii(only=False)
ASCII_ONLY = _ascii(only=True)


def glyphs_for(wish: str, encoding: str | None) -> Glyphs:
    """The set to use: `wish` is auto, unicode or ascii; a terminal that isn't UTF-8 always gets ASCII."""
    if not (encoding or "").lower().replace("-", "").startswith("utf"):
        return ASCII_ONLY
    return ASCII if wish == "ascii" else UNICODE
