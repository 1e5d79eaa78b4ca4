"""A field with a few possible values: arrows or space change it, no list opens."""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget


class Option(NamedTuple):
    """A value, how it is called, and why it can't be taken (it can be looked at all the same)."""

    value: str
    title: str
    problem: str = ""


class Choice(Widget, can_focus=True):
    """Shows the chosen option."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,down,space", "turn(1)", show=False),
        Binding("left,up", "turn(-1)", show=False),
    ]

    class Changed(Message):
        """Another option."""

        def __init__(self, choice: "Choice") -> None:
            super().__init__()
            self.choice = choice

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, classes="choice")
        self._options: list[Option] = []
        self._at = 0

    @property
    def value(self) -> str:
        """The chosen value; empty when there is nothing to choose."""
        return self._options[self._at].value if self._options else ""

    @property
    def problem(self) -> str:
        """Why the chosen option can't be taken."""
        return self._options[self._at].problem if self._options else ""

    def offer(self, options: Sequence[Option], value: str | None) -> None:
        """Offer these, the one with that value chosen."""
        self._options = list(options)
        self._at = next((number for number, option in enumerate(options) if option.value == value), 0)
        self.refresh(layout=True)

    def action_turn(self, step: int) -> None:
        """The next option."""
        if self._options:
            self._at = (self._at + step) % len(self._options)
            self.refresh(layout=True)
            self.post_message(self.Changed(self))

    def on_click(self) -> None:
        """A click turns."""
        self.action_turn(1)

    def render(self) -> Content:
        """The option's title, with arrows while it has the focus."""
        title = self._options[self._at].title if self._options else ""
        if not self.has_focus:
            return Content(f"  {title}")
        return Content.assemble(("‹ ", "$primary"), (title, "bold"), (" ›", "$primary"))
