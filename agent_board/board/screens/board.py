"""The board's one screen: the list between header and hints, and the acts that its keys call."""

import asyncio
import gc
import time
from typing import TYPE_CHECKING, ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from agent_board.board.feed import News
from agent_board.board.keys import KEYS
from agent_board.board.model.filter import parse_filter
from agent_board.board.model.groups import ELSEWHERE, Standing
from agent_board.board.model.index import Entry, Grouping, Kind
from agent_board.board.model.listing import Listing
from agent_board.board.screens.outside import OutsideScreen
from agent_board.board.screens.replying import PEEK_ACTS
from agent_board.board.screens.rows import ROW_ACTS
from agent_board.board.screens.tasks import Parts
from agent_board.board.widgets.empty import Empty
from agent_board.board.widgets.header import Facts, Header
from agent_board.board.widgets.hints import Hint, Hints
from agent_board.board.widgets.session_list import SessionList
from agent_board.board.widgets.task_line import TaskLine
from agent_board.store.records import SemanticState

if TYPE_CHECKING:
    from agent_board.board.widgets.filter_bar import FilterBar

ROOMY = 28
"""From this height on, groups stand apart by a blank line."""
FIRST_READ_S = 0.25
"""The first frame waits this long for the store, so that it is drawn once and whole."""


