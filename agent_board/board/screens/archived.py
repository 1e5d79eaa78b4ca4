"""The archived tasks, the newest first: find one, restore it, or delete its data for good."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static

from agent_board.board.model.filter import parse_filter
from agent_board.board.model.index import Grouping
from agent_board.board.model.listing import Listing
from agent_board.board.model.row import Row
from agent_board.board.screens.rows import RowScreen
from agent_board.board.widgets.filter_bar import FilterBar
from agent_board.board.widgets.hints import Hint, Hints
from agent_board.board.widgets.session_list import SessionList
from agent_board.errors import BoardError

if TYPE_CHECKING:
    from agent_board.board.screens.deletion import Choice
    from agent_board.runs.delete import DeletePlan

_RESTORES = frozenset({"attach", "archive"})
_LEAVES = frozenset({"archived", "quit", "fold"})
_LOOK_S = 2.0
DELETING = "deleting"


class ArchivedScreen(Screen[None]):
    """Looks like the board and lies over it. Enter restores, D deletes after showing what goes."""

    AUTO_FOCUS = "#list"
    BINDINGS: ClassVar[list[BindingType]] = []

    class Read(Message):
        """A thread has read the archived rows."""

        def __init__(self, rows: Sequence[Row]) -> None:
            super().__init__()
            self.rows = rows

    def __init__(self, board: RowScreen) -> None:
        super().__init__(id="archived")
        self._board = board
        self._acts = board.row_acts
        self.listing = Listing()
        self.listing.set_grouping(Grouping.NONE)
        self.list = SessionList(self.listing, board.glyphs, board.clock, spinner=False)
        self.hints = Hints()
        self._filter_bar: FilterBar | None = None
        self._filter_text = ""
        self.loaded = False

    def compose(self) -> ComposeResult:
        """From top to bottom, like the board."""
        yield Static("", id="archived-header")
        yield self.list
        yield Static("", id="archived-empty")
        yield self.hints

    def on_mount(self) -> None:
        """Read them, and look from time to time whether there are others."""
        self.read()
        self.set_interval(_LOOK_S, self._look)
        self.tell()

    # -- what is shown

    @work(thread=True, exit_on_error=False, exclusive=True, group="archived-look")
    def _look(self) -> None:
        if self._acts.archived_ids() != set(self.listing.rows):
            self.read()

    @work(thread=True, exit_on_error=False, exclusive=True, group="archived")
    def read(self) -> None:
        """Read the archived rows in a thread."""
        self.post_message(self.Read(self._acts.archived()))

    def on_archived_screen_read(self, event: Read) -> None:
        """Show them."""
        now = {row.id: row for row in event.rows}
        changes: dict[str, Row | None] = {row_id: None for row_id in self.listing.rows if row_id not in now}
        changes |= {row_id: row for row_id, row in now.items() if self.listing.rows.get(row_id) != row}
        self.loaded = True
        self.list.busy.clear()
        self._apply(changes)

    def _apply(self, changes: dict[str, Row | None]) -> None:
        self.listing.apply(changes, self._board.monotonic_ms())
        self.list.sync()
        self.tell()

    def tell(self) -> None:
        """Header, hints, and what stands there when nothing does."""
        shown, rows = len(self.listing.index), len(self.listing.rows)
        notes = [f"/{self._filter_text}"] if self._filter_text and self._filter_bar is None else []
        if self.listing.marked:
            notes.insert(0, f"{len(self.listing.marked)} marked")
        parts = [(" agent-board   ", "bold $foreground"), ("archived, the newest first", "$foreground-muted")]
        parts += [(f"   {note}", "$foreground") for note in notes]
        self.query_one("#archived-header", Static).update(Content.assemble(*parts))
        empty = self.query_one("#archived-empty", Static)
        empty.display = self.loaded and not shown
        self.list.set_class(self.loaded and not shown, "-empty")
        empty.update("Nothing passes the filter." if rows else "No task is archived.")
        if self._filter_bar is not None:
            self._filter_bar.found(shown, rows)
        self.hints.show(self._hints())

    def _hints(self) -> list[Hint]:
        if self._filter_bar is not None:
            return [("enter", "keep", ""), ("esc", "clear the filter", "")]
        rows = [
            ("enter", "restore", "attach"),
            ("D", "delete", "delete"),
            ("m", "mark", "mark"),
            ("/", "filter", "filter"),
        ]
        told = rows if len(self.listing.index) else []
        back = "clear marks" if self.listing.marked else "clear the filter" if self._filter_text else "back"
        return [(key, said, f"screen.act('{act}')") for key, said, act in [*told, ("esc", back, "clear")]]

    # -- acts

    def action_act(self, act: str) -> None:
        """Do what a key means here, or say that it means nothing."""
        if act in _RESTORES:
            self._restore()
        elif act in _LEAVES:
            self.dismiss()
        else:
            does = getattr(self, "do_" + act.replace("-", "_"), None)
            if does is None:
                self._board.say("Restore the task first (enter); this key works on the board.")
            else:
                does()
        self.tell()

    def _rows(self) -> list[Row]:
        row = self.listing.selected_row()
        rows = self.listing.marked_rows() or ([row] if row is not None else [])
        return rows if self.listing.selection.may_act(self._board.monotonic_ms()) else []

    def do_up(self) -> None:
        """One up."""
        self.list.move(-1)

    def do_down(self) -> None:
        """One down."""
        self.list.move(1)

    def do_page_up(self) -> None:
        """A page up."""
        self.list.move(-max(1, self.list.size.height - 2))

    def do_page_down(self) -> None:
        """A page down."""
        self.list.move(max(1, self.list.size.height - 2))

    def do_first(self) -> None:
        """To the top."""
        self.list.move_to_end(last=False)

    def do_last(self) -> None:
        """To the bottom."""
        self.list.move_to_end(last=True)

    def do_mark(self) -> None:
        """Mark the row and go on to the next."""
        if (row := self.listing.selected_row()) is not None:
            self.listing.mark(row.id)
            self.list.move(1)

    def do_clear(self) -> None:
        """Esc takes back marks, then the filter, then the screen."""
        if self.listing.marked:
            self.listing.marked.clear()
            self.list.sync()
        elif self._filter_text:
            self._narrow("")
        else:
            self.dismiss()

    def do_undo(self) -> None:
        """Take the last act back, a restore for instance."""
        self._board.do_undo()

    # -- restore and delete

    def _restore(self) -> None:
        rows = self._rows()
        if rows:
            self._restore_rows(rows)

    @work(thread=True, exit_on_error=False, group="rows")
    def _restore_rows(self, rows: Sequence[Row]) -> None:
        said = f"{rows[0].name} is" if len(rows) == 1 else f"{len(rows)} tasks are"
        self._board.take(rows, self._acts.restore, f"{said} back on the board.")
        self.read()

    def do_delete(self) -> None:
        """Show exactly what would go, then ask."""
        rows = self._rows()
        if rows:
            self._plan(rows)

    @work(thread=True, exit_on_error=False, exclusive=True, group="plan")
    def _plan(self, rows: Sequence[Row]) -> None:
        from agent_board.board.screens.deletion import choose

        plans, failures = [], []
        for row in rows:
            try:
                plans.append(self._acts.plan(row))
            except (BoardError, OSError) as error:
                failures.append(str(error))
        self.app.call_from_thread(self._ask, rows, choose(plans, failures))

    @work(group="ask")
    async def _ask(self, rows: Sequence[Row], choice: "Choice") -> None:
        from agent_board.board.screens.deletion import question_for

        if not choice.plans:
            self._board.say(choice.reasons[0], wrong=True)
        elif await self.app.push_screen_wait(question_for(choice, self._board.acts.paths.root, self._board.glyphs)):
            going = {plan.view_id: plan for plan in choice.plans}
            chosen = [row for row in rows if row.id in going]
            self.list.busy.update((view_id, DELETING) for view_id in going)
            self.list.sync()
            self._delete_rows(chosen, going, discard_work=choice.discards)

    @work(thread=True, exit_on_error=False, group="rows")
    def _delete_rows(self, rows: Sequence[Row], plans: "Mapping[str, DeletePlan]", *, discard_work: bool) -> None:
        said = f"{rows[0].name} is deleted." if len(rows) == 1 else f"{len(rows)} tasks are deleted."

        def delete(row: Row) -> str:
            return self._acts.delete(row, plans[row.id], discard_work=discard_work)

        self._board.take(rows, delete, said)
        self.read()

    # -- the filter

    def do_filter(self) -> None:
        """Narrow as it is typed."""
        self.list.expect_input()
        self._open_filter()

    @work(exclusive=True, group="filter")
    async def _open_filter(self) -> None:
        if self._filter_bar is None:
            self._filter_bar = FilterBar(self._filter_text)
            self.list.can_focus = False
            await self.mount(self._filter_bar, before=self.hints)
            self.tell()

    def on_filter_bar_changed(self, event: FilterBar.Changed) -> None:
        """Narrow."""
        self._narrow(event.text)

    async def on_filter_bar_closed(self, event: FilterBar.Closed) -> None:
        """Back to the list."""
        if self._filter_bar is not None:
            bar, self._filter_bar = self._filter_bar, None
            self.list.can_focus = True
            self.set_focus(self.list)
            await bar.remove()
            self._narrow(self._filter_text if event.keep else "")

    def _narrow(self, text: str) -> None:
        self._filter_text = " ".join(text.split())
        self.listing.set_filter(parse_filter(text))
        self.list.show_selection()
        self.tell()

    # -- the rest

    def on_session_list_moved(self) -> None:
        """Another row."""
        self.tell()

    def on_session_list_pasted(self) -> None:
        """A paste means nothing here."""
        self._board.say("Pasted text becomes a task on the board; go back with esc first.")
