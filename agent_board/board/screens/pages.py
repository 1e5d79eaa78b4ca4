"""What the screens that show a long text share: the keys that scroll it, its head and its hints."""

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from agent_board.board.model.glyphs import Glyphs
from agent_board.board.widgets.hints import Hint, Hints
from agent_board.board.widgets.lines_view import LinesView
from agent_board.board.widgets.peek import PeekHead, Title


class Page(Screen[None]):
    """A title, lines that scroll, hints."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("pagedown,space,ctrl+d", "page(1)", show=False),
        Binding("pageup,ctrl+u", "page(-1)", show=False),
        Binding("home,g", "to_start", show=False),
        Binding("end,G", "to_end", show=False),
        Binding("y", "copy", show=False),
    ]

    def __init__(self, glyphs: Glyphs, title: Callable[[], Title], *, id: str) -> None:
        """`title` is asked for what the head says."""
        super().__init__(id=id)
        self.glyphs = glyphs
        self.title_now = title
        self.head = PeekHead(glyphs.ellipsis)
        self.body = LinesView(id="page-body")
        self.hints = Hints()

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield self.head
        yield self.body
        yield self.hints

    def tell(self) -> None:
        """Bring head and hints up to date."""
        self.head.show(self.title_now())
        self.hints.show(self.own_hints())

    def own_hints(self) -> list[Hint]:
        """The keys that matter here."""
        raise NotImplementedError

    def action_close(self) -> None:
        """Back to the board."""
        self.dismiss()

    def action_scroll(self, lines: int) -> None:
        """By lines."""
        self.body.move(lines)

    def action_page(self, pages: int) -> None:
        """By pages."""
        self.body.move(pages * max(1, self.body.size.height - 2))

    def action_to_start(self) -> None:
        """To the top."""
        self.body.move(-len(self.body.lines))

    def action_to_end(self) -> None:
        """To the bottom."""
        self.body.move(len(self.body.lines))

    def action_copy(self) -> None:
        """Copy what is shown."""
        raise NotImplementedError

    def say(self, sentence: str) -> None:
        """A short toast."""
        self.notify(sentence, timeout=3.0, markup=False)
