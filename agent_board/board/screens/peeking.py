"""Peek on the board: follows the selection, reads in threads, and is read again when its task changes."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import work
from textual.message import Message
from textual.timer import Timer

from agent_board.board.drafts import Drafts
from agent_board.board.model.columns import age_of
from agent_board.board.model.row import Row
from agent_board.board.model.wrapping import Line
from agent_board.board.replies import Replies
from agent_board.board.screens.elsewhere import ElsewhereScreen
from agent_board.board.screens.tasks import Parts
from agent_board.errors import BoardError

if TYPE_CHECKING:
    from textual.containers import Container
    from textual.widget import Widget

    from agent_board.board.model.conversation import Style
    from agent_board.board.model.peeked import Peeked
    from agent_board.board.widgets.peek import PeekPanel, Title

WIDE = 110
"""From this width on peek stands beside the list, else below it."""
WALK_S = 0.04
"""While rows are walked, one is read only when the cursor has rested on it so long."""
AGAIN_S = 0.1
"""A task that changes all the time is read again at most so often."""
REVEAL_S = 0.03
"""An opened peek waits so long for what it shows before it is drawn without."""
AFTER_FRAME_S = 0.04
"""Parsing leaves the processor to the first frame for so long: painted 48 ms after the key instead of 70 (2 cores)."""
SEEN_S = 1.0
"""What has been looked at for so long has been seen."""
_KEPT = 64


class PeekScreen(ElsewhereScreen):
    """The part of the board's screen that shows one task."""

    middle: "Container"

    class Looked(Message):
        """A thread has read what peek shows; twice when the look of long answers takes its time."""

        def __init__(
            self, view_id: str, peeked: "Peeked | None", lines: Sequence[Line], style: "Style", stamp: int
        ) -> None:
            super().__init__()
            self.view_id = view_id
            self.peeked = peeked
            self.lines = lines
            self.style = style
            self.stamp = stamp

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.replies = Replies(parts.acts.paths, parts.acts.settings)
        self.drafts = Drafts(self.replies.load_draft, self.replies.save_draft, self._draft_not_kept)
        self.peek: PeekPanel | None = None
        self._looked: dict[str, tuple[Peeked, Sequence[Line], int]] = {}
        self._look_timer: Timer | None = None
        self._seen_timer: Timer | None = None
        self._looked_at = float("-inf")
        self._peek_is_open = False
        self._keys_in_peek = False

    # -- opening and closing

    @work(group="peek-ready")
    async def make_peek_ready(self) -> None:
        """After the first frame: have it there, unseen, so that its first opening costs nothing."""
        await self._ready_peek()

    async def _ready_peek(self) -> "PeekPanel":
        import asyncio

        if self.peek is None:
            for module in ("widgets.peek", "reading", "model.peek_lines"):
                await asyncio.to_thread(__import__, f"agent_board.board.{module}")
            from agent_board.board.widgets.peek import PeekPanel

            if self.peek is None:
                self.peek = panel = PeekPanel(self.glyphs)
                panel.display = False
                await self.middle.mount(panel)
                self.set_interval(1.0, self.tell_peek)
        return self.peek

    @property
    def peek_is_open(self) -> bool:
        """Whether peek is seen."""
        return self._peek_is_open

    @work(group="peek-open", exclusive=True)
    async def _open_when_ready(self, act: str) -> None:
        await self._ready_peek()
        getattr(self, "do_" + act)()
        self.tell()

    def open_peek(self, act: str = "peek") -> bool:
        """Open it; False when it has to be made first: then the act is taken once more when it is there."""
        if self.peek is None:
            if act in ("reply", "retry"):
                self.list.expect_input()
            self._open_when_ready(act)
            return False
        if not self._peek_is_open:
            self._peek_is_open = True
            self._expect_width()
            self.tell_peek()
            self.look_again()  # nobody read it while it was closed
        if act == "peek":
            self.set_timer(REVEAL_S, self._reveal)
        else:
            self._reveal()
        self.tell_peek()
        return True

    def _reveal(self) -> None:
        """Draw it: when it has been read, so that it is drawn once, or when that takes too long for the eye."""
        if self.peek is not None and self._peek_is_open and not self.peek.display:
            self.peek.display = True
            self.task_line.set_class(True, "-peeking")
            self.call_after_refresh(self.list.show_selection)

    def do_peek(self) -> None:
        """Open it, or say what can be done with it."""
        if self.peek_is_open:
            self.say("Peek is open: r replies, v shows the whole conversation, esc closes.")
        else:
            self.open_peek()

    def on_session_list_opened(self) -> None:
        """A double click opens it."""
        self.open_peek()
        self.tell()

    def close_peek(self) -> bool:
        """Close it; False when it was not open."""
        if self.peek is None or not self._peek_is_open:
            return False
        self.keep_draft()
        self._peek_is_open = False
        self.peek.display = False
        self.task_line.set_class(False, "-peeking")
        self._forget_timers()
        self.set_focus(self.list)
        self.call_after_refresh(self.list.show_selection)
        return True

    def place_peek(self, width: int) -> None:
        """Beside the list or below it."""
        self.middle.set_class(width < WIDE, "-narrow")
        self.set_class(width < WIDE, "-narrow-board")

    def _expect_width(self) -> None:
        """What the style sheet will make of it, so that lines are laid out once."""
        width = self.size.width
        if self.peek is not None:
            self.peek.expect_width(width - 3 if width < WIDE else min(104, width * 48 // 100) - 5)

    @property
    def focus_chain(self) -> "list[Widget]":
        """Peek's own input never gets the keyboard because another one has gone: keys would become text."""
        own = () if self.peek is None else (self.peek.input, self.peek.waiting)
        return [widget for widget in super().focus_chain if widget not in own]

    @property
    def peek_has_keys(self) -> bool:
        """Whether an input or a list inside peek has the keyboard: then it stays with its task.

        While the terminal itself is left, nothing has it; then it stays as it was.
        """
        panel = self.peek
        if panel is None or not self._peek_is_open:
            self._keys_in_peek = False
        elif self.focused is not None:
            self._keys_in_peek = self.focused in (panel.input, panel.waiting)
        return self._keys_in_peek

    def do_peek_up(self) -> None:
        """Scroll it up."""
        self._scroll_peek(-1)

    def do_peek_down(self) -> None:
        """Scroll it down."""
        self._scroll_peek(1)

    def _scroll_peek(self, step: int) -> None:
        if self.peek is not None and self.peek_is_open:
            self.peek.body.move(step * max(1, self.peek.body.size.height // 2))
        else:
            self.say("Peek is closed; space opens it.")

    # -- following the list

    def tell_peek(self) -> None:
        """Show the task that the list has selected; one that is being answered is kept."""
        panel = self.peek
        if panel is None or not self._peek_is_open:
            return
        row = self.listing.rows.get(panel.view_id) if self.peek_has_keys else self.listing.selected_row()
        if row is None:
            if not self.peek_has_keys:
                self.keep_draft()
                panel.show_nothing()
            return
        changed = row.id != panel.view_id
        if changed:
            self.keep_draft()
        panel.show_row(row, age_of(row, self.clock()))
        if changed:
            self._show_again(row)
            self._look_soon(WALK_S if self._walking() else 0.0)
        self._look_at(row)

    def _walking(self) -> bool:
        """Whether another row was shown a moment ago: the cursor is on its way."""
        now = time.monotonic()
        walking, self._looked_at = now - self._looked_at < 0.2, now
        return walking

    def _show_again(self, row: Row) -> None:
        """What is known of a row from an earlier look, and its draft."""
        panel = self.peek
        assert panel is not None
        known = self._looked.get(row.id)
        if known is not None and known[2] == panel.style.width:
            panel.show_peeked(known[0], known[1])
            panel.show_row(row, age_of(row, self.clock()))
        self.show_draft()

    def settle(self, rows: Mapping[str, Row | None]) -> None:
        """A task that changed is read again."""
        super().settle(rows)
        if self.peek is not None and self.peek_is_open and self.peek.view_id in rows:
            self._look_soon(AGAIN_S if time.monotonic() - self._looked_at < AGAIN_S else 0.0)
            self._looked_at = time.monotonic()

    # -- reading

    def _look_soon(self, delay: float) -> None:
        if self._look_timer is not None:
            self._look_timer.stop()
            self._look_timer = None
        if delay:
            self._look_timer = self.set_timer(delay, self.look_again)
        else:
            self.look_again()

    def look_again(self) -> None:
        """Read the shown task beside the screen."""
        self._look_timer = None
        panel = self.peek
        if panel is not None and self._peek_is_open and panel.view_id:
            self._look(panel.view_id, panel.style, self.drafts.stamp(panel.view_id))

    def read_peek(self, view_id: str) -> "Peeked | None":
        """What there is to be shown; None when it is gone. Reads files: for threads."""
        return self.replies.peek(view_id)

    @work(thread=True, exit_on_error=False, exclusive=True, group="peek")
    def _look(self, view_id: str, style: "Style", stamp: int) -> None:
        from agent_board.board.model.markdown import is_ready
        from agent_board.board.model.peek_lines import body_lines, is_quick

        peeked = self.read_peek(view_id)
        if peeked is None:
            self.post_message(self.Looked(view_id, None, (), style, stamp))
            return
        if not (is_ready() and is_quick(peeked)):
            plain = body_lines(peeked, replace(style, markdown=False))
            self.post_message(self.Looked(view_id, peeked, plain, style, stamp))
            time.sleep(AFTER_FRAME_S)
        self.post_message(self.Looked(view_id, peeked, body_lines(peeked, style), style, stamp))

    def on_peek_screen_looked(self, event: Looked) -> None:
        """Show it, unless another task or another width is shown by now."""
        panel = self.peek
        if event.peeked is None or panel is None or not self._peek_is_open:
            return
        self._looked.pop(event.view_id, None)
        self._looked[event.view_id] = (event.peeked, event.lines, event.style.width)
        if len(self._looked) > _KEPT:
            del self._looked[next(iter(self._looked))]
        self.note_input(event.view_id)
        self.drafts.take_from_disk(event.view_id, event.peeked.draft, event.stamp)
        if event.view_id != panel.view_id:
            return
        self.show_draft()
        if event.style.width != panel.style.width:
            self.look_again()
            return
        panel.show_peeked(event.peeked, event.lines)
        self.show_draft()
        self._reveal()
        self.tell()

    def on_peek_panel_resized(self) -> None:
        """Other lines."""
        self.look_again()

    # -- seen

    def _look_at(self, row: Row) -> None:
        if not row.unread:
            self._stop_seen()
        elif self._seen_timer is None:
            self._seen_timer = self.set_timer(SEEN_S, lambda: self._seen(row.id))

    def _stop_seen(self) -> None:
        if self._seen_timer is not None:
            self._seen_timer.stop()
            self._seen_timer = None

    def _seen(self, view_id: str) -> None:
        self._seen_timer = None
        panel = self.peek
        if panel is None or not self._peek_is_open or panel.peeked is None:
            return
        if panel.view_id != view_id or not self.app.app_focus:
            self.tell_peek()
        elif not self.why_not_write():
            self._mark_seen(view_id)

    @work(thread=True, exit_on_error=False, group="seen")
    def _mark_seen(self, view_id: str) -> None:
        try:
            self.replies.mark_seen(view_id)
        except (BoardError, OSError) as error:
            self.journal.write(f"seen: {error}")
            return
        self.feed.refresh([view_id])

    def _forget_timers(self) -> None:
        self._stop_seen()
        if self._look_timer is not None:
            self._look_timer.stop()
            self._look_timer = None

    # -- screens of their own

    def do_transcript(self) -> None:
        """The whole conversation."""
        from agent_board.board.history import History
        from agent_board.board.screens.transcript import Transcript

        if (row := self.listing.selected_row()) is not None:
            paths = self.replies.paths
            self.app.push_screen(Transcript(lambda: History(paths, row.id), self.glyphs, self._titling(row)))

    def do_why(self) -> None:
        """Rule, evidence, processes, files."""
        from agent_board.board.evidence import gather
        from agent_board.board.screens.why import Why

        if (row := self.listing.selected_row()) is not None:
            paths = self.replies.paths
            self.app.push_screen(Why(lambda: gather(paths, row.id), self.glyphs, self._titling(row)))

    def do_changes(self) -> None:
        """Base to worktree, uncommitted and new files included."""
        self._show_changes(merging=False)

    def do_merge(self) -> None:
        """The same, with the question about merging over it."""
        self._show_changes(merging=True)

    def _show_changes(self, *, merging: bool) -> None:
        from agent_board.board.model.allowed import why_not
        from agent_board.board.screens.changes import ChangesPage
        from agent_board.board.taking_over import Work

        if (row := self.listing.selected_row()) is not None:
            shown = Work(self.replies.paths, row.id)

            def why() -> str | None:
                return self.why_not_write() or why_not("merge", self.listing.rows.get(row.id, row))

            page = ChangesPage(shown, self.glyphs, self._titling(row), self.say, why, merging=merging)
            self.app.push_screen(page)

    def _titling(self, row: Row) -> "Callable[[], Title]":
        """Says how a row stands whenever it is asked."""
        from agent_board.board.widgets.peek import title_of

        def title() -> "Title":
            now = self.listing.rows.get(row.id, row)
            return title_of(now, age_of(now, self.clock()), self.glyphs, now.summary)

        return title

    # -- what the part about replies knows

    def why_not_write(self) -> str | None:
        """Why the store must not be written; None when it may."""
        raise NotImplementedError

    def show_draft(self) -> None:
        """Put the shown task's draft into the input."""
        raise NotImplementedError

    def note_input(self, view_id: str) -> None:
        """What was typed into that task's input counts before what was kept: its messages may be under way."""
        raise NotImplementedError

    def keep_draft(self) -> None:
        """Keep what stands in the input."""
        raise NotImplementedError

    def _draft_not_kept(self, sentence: str) -> None:
        self.app.call_from_thread(self.say, sentence, wrong=True)
