"""Why a task stands as it does: rule, evidence, processes, files, last errors; looked at again while it is open."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.message import Message

from agent_board.board.evidence import Section
from agent_board.board.model.glyphs import Glyphs
from agent_board.board.model.wrapping import Line, wrap_text
from agent_board.board.screens.pages import Page
from agent_board.board.widgets.hints import Hint
from agent_board.board.widgets.peek import Title

AGAIN_S = 2.0


class Why(Page):
    """One page of facts."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("exclamation_mark", "close", show=False)]

    class Gathered(Message):
        """A thread has looked."""

        def __init__(self, sections: Sequence[Section]) -> None:
            super().__init__()
            self.sections = sections

    def __init__(self, look: Callable[[], Sequence[Section]], glyphs: Glyphs, title: Callable[[], Title]) -> None:
        """`look` gathers the facts; it is called in a thread."""
        super().__init__(glyphs, title, id="why")
        self._look = look
        self._sections: Sequence[Section] = ()

    def on_mount(self) -> None:
        """Look now and again."""
        self.tell()
        self._gather()
        self.set_interval(AGAIN_S, self._gather)

    @work(thread=True, exit_on_error=False, exclusive=True, group="why")
    def _gather(self) -> None:
        self.post_message(self.Gathered(self._look()))

    def on_why_gathered(self, event: Gathered) -> None:
        """Show it."""
        first, self._sections = not self._sections, event.sections
        self._draw()
        if first:
            self.body.move(-len(self.body.lines))
        self.tell()

    def on_resize(self) -> None:
        """Other lines."""
        self._draw()

    def _draw(self) -> None:
        width = max(20, min(self.body.scrollable_content_region.width or 80, 120))
        lines: list[Line] = []
        for section in self._sections:
            lines.extend([()] if lines else [])
            lines.append(((section.title, "heading"),))
            for text in section.lines:
                indent = " " * (2 + len(text) - len(text.lstrip()))
                shown = self.glyphs.text(text.lstrip())
                lines.extend(wrap_text(shown, "text", width, [(indent, "text")], [(f"{indent}  ", "text")]))
        self.body.show(lines or [(("This task is gone from the board.", "muted"),)])

    def action_copy(self) -> None:
        """Copy the whole page, for a report of a fault."""
        from agent_board.board.clipboard import copy

        parts = ["\n".join([section.title, *(f"  {line}" for line in section.lines)]) for section in self._sections]
        copy(self.app, "\n\n".join(parts))
        self.say("Copied the page.")

    def own_hints(self) -> list[Hint]:
        """The keys that matter here."""
        return [("↑ ↓", "scroll", ""), ("y", "copy the page", "screen.copy"), ("esc", "back", "screen.close")]
