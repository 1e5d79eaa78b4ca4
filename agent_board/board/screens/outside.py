"""The group “elsewhere”: sessions outside the board, looked for in a thread and adopted when they have ended."""

from typing import TYPE_CHECKING

from textual import work
from textual.message import Message
from textual.timer import Timer

from agent_board.board.keys import Key
from agent_board.board.model import words
from agent_board.board.screens.held import HeldScreen
from agent_board.board.screens.replying import PEEK_ACTS
from agent_board.board.screens.rows import ROW_ACTS
from agent_board.board.screens.tasks import Parts
from agent_board.board.widgets.hints import Hint
from agent_board.errors import BoardError

if TYPE_CHECKING:
    from agent_board.board.model.outside import Around, Outside, Outsiders
    from agent_board.board.model.peeked import Peeked
    from agent_board.board.model.row import Row

LOOK_S = 10.0
"""So often it is looked for them while the group is shown and the terminal is."""
_ADOPTS = frozenset({"attach", "adopt"})


class OutsideScreen(HeldScreen):
    """The part of the board's screen that shows what runs outside. Nothing of it is touched."""

    class LookedAround(Message):
        """A thread has looked for them."""

        def __init__(self, around: "Around") -> None:
            super().__init__()
            self.around = around

    class Adopted(Message):
        """A thread has put one on the board."""

        def __init__(self, row_id: str, view_id: str, said: str) -> None:
            super().__init__()
            self.row_id = row_id
            self.view_id = view_id
            self.said = said

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        wished = parts.memory.elsewhere or ("shown" if parts.acts.settings.elsewhere else "hidden")
        self._shows_outside = wished == "shown"
        self._outsiders: Outsiders | None = None
        self._looking = False
        self._around_timer: Timer | None = None
        self._say_what_is_there = False
        self._problems: dict[str, str] = {}
        """By agent, what its program said instead of an answer, last time."""

    # -- showing and hiding

    def begin_elsewhere(self) -> None:
        """After the first frame, if the user wants the group."""
        if self._shows_outside:
            self._around_timer = self.set_interval(LOOK_S, self._look_around)
            self._look_around()

    def do_elsewhere(self) -> None:
        """Show the group or hide it, and remember that."""
        self._shows_outside = not self._shows_outside
        self.memory.elsewhere = "shown" if self._shows_outside else "hidden"
        self.post_message(self.Remember())
        if self._around_timer is not None:
            self._around_timer.stop()
            self._around_timer = None
        self._say_what_is_there = self._shows_outside
        self.begin_elsewhere()
        if not self._shows_outside:
            self._show_outside({})

    def _look_around(self) -> None:
        if self.app.app_focus:
            self.look_now()

    def look_now(self) -> None:
        """Look for them out of turn, if the group is shown: the user has come back to this terminal."""
        if self._around_timer is not None and not self._looking:
            self._looking = True
            self._look_in_thread()

    @work(thread=True, exit_on_error=False, group="elsewhere")
    def _look_in_thread(self) -> None:
        try:
            around = self.acts.elsewhere()
            for agent, problem in around.found.problems.items():
                self._note_problem(agent, problem)
            self.post_message(self.LookedAround(around))
        except (BoardError, OSError) as error:
            self._note_problem("", str(error))
        finally:
            self._looking = False

    def _note_problem(self, agent: str, problem: str) -> None:
        """In the log, once while it stays the same."""
        if self._problems.get(agent) != problem:
            self._problems[agent] = problem
            self.journal.write(f"elsewhere: {problem}")

    def on_outside_screen_looked_around(self, event: LookedAround) -> None:
        """Show what is there now, unless the group has been hidden meanwhile."""
        from agent_board.board.model.outside import Outsiders

        if not self._shows_outside:
            return
        self._outsiders = outsiders = self._outsiders or Outsiders()
        outsiders.look(event.around, self.clock())
        rows = outsiders.rows()
        self._show_outside(rows)
        if self._say_what_is_there:
            self._say_what_is_there = False
            count = words.count(len(rows), "session runs", "sessions run")
            self.say(f"{count} elsewhere: the group at the end." if rows else "No session runs outside the board.")

    def _show_outside(self, rows: "dict[str, Row]") -> None:
        known = {row_id: row for row_id, row in self.listing.rows.items() if row.outside is not None}
        changes: dict[str, Row | None] = {row_id: None for row_id in known if row_id not in rows}
        changes |= {row_id: row for row_id, row in rows.items() if known.get(row_id) != row}
        if changes:
            self.take_over(changes)

    def take_over(self, changes: "dict[str, Row | None]") -> None:
        """Take over changed rows and repaint only those; what is under the cursor stays there."""
        anchor = self.list.anchor_line()
        group = self.list.group_key(anchor[0]) if anchor is not None else None
        self.listing.apply(changes, self.monotonic_ms())
        self.settle(changes)
        self.list.hold_anchor(anchor, group)
        self.tell()

    # -- what can be done with them

    def selected_outside(self) -> "Outside | None":
        """The session outside the board that is selected."""
        row = self.listing.selected_row()
        return row.outside if row is not None else None

    def why_not_outside(self, act: str) -> str | None:
        """Why an act can't be taken on a row, as far as it being outside the board or on it says so."""
        row = self.listing.selected_row()
        if row is None or self.takes_many(act):
            return None
        if row.outside is None:
            return f"{row.name} is on the board already." if act == "adopt" else None
        if act in _ADOPTS:
            return row.outside.why_not_adopt(row.name)
        return row.outside.why_not(row.name) if act in (ROW_ACTS | PEEK_ACTS) - {"peek"} else None

    def hint_of(self, key: Key) -> str:
        """What the footer says of a key, on the selected row."""
        return "adopt" if key.id == "attach" and self.selected_outside() is not None else key.hint

    def peek_hints(self) -> list[Hint]:
        """See `ReplyScreen.peek_hints`; enter adopts, when it has ended."""
        hints, outside = super().peek_hints(), self.selected_outside()
        if not hints or outside is None:
            return hints
        adopt = [("enter", "adopt", "screen.act('adopt')")] if outside.ended_at is not None else []
        return [*adopt, *(hint for hint in hints if hint[0] != "enter")]

    def read_peek(self, view_id: str) -> "Peeked | None":
        """See `PeekScreen.read_peek`; of a session outside, what its file tells."""
        row = self.listing.rows.get(view_id)
        if row is None or row.outside is None:
            return super().read_peek(view_id)
        from agent_board.board.reading import read_outside

        return read_outside(view_id, row.outside)

    def do_attach(self) -> None:
        """Attach; a session outside the board is adopted."""
        if self.selected_outside() is not None:
            self.do_adopt()
        else:
            super().do_attach()

    def do_adopt(self) -> None:
        """Put the selected session on the board; ask which where that is not known."""
        row = self.listing.selected_row()
        if row is None or row.outside is None:
            return
        if row.outside.session.session_file is not None:
            self._adopt(row, row.outside.session.session_file)
        else:
            self._find_titles(row, row.outside)

    @work(thread=True, exit_on_error=False, group="rows")
    def _find_titles(self, row: "Row", outside: "Outside") -> None:
        titles = [self.acts.session_title(outside.session.agent, path) for path in outside.files]
        self.app.call_from_thread(self._ask_which, row, dict(zip(outside.files, titles, strict=True)))

    @work(group="ask")
    async def _ask_which(self, row: "Row", titles: dict[str, str]) -> None:
        from agent_board.board.screens.menu import Menu, Option
        from agent_board.board.widgets.task_line import short_path

        keys = {str(number): path for number, path in enumerate(titles, 1)}
        options = [Option(key, titles[path] or "a session", short_path(path)) for key, path in keys.items()]
        key = await self.app.push_screen_wait(Menu("Which session was it? Adopt", options, self.glyphs))
        if key is not None:
            self._adopt(row, keys[key])

    @work(thread=True, exit_on_error=False, group="rows")
    def _adopt(self, row: "Row", path: str) -> None:
        try:
            view_id, name = self.acts.adopt(path)
        except (BoardError, OSError) as error:
            self.post_message(self.Refused(str(error)))
            return
        self.feed.refresh([view_id])
        self.post_message(self.Adopted(row.id, view_id, f"{name} is on the board; a reply continues it."))

    def on_outside_screen_adopted(self, event: Adopted) -> None:
        """Its row goes, the task's is selected."""
        if self._outsiders is not None:
            self._outsiders.adopted(event.row_id)
        if event.row_id in self.listing.rows:
            self.take_over({event.row_id: None})
        self.post_message(self.Acted(event.said, select=event.view_id))
