"""A question that is answered by typing a name: for what can't be made again by anybody."""

import time

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from agent_board.board.screens.confirm import QUIET_S


class ConfirmName(ModalScreen[bool]):
    """The answer is True for the name and enter, after the keyboard has been quiet; False for leaving."""

    def __init__(self, question: str, name: str, detail: Content) -> None:
        super().__init__(id="confirm-name")
        self._question = question
        self._name_wanted = name
        self._detail = detail
        self._changed_at = float("inf")

    def compose(self) -> ComposeResult:
        """The question, what would be lost, the input, the ways out."""
        with Vertical(classes="dialog"):
            yield Static(Content(self._question), classes="dialog-title")
            with VerticalScroll(id="detail", can_focus=False):
                yield Static(self._detail, classes="dialog-text")
            yield Static(Content(f"Type the task's name, {self._name_wanted}, to agree:"), id="name-asked")
            yield Input(compact=True)
            yield Static("", id="answers")

    def on_mount(self) -> None:
        """Take what is typed from the first frame on, and say how to answer."""
        self.set_focus(self.query_one(Input))
        self._say("")

    def _say(self, wrong: str) -> None:
        parts: list[tuple[str, str]] = [("enter", "bold $foreground"), (" delete it     ", "$foreground-muted")]
        parts += [("esc", "bold $foreground"), (" keep it", "$foreground-muted")]
        parts += [(f"     {wrong}", "$error")] if wrong else []
        self.query_one("#answers", Static).update(Content.assemble(*parts))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Typing starts the wait anew: pasted text with a new line behind it is no answer."""
        event.stop()
        self._changed_at = time.monotonic()
        self._say("")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter says yes only to the very name."""
        event.stop()
        if event.value != self._name_wanted:
            self._say("That is not the name.")
        elif time.monotonic() - self._changed_at >= QUIET_S:
            self.dismiss(True)

    def on_key(self, event: events.Key) -> None:
        """Esc leaves."""
        if event.key in ("escape", "ctrl+c"):
            event.stop()
            self.dismiss(False)
        elif event.key in ("up", "down", "pageup", "pagedown"):
            self.query_one("#detail").scroll_relative(y=-2 if "up" in event.key else 2, animate=False)
