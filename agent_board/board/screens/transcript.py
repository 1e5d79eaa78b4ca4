"""The whole conversation of a task: there at once from its end, read further back as one scrolls or searches."""

import time
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events, work
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input

from agent_board.board.history import History, Piece
from agent_board.board.model.conversation import Style, conversation_lines
from agent_board.board.model.exchange import Block
from agent_board.board.model.glyphs import Glyphs
from agent_board.board.model.scroll import Placed, Scroll, marked
from agent_board.board.screens.pages import Page
from agent_board.board.widgets.hints import Hint
from agent_board.board.widgets.peek import Title

ENOUGH_LINES = 300
"""So many lines are read before the first frame."""
MOST_BYTES = 64 << 20
"""So much of the logs is held in memory; what is older is not shown."""
LOOK_S = 1.0
"""A conversation that goes on is looked at this often."""


class Transcript(Page):
    """Scrolls, searches, copies."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "close", show=False),
        Binding("slash", "find", show=False),
        Binding("n", "next(1)", show=False),
        Binding("N", "next(-1)", show=False),
        Binding("shift+down,tab", "choose(1)", show=False),
        Binding("shift+up,shift+tab", "choose(-1)", show=False),
    ]

    class Read(Message):
        """A thread has read and laid out pieces, oldest first. `anew`: in place of everything."""

        def __init__(self, blocks: Sequence[Block], placed: Sequence[Placed], *, anew: bool, more: bool) -> None:
            super().__init__()
            self.blocks = blocks
            self.placed = placed
            self.anew = anew
            self.more = more

    def __init__(self, make: Callable[[], History], glyphs: Glyphs, title: Callable[[], Title]) -> None:
        """`make` opens the conversation from its end."""
        super().__init__(glyphs, title, id="transcript")
        self._make = make
        self._history = make()
        self._blocks: list[Block] = []
        self._scroll = Scroll()
        self._more = True
        self._reading = False
        self._held_bytes = 0
        self._find: Input | None = None
        self._searching = False
        self._hit_line = -1
        self.body.chosen = lambda line: self._scroll.chosen is not None and self._is_chosen(line)
        self.body.matched = lambda line: marked(line, self._scroll.term)

    def _is_chosen(self, line: int) -> bool:
        return self._scroll.placed[line].block is self._scroll.chosen

    def on_mount(self) -> None:
        """Read the end."""
        self.tell()
        self.call_after_refresh(self._read_more, ENOUGH_LINES)
        self.set_interval(LOOK_S, self._look)

    @property
    def _style(self) -> Style:
        width = max(20, min(self.body.scrollable_content_region.width or 80, 120))
        return Style(width, self.glyphs, when=_when)

    # -- reading, in threads

    def _read_more(self, lines: int) -> None:
        """Read older pieces until there are so many lines more, or no more pieces."""
        if self._more and not self._reading:
            self._reading = True
            self._read(self._style, lines)

    @work(thread=True, exit_on_error=False, group="transcript")
    def _read(self, style: Style, lines: int) -> None:
        blocks: list[Block] = []
        placed: list[Placed] = []
        more = True
        while more and len(placed) < lines:
            piece = self._history.before()
            more = piece is not None and self._held_bytes < MOST_BYTES
            if piece is not None:
                self._held_bytes += piece.size
                blocks[:0] = piece.blocks
                laid = lay_out(piece.blocks, style)
                placed[:0] = [*laid, *([Placed((), None)] if laid and placed else [])]
        self.post_message(self.Read(blocks, placed, anew=False, more=more))

    @work(thread=True, exit_on_error=False, exclusive=True, group="transcript-again")
    def _read_again(self, style: Style) -> None:
        """Everything that was read, once more and with what has come since."""
        self._history, blocks, size = self._make(), list[Block](), 0
        piece: Piece | None = None
        while size < max(1, self._held_bytes) and (piece := self._history.before()) is not None:
            blocks[:0] = piece.blocks
            size += max(1, piece.size)
        self._held_bytes = size
        self.post_message(self.Read(blocks, lay_out(blocks, style), anew=True, more=piece is not None))

    def on_transcript_read(self, event: Read) -> None:
        """Add it; what is in view stays."""
        self._more = event.more
        self._reading = False
        if event.anew:
            self._blocks = list(event.blocks)
            self._scroll.replace_all(event.placed)
            self.body.show(self._scroll.lines)
        else:
            first = not self._blocks
            self._blocks[:0] = event.blocks
            added = self._scroll.put_before(event.placed)
            if first:
                self.body.show(self._scroll.lines, anew=True)
            else:
                self._hit_line += added if self._hit_line >= 0 else 0
                self.body.put_before(self._scroll.lines[:added])
        if self._searching:
            self._go_on_searching()
        self.tell()

    def _look(self) -> None:
        self.tell()
        if self.app.app_focus and not self._reading:
            self._look_for_more(self._style)
        if self.body.scroll_y < self.body.size.height:
            self._read_more(ENOUGH_LINES)

    @work(thread=True, exit_on_error=False, exclusive=True, group="transcript-look")
    def _look_for_more(self, style: Style) -> None:
        if self._history.changed():
            self.app.call_from_thread(self._again)

    def _again(self) -> None:
        if not self._reading:
            self._reading = True
            self._read_again(self._style)

    def on_resize(self, event: events.Resize) -> None:
        """Other lines."""
        if self._blocks:
            self._again()

    # -- moving

    def action_scroll(self, lines: int) -> None:
        """By lines; older pieces come in time."""
        super().action_scroll(lines)
        self._come_near()

    def action_page(self, pages: int) -> None:
        """By pages, likewise."""
        super().action_page(pages)
        self._come_near()

    def on_mouse_scroll_up(self) -> None:
        """The wheel, likewise."""
        self._come_near()

    def action_to_start(self) -> None:
        """To the top of what has been read; more is read."""
        super().action_to_start()
        self._come_near()

    def _come_near(self) -> None:
        if self.body.scroll_y < 2 * self.body.size.height:
            self._read_more(ENOUGH_LINES)

    def action_choose(self, step: int) -> None:
        """The next or the previous message."""
        if self._scroll.choose(step, round(self.body.scroll_y)):
            extent = self._scroll.extent()
            if extent is not None:
                self.body.bring_into_view(*extent)
        elif step < 0:
            self._read_more(ENOUGH_LINES)
        self.body.refresh()
        self.tell()

    def on_click(self, event: events.Click) -> None:
        """A click chooses a message."""
        if event.widget is self.body:
            self._scroll.choose_at(round(self.body.scroll_y) + event.y)
            self.body.refresh()
            self.tell()

    def action_close(self) -> None:
        """Esc takes away the search, then the choice, then the screen."""
        if self._scroll.term:
            self._search("")
        elif self._scroll.chosen is not None:
            self._scroll.chosen = None
        else:
            self.dismiss()
            return
        self.body.refresh()
        self.tell()

    def action_copy(self) -> None:
        """The chosen message, else the last answer."""
        from agent_board.board.clipboard import copy

        text = self._scroll.to_copy()
        if text:
            copy(self.app, text)
            self.say("Copied the message." if self._scroll.chosen is not None else "Copied the last answer.")
        else:
            self.say("There is no answer yet.")

    # -- searching

    async def action_find(self) -> None:
        """Open the input."""
        if self._find is None:
            self._find = Input(self._scroll.term, placeholder="search", id="find", compact=True)
            self._find.cursor_blink = False
            await self.mount(self._find, before=self.hints)
            self._find.focus()
            self.tell()

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        """Search for it, from the place in view upwards."""
        event.stop()
        await self._close_find()
        self._search(event.value)

    async def on_key(self, event: events.Key) -> None:
        """Esc in the input leaves it."""
        if self._find is not None and event.key == "escape":
            event.stop()
            event.prevent_default()
            await self._close_find()

    async def _close_find(self) -> None:
        if self._find is not None:
            find, self._find = self._find, None
            await find.remove()
            self.tell()

    def _search(self, term: str) -> None:
        self._scroll.search(term)
        self._hit_line = -1
        self._searching = bool(self._scroll.term)
        self.body.refresh()
        if self._searching:
            self._go_on_searching()

    def _go_on_searching(self) -> None:
        """Show the last hit above the bottom; look further back while there is none, and in the end for all."""
        if self._hit_line < 0 and self._scroll.found:
            bottom = round(self.body.scroll_y) + self.body.size.height
            self._show_hit(self._scroll.hit(-1, bottom))
        if self._more:
            self._read_more(ENOUGH_LINES * 10)
        else:
            self._searching = False
            if not self._scroll.found:
                self.say("It is nowhere in this conversation.")
        self.body.refresh()
        self.tell()

    def action_next(self, step: int) -> None:
        """The next or the previous place."""
        if not self._scroll.term:
            self.say("Search first, with /.")
            return
        start = self._hit_line if self._hit_line >= 0 else round(self.body.scroll_y)
        self._show_hit(self._scroll.hit(step, start))
        self.tell()

    def _show_hit(self, line: int | None) -> None:
        if line is not None:
            self._hit_line = line
            self.body.bring_into_view(max(0, line - 3), min(len(self._scroll.placed) - 1, line + 3))
            self.body.refresh()

    def own_hints(self) -> list[Hint]:
        """The keys that matter here, and how the search stands."""
        if self._find is not None:
            return [("enter", "search", ""), ("esc", "leave", "")]
        hints: list[Hint] = []
        if self._scroll.term:
            of = f"{self._scroll.number_of(self._hit_line)} of {self._scroll.found}"
            hints += [("n N", f"{of}{self.glyphs.ellipsis if self._searching else ''}", "")]
        copied = "copy message" if self._scroll.chosen is not None else "copy last answer"
        hints += [("/", "search", "screen.find"), ("tab", "choose a message", "screen.choose(1)")]
        return [*hints, ("y", copied, "screen.copy"), ("g G", "ends", ""), ("esc", "back", "screen.close")]


def lay_out(blocks: Sequence[Block], style: Style) -> list[Placed]:
    """The lines of some blocks, each with its own."""
    return [
        Placed(placed.line, blocks[placed.block] if placed.block >= 0 else None)
        for placed in conversation_lines(blocks, style)
    ]


def _when(at_ms: int) -> str:
    return time.strftime("%a %d %b %H:%M", time.localtime(at_ms / 1000))
