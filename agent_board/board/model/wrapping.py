"""Text in pieces, each with the role it plays, broken into lines of so many cells."""

import re
from collections.abc import Iterable, Sequence

from rich.cells import cell_len, chop_cells

from agent_board.board.model.columns import Piece

Line = tuple[Piece, ...]
"""One line of a text; never wider than asked for."""

_WORD = re.compile(
    r"[ \u00a0]+"
    r"|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]"
    r"|[^ \u00a0\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]+"
)
"""Blanks, single wide characters (a line may break at each), words."""


def wrap(pieces: Iterable[Piece], width: int, first: Sequence[Piece] = (), rest: Sequence[Piece] = ()) -> list[Line]:
    """One paragraph in lines of at most `width` cells; `first` and `rest` stand before its lines, inside the width."""
    filler = _Filler(width, first, rest)
    pieces = list(pieces)
    if cells(first) + cells(pieces) <= width:
        whole = [piece for piece in pieces if piece[0]]
        if whole:  # nearly all are
            whole[-1] = (whole[-1][0].rstrip(" \u00a0"), whole[-1][1])
        return [(*first, *(piece for piece in whole if piece[0]))]
    for text, role in pieces:
        for token in _WORD.findall(text):
            filler.put(token, role)
    return filler.done()


def wrap_text(text: str, role: str, width: int, first: Sequence[Piece] = (), rest: Sequence[Piece] = ()) -> list[Line]:
    """A text with line breaks, wrapped as `wrap` does each of them."""
    lines: list[Line] = []
    for number, line in enumerate(text.split("\n")):
        lines.extend(wrap([(line, role)], width, rest if number else first, rest))
    return lines


def chop(text: str, role: str, width: int, first: Sequence[Piece] = (), rest: Sequence[Piece] = ()) -> list[Line]:
    """A text with line breaks, as code is shown: broken only where a line is full, blanks kept."""
    lines: list[Line] = []
    for number, line in enumerate(text.split("\n")):
        room = max(1, width - max(cells(first), cells(rest)))
        parts = chop_cells(line, room) if cell_len(line) > room else [line]
        for part in parts or [""]:
            lines.append(_line([*(rest if number or lines else first), (part, role)], width))
    return lines


def cells(pieces: Iterable[Piece]) -> int:
    """How wide pieces are."""
    return sum(cell_len(text) for text, _ in pieces)


def plain(line: Line) -> str:
    """The text of a line."""
    return "".join(text for text, _ in line)


class _Filler:
    """Fills lines token by token."""

    def __init__(self, width: int, first: Sequence[Piece], rest: Sequence[Piece]) -> None:
        self._width = max(1, width)
        self._rest = list(rest)
        self._lines: list[Line] = []
        self._begin(list(first))

    def _begin(self, prefix: list[Piece]) -> None:
        self._line = prefix if cells(prefix) < self._width else []
        self._used = cells(self._line)
        self._empty = True
        self._blanks: list[Piece] = []

    def put(self, token: str, role: str) -> None:
        """Add a token, breaking before it where it does not fit."""
        wide = cell_len(token)
        if token[0] in " \u00a0":
            if self._lines and self._empty:
                return  # a broken line does not begin with the blanks it was broken at
            self._blanks.append((token, role))
            return
        held = cells(self._blanks)
        if self._used + held + wide > self._width and not self._empty:
            self._break()
            held = 0
        for blank, of in self._blanks:
            self._add(blank[: max(0, self._width - self._used - 1)], of)
        self._blanks = []
        if self._used + wide <= self._width:
            self._add(token, role)
            return
        self._add_long(token, role)

    def _add_long(self, word: str, role: str) -> None:
        """A word that no line can hold goes over as many as it takes."""
        while word:
            room = self._width - self._used
            part = (chop_cells(word, room) or [""])[0] if room > 0 else ""
            if (not part or cell_len(part) > room) and not self._empty:
                self._break()
                continue
            part = part or word[0]  # wider than the line: it is cut when the line is made
            self._add(part, role)
            word = word[len(part) :]
            if word:
                self._break()

    def _add(self, text: str, role: str) -> None:
        if not text:
            return
        if self._line and self._line[-1][1] == role and not self._empty:
            self._line[-1] = (self._line[-1][0] + text, role)
        else:
            self._line.append((text, role))
        self._used += cell_len(text)
        self._empty = False

    def _break(self) -> None:
        self._lines.append(_line(self._line, self._width))
        self._begin(list(self._rest))

    def done(self) -> list[Line]:
        """All lines; at least one."""
        self._lines.append(_line(self._line, self._width))
        return self._lines


def _line(pieces: Sequence[Piece], width: int) -> Line:
    """The pieces as they are, or cut where they are too wide after all (a cell of two where one is left)."""
    if cells(pieces) <= width:
        return tuple(pieces)
    kept: list[Piece] = []
    for text, role in pieces:
        room = width - cells(kept)
        part = text if cell_len(text) <= room else (chop_cells(text, room) or [""])[0] if room > 0 else ""
        if part and cell_len(part) <= room:
            kept.append((part, role))
    return tuple(kept)
