"""Markdown of an answer in lines with roles. What can't be drawn in cells is shown as the text that it is.

The parser is imported when the first text is drawn, in the thread that draws it.
"""

import sys
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from agent_board.board.model.columns import Piece
from agent_board.board.model.wrapping import Line, cells, chop, plain, wrap, wrap_text

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LONGEST = 64 << 10
"""Longer texts are shown as they are: parsing them would take longer than reading them is worth."""
_BLANK: Line = ()
_GAP = 2
_NESTING = 60
"""The parser drops what lies deeper."""
_INDENT: Piece = ("  ", "text")


def markdown_lines(text: str, width: int) -> list[Line]:
    """The lines of a markdown text, none wider than `width` cells."""
    width = max(4, width)
    tokens = _parser().parse(text) if len(text) <= LONGEST else []
    drawn = [] if any(token.level >= _NESTING - 1 for token in tokens) else _Drawing(width).draw(tokens)
    while drawn and not plain(drawn[-1]).strip():
        drawn.pop()
    return drawn or wrap_text(text, "text", width)


def is_ready() -> bool:
    """Whether the parser has been imported: the first text takes that much longer."""
    return "markdown_it" in sys.modules


def tail_of(text: str, most: int) -> tuple[str, bool]:
    """The end of a long markdown text from a paragraph's beginning on, with an open code fence opened again.

    The second answer tells whether something was left out.
    """
    if len(text) <= most:
        return text, False
    start = len(text) - most
    for mark in ("\n\n", "\n"):
        at = text.find(mark, start)
        if 0 <= at < start + most // 2:
            start = at + len(mark)
            break
    fences = sum(line.lstrip().startswith("```") for line in text[:start].split("\n"))
    return ("```\n" if fences % 2 else "") + text[start:], True


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"maxNesting": _NESTING}).enable(["table", "strikethrough"])


