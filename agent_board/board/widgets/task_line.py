"""The resting new-task bar: one line that says where and with what a new task would start."""

import os

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from agent_board.board.model import words
from agent_board.board.model.glyphs import Glyphs

_INVITATION, _ROOMY = 20, 50
"""Cells for what is to be done; from this width on it is said where, the end of a long path before its beginning."""


def short_path(path: str) -> str:
    """A path with the home directory as `~`."""
    home = os.path.expanduser("~").rstrip("/")
    return "~" + path[len(home) :] if home and (path == home or path.startswith(home + "/")) else path


class TaskLine(Widget):
    """A click on it opens the new-task bar."""

    class Opened(Message):
        """The user wants to describe a task."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(id="task-line")
        self._glyphs = glyphs
        self._said = ("", "")

    def show(self, text: str, where: str) -> None:
        """Say this: an invitation or the draft, and where it would run."""
        if (text, where) != self._said:
            self._said = (text, where)
            self.refresh()

    def render(self) -> Content:
        """The line for the present width."""
        text, where = self._said
        width = self.size.width - 2
        tail = words.fit_end(where, width - _INVITATION, self._glyphs.ellipsis) if width >= _ROOMY else ""
        draft = bool(text)
        said = text or f"describe a task{self._glyphs.ellipsis}"
        lead = words.fit(self._glyphs.text(said), width - cell_len(tail), self._glyphs.ellipsis)
        style = "$foreground" if draft else "$foreground-disabled"
        return Content.assemble((" ", ""), (lead, style), (tail, "$foreground-muted"), (" ", ""))

    def on_click(self, event: events.Click) -> None:
        """Open the bar."""
        event.stop()
        self.post_message(self.Opened())
