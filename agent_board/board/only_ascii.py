"""What a terminal that is not UTF-8 gets: every line that is drawn, whoever drew it, in ASCII."""

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from agent_board.board.model.glyphs import Glyphs


class OnlyAscii(LineFilter):
    """Takes the place of what no such terminal can show, so that key names, messages and toasts keep their width."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__()
        self._glyphs = glyphs

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same line, as wide as before."""
        return [
            segment if segment.text.isascii() else Segment(self._glyphs.text(segment.text), *segment[1:])
            for segment in segments
        ]