class _Drawing:
    """Walks over the blocks of one text; what stands before each line (bullets, quotes) is a stack."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._lines: list[Line] = []
        self._rest: list[Piece] = []
        self._mark: list[Piece] | None = None
        """The bullet for the next line; every line after it is indented by as much."""
        self._numbers: list[int | None] = []
        self._depth: list[int] = []
        self._tight = 0
        self._quotes = 0
        self._role = "text"
        self._table: list[list[list[Piece]]] = []

    def draw(self, tokens: "Sequence[Token]") -> list[Line]:
        """The lines of a whole text."""
        for token in tokens:
            method = getattr(self, f"_{token.type}", None)
            if method is not None:
                method(token)
        return self._lines

    # -- paragraphs

    def _space(self) -> None:
        """A blank line before the next block, if there is something above it."""
        if self._lines and plain(self._lines[-1]).strip() and not self._tight and self._mark is None:
            self._lines.append(tuple(self._rest) if self._quotes else _BLANK)

    def _before(self) -> list[Piece]:
        mark, self._mark = self._mark, None
        return list(self._rest) if mark is None else mark

    def _inline(self, token: "Token") -> None:
        pieces = _pieces(token, self._role)
        if self._table:
            self._table[-1].append([piece for line in pieces for piece in line])
            return
        for line in pieces:
            before = self._before()
            self._lines.extend(wrap(line, self._width, before, self._rest))

    def _paragraph_open(self, token: "Token") -> None:
        if not token.hidden:
            self._space()

    def _heading_open(self, _: "Token") -> None:
        self._space()
        self._role = "heading"

    def _heading_close(self, _: "Token") -> None:
        self._role = "text"

    def _code(self, token: "Token") -> None:
        self._space()
        before = self._before()
        text = token.content.rstrip("\n").replace("\t", "    ")
        self._lines.extend(chop(text, "code", self._width, [*before, _INDENT], [*self._rest, _INDENT]))

    _fence = _code
    _code_block = _code

    def _html_block(self, token: "Token") -> None:
        self._space()
        self._lines.extend(chop(token.content.rstrip("\n"), "faint", self._width, self._before(), self._rest))

    def _hr(self, _: "Token") -> None:
        self._space()
        self._lines.append((*self._before(), ("- - -", "faint")) if self._width > 8 else _BLANK)

    # -- quotes and lists

    def _blockquote_open(self, _: "Token") -> None:
        self._space()
        self._push([("> ", "faint")], [("> ", "faint")])
        self._quotes += 1

    def _blockquote_close(self, _: "Token") -> None:
        self._pop()
        self._quotes -= 1

    def _bullet_list_open(self, token: "Token") -> None:
        self._open_list(None)

    def _ordered_list_open(self, token: "Token") -> None:
        start = token.attrGet("start")
        self._open_list(start if isinstance(start, int) else 1)

    def _open_list(self, number: int | None) -> None:
        if not self._numbers:
            self._space()
        self._numbers.append(number)
        self._tight += 1

    def _close_list(self, _: "Token") -> None:
        self._numbers.pop()
        self._tight -= 1

    _bullet_list_close = _close_list
    _ordered_list_close = _close_list

    def _list_item_open(self, _: "Token") -> None:
        number = self._numbers[-1]
        text = "- " if number is None else f"{number}. "
        if number is not None:
            self._numbers[-1] = number + 1
        self._push([(text, "bullet")], [(" " * len(text), "text")])

    def _list_item_close(self, _: "Token") -> None:
        if self._mark is not None:  # an empty item
            self._lines.append(tuple(self._before()))
        self._pop()

    def _push(self, first: list[Piece], rest: list[Piece]) -> None:
        if cells(self._rest) + cells(first) + 4 > self._width:  # no room to indent any further
            first, rest = [], []
        self._mark = [*(self._rest if self._mark is None else self._mark), *first]
        self._rest.extend(rest)
        self._depth.append(len(rest))

    def _pop(self) -> None:
        for _ in range(self._depth.pop()):
            self._rest.pop()
        self._mark = None

    # -- tables

    def _table_open(self, _: "Token") -> None:
        self._space()
        self._table = [[]]
        self._role = "bold"

    def _tr_open(self, _: "Token") -> None:
        if self._table[-1]:
            self._table.append([])

    def _thead_close(self, _: "Token") -> None:
        self._role = "text"

    def _table_close(self, _: "Token") -> None:
        rows, self._table, self._role = self._table, [], "text"
        columns = max(len(row) for row in rows)
        widths = [max(cells(row[n]) if n < len(row) else 0 for row in rows) for n in range(columns)]
        fits = cells(self._rest) + sum(widths) + _GAP * (columns - 1) <= self._width
        for row in rows:
            line: list[Piece] = []
            for number, cell in enumerate(row):
                line.extend([(" " * _GAP if fits else " ⋅ ", "faint")] if number else [])
                blanks = widths[number] - cells(cell) if fits and number < len(row) - 1 else 0
                line.extend([*cell, (" " * blanks, "text")])
            self._lines.extend(
                [(*self._before(), *line)] if fits else wrap(line, self._width, self._before(), self._rest)
            )


def _pieces(token: "Token", role: str) -> list[list[Piece]]:
    """The lines of a paragraph as it was written: one of the pieces for each."""
    lines: list[list[Piece]] = [[]]
    bold = italic = 0
    links: list[str] = []
    for child in token.children or []:
        match child.type:
            case "softbreak" | "hardbreak":
                lines.append([])
            case "strong_open" | "strong_close":
                bold += child.nesting
            case "em_open" | "em_close":
                italic += child.nesting
            case "link_open":
                links.append(str(child.attrGet("href") or ""))
            case "link_close":
                _say_target(lines[-1], links.pop())
            case "code_inline":
                lines[-1].append((child.content, "code"))
            case _:
                of = role if role != "text" else "bold" if bold else "italic" if italic else "link" if links else "text"
                lines[-1].append((child.content, of))
    return lines


def _say_target(line: list[Piece], target: str) -> None:
    """Where a link leads, unless that is what it says."""
    said = "".join(text for text, _ in line)
    if target and not said.endswith(target.removeprefix("mailto:")):
        line.append((f" ({target})", "faint"))
