"""Renaming in place: an input over the row's name."""

from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.widgets import Input

from agent_board.board.model.columns import Columns


class NameInput(Input):
    """Enter keeps, esc and a click elsewhere leave the name as it was."""

    class Kept(Message):
        """The user wants this name."""

        def __init__(self, view_id: str, name: str) -> None:
            super().__init__()
            self.view_id = view_id
            self.name = name

    class Left(Message):
        """The name stays as it is."""

    def __init__(self, view_id: str, name: str) -> None:
        super().__init__(name, id="name-input", compact=True, select_on_focus=True)
        self.view_id = view_id
        self._before = name

    def cover(self, cell: Region) -> None:
        """Lie over this region of the screen."""
        self.styles.offset = (cell.x, cell.y)
        self.styles.width = cell.width

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter."""
        event.stop()
        if event.value == self._before:
            self.post_message(self.Left())
        else:
            self.post_message(self.Kept(self.view_id, event.value))

    def on_key(self, event: events.Key) -> None:
        """Esc leaves; up and down belong to the input and do nothing."""
        if event.key == "escape":
            event.stop()
            self.post_message(self.Left())

    def on_blur(self) -> None:
        """The user went elsewhere."""
        self.post_message(self.Left())


def name_cell(row: Region, layout: Columns) -> Region:
    """Where the input of a row goes: from the name to where the summary begins, so that nothing is cut in half."""
    covered = layout.name + sum(part + 2 for part in (layout.project, layout.marks) if part)
    width = covered + 1 if layout.summary else row.width - layout.lead + 1
    return Region(row.x + layout.lead - 1, row.y, width, 1)
