"""The prompts of a view that wait, one line each; the chosen one in full. Sent, edited or dropped from here."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message

from agent_board.board.model import words
from agent_board.board.model.glyphs import Glyphs
from agent_board.board.model.wrapping import plain, wrap_text
from agent_board.board.widgets.careful_keys import CarefulKeys
from agent_board.runs.followups import WaitingPrompt
from agent_board.text import clean_block, clean_line

STATES = {
    "waiting": "waits its turn",
    "held": "held",
    "not-sent": "was not sent",
    "maybe-received": "may have been received",
}
_SHOWN = 4
_FULL_LINES = 5


class WaitingReplies(CarefulKeys, can_focus=True):
    """A short list; not there when nothing waits."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("enter", "take('send')", show=False),
        Binding("e", "take('edit')", show=False),
        Binding("x", "take('drop')", show=False),
        Binding("escape,left", "leave", show=False),
    ]

    class Taken(Message):
        """The user wants this of a prompt: send, edit or drop."""

        def __init__(self, act: str, item: WaitingPrompt) -> None:
            super().__init__()
            self.act = act
            self.item = item

    class Left(Message):
        """Back to the list of tasks."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(id="waiting-replies")
        self._glyphs = glyphs
        self.items: tuple[WaitingPrompt, ...] = ()
        self._chosen = ""

    def show(self, items: Sequence[WaitingPrompt]) -> None:
        """These wait now."""
        if tuple(items) == self.items:
            return
        at = self._at
        self.items = tuple(items)
        if self.items and not any(item.id == self._chosen for item in self.items):
            self._chosen = self.items[min(at, len(self.items) - 1)].id
        self.display = bool(self.items)
        self.refresh(layout=True)

    @property
    def _at(self) -> int:
        return next((number for number, item in enumerate(self.items) if item.id == self._chosen), 0)

    def action_move(self, step: int) -> None:
        """The next or the previous one."""
        if self.items:
            self._chosen = self.items[max(0, min(len(self.items) - 1, self._at + step))].id
            self.refresh(layout=True)

    def action_take(self, act: str) -> None:
        """Send, edit or drop the chosen one."""
        if self.items:
            self.post_message(self.Taken(act, self.items[self._at]))

    def action_leave(self) -> None:
        """Back."""
        self.post_message(self.Left())

    def on_focus(self) -> None:
        """The chosen one is shown in full."""
        self.refresh(layout=True)

    def on_blur(self) -> None:
        """All are short again."""
        self.refresh(layout=True)

    def render(self) -> Content:
        """A head and the prompts, those around the chosen one when they are many."""
        width = max(8, self.container_size.width - 4)
        first = max(0, min(self._at - _SHOWN // 2, len(self.items) - _SHOWN))
        lines = [self._head()]
        for number in range(first, min(first + _SHOWN, len(self.items))):
            lines.append(self._item(number, width))
        return Content("\n").join(lines)

    def _head(self) -> Content:
        hidden = len(self.items) - _SHOWN
        more = f", {_SHOWN} of them here" if hidden > 0 else ""
        title = words.count(len(self.items), "reply waits", "replies wait")
        keys = "  enter sends  e edits  x drops" if self.has_focus else "  h to send, edit or drop"
        return Content.assemble((f"{title}{more}", "bold $warning"), (keys, "$foreground-disabled"))

    def _item(self, number: int, width: int) -> Content:
        item, chosen = self.items[number], self.has_focus and number == self._at
        cursor = f"{self._glyphs.cursor if chosen else ' '} "
        state = f"{STATES.get(item.state, item.state)}  "
        if not chosen:
            text = words.fit(
                clean_line(item.text[:400]), width - len(cursor) - len(state), self._glyphs.ellipsis
            ).rstrip()
            return Content.assemble(cursor, (state, "$foreground-muted"), (self._glyphs.text(text), "$foreground"))
        wrapped = wrap_text(clean_block(item.text[:4000]).strip(), "text", width - 2)
        shown = [plain(line) for line in wrapped[:_FULL_LINES]]
        if len(wrapped) > _FULL_LINES:
            shown.append(f"{self._glyphs.ellipsis} {len(wrapped) - _FULL_LINES} more lines")
        return Content.assemble(
            (cursor, "bold $primary"),
            (state.rstrip(), "$foreground-muted"),
            *(("\n  " + self._glyphs.text(line), "bold $foreground") for line in shown),
        )
