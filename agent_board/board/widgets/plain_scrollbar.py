"""A scrollbar of whole cells: the usual one is made of block characters, which some terminals draw two cells wide."""

from typing import ClassVar

from textual.scrollbar import ScrollBarRender


class PlainScrollBar(ScrollBarRender):
    """Blanks in two colours."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "]
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "]
