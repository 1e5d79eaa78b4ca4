"""The list: only visible lines are drawn, and of those only the ones that have changed."""

import time
from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.timer import Timer

from agent_board.board.keys import BY_KEY, ONCE, list_bindings
from agent_board.board.looks import role_style
from agent_board.board.model.burst import HOLD_S, QUIET_S, Burst, Repeats
from agent_board.board.model.columns import Columns, Look, age_of, columns, row_pieces, silence_of
from agent_board.board.model.glyphs import Glyphs
from agent_board.board.model.groups import ELSEWHERE
from agent_board.board.model.headings import heading_pieces, more_pieces
from agent_board.board.model.index import Entry, Grouping, Kind
from agent_board.board.model.listing import Listing
from agent_board.board.model.selection import moved, nearest, selectable
from agent_board.store.records import SemanticState

Token = tuple[object, ...]
"""All that a line's picture depends on; equal tokens, equal pictures."""

SPINNER_S = 0.25
EXPECTED_S = 2.0
"""An input that was asked for and does not have the keyboard after so long does not come."""
_CACHED = 512
_MOVES = frozenset({"up", "down", "first", "last"})


class SessionList(ScrollView, can_focus=True, inherit_bindings=False):
    """Rows in groups, one line each. What is shown is the listing's; this draws it and moves the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [*list_bindings()]

    class Moved(Message):
        """The cursor stands on another entry."""

    class Folded(Message):
        """A header was clicked."""

        def __init__(self, entry: Entry) -> None:
            super().__init__()
            self.entry = entry

    class HeldDown(Message):
        """A key whose act is not to be repeated by itself was held down, or pressed again very soon."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    class Opened(Message):
        """A row was clicked twice."""

    class Pasted(Message):
        """Text arrived where keys are expected."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, listing: Listing, glyphs: Glyphs, clock: Callable[[], int], *, spinner: bool = True) -> None:
        super().__init__(id="list")
        self.listing = listing
        self.glyphs = glyphs
        self.busy: dict[str, str] = {}
        """By view id, what the user has asked for and is on its way."""
        self._clock = clock
        self._spinner = spinner
        self._frame = 0
        self._spin_timer: Timer | None = None
        self._painted: list[Token] = []
        self._painted_from = 0
        self._burst = Burst()
        self._repeats = Repeats()
        self._held: Timer | None = None
        self._waiting: list[events.Key] = []
        self._ahead: list[events.Key | events.Paste] | None = None
        """What was typed since an input was asked for that has not got the keyboard yet."""
        self._asked_at = 0.0
        self._strips: dict[Token, Strip] = {}
        self._styles: dict[tuple[str, bool], Style] = {}

    def on_mount(self) -> None:
        """Ages are looked at once a second, in one timer for all rows."""
        self.set_interval(1.0, self.sync)
        if self._spinner:
            self._spin_timer = self.set_interval(SPINNER_S, self._spin)

    def notify_style_update(self) -> None:
        """Another theme: nothing that was drawn is of use."""
        self._styles.clear()
        self._strips.clear()
        super().notify_style_update()

    # -- drawing

    @property
    def layout_columns(self) -> Columns:
        """Where the parts of a row are at the present width."""
        by_project = self.listing.index.grouping is Grouping.PROJECT
        return columns(self.scrollable_content_region.width, with_project=not by_project)

    def _token(self, line: int, layout: Columns, now: int) -> Token:
        index = self.listing.index
        entry = index.entry(line)
        selected = self._is_selected(entry)
        if entry.kind is Kind.ROW:
            row = index.row(entry.row_id)
            revision = self.listing.revisions[row.id]
            marked = row.id in self.listing.marked
            passing = (age_of(row, now), silence_of(row, now))
            return (row.id, revision, passing, selected, marked, self.busy.get(row.id), layout, self._bright)
        if entry.kind is Kind.GAP:
            return (None, layout.width)
        group = index.group(entry.group)
        assert group is not None
        facts = (len(group), group.unread, group.hidden, group.folded, group.unfolded)
        return (entry, facts, selected, layout.width, self._bright)

    @property
    def _bright(self) -> bool:
        return self.has_focus

    def _is_selected(self, entry: Entry) -> bool:
        chosen = self.listing.selection.entry
        if chosen is None or chosen.kind is not entry.kind:
            return False
        return chosen.row_id == entry.row_id if entry.kind is Kind.ROW else chosen.group == entry.group

    def sync(self) -> None:
        """Repaint the visible lines whose picture has changed, and no others."""
        self._fit_size()
        layout, now, top = self.layout_columns, self._clock(), round(self.scroll_y)
        tokens = [self._token(top + y, layout, now) for y in range(self.size.height)]
        before = self._painted if top == self._painted_from else []
        for y, token in enumerate(tokens):
            if y >= len(before) or before[y] != token:
                self.refresh(Region(0, y, self.size.width, 1))
        self._painted, self._painted_from = tokens, top

    def _fit_size(self) -> None:
        wanted = Size(self.scrollable_content_region.width, self.listing.index.lines)
        if self.virtual_size != wanted:
            self.virtual_size = wanted

    def render_line(self, y: int) -> Strip:
        """One line of the window."""
        layout, now = self.layout_columns, self._clock()
        line = round(self.scroll_y) + y
        token = self._token(line, layout, now)
        strip = self._strips.get(token)
        if strip is None:
            if len(self._strips) >= _CACHED:
                self._strips.clear()
            strip = self._strips[token] = self._draw(line, layout, now)
        return self._with_spinner(line, strip)

    def _draw(self, line: int, layout: Columns, now: int) -> Strip:
        index = self.listing.index
        entry = index.entry(line)
        selected = self._is_selected(entry)
        if entry.kind is Kind.ROW:
            row = index.row(entry.row_id)
            busy, marked = self.busy.get(row.id), row.id in self.listing.marked
            look = Look(
                layout, self.glyphs, age_of(row, now), selected, self._bright, busy, silence_of(row, now), marked
            )
            pieces = row_pieces(row, look)
        elif entry.kind is Kind.GAP:
            pieces = [(" " * layout.width, "row")]
        else:
            group = index.group(entry.group)
            assert group is not None
            draw = heading_pieces if entry.kind is Kind.HEADER else more_pieces
            pieces = draw(group, layout, self.glyphs, selected=selected, title=self.title_of(entry))
        segments = [Segment(text, self._style(role, selected)) for text, role in pieces if text]
        return Strip(segments).adjust_cell_length(layout.width, self._style("row", selected))

    def title_of(self, entry: Entry) -> str:
        """What the header of a group says; for a project its name."""
        group = self.listing.index.group(entry.group)
        if group is None or group.key == ELSEWHERE or self.listing.index.grouping is Grouping.STATE:
            return ""
        if self.listing.index.grouping is Grouping.NONE:
            return "ARCHIVED"
        return self.listing.index.row(group.rows[0][2]).project or "unreadable"

    def _style(self, role: str, selected: bool) -> Style:
        known = self._styles.get((role, selected))
        if known is None:
            known = role_style(role, self.app.theme_variables, selected=selected, away=not self._bright)
            self._styles[(role, selected)] = known
        return known

    # -- the spinner

    def _spins(self, line: int) -> bool:
        entry = self.listing.index.entry(line)
        if entry.kind is not Kind.ROW:
            return False
        row = self.listing.index.row(entry.row_id)
        return row.alive and row.state is SemanticState.WORKING and not row.stalled and not row.unreadable

    def _spin(self) -> None:
        if not self.app.app_focus or not self.display:
            return
        top = round(self.scroll_y)
        lines = [y for y in range(self.size.height) if self._spins(top + y)]
        if lines:
            self._frame += 1
            cell = self.layout_columns.lead - 2
            for y in lines:
                self.refresh(Region(cell, y, 1, 1))

    def _with_spinner(self, line: int, strip: Strip) -> Strip:
        if not self._spinner or not self._frame or not self._spins(line):
            return strip
        cell = self.layout_columns.lead - 2
        sign = self.glyphs.spinner[self._frame % len(self.glyphs.spinner)]
        selected = self._is_selected(self.listing.index.entry(line))
        glyph = Strip([Segment(sign, self._style("glyph-working", selected))])
        return Strip.join([strip.crop(0, cell), glyph, strip.crop(cell + 1)])

    # -- moving

    def anchor_line(self) -> tuple[Entry, int] | None:
        """The entry that must not move while the list changes, and where in the window it is."""
        index, top = self.listing.index, round(self.scroll_y)
        if top == 0:
            return None
        selected = self.listing.selection.entry
        line = index.line_of(selected) if selected is not None else None
        if selected is not None and line is not None and 0 <= line - top < self.size.height:
            return selected, line - top
        first = nearest(index, top, 1)
        return None if first is None else (first, (index.line_of(first) or top) - top)

    def hold_anchor(self, anchor: tuple[Entry, int] | None, group_before: object) -> None:
        """Scroll so that the anchor is where it was, unless it has gone to another group."""
        if anchor is not None:
            entry, offset = anchor
            line = self.listing.index.line_of(entry)
            if line is not None and self.group_key(entry) == group_before:
                self._fit_size()
                self.scroll_to(y=max(0, line - offset), animate=False, immediate=True)
        self.sync()

    def group_key(self, entry: Entry) -> object:
        """The group that an entry is in now."""
        index = self.listing.index
        if entry.kind is Kind.ROW:
            return index.group_of(entry.row_id).key if entry.row_id in index else None
        return entry.group

    def move(self, distance: int) -> None:
        """Move the cursor by so many entries."""
        self.choose(moved(self.listing.index, self.listing.selection.entry, distance))

    def move_to_end(self, *, last: bool) -> None:
        """Move the cursor to the first or the last entry."""
        index = self.listing.index
        self.choose(nearest(index, index.lines - 1, -1) if last else nearest(index, 0, 1))

    def choose(self, entry: Entry | None) -> None:
        """Put the cursor on an entry and bring it into view."""
        self.listing.select(entry)
        self.show_selection()
        self.post_message(self.Moved())

    def show_selection(self) -> None:
        """Bring the selected entry into view; with the first row of a group its header too."""
        self._fit_size()
        entry = self.listing.selection.entry
        line = self.listing.index.line_of(entry) if entry is not None else None
        if line is not None:
            top, height = round(self.scroll_y), self.size.height
            above = line - 1 if line and self.listing.index.entry(line - 1).kind is Kind.HEADER else line
            if above < top:
                self.scroll_to(y=0 if above <= 1 else above, animate=False, immediate=True)
            elif line >= top + height:
                self.scroll_to(y=line - height + 1, animate=False, immediate=True)
        self.sync()

    def show_beginning(self, header: Entry) -> None:
        """A group that was opened or closed under the mouse: its header stays, and some of it is seen."""
        self._fit_size()
        line, group = self.listing.index.line_of(header), self.listing.index.group(header.group)
        if line is not None and group is not None and not group.folded:
            height = self.size.height
            below = line + min(len(group), height // 2) - height + 1
            if below > round(self.scroll_y):
                self.scroll_to(y=below, animate=False, immediate=True)
        self.sync()

    # -- mouse, focus, size

    def on_click(self, event: events.Click) -> None:
        """Select what was clicked; a header opens and closes its group."""
        line = round(self.scroll_y) + event.y
        entry = self.listing.index.entry(line)
        if entry.kind is Kind.HEADER:
            self.post_message(self.Folded(entry))
        elif selectable(self.listing.index, entry):
            self.choose(entry)
            if entry.kind is Kind.MORE:
                self.post_message(self.Folded(entry))
            elif event.chain == 2:
                self.post_message(self.Opened())

    def watch_has_focus(self, has_focus: bool) -> None:
        """The cursor is bright where the keyboard is, faint elsewhere."""
        super().watch_has_focus(has_focus)
        if not has_focus:
            self._hand_over()
        self._styles.clear()
        self.sync()

    def on_resize(self) -> None:
        """Other columns, perhaps: all is drawn anew by the layout itself."""
        self._painted = []
        self.sync()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The window moved: every line of it is another."""
        super().watch_scroll_y(old_value, new_value)
        self._painted = []

    def on_key(self, event: events.Key) -> None:
        """Moves act at once; any other key waits a moment, for it may be the first letter of a paste.

        What comes while one waits waits behind it: keys act in the order in which they were pressed.
        """
        if self._keep_ahead(event):
            return
        repeated = self._repeats.feed(event.key, event.time)
        char = event.character if event.is_printable else "\n" if event.key == "enter" else None
        paste = char is not None and self._burst.feed(char, event.time)
        at_once = char is None or (not paste and BY_KEY.get(event.key) in _MOVES)
        if at_once and not self._waiting:
            return
        event.stop()
        event.prevent_default()
        if repeated and BY_KEY.get(event.key) in ONCE and not paste:
            if repeated == 1:
                self.post_message(self.HeldDown(event.key))
            return
        self._waiting.append(event)
        if self._held is not None:
            self._held.stop()
        self._held = self.set_timer(QUIET_S if paste else HOLD_S, self._release)

    async def _release(self) -> None:
        """Nothing more came: they were keys, or the paste is complete."""
        self._held = None
        waiting, self._waiting = self._waiting, []
        if self._burst.is_paste:
            self.post_message(self.Pasted(self._burst.take()))
            return
        for event in waiting:
            active = self.screen.active_bindings.get(event.key)
            if self._ahead is not None or self.screen.focused is not self:
                self._pass_on(event)  # the one before it opened an input
            elif active is not None and active.enabled:
                await self.app.run_action(active.binding.action, active.node)

    def on_paste(self, event: events.Paste) -> None:
        """Text on the list is a task's description, never keys."""
        if not self._keep_ahead(event):
            event.stop()
            self.post_message(self.Pasted(event.text))

    # -- what is typed while an input opens

    def expect_input(self) -> None:
        """An input is on its way: what is typed until it has the keyboard is text for it, and no key of the list."""
        if self.has_focus and self._ahead is None:
            self._ahead, self._asked_at = [], time.monotonic()

    def _keep_ahead(self, event: events.Key | events.Paste) -> bool:
        if self._ahead is not None and time.monotonic() - self._asked_at > EXPECTED_S:
            self._ahead = None  # the input did not come: its text is no key either
        if self._ahead is None:
            return False
        event.stop()
        event.prevent_default()
        self._ahead.append(event)
        return True

    def _hand_over(self) -> None:
        """Another widget has the keyboard: what was typed for it goes there, in order."""
        ahead, self._ahead = self._ahead or [], None
        for event in ahead:
            self._pass_on(event)

    def _pass_on(self, event: events.Key | events.Paste) -> None:
        target = self.screen.focused
        if self._ahead is not None:
            self._ahead.append(event)
        elif target is not None and target is not self:
            again: events.Key | events.Paste = (
                events.Paste(event.text) if isinstance(event, events.Paste) else events.Key(event.key, event.character)
            )
            again.time = event.time  # an enter among them is judged by when it was pressed
            target.post_message(again)

    def visible_rows(self) -> Sequence[str]:
        """The ids of the rows in the window, for tests and for whoever reads ahead."""
        top = round(self.scroll_y)
        entries = (self.listing.index.entry(top + y) for y in range(self.size.height))
        return [entry.row_id for entry in entries if entry.kind is Kind.ROW]
