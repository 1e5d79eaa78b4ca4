"""Peek: one task without leaving the list. What it is, the last exchange, what waits, and the input for a reply."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from agent_board.board.model import words
from agent_board.board.model.columns import sign_of
from agent_board.board.model.conversation import Style
from agent_board.board.model.glyphs import Glyphs
from agent_board.board.model.groups import STATE_TITLES
from agent_board.board.model.peek_lines import PROMPT_LINES, TOOLS, with_question
from agent_board.board.model.peeked import Peeked
from agent_board.board.model.row import Row
from agent_board.board.model.wrapping import Line, plain, wrap_text
from agent_board.board.widgets.lines_view import LinesView
from agent_board.board.widgets.reply_area import ReplyArea
from agent_board.board.widgets.waiting_replies import WaitingReplies
from agent_board.store.records import SemanticState

DEAF_S = 0.5
"""After the choices have changed, keys that answer do nothing for so long: they were meant for others."""

_STATE_STYLES = {
    SemanticState.NEEDS_INPUT: "bold $warning",
    SemanticState.FAILED: "bold $error",
    SemanticState.WORKING: "bold $primary",
    SemanticState.COMPLETED: "bold $success",
}


@dataclass(frozen=True, slots=True)
class Title:
    """The head of peek."""

    sign: str = ""
    style: str = ""
    name: str = ""
    state: str = ""
    why: str = ""


def title_of(row: Row, age: str, glyphs: Glyphs, why: str) -> Title:
    """What the head says of a row."""
    sign = sign_of(row, glyphs)
    style = "bold $error" if row.unreadable else _STATE_STYLES.get(row.state, "$foreground-muted")
    state = STATE_TITLES[row.standing]
    return Title(sign, style, glyphs.text(row.name), f"{state} {age}".rstrip(), glyphs.text(why))


class PeekHead(Widget):
    """One line says who it is and how it stands; the rest says why."""

    def __init__(self, ellipsis: str) -> None:
        super().__init__(id="peek-head")
        self._title = Title()
        self._ellipsis = ellipsis

    def show(self, title: Title) -> None:
        """Say this; painted only when it is something else."""
        if title != self._title:
            same = title.why == self._title.why
            self._title = title
            self.refresh(layout=not same)

    def render(self) -> Content:
        """Both lines for the present width."""
        title, width = self._title, self.size.width
        room = max(0, width - cell_len(title.state) - cell_len(title.sign) - 3)
        name = words.fit(title.name, min(room, cell_len(title.name)), self._ellipsis)
        gap = " " * max(1, width - cell_len(title.sign) - 1 - cell_len(name) - cell_len(title.state))
        why = self._why(title.why, width)
        return Content.assemble(
            (f"{title.sign} ", title.style),
            (name, "bold $foreground"),
            gap,
            (title.state, title.style or "$foreground-muted"),
            (f"\n{why}", "$foreground-muted"),
        )

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """One line and as many as the reason takes."""
        return 1 + max(1, len(self._why(self._title.why, width).split("\n")))

    def _why(self, text: str, width: int) -> str:
        """The sentence in one line where there is little room, else in two; the last one is cut."""
        lines = 1 if self.screen.has_class("-narrow-board") else 2
        wrapped = [plain(line) for line in wrap_text(text, "muted", max(1, width))] if text else []
        if len(wrapped) > lines:
            wrapped = [*wrapped[: lines - 1], words.fit(" ".join(wrapped[lines - 1 :]), width, self._ellipsis)]
        return "\n".join(wrapped[:lines])


class PeekPanel(Vertical):
    """Shows what it is given; all that it wants done it posts."""

    class Resized(Message):
        """Another width: the lines have to be laid out again."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(id="peek")
        self.glyphs = glyphs
        self.view_id = ""
        self.peeked: Peeked | None = None
        self.marked: int | None = None
        """Which choice is marked, from 0."""
        self.head = PeekHead(glyphs.ellipsis)
        self.body = LinesView(id="peek-body", ground="surface")
        self.waiting = WaitingReplies(glyphs)
        self.input = ReplyArea(f"r to reply{glyphs.ellipsis}")
        self._note = Static("", id="reply-note")
        self._reply_box = Vertical(id="reply-box")
        self._base: Sequence[Line] = ()
        self._choices: tuple[str, tuple[str, ...]] = ("", ())
        self._choices_since = float("-inf")
        self._width = 0
        self._lines_width = 40

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield self.head
        yield self.body
        yield self.waiting
        with self._reply_box:
            yield self.input
            yield self._note

    def on_mount(self) -> None:
        """Nothing waits yet."""
        self.waiting.display = False

    @property
    def style(self) -> Style:
        """How lines are laid out at the present width."""
        width = self.body.scrollable_content_region.width if self.display else 0
        self._lines_width = width or self._lines_width
        return Style(self._lines_width, self.glyphs, prompt_lines=PROMPT_LINES, tools=TOOLS)

    def on_resize(self, event: events.Resize) -> None:
        """Lines of another width are of no use."""
        if event.size.width != self._width:
            self._width = event.size.width
            self.post_message(self.Resized())

    def expect_width(self, width: int) -> None:
        """So wide lines will be when it is seen; they can be laid out before."""
        if not self.display:
            self._lines_width = width

    # -- what is shown

    def show_row(self, row: Row, age: str) -> None:
        """What the list knows of a task, at once; of another task all the rest goes."""
        if row.id != self.view_id:
            self.view_id = row.id
            self.peeked = None
            self.marked = None
            self._base = wrap_text(self.glyphs.text(row.summary), "muted", self.style.width)
            self._note_choices("", ())
            self.body.show(self._base, anew=True)
            self.waiting.show(())
            self._reply_box.display = row.outside is None
        self.head.show(title_of(row, age, self.glyphs, self.peeked.why if self.peeked is not None else ""))

    def show_nothing(self) -> None:
        """No task is selected."""
        self.view_id, self.peeked, self.marked, self._base = "", None, None, ()
        self._note_choices("", ())
        self.head.show(Title(name="No task is selected."))
        self.body.show((), anew=True)
        self.waiting.show(())
        self.input.fill("")
        self.say("")

    def show_peeked(self, peeked: Peeked, base: Sequence[Line]) -> None:
        """What was read of the task that is shown."""
        anew = self.peeked is None
        self.peeked, self._base = peeked, base
        self._note_choices(f"{peeked.request} {peeked.question}", peeked.choices)
        self._show_body(anew=anew)
        self.waiting.show(peeked.waiting)

    def _show_body(self, *, anew: bool = False) -> None:
        if self.peeked is not None:
            self.body.show(with_question(self._base, self.peeked, self.marked, self.style), anew=anew)

    def say(self, words: str, *, wrong: bool = False, warning: bool = False) -> None:
        """The line under the input."""
        style = "$error" if wrong else "$warning" if warning else "$foreground-muted"
        self._note.update(Content.styled(words, style))

    # -- choices

    @property
    def choices(self) -> tuple[str, ...]:
        """What the question offers."""
        return self._choices[1]

    def _note_choices(self, question: str, choices: tuple[str, ...]) -> None:
        if (question, choices) != self._choices:
            self._choices = (question, choices)
            self._choices_since = time.monotonic()
            self.marked = None

    @property
    def is_deaf(self) -> bool:
        """The choices have just changed: no key answers them yet."""
        return time.monotonic() - self._choices_since < DEAF_S

    def mark(self, number: int) -> bool:
        """Mark a choice (from 0), or take its mark away; False when there is none of that number."""
        if not 0 <= number < len(self.choices):
            return False
        self.marked = None if self.marked == number else number
        self._show_body()
        return True
