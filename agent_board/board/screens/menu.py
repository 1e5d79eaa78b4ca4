"""A short menu at the bottom: a letter takes an entry, or the arrows and enter. A paste takes nothing."""

from collections.abc import Sequence
from typing import NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Static

from agent_board.board.model import words
from agent_board.board.model.burst import HOLD_S
from agent_board.board.model.glyphs import Glyphs

_MOST_KEYS = 1


class Option(NamedTuple):
    """One entry: its key, what it does, and more about it."""

    key: str
    title: str
    detail: str = ""


class Menu(ModalScreen[str | None]):
    """Asks for one of a few; the answer is the entry's key, or None."""

    def __init__(self, title: str, options: Sequence[Option], glyphs: Glyphs) -> None:
        super().__init__(id="menu")
        self._title = title
        self._options = list(options)
        self._glyphs = glyphs
        self._at = 0
        self._keys: list[str] = []
        self._held: Timer | None = None

    def compose(self) -> ComposeResult:
        """The title, the entries, the way out."""
        with Vertical(classes="dialog"):
            yield Static(Content(self._title), classes="dialog-title")
            yield Static("", id="options")

    def on_mount(self) -> None:
        """Draw."""
        self._draw()

    def on_resize(self) -> None:
        """Details are cut to the room."""
        self._draw()

    def _draw(self) -> None:
        longest = max(len(option.title) for option in self._options)
        room = self.size.width - 2 * 3 - 5 - longest - 3
        lines = [self._line(option, number == self._at, longest, room) for number, option in enumerate(self._options)]
        self.query_one("#options", Static).update(Content("\n").join(lines))

    def _line(self, option: Option, chosen: bool, longest: int, room: int) -> Content:
        cursor = self._glyphs.cursor if chosen else " "
        detail = words.fit(self._glyphs.text(option.detail), room, self._glyphs.ellipsis).rstrip() if room > 8 else ""
        return Content.assemble(
            (f"{cursor} ", "bold $primary"),
            (f"{option.key}  ", "bold $foreground"),
            (option.title.ljust(longest), "bold $foreground" if chosen else "$foreground"),
            (f"   {detail}", "$foreground-muted"),
        )

    def on_key(self, event: events.Key) -> None:
        """A key waits a moment: several at once were pasted and mean nothing here."""
        event.stop()
        event.prevent_default()
        self._keys.append(event.key)
        if self._held is not None:
            self._held.stop()
        self._held = self.set_timer(HOLD_S, self._release)

    def _release(self) -> None:
        keys, self._keys = self._keys, []
        if len(keys) == _MOST_KEYS or set(keys) <= {"up", "down", "j", "k"}:
            for key in keys:
                self._take(key)

    def _take(self, key: str) -> None:
        entries = [option.key for option in self._options]
        step = {"up": -1, "k": -1, "down": 1, "j": 1}.get(key)
        if key in entries:
            self.dismiss(key)
        elif step is not None:
            self._at = (self._at + step) % len(entries)
            self._draw()
        elif key == "enter":
            self.dismiss(entries[self._at])
        elif key in ("escape", "ctrl+c", "q", "left"):
            self.dismiss(None)

    def on_paste(self, event: events.Paste) -> None:
        """A paste is no choice."""
        event.stop()

    def on_click(self, event: events.Click) -> None:
        """A click takes the entry, beside the menu it leaves."""
        event.stop()
        options = self.query_one("#options", Static).region
        inside = options.contains(event.screen_x, event.screen_y)
        self.dismiss(self._options[event.screen_y - options.y].key if inside else None)
