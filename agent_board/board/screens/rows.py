"""The life of rows on the board: pin, rename, done, archive, undo; on the selected row or on all marked ones."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual import work
from textual.geometry import Region
from textual.message import Message

from agent_board.board.model import words
from agent_board.board.model.allowed import MANY, Choice, all_completed, all_pinned, choose, why_not
from agent_board.board.model.row import Row
from agent_board.board.row_acts import RowActs
from agent_board.board.screens.tasks import STOPPING, Parts, TaskScreen
from agent_board.board.widgets.session_list import SessionList
from agent_board.errors import BoardError

if TYPE_CHECKING:
    from agent_board.board.widgets.name_input import NameInput

ROW_ACTS = frozenset({"stop", "attach", "pin", "rename", "done", "archive", "retry", "mark", "copy", "open", "adopt"})
"""Acts on the selected row."""
_NAMED = 6
"""So many names stand in a question about several rows."""

Act = Callable[[Row], str]


class RowScreen(TaskScreen):
    """The part of the board's screen that changes rows and neither starts nor ends a run."""

    class Acted(Message):
        """A thread has taken an act on some rows, or could not."""

        def __init__(self, said: str, failures: Sequence[str] = (), select: str = "") -> None:
            super().__init__()
            self.said = said
            self.failures = failures
            self.select = select

    class Renamed(Message):
        """A thread has kept a name, or says what is wrong with it."""

        def __init__(self, view_id: str, failure: str) -> None:
            super().__init__()
            self.view_id = view_id
            self.failure = failure

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.feed = parts.feed
        self.clock = parts.clock
        self.row_acts = RowActs(parts.acts.paths, parts.acts.settings)
        self._name_input: NameInput | None = None

    @staticmethod
    def monotonic_ms() -> float:
        """For what must not depend on the wall clock."""
        return time.monotonic() * 1000

    # -- which rows, and why not

    def why_not_rows(self, act: str) -> str | None:
        """Why an act on the selected row, or on the marked ones, can't be taken now; None when it can."""
        marked = self.listing.marked_rows()
        if marked and act in MANY:
            choice = choose(act, marked)
            if choice.rows:
                return None
            return choice.reason if len(marked) == 1 else f"None of the {len(marked)} marked tasks: {choice.reason}"
        row = self.listing.selected_row()
        if act == "stop":
            return self.why_not_stop(row)
        return "Select a task first." if row is None else why_not(act, row)

    def takes_many(self, act: str) -> bool:
        """Whether this act is now one on the marked rows."""
        return act in MANY and bool(self.listing.marked)

    def on_session_list_held_down(self, event: SessionList.HeldDown) -> None:
        """Why the key did nothing."""
        self.say(f"{event.key} was taken once: a held key does not repeat it. Press it again in a moment.")

    # -- one row

    def do_pin(self) -> None:
        """First in its group, or no longer."""
        if (row := self.listing.selected_row()) is not None:
            self._take([row], partial(self.row_acts.pin, pinned=not row.pinned))

    def do_done(self) -> None:
        """The user's verdict, or its taking back."""
        if (row := self.listing.selected_row()) is not None:
            reopen = all_completed([row])
            said = f"{row.name} is open again." if reopen else f"{row.name} is done; u takes it back."
            self._take([row], partial(self.row_acts.done, reopen=reopen), said)

    def do_archive(self) -> None:
        """Hide it; nothing of it is lost."""
        if (row := self.listing.selected_row()) is not None:
            self._take([row], self.row_acts.archive, f"{row.name} is archived; u brings it back.")

    def do_mark(self) -> None:
        """Mark the row and go on to the next, or take the mark away."""
        if (row := self.listing.selected_row()) is not None:
            self.listing.mark(row.id)
            self.list.move(1)

    def clear_marks(self) -> bool:
        """Take all marks away; False when there were none."""
        had = bool(self.listing.marked)
        self.listing.marked.clear()
        self.list.sync()
        return had

    # -- all marked rows

    @work(group="ask")
    async def do_many(self, act: str) -> None:
        """Ask, naming the number, then take the act on every marked row that allows it."""
        from agent_board.board.screens.confirm import Confirm

        choice = choose(act, self.listing.marked_rows())
        verb, yes, no = _WORDS[act]
        if act == "pin" and all_pinned(choice.rows):
            verb, yes, no = "Unpin", "unpin them", "leave the pins"
        if act == "done" and all_completed(choice.rows):
            verb, yes, no = "Reopen", "reopen them", "leave them completed"
        question = f"{verb} {words.count(len(choice.rows), 'task')}?"
        if await self.app.push_screen_wait(Confirm(question, yes, no, detail=_detail(choice))):
            self.clear_marks()
            self._take_many(act, choice.rows)
            self.tell()

    def _take_many(self, act: str, rows: Sequence[Row]) -> None:
        count = words.count(len(rows), "task")
        if act == "stop":
            self.list.busy.update((row.id, STOPPING) for row in rows)
            self.list.sync()
            for row in rows:
                self._stop(row.id)
        elif act == "pin":
            self._take(rows, partial(self.row_acts.pin, pinned=not all_pinned(rows)))
        elif act == "done":
            reopen = all_completed(rows)
            said = f"{count} {'reopened' if reopen else 'done'}; u takes it back."
            self._take(rows, partial(self.row_acts.done, reopen=reopen), said)
        elif act == "archive":
            self._take(rows, self.row_acts.archive, f"{count} archived; u brings {_them(rows)} back.")
        elif act == "retry":
            self._take(rows, self.row_acts.retry, f"{count} tried again.")

    # -- in threads

    @work(thread=True, exit_on_error=False, group="rows")
    def _take(self, rows: Sequence[Row], act: Act, said: str = "") -> None:
        self.take(rows, act, said)

    def take(self, rows: Sequence[Row], act: Act, said: str = "") -> None:
        """Take an act on some rows, together, read them again and say so. Takes its time: for threads."""
        from agent_board.runs.life import together

        failures, done = [], 0
        with together():
            for row in rows:
                try:
                    act(row)
                    done += 1
                except (BoardError, OSError) as error:
                    failures.append(str(error))
        self.feed.refresh([row.id for row in rows])
        self.post_message(self.Acted(said if not failures else _partly(done, len(rows)), failures))

    def do_undo(self) -> None:
        """Take the last act back."""
        self._undo()

    @work(thread=True, exit_on_error=False, group="rows")
    def _undo(self) -> None:
        try:
            undone = self.row_acts.undo()
        except (BoardError, OSError) as error:
            self.post_message(self.Acted("", [str(error)]))
            return
        self.feed.refresh(undone.view_ids)
        self.post_message(self.Acted(undone.sentence, select=undone.view_ids[0]))

    def on_row_screen_acted(self, event: Acted) -> None:
        """Say what was done, or why not."""
        if event.failures:
            more = f" ({len(event.failures) - 1} more)" if len(event.failures) > 1 else ""
            self.say(" ".join(filter(None, [event.said, event.failures[0]])) + more, wrong=True)
        elif event.said:
            self.say(event.said)
        if event.select:
            self._awaited = event.select
            self._select_awaited()
        self.tell()

    # -- renaming in place

    def do_rename(self) -> None:
        """Open the input over the name."""
        if (row := self.listing.selected_row()) is not None and self._name_input is None:
            self.list.show_selection()
            self.list.expect_input()
            self._open_name(row)

    @work(group="name")
    async def _open_name(self, row: Row) -> None:
        from agent_board.board.widgets.name_input import NameInput

        self._name_input = field = NameInput(row.id, row.name)
        self.list.can_focus = False
        self.place_name()
        await self.mount(field)
        field.focus()
        self.tell()

    def place_name(self) -> None:
        """Keep the input over its row, wherever that has gone; close it when another row is selected."""
        field = self._name_input
        if field is None:
            return
        place = self._name_place(field.view_id)
        if place is None:
            self._close_name()
        else:
            field.cover(place)

    def _name_place(self, view_id: str) -> Region | None:
        from agent_board.board.widgets.name_input import name_cell

        entry = self.listing.selection.entry
        if entry is None or entry.row_id != view_id:
            return None
        self.list.show_selection()
        line = self.listing.index.line_of(entry)
        layout, region = self.list.layout_columns, self.list.region
        y = region.y + (line or 0) - round(self.list.scroll_y)
        return name_cell(Region(region.x, y, layout.width, 1), layout)

    @property
    def is_renaming(self) -> bool:
        """Whether the input over a name has the keyboard."""
        return self._name_input is not None

    def _close_name(self) -> None:
        if self._name_input is not None:
            field, self._name_input = self._name_input, None
            self.list.can_focus = True
            self.set_focus(self.list)
            field.remove()
            self.tell()

    def on_name_input_left(self) -> None:
        """Nothing is renamed."""
        self._close_name()

    def on_name_input_kept(self, event: "NameInput.Kept") -> None:
        """Keep the name, beside the screen."""
        self._rename(event.view_id, event.name)

    @work(thread=True, exit_on_error=False, group="rows")
    def _rename(self, view_id: str, name: str) -> None:
        failure = ""
        try:
            self.row_acts.rename(view_id, name)
        except (BoardError, OSError) as error:
            failure = str(error)
        self.feed.refresh([view_id])
        self.post_message(self.Renamed(view_id, failure))

    def on_row_screen_renamed(self, event: Renamed) -> None:
        """Back to the list; or say what is wrong, with every letter kept."""
        if event.failure:
            self.say(event.failure, wrong=True)
        elif self._name_input is not None and self._name_input.view_id == event.view_id:
            self._close_name()


_WORDS = {
    "stop": ("Stop", "stop them", "let them run"),
    "archive": ("Archive", "archive them", "leave them"),
    "pin": ("Pin", "pin them", "leave them"),
    "done": ("Mark as done:", "they are done", "leave them"),
    "retry": ("Send the last prompt again to", "send", "leave them"),
}


def _detail(choice: Choice) -> str:
    """The rows by name, and how many of the marked ones are left out and why."""
    lines = [row.name for row in choice.rows[:_NAMED]]
    if len(choice.rows) > _NAMED:
        lines.append(f"and {len(choice.rows) - _NAMED} more")
    if choice.left_out:
        lines.append(f"{words.count(choice.left_out, 'marked task')} left out: {choice.reason}")
    return "\n".join(lines)


def _them(rows: Sequence[Row]) -> str:
    return "it" if len(rows) == 1 else "them"


def _partly(done: int, of: int) -> str:
    return f"{done} of {of} done." if of > 1 else ""