class BoardScreen(OutsideScreen):
    """Everything is read from the listing; everything done goes through the acts."""

    AUTO_FOCUS = "#list"
    BINDINGS: ClassVar[list[BindingType]] = []

    class NewsArrived(Message):
        """The feed has news."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.listing = Listing(parts.here)
        self.listing.set_grouping(Grouping.PROJECT if parts.memory.grouping == "project" else Grouping.STATE)
        self.listing.set_scope(only_here=parts.memory.only_here and bool(parts.here))
        self.news = News()
        self.header = Header()
        self.list = SessionList(self.listing, parts.glyphs, parts.clock, spinner=parts.spinner)
        self.empty = Empty()
        self.middle = Container(self.list, self.empty, id="middle")
        self.task_line = TaskLine(parts.glyphs)
        self.hints = Hints()
        self._filter_bar: FilterBar | None = None
        self._filter_text = ""

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield self.header
        yield Static("", id="banner")
        yield self.middle
        yield self.task_line
        yield self.hints

    async def on_mount(self) -> None:
        """Show the store as soon as it has been read."""
        self.list.focus()
        deadline = time.monotonic() + FIRST_READ_S
        while not self.feed.loaded.is_set() and time.monotonic() < deadline:
            await asyncio.sleep(0.002)
        self._take_news()
        self.call_after_refresh(self._go_on)

    def _go_on(self) -> None:
        """After the first frame: what was not needed for it."""
        gc.collect()
        gc.freeze()
        self.feed.start(lambda: self.post_message(self.NewsArrived()))
        self.look_for_agents()
        self.make_peek_ready()
        self.begin_elsewhere()

    def on_unmount(self) -> None:
        """The threads end with the screen."""
        self.feed.stop()

    # -- news

    def on_board_screen_news_arrived(self) -> None:
        """Take over what changed and repaint only that."""
        self._take_news()

    def _take_news(self) -> None:
        self.news = news = self.feed.take()
        self.ring(news.rows)
        self._banner(news.failed or (news.newer and _NEWER))
        self.take_over(news.rows)

    def _banner(self, sentence: str | None) -> None:
        banner = self.query_one("#banner", Static)
        if banner.display != bool(sentence):
            banner.display = bool(sentence)
        if sentence:
            banner.update(Content(sentence))

    def tell(self) -> None:
        """Bring header, hints, title and the empty screen up to date with the list."""
        index = self.listing.index
        notes = []
        if self.news.polling:
            notes.append("polling")
        if self.listing.marked:
            notes.append(f"{len(self.listing.marked)} marked")
        if self._filter_text and self._filter_bar is None:
            notes.append(f"/{self._filter_text}")
        scope = self.here_name if self.listing.only_here else "all projects"
        counts: dict[Standing, int] = {
            standing: number for standing, number in index.counts.items() if number and standing != ELSEWHERE
        }
        self.header.show(Facts(counts, index.unread, self.news.archived, scope, tuple(notes), self.glyphs.dot))
        self.hints.show(self._hints())
        self._show_empty()
        if self._filter_bar is not None:
            self._filter_bar.found(len(index), len(self.listing.rows))
        self.tell_task_line()
        self.tell_peek()
        self.place_name()
        self.app.show_title(self.listing.needs_you)  # type: ignore[attr-defined]

    def _show_empty(self) -> None:
        nothing = self.news.loaded and not len(self.listing.index)
        if self.empty.display != nothing:
            self.empty.display = nothing
            self.list.set_class(nothing, "-empty")
        if nothing:
            why = ""
            if self.listing.rows:
                why = (
                    "Nothing passes the filter; esc clears it."
                    if self.listing.filter
                    else f"No tasks in {self.here_name}."
                )
            self.empty.show(agents=self.agents, why=why)

    @property
    def here_name(self) -> str:
        """How the project that the board was opened in is called."""
        return self.listing.here.rstrip("/").rpartition("/")[2] or self.listing.here

    def _hints(self) -> list[Hint]:
        if self._filter_bar is not None:
            return list(_FILTER_HINTS)
        if self.bar_is_open:
            return list(_CHOICE_HINTS if self.focused is not None and self.focused.has_class("choice") else _BAR_HINTS)
        if self.is_renaming:
            return list(_NAME_HINTS)
        if hints := self.peek_hints():
            return hints
        if self.listing.marked:
            return list(_MARKED_HINTS)
        row = self.listing.selected_row()
        idle = {"stop"} if row is None or not row.claims_process else set()
        shown = [key for key in KEYS if key.hint and key.id not in idle and self.why_not(key.id) is None]
        return [(key.written.split(" ")[0], self.hint_of(key), f"screen.act('{key.id}')") for key in shown]

    # -- acts

    def why_not(self, act: str) -> str | None:
        """Why an act can't be done now, in one sentence; None when it can."""
        if act in _WRITING and self.news.newer:
            return _NEWER
        if (sentence := self.why_not_outside(act)) is not None:
            return sentence
        if act in ROW_ACTS | PEEK_ACTS:
            return self.why_not_rows(act) if act in ROW_ACTS else self.why_not_peek(act)
        if act == "archived" and not self.news.archived:
            return "No task is archived."
        if act == "delete":
            return "Data is deleted from the archived list: archive the task with x, then open the list with A."
        if act == "next-needing-you" and not self.listing.index.counts[SemanticState.NEEDS_INPUT]:
            return "No task needs you." if not self.listing.needs_you else "No task in view needs you."
        if act == "scope" and not self.listing.here:
            return "The directory that the board was opened in is gone."
        if act in ("first", "last", "fold", "unfold") and self.listing.selection.entry is None:
            return "The list is empty."
        return None

    def why_not_write(self) -> str | None:
        """A newer version's store is only shown."""
        return _NEWER if self.news.newer else None

    def action_act(self, act: str) -> None:
        """Do an act of the table of keys, or say why it can't be done."""
        if self.deaf_after_sending(act) or (act == "attach" and self.answers_choice()):
            return
        sentence = self.why_not(act)
        if act in ROW_ACTS | PEEK_ACTS and not self.listing.selection.may_act(self.monotonic_ms()):
            sentence = "The selected task has just gone; look again."
        if sentence is not None:
            self.say(sentence)
            return
        if self.takes_many(act):
            self.do_many(act)
            return
        getattr(self, "do_" + act.replace("-", "_"))()
        self.tell()

    def do_new(self) -> None:
        """Open the new-task bar."""
        self.open_bar()

    def do_stop(self) -> None:
        """Ask, then stop."""
        self.ask_to_stop()

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

    def do_next_needing_you(self) -> None:
        """To the next row that asks something."""
        row = self.listing.next_that_needs_you()
        if row is not None and self.listing.select_row(row.id):
            self.list.show_selection()

    def do_fold(self) -> None:
        """Close peek, else the group of the cursor, or fold its older rows again."""
        entry = self.listing.selection.entry
        if not self.close_peek() and entry is not None:
            group = self.listing.index.group(self.list.group_key(entry))
            if entry.kind is Kind.MORE and group is not None and group.unfolded:
                self._fold(entry, unfolded=False)
            elif entry.kind is not Kind.HEADER:
                self._fold(entry, folded=True)

    def do_unfold(self) -> None:
        """Peek at a task; open a closed group, or draw its older rows."""
        entry = self.listing.selection.entry
        if entry is not None and entry.kind is Kind.HEADER:
            self._fold(entry, folded=False)
        elif entry is not None and entry.kind is Kind.MORE:
            self._turn_more(entry)
        elif entry is not None:
            self.do_peek()

    def _turn_more(self, entry: Entry) -> None:
        group = self.listing.index.group(entry.group)
        if group is not None:
            self._fold(entry, unfolded=not group.unfolded)

    def _fold(self, entry: Entry, *, folded: bool | None = None, unfolded: bool | None = None) -> None:
        before = self.listing.selection.entry
        self.listing.fold(entry, folded=folded, unfolded=unfolded)
        if entry != before == self.listing.selection.entry:
            self.list.show_beginning(entry)  # the mouse turned another group: what was clicked stays in view
        else:
            self.list.show_selection()

    def do_group(self) -> None:
        """By state or by project."""
        by_state = self.listing.index.grouping is Grouping.STATE
        self.listing.set_grouping(Grouping.PROJECT if by_state else Grouping.STATE)
        self.list.show_selection()
        self.memory.grouping = self.listing.index.grouping.value
        self.post_message(self.Remember())

    def do_scope(self) -> None:
        """All projects or the one here."""
        self.listing.set_scope(only_here=not self.listing.only_here)
        self.list.show_selection()
        self.memory.only_here = self.listing.only_here
        self.post_message(self.Remember())

    def do_filter(self) -> None:
        """Open the filter."""
        self.list.expect_input()
        self._open_filter()

    def do_clear(self) -> None:
        """Esc closes the topmost thing only: peek, the marks, the filter; on the plain list it does nothing."""
        if not self.close_peek() and not self.clear_marks() and self._filter_text:
            self._narrow("")

    def do_archived(self) -> None:
        """The archived list."""
        from agent_board.board.screens.archived import ArchivedScreen

        self.app.push_screen(ArchivedScreen(self))

    def do_help(self) -> None:
        """All keys."""
        from agent_board.board.screens.help import Help

        self.app.push_screen(Help(self.glyphs))

    def do_theme(self) -> None:
        """Light or dark."""
        self.app.toggle_theme()  # type: ignore[attr-defined]

    def do_put_aside(self) -> None:
        """Back to the shell for a while."""
        self.app.put_aside()  # type: ignore[attr-defined]

    def do_quit(self) -> None:
        """Leave."""
        self.app.leave()  # type: ignore[attr-defined]

    # -- the filter

    @work(exclusive=True, group="filter")
    async def _open_filter(self) -> None:
        from agent_board.board.widgets.filter_bar import FilterBar

        if self._filter_bar is None:
            self._filter_bar = FilterBar(self._filter_text)
            self.task_line.display = False
            self.list.can_focus = False
            await self.mount(self._filter_bar, before=self.hints)
            self.tell()

    def on_filter_bar_changed(self, event: "FilterBar.Changed") -> None:
        """Narrow as it is typed."""
        self._narrow(event.text)

    async def on_filter_bar_closed(self, event: "FilterBar.Closed") -> None:
        """Back to the list."""
        await self._close_filter(keep=event.keep)

    async def _close_filter(self, *, keep: bool) -> None:
        if self._filter_bar is not None:
            bar, self._filter_bar = self._filter_bar, None
            self.list.can_focus = True
            self.set_focus(self.list)
            await bar.remove()
            self.task_line.display = not self.bar_is_open
            self._narrow(self._filter_text if keep else "")

    def _narrow(self, text: str) -> None:
        self._filter_text = " ".join(text.split())
        self.listing.set_filter(parse_filter(text))
        self.list.show_selection()
        self.tell()

    # -- one input at a time

    async def leave_inputs(self) -> None:
        """Leave what is open for typing as it stands: an act that was chosen by name may take the keyboard."""
        self._close_name()
        if self._filter_bar is not None:
            await self._close_filter(keep=True)
        await self.leave_bar()

    def get_focusable_widget_at(self, x: int, y: int) -> Widget | None:
        """Textual's question what a click gives the keyboard to: nothing beside an input that would stay without it."""
        widget, taken = super().get_focusable_widget_at(x, y), self._bar or self._filter_bar
        return None if taken is not None and widget is not None and taken not in widget.ancestors else widget

    # -- the rest

    def on_session_list_moved(self) -> None:
        """Another row, other keys."""
        self.hints.show(self._hints())
        self.tell_peek()

    def on_session_list_folded(self, event: SessionList.Folded) -> None:
        """A header or “… more” was clicked."""
        group = self.listing.index.group(event.entry.group)
        if event.entry.kind is Kind.MORE:
            self._turn_more(event.entry)
        elif group is not None:
            self._fold(event.entry, folded=not group.folded)
        self.tell()

    def on_session_list_pasted(self, event: SessionList.Pasted) -> None:
        """Text on the list becomes the text of a new task; nothing is sent."""
        if self.why_not("new") is None:
            self.open_bar(event.text)

    def on_descendant_focus(self) -> None:
        """Another field, other keys."""
        self.hints.show(self._hints())

    def on_task_line_opened(self) -> None:
        """The resting bar was clicked."""
        self._close_name()
        self.action_act("new")

    def on_resize(self, event: events.Resize) -> None:
        """Room for blank lines, or none; the hint of a task only where the list keeps room."""
        self.listing.set_gap(1 if event.size.height >= ROOMY else 0)
        self.set_class(event.size.height < 12, "-low")
        self.set_class(event.size.height < 7, "-tiny")
        self.place_peek(event.size.width)
        self.list.sync()

    def interrupt(self) -> bool:
        """Ctrl+c: empty the input that has the focus; False when there was nothing to empty."""
        if self._filter_bar is not None:
            return self._filter_bar.clear()
        return self.clear_input()


