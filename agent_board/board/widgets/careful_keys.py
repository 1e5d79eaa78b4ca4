"""Keys that act, safe from pasted text: each waits a moment, and a burst of them is a paste and no act."""

from textual import events
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget

from agent_board.board.model.burst import HOLD_S, QUIET_S, Burst


class CarefulKeys(Widget):
    """A widget whose printable keys call its bindings; text that was pasted is posted instead."""

    class Pasted(Message):
        """Text arrived where keys are expected."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._burst = Burst()
        self._held: Timer | None = None
        self._waiting: list[str] = []

    def on_key(self, event: events.Key) -> None:
        """Hold back what may be the first letter of a paste."""
        char = event.character if event.is_printable else "\n" if event.key == "enter" else None
        if char is None:
            return
        paste = self._burst.feed(char, event.time)
        event.stop()
        event.prevent_default()
        self._waiting.append(event.key)
        if self._held is not None:
            self._held.stop()
        self._held = self.set_timer(QUIET_S if paste else HOLD_S, self._release)

    async def _release(self) -> None:
        self._held = None
        waiting, self._waiting = self._waiting, []
        if self._burst.is_paste:
            self.post_message(self.Pasted(self._burst.take()))
            return
        for key in waiting:
            active = self.screen.active_bindings.get(key)
            if active is not None and active.enabled:
                await self.app.run_action(active.binding.action, active.node)

    def on_paste(self, event: events.Paste) -> None:
        """Never keys."""
        event.stop()
        self.post_message(self.Pasted(event.text))
