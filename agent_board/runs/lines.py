"""Cutting a byte stream into lines at LF only, with a bound on what one line may hold."""

from dataclasses import dataclass

from agent_board.store.logs import KEPT_OF_LONG_LINE, LONGEST_LINE


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its LF. A too long one holds its first and last 64 KB only and is not to be parsed."""

    data: bytes
    dropped: int = 0
    """Bytes left out of the middle."""


class LineSplitter:
    """Feed chunks, take lines. U+2028 and friends are text: only LF ends a line (Pi sends them unescaped)."""

    def __init__(self, longest: int = LONGEST_LINE, kept: int = KEPT_OF_LONG_LINE) -> None:
        self._longest = longest
        self._kept = kept
        self._pieces: list[bytes] = []
        self._size = 0
        self._dropped = 0

    def feed(self, chunk: bytes) -> list[Line]:
        """The lines that this chunk completes."""
        *ended, rest = chunk.split(b"\n")
        lines = []
        for piece in ended:
            self._add(piece)
            lines.append(self._take())
        self._add(rest)
        return lines

    def flush(self) -> list[Line]:
        """What stands behind the last LF, if anything."""
        return [self._take()] if self._size or self._dropped else []

    def _add(self, piece: bytes) -> None:
        if not piece:
            return
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > self._longest:
            whole = b"".join(self._pieces)
            self._dropped += len(whole) - 2 * self._kept
            self._pieces = [whole[: self._kept], whole[-self._kept :]]
            self._size = 2 * self._kept

    def _take(self) -> Line:
        line = Line(b"".join(self._pieces), self._dropped)
        self._pieces, self._size, self._dropped = [], 0, 0
        return line
