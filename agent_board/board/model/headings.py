"""The lines between rows: a group's header, and the line that stands for its folded rows."""

from rich.cells import cell_len

from agent_board.board.model import words
from agent_board.board.model.columns import Columns, Piece
from agent_board.board.model.glyphs import Glyphs
from agent_board.board.model.groups import STATE_TITLES, Group, GroupKey

_TITLES: dict[GroupKey, str] = {standing: title.upper() for standing, title in STATE_TITLES.items()}


def heading_pieces(group: Group, layout: Columns, glyphs: Glyphs, *, selected: bool, title: str) -> list[Piece]:
    """`NEEDS YOU 2`, exactly as wide as the columns."""
    role = f"header-{group.key}" if not title else "header-title"
    title = title or _TITLES[group.key]
    note = f" {glyphs.dot} {group.unread} unread" if group.unread and group.unread != len(group) else ""
    if group.unread and group.unread == len(group):
        note = f" {glyphs.dot} unread"
    start = (glyphs.cursor if selected else " ").ljust(layout.lead - 2)
    start += f"{glyphs.folded} " if group.folded else ""
    pieces = [(start, "cursor"), (glyphs.text(title), role), (f" {len(group)}", "header-count"), (note, "header-note")]
    return _exactly(pieces, layout.width, glyphs)


def more_pieces(group: Group, layout: Columns, glyphs: Glyphs, *, selected: bool, title: str) -> list[Piece]:
    """`⋯ 41 more`, exactly as wide as the columns."""
    text = "fewer" if group.unfolded else f"{group.hidden} more"
    lead = (glyphs.cursor if selected else " ").ljust(layout.lead)
    return _exactly([(lead, "cursor"), (f"{glyphs.ellipsis} {text}", "more")], layout.width, glyphs)


def _exactly(pieces: list[Piece], width: int, glyphs: Glyphs) -> list[Piece]:
    fitted, left = [], width
    for text, role in pieces:
        if left > 0 and text:
            part = words.fit(text, left, glyphs.ellipsis) if cell_len(text) > left else text
            fitted.append((part, role))
            left -= cell_len(part)
    if left > 0:
        fitted.append((" " * left, "row"))
    return fitted
