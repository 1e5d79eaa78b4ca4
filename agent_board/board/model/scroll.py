"""The transcript as lines, growing at its beginning: whose line each is, what is chosen, what was found."""

from collections.abc import Sequence

from agent_board.board.model.exchange import Block, Kind
from agent_board.board.model.wrapping import Line, plain

_MESSAGES = frozenset({Kind.PROMPT, Kind.ANSWER, Kind.REPORT, Kind.REQUEST, Kind.ERROR})


class Placed:
    """A line and its block; None for a blank one between blocks."""

    __slots__ = ("block", "line")

    def __init__(self, line: Line, block: Block | None) -> None:
        self.line = line
        self.block = block


class Scroll:
    """All lines that have been read so far."""

    def __init__(self) -> None:
        self.placed: list[Placed] = []
        self.chosen: Block | None = None
        self.term = ""
        self._hits: list[int] = []

    @property
    def lines(self) -> list[Line]:
        """The lines alone."""
        return [placed.line for placed in self.placed]

    def put_before(self, placed: Sequence[Placed]) -> int:
        """Add an older piece; returns how many lines stand before the others now."""
        added = [*placed, *([Placed((), None)] if placed and self.placed else [])]
        self.placed[:0] = added
        self._search()
        return len(added)

    def replace_all(self, placed: Sequence[Placed]) -> None:
        """Lay everything out anew."""
        self.placed = list(placed)
        self._search()

    # -- choosing

    def choose(self, step: int, near: int) -> bool:
        """Choose the next message in a direction, the first time the one nearest to a line; False at either end."""
        messages = self._messages()
        if not messages:
            return False
        known = [number for number, (block, _) in enumerate(messages) if block is self.chosen]
        if known:
            at = known[0] + step
        else:
            at = next((number for number, (_, first) in enumerate(messages) if first >= near), len(messages) - 1)
        if not 0 <= at < len(messages):
            return False
        self.chosen = messages[at][0]
        return True

    def choose_at(self, line: int) -> None:
        """Choose the message that a line belongs to."""
        block = self.placed[line].block if 0 <= line < len(self.placed) else None
        if block is not None:
            self.chosen = block

    def _messages(self) -> list[tuple[Block, int]]:
        found: list[tuple[Block, int]] = []
        for number, placed in enumerate(self.placed):
            block = placed.block
            if block is not None and block.kind in _MESSAGES and (not found or found[-1][0] is not block):
                found.append((block, number))
        return found

    def extent(self) -> tuple[int, int] | None:
        """The first and the last line of what is chosen."""
        own = [number for number, placed in enumerate(self.placed) if placed.block is self.chosen]
        return (own[0], own[-1]) if own and self.chosen is not None else None

    def to_copy(self) -> str:
        """The chosen message, else the last answer; empty when there is none."""
        if self.chosen is not None:
            return self.chosen.text
        answers = (p.block.text for p in reversed(self.placed) if p.block is not None and p.block.kind is Kind.ANSWER)
        return next(answers, "")

    # -- searching

    def search(self, term: str) -> int:
        """Look for a text, without regard to case; returns how many lines hold it."""
        self.term = " ".join(term.split()).casefold()
        self._search()
        return len(self._hits)

    def _search(self) -> None:
        self._hits = []
        if not self.term:
            return
        missed: Block | None = None
        for number, placed in enumerate(self.placed):
            if self.term in plain(placed.line).casefold():
                self._hits.append(number)
            elif placed.block is not None and placed.block is not missed:
                missed = placed.block
                if self._is_broken(placed.block):
                    self._hits.append(number)

    def _is_broken(self, block: Block) -> bool:
        """Whether the block holds the term only over the end of a line."""
        if " " not in self.term or self.term not in " ".join(block.text.split()).casefold():
            return False
        return not any(self.term in plain(p.line).casefold() for p in self.placed if p.block is block)

    @property
    def found(self) -> int:
        """How many lines hold the term."""
        return len(self._hits)

    def hit(self, step: int, line: int) -> int | None:
        """The next line that holds the term after (1) or before (-1) a line, round the ends; None without any."""
        if not self._hits:
            return None
        if step > 0:
            return next((hit for hit in self._hits if hit > line), self._hits[0])
        return next((hit for hit in reversed(self._hits) if hit < line), self._hits[-1])

    def number_of(self, line: int) -> int:
        """Which hit a line is, counted from 1."""
        return self._hits.index(line) + 1 if line in self._hits else 0


def marked(line: Line, term: str) -> Line:
    """The line with every place that holds the term in the role `match`."""
    text = plain(line)
    folded = text.casefold()
    if not term or term not in folded or len(folded) != len(text):
        return line
    spans, at = [], folded.find(term)
    while at >= 0:
        spans.append((at, at + len(term)))
        at = folded.find(term, at + len(term))
    pieces: list[tuple[str, str]] = []
    start = 0
    for words, role in line:
        for offset, char in enumerate(words):
            inside = any(first <= start + offset < last for first, last in spans)
            pieces.append((char, "match" if inside else role))
        start += len(words)
    return tuple(pieces)
