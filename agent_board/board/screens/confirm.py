"""A question that only `y` answers, and only once the keyboard has been quiet: held keys and pastes can't."""

import time

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Static

QUIET_S = 0.6
_SCROLLS = {"up": -1, "down": 1, "k": -1, "j": 1, "pageup": -10, "pagedown": 10}


class Confirm(ModalScreen[bool]):
    """Asks; the answer is True for `y`, False for anything that leaves."""

    def __init__(self, question: str, yes: str, no: str, *, detail: str | Content = "") -> None:
        super().__init__(id="confirm")
        self._question = question
        self._detail = Content(detail) if isinstance(detail, str) else detail
        self._yes, self._no = yes, no
        self._timer: Timer | None = None
        self._last_key = time.monotonic()
        self.listening = False
        """The keyboard has been quiet long enough: `y` is heard."""

    def compose(self) -> ComposeResult:
        """The question, what is at stake, the two ways out."""
        with Vertical(classes="dialog"):
            yield Static(Content(self._question), classes="dialog-title")
            if self._detail:
                with VerticalScroll(id="detail", can_focus=False):
                    yield Static(self._detail, classes="dialog-text")
            yield Static("", id="answers")

    def on_mount(self) -> None:
        """Wait for quiet."""
        self._wait()

    def _wait(self) -> None:
        self.listening = False
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(QUIET_S, self._listen)
        self._say()

    def _listen(self) -> None:
        self.listening = True
        self._say()

    def _say(self) -> None:
        key, words = ("bold $warning", "$foreground") if self.listening else ("$foreground-disabled",) * 2
        self.query_one("#answers", Static).update(
            Content.assemble(
                ("y", key),
                (f" {self._yes}     ", words),
                ("esc", "bold $foreground"),
                (f" {self._no}", "$foreground-muted"),
            )
        )

    def on_key(self, event: events.Key) -> None:
        """`y` after quiet says yes; esc and n leave at any time; every other key makes it wait again."""
        event.stop()
        event.prevent_default()
        quiet = event.time - self._last_key >= QUIET_S or self._last_key > event.time
        self._last_key = event.time
        if event.key in ("escape", "ctrl+c") or (event.key == "n" and self.listening):
            self.dismiss(False)
        elif event.key == "y" and self.listening and quiet:
            self.dismiss(True)
        else:
            if event.key in _SCROLLS and self._detail:
                self.query_one("#detail").scroll_relative(y=_SCROLLS[event.key], animate=False)
            self._wait()

    def on_paste(self, event: events.Paste) -> None:
        """A paste is never an answer."""
        event.stop()
        self._wait()
