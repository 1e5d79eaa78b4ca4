"""How a line of the list is laid out at each width, and its pieces with the role that each plays."""

from functools import lru_cache
from typing import NamedTuple

from rich.cells import cell_len

from agent_board.board.model import words
from agent_board.board.model.glyphs import Glyphs
from agent_board.board.model.row import Row

Piece = tuple[str, str]
"""A text and its role, which the theme turns into a style."""

_AGE = 4
_LEAST_SUMMARY = 12


class Columns(NamedTuple):
    """Cells for each part of a row; 0 is not drawn. Together with the gaps they are exactly the width."""

    width: int
    lead: int
    name: int
    project: int
    marks: int
    summary: int
    tokens: int
    cost: int
    age: int
    margin: int


@lru_cache(64)
def columns(width: int, *, with_project: bool = True) -> Columns:
    """The layout for a width: the name and the age are the last to be cut, then the summary, then the rest."""
    lead = 5 if width >= 60 else 4 if width >= 30 else 3
    margin = 1 if width >= 40 else 0
    age = _AGE if width >= lead + _AGE + 5 else 0
    tokens = 5 if width >= 92 else 0
    cost = 7 if width >= 132 else 0
    project = _between(9, width * 12 // 100, 20) if width >= 70 and with_project else 0
    marks = 3 if width >= 60 else 0
    right = sum(part + 1 for part in (tokens, cost, age) if part) + margin
    left = lead + sum(part + 2 for part in (project, marks) if part)
    room = max(0, width - left - right)
    name = min(room, _between(14, width * 24 // 100, 34))
    summary = room - name - 2
    if summary < _LEAST_SUMMARY:
        name, summary = room, 0
    return Columns(width, lead, name, project, marks, summary, tokens, cost, age, margin)


def _between(least: int, wish: int, most: int) -> int:
    return max(least, min(wish, most))


class Look(NamedTuple):
    """What a row's line depends on beside the row itself."""

    columns: Columns
    glyphs: Glyphs
    age: str
    selected: bool = False
    focused: bool = True
    busy: str | None = None
    """What the user has just asked for and is on its way: “stopping”."""
    silence: str = ""
    """For how long a stalled row has been silent."""
    marked: bool = False
    """One of those that the next act is taken on together."""


def age_of(row: Row, now_ms: int) -> str:
    """The age that a row shows."""
    return words.age(now_ms - row.since) if row.since else ""


def silence_of(row: Row, now_ms: int) -> str:
    """The silence that a stalled row shows; empty for every other one."""
    return "" if row.silent_since is None else words.age(now_ms - row.silent_since).replace("now", "a moment")


def row_pieces(row: Row, look: Look) -> list[Piece]:
    """A row's line as pieces of text with roles, exactly as wide as the columns."""
    columns, glyphs = look.columns, look.glyphs
    pieces = _lead(row, look)

    def column(text: str, role: str, width: int, gap: int, *, right: bool = False) -> None:
        if width:
            fitted = words.fit(glyphs.text(text), width, glyphs.ellipsis, right=right)
            pieces.extend(((fitted, role), (" " * gap, "row")) if not right else ((" " * gap, "row"), (fitted, role)))

    name = "name-outside" if row.outside is not None else "name-unread" if row.unread else "name"
    column(row.name, name, columns.name, 2 if columns.summary else 0)
    column(row.project, "project", columns.project, 2)
    column(_marks(row, glyphs), "marks", columns.marks, 2)
    pieces.extend(_summary(row, look))
    column(words.tokens(row.tokens), "usage", columns.tokens, 1, right=True)
    column(words.money(row.cost), "usage", columns.cost, 1, right=True)
    column(look.age, "age", columns.age, 1, right=True)
    return _exactly(pieces, columns)


def sign_of(row: Row, glyphs: Glyphs) -> str:
    """How a row stands, in one cell."""
    if row.outside is not None:
        return glyphs.outside[0 if row.alive else 1]
    return glyphs.unreadable if row.unreadable else glyphs.of(row.state, row.alive)


def _lead(row: Row, look: Look) -> list[Piece]:
    glyphs = look.glyphs
    sign = sign_of(row, glyphs)
    cursor = (glyphs.cursor if look.selected else " ", "cursor" if look.focused else "cursor-away")
    glyph, blank = (sign, f"glyph-{row.standing}"), (" ", "row")
    unread = (glyphs.unread if row.unread else " ", "unread")
    if look.marked:
        unread = (glyphs.marked, "mark")
        cursor = unread if look.columns.lead == 3 and not look.selected else cursor
    return {
        3: [cursor, glyph, blank],
        4: [cursor, unread, glyph, blank],
        5: [cursor, unread, blank, glyph, blank],
    }[look.columns.lead]


def _marks(row: Row, glyphs: Glyphs) -> str:
    signs = ((row.pinned, glyphs.pinned), (row.worktree, glyphs.worktree), (row.attached, glyphs.attached))
    return "".join(sign if there else " " for there, sign in signs)


def notes(row: Row, dot: str, silence: str = "") -> str:
    """What has to be said in words before the summary."""
    said = []
    if row.attached:
        said.append("attached")
    if row.stalled:
        said.append(f"no event for {silence}" if silence else "stalled")
    if row.held:
        said.append(words.count(row.held, "reply held", "replies held"))
    return f" {dot} ".join(said)


def _summary(row: Row, look: Look) -> list[Piece]:
    width, glyphs = look.columns.summary, look.glyphs
    if width <= 0:
        return []
    note = look.busy or notes(row, glyphs.dot, look.silence)
    if not note:
        return [(words.fit(glyphs.text(row.summary), width, glyphs.ellipsis), _summary_role(row))]
    lead = f"{note} {glyphs.dot} " if row.summary else note
    if cell_len(lead) + _LEAST_SUMMARY > width:
        return [(words.fit(note, width, glyphs.ellipsis), "note")]
    rest = words.fit(glyphs.text(row.summary), width - cell_len(lead), glyphs.ellipsis)
    return [(lead, "note"), (rest, _summary_role(row))]


def _summary_role(row: Row) -> str:
    return f"summary-{row.standing}"


def _exactly(pieces: list[Piece], columns: Columns) -> list[Piece]:
    if columns.margin:
        pieces.append((" " * columns.margin, "row"))
    taken = sum(cell_len(text) for text, _ in pieces)
    if taken < columns.width:
        pieces.append((" " * (columns.width - taken), "row"))
    return pieces
