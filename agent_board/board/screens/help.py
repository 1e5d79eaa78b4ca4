"""All keys on one page, made from the table of keys."""

from itertools import groupby
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from agent_board.board.keys import ALWAYS, KEYS
from agent_board.board.model.glyphs import Glyphs
from agent_board.board.model.groups import STATE_TITLES


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
        """One scrolling page."""
        with VerticalScroll(classes="dialog"):
            yield Static(Content("\n").join([*self._keys(), *self._signs()]))

    def _keys(self) -> list[Content]:
        shown = sorted([*KEYS, *ALWAYS], key=lambda key: [*dict.fromkeys(k.section for k in KEYS)].index(key.section))
        lines = []
        for section, keys in groupby((key for key in shown if key.keys), key=lambda key: key.section):
            lines.append(Content.styled(section, "bold $primary"))
            for key in keys:
                lines.append(
                    Content.assemble((f"  {key.written:<14}", "bold $foreground"), (key.help, "$foreground-muted"))
                )
            lines.append(Content(""))
        return lines

    def _signs(self) -> list[Content]:
        glyphs = self._glyphs
        lines = [Content.styled("Signs", "bold $primary")]
        for state, (alive, exited) in glyphs.states.items():
            lines.append(
                Content.assemble((f"  {alive} {exited:<12}", "$foreground"), (STATE_TITLES[state], "$foreground-muted"))
            )
        lines[1] = lines[1] + Content.styled("   (the filled sign: its process lives)", "$foreground-disabled")
        marks = (
            (glyphs.unread, "unread: something new since you last looked"),
            (glyphs.pinned, "pinned"),
            (glyphs.worktree, "in a worktree of its own"),
            (glyphs.attached, "attached in a terminal"),
            (" ".join(glyphs.outside), "outside the board: runs, has ended"),
        )
        return lines + [
            Content.assemble((f"  {sign:<14}", "$foreground"), (words, "$foreground-muted")) for sign, words in marks
        ]

    def action_scroll(self, lines: int) -> None:
        """Move the page."""
        self.query_one(VerticalScroll).scroll_relative(y=lines * 2, animate=False)
