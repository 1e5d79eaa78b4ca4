"""All keys on one page, made from the table of keys."""

import textwrap
from itertools import groupby
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from agent_board.board.keys import ALWAYS, KEY_NAMES, KEYS
from agent_board.board.model.glyphs import Glyphs
from agent_board.board.model.groups import STATE_TITLES

KEY_CELLS = 18
"""Room for the keys: the longest are two that have a name."""
_OTHER_LINES = 5
"""Of the dialog, beside the page: its edges, the last line and what is left of the board."""


class Help(ModalScreen[None]):
    """Keys by section, then what the signs mean."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q,enter", "dismiss", "Close"),
        Binding("down,j", "scroll(1)", show=False),
        Binding("up,k", "scroll(-1)", show=False),
    ]

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(id="help")
        self._glyphs = glyphs

    def compose(self) -> ComposeResult:
        """One scrolling page, and below it how to leave it."""
        with Vertical(classes="dialog"):
            with VerticalScroll():
                yield Page(self._glyphs)
            yield Static(f"{KEY_NAMES['up']} {KEY_NAMES['down']} scroll   esc close", classes="dialog-text")

    def on_resize(self) -> None:
        """The last line stays in view."""
        self.query_one(VerticalScroll).styles.max_height = max(1, self.size.height - _OTHER_LINES)

    def action_scroll(self, lines: int) -> None:
        """Move the page."""
        self.query_one(VerticalScroll).scroll_relative(y=lines * 2, animate=False)


class Page(Static):
    """What a key does is wrapped beside it, never below it."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(id="keys")
        self._glyphs = glyphs
        self._room = 0

    def on_resize(self, event: events.Resize) -> None:
        """Wrap for the width there is, a scroll bar or none."""
        room = event.size.width - KEY_CELLS - 1
        if room != self._room:
            self._room = room
            self.update(Content("\n").join([*self._keys(), *self._signs()]))

    def _line(self, key: str, what: str, style: str = "bold $foreground") -> Content:
        lines = textwrap.wrap(what, max(12, self._room)) or [""]
        below = f"\n{' ' * KEY_CELLS}"
        return Content.assemble((f"  {key}".ljust(KEY_CELLS), style), (below.join(lines), "$foreground-muted"))

    def _keys(self) -> list[Content]:
        shown = sorted([*KEYS, *ALWAYS], key=lambda key: [*dict.fromkeys(k.section for k in KEYS)].index(key.section))
        lines = []
        for section, keys in groupby((key for key in shown if key.keys), key=lambda key: key.section):
            lines.append(Content.styled(section, "bold $primary"))
            for key in keys:
                lines.append(self._line(key.written, key.help))
            lines.append(Content(""))
        return lines

    def _signs(self) -> list[Content]:
        glyphs = self._glyphs
        lines = [Content.styled("Signs", "bold $primary")]
        for state, (alive, exited) in glyphs.states.items():
            lines.append(self._line(f"{alive} {exited}", STATE_TITLES[state], "$foreground"))
        lines[1] = lines[1] + Content.styled("   (the first sign: its process lives)", "$foreground-disabled")
        marks = (
            (glyphs.unread, "unread: something new since you last looked"),
            (glyphs.pinned, "pinned"),
            (glyphs.worktree, "in a worktree of its own"),
            (glyphs.attached, "attached in a terminal"),
            (" ".join(glyphs.outside), "outside the board: runs, has ended"),
        )
        return lines + [self._line(sign, words, "$foreground") for sign, words in marks]
