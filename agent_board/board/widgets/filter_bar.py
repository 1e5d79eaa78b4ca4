"""The filter's input: what is typed narrows the list at once."""

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static


class FilterBar(Horizontal):
    """One line at the bottom; enter keeps the filter, esc clears it."""

    class Changed(Message):
        """Another text."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Closed(Message):
        """The user is done: the filter stays or goes."""

        def __init__(self, *, keep: bool) -> None:
            super().__init__()
            self.keep = keep

    def __init__(self, text: str) -> None:
        super().__init__(id="filter-bar")
        self._input = Input(text, placeholder="words, s:failed a:pi p:api is:unread is:pinned", compact=True)
        self._found = Static("", id="filter-found")

    def compose(self) -> ComposeResult:
        """A mark, the input, how much was found."""
        yield Static("/", id="filter-mark")
        yield self._input
        yield self._found

    def on_mount(self) -> None:
        """Type at once."""
        self._input.focus()

    def found(self, shown: int, of: int) -> None:
        """Say how many rows pass."""
        self._found.update(Content(f"{shown} of {of}"), layout=True)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow the list."""
        event.stop()
        self.post_message(self.Changed(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep it."""
        event.stop()
        self.post_message(self.Closed(keep=True))

    def on_key(self, event: events.Key) -> None:
        """Esc clears."""
        if event.key == "escape":
            event.stop()
            self.post_message(self.Closed(keep=False))

    def clear(self) -> bool:
        """Empty the input; False when it was empty."""
        had, self._input.value = bool(self._input.value), ""
        return had
