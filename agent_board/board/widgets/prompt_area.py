"""The text of a task: enter sends, ctrl+j or a backslash before enter makes a new line, pasted lines stay lines."""

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea

from agent_board.board.model.burst import Burst


class PromptArea(TextArea):
    """A text area that grows with its text and never sends by accident."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+j,shift+enter", "new_line", show=False)]

    class Sent(Message):
        """Enter: the text is meant."""

    def __init__(self, text: str, placeholder: str, *, id: str = "prompt") -> None:
        super().__init__(
            text,
            id=id,
            soft_wrap=True,
            show_line_numbers=False,
            placeholder=placeholder,
            compact=True,
            highlight_cursor_line=False,
            tab_behavior="focus",
        )
        self.cursor_blink = False
        self._burst = Burst()

    def on_key(self, event: events.Key) -> None:
        """Enter sends; what else is typed is watched for bursts and left to the text area."""
        if event.key == "enter":
            self._enter(event)
        elif event.character and event.is_printable:
            self._burst.feed(event.character, event.time)

    def _enter(self, event: events.Key) -> None:
        if self._burst.continues(event.time):
            self._burst.feed("\n", event.time)
            return
        event.stop()
        event.prevent_default()
        row, column = self.cursor_location
        if column and self.document.get_line(row)[column - 1 : column] == "\\":
            self.replace("\n", (row, column - 1), (row, column))
        else:
            self.post_message(self.Sent())

    def action_new_line(self) -> None:
        """Break the line here."""
        self.insert("\n")

    def add(self, text: str) -> None:
        """Put text where the cursor is."""
        self.insert(text)