_BAR_HINTS: tuple[Hint, ...] = (
    ("enter", "start", ""),
    ("ctrl+j", "new line", ""),
    ("tab", "next field", ""),
    ("esc", "keep for later", ""),
)
_CHOICE_HINTS: tuple[Hint, ...] = (_BAR_HINTS[0], ("← →", "change", ""), *_BAR_HINTS[2:])
_NAME_HINTS: tuple[Hint, ...] = (("enter", "keep the name", ""), ("esc", "leave it as it was", ""))
_MARKED_HINTS: tuple[Hint, ...] = tuple(
    (key, words, f"screen.act('{act}')")
    for key, words, act in (
        *(("m", "mark", "mark"), ("x", "archive", "archive"), ("s", "stop", "stop"), ("d", "done", "done")),
        *(("p", "pin", "pin"), ("R", "retry", "retry"), ("esc", "clear marks", "clear")),
    )
)
_WRITING = frozenset(
    {"adopt", "new", "stop", "attach", "pin", "rename", "done", "archive", "undo", "retry", "reply", "waiting", "merge"}
)
_FILTER_HINTS: tuple[Hint, ...] = (("enter", "keep", ""), ("esc", "clear the filter", ""))
_NEWER = "A newer agent-board wrote this store: it is shown and not changed. Update agent-board to act on it."
