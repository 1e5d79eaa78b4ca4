"""Something that has to end first: says what, and for how long already. Esc gives up waiting, not the thing itself."""

import time

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static


class Waiting(ModalScreen[bool | None]):
    """Over with True: it has ended; None: it couldn't be. False: the user gave up. No other key is heard."""

    def __init__(self, sentence: str, leave: str) -> None:
        super().__init__(id="waiting")
        self._sentence = sentence
        self._leave = leave
        self._since = time.monotonic()

    def compose(self) -> ComposeResult:
        """What is waited for, and the way out."""
        with Vertical(classes="dialog"):
            yield Static("", id="waiting-text", classes="dialog-title")
            yield Static(Content.assemble(("esc", "bold $foreground"), (f" {self._leave}", "$foreground-muted")))

    def on_mount(self) -> None:
        """Count the seconds."""
        self._say()
        self.set_interval(0.5, self._say)

    def _say(self) -> None:
        seconds = int(time.monotonic() - self._since)
        said = f"{self._sentence} {seconds} s" if seconds else self._sentence
        self.query_one("#waiting-text", Static).update(Content(said))

    def on_key(self, event: events.Key) -> None:
        """Only esc."""
        event.stop()
        event.prevent_default()
        if event.key in ("escape", "ctrl+c"):
            self.dismiss(False)

    def over(self, ended: bool | None) -> None:
        """What was waited for has come, or never will; the user may have gone already."""
        if self.is_current:
            self.dismiss(ended)

    def on_paste(self, event: events.Paste) -> None:
        """A paste goes nowhere."""
        event.stop()
