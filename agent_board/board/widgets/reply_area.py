"""The reply that is being written: every letter, digit, arrow and tab is text."""

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from agent_board.board.widgets.prompt_area import PromptArea


class ReplyArea(PromptArea):
    """The input of peek. What it was filled with goes out byte for byte unless it was changed."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+g", "edit_outside", show=False)]

    class Left(Message):
        """Esc: back to the list; the text stays."""

    class EditorWanted(Message):
        """Ctrl+g: the text is to be written in the user's editor."""

    def __init__(self, placeholder: str) -> None:
        super().__init__("", placeholder, id="reply")
        self._filled = ("", "")

    def fill(self, text: str) -> None:
        """Put a text in; a text area keeps only line feeds of all the characters that break lines."""
        self.load_text(text)
        self.move_cursor(self.document.end)
        self._filled = (self.text, text)

    @property
    def exact(self) -> str:
        """The text: as it was filled in when nobody has changed it since."""
        shown, text = self._filled
        return text if self.text == shown else self.text

    def on_key(self, event: events.Key) -> None:
        """Esc leaves, tab is a tab; Textual calls the base class's handler for the rest by itself."""
        if event.key == "escape":
            event.stop()
            event.prevent_default()
            self.post_message(self.Left())
        elif event.key in ("tab", "shift+tab"):
            event.stop()
            event.prevent_default()
            if event.key == "tab":
                self.insert("\t")

    def action_edit_outside(self) -> None:
        """Write it in the editor."""
        self.post_message(self.EditorWanted())
