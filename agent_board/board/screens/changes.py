"""What a task changed, base to worktree, looked at again while it is open; and taking it over with a merge."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Protocol

from textual import work
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.worker import Worker, WorkerState

from agent_board.board.model.changes_lines import Laid, changes_lines
from agent_board.board.model.glyphs import Glyphs
from agent_board.board.model.wrapping import Line, wrap_text
from agent_board.board.screens.pages import Page
from agent_board.board.taking_over import Seen, Work
from agent_board.board.widgets.hints import Hint
from agent_board.board.widgets.peek import Title
from agent_board.errors import BoardError

if TYPE_CHECKING:
    from agent_board.git.merge import MergePlan

LOOK_S = 1.0
AGAIN_S = 2.0
_SHARE = 10
"""Looking again may take one part in so many of the time: git works hard in a huge checkout."""
_WIDEST = 160


class Says(Protocol):
    """How the board says something, whatever screen is in view."""

    def __call__(self, sentence: str, *, wrong: bool = False) -> None:
        """A toast, and in the log what went wrong."""


class ChangesPage(Page):
    """Totals, commits, files and the patch."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "close", show=False),
        Binding("M", "merge", show=False),
        Binding("n,tab", "file(1)", show=False),
        Binding("N,shift+tab", "file(-1)", show=False),
    ]

    class Looked(Message):
        """A thread has looked, or says why it can't."""

        def __init__(self, seen: Seen | None, laid: Laid, failure: str = "") -> None:
            super().__init__()
            self.seen = seen
            self.laid = laid
            self.failure = failure

    class Planned(Message):
        """A thread knows what a merge would do."""

        def __init__(self, plan: "MergePlan") -> None:
            super().__init__()
            self.plan = plan

    class Ended(Message):
        """A merge is over, or was refused; this has been said."""

    def __init__(
        self,
        work: Work,
        glyphs: Glyphs,
        title: Callable[[], Title],
        says: Says,
        why_not_merge: Callable[[], str | None],
        *,
        merging: bool = False,
    ) -> None:
        """`merging`: begin with the question about the merge."""
        super().__init__(glyphs, title, id="changes")
        self._work = work
        self._says = says
        self._why_not_merge = why_not_merge
        self._merges_first = merging
        self._seen: Seen | None = None
        self._laid = Laid((), ())
        self._failure = ""
        self._doing = ""
        self._looking = False
        self._next_look = 0.0

    def on_mount(self) -> None:
        """Look now, and again from time to time."""
        self.title_now = self._titling(self.title_now)
        self.body.show([(("Looking what has changed", "muted"),)])
        self.tell()
        self.call_after_refresh(self._look_now)
        self.set_interval(LOOK_S, self._look_again)
        if self._merges_first:
            self.action_merge()

    def _titling(self, row: Callable[[], Title]) -> Callable[[], Title]:
        """The row's head, with what is compared in place of its summary."""

        def title() -> Title:
            said = row()
            where = self.glyphs.text(self._seen.where) if self._seen is not None else ""
            return replace(said, why=where, state=self._doing or said.state)

        return title

    # -- looking, in threads

    @property
    def _width(self) -> int:
        return max(20, min(self.body.scrollable_content_region.width or 80, _WIDEST))

    def _look_again(self) -> None:
        self.tell()
        if self.app.app_focus and time.monotonic() >= self._next_look:
            self._look_now()

    def _look_now(self) -> None:
        if not self._looking:
            self._looking = True
            self._look(self._width)

    @work(thread=True, exit_on_error=False, group="changes")
    def _look(self, width: int) -> None:
        began = time.monotonic()
        try:
            seen = self._work.look()
            looked = self.Looked(seen, changes_lines(seen.changes, width, self.glyphs))
        except (BoardError, OSError) as error:
            looked = self.Looked(None, Laid((), ()), str(error))
        self._next_look = time.monotonic() + max(AGAIN_S, _SHARE * (time.monotonic() - began))
        self.post_message(looked)

    def on_changes_page_looked(self, event: Looked) -> None:
        """Show it; what is in view stays."""
        self._looking = False
        first, other = self._seen is None, event.failure != self._failure
        self._seen, self._failure = event.seen, event.failure
        if first or other or event.laid != self._laid:
            self._laid = event.laid
            self._show(anew=first)
        self.tell()

    def _show(self, *, anew: bool) -> None:
        top = 0 if anew else round(self.body.scroll_y)
        lines: list[Line] = wrap_text(self.glyphs.text(self._failure), "muted", self._width) if self._failure else []
        self.body.show(lines or self._laid.lines)
        self.body.scroll_to(y=top, animate=False, immediate=True, force=True)

    def on_resize(self) -> None:
        """Other lines."""
        self._look_now()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A thread that failed in a way nobody foresaw is not silent."""
        if event.state is WorkerState.ERROR:
            self._looking, self._doing = False, ""
            self._says(f"That failed unexpectedly: {event.worker.error!r}.", wrong=True)
            self.tell()

    # -- keys

    def action_file(self, step: int) -> None:
        """To the next or the previous file of the patch."""
        top = round(self.body.scroll_y)
        if step > 0:
            found = next((line for line in self._laid.files if line > top), None)
        else:
            found = next((line for line in reversed(self._laid.files) if line < top), 0)
        if found is not None:
            self.body.scroll_to(y=found, animate=False, immediate=True, force=True)

    def action_copy(self) -> None:
        """Copy the patch."""
        from agent_board.board.clipboard import copy

        patch = self._seen.changes.patch if self._seen is not None else ""
        if patch:
            copy(self.app, patch.encode("utf-8", "replace").decode())
            self.say("Copied the patch as far as it is shown.")
        else:
            self.say("There is no patch to copy.")

    def own_hints(self) -> list[Hint]:
        """The keys that matter here."""
        hints: list[Hint] = [("↑ ↓", "scroll", "")]
        if len(self._laid.files) > 1:
            hints.append(("n N", "next file", "screen.file(1)"))
        if self._laid.files:
            hints.append(("y", "copy the patch", "screen.copy"))
        if self._why_not_merge() is None:
            hints.append(("M", "merge", "screen.merge"))
        return [*hints, ("esc", "back", "screen.close")]

    # -- merging

    def action_merge(self) -> None:
        """Find out what a merge takes, then ask."""
        why = self._why_not_merge()
        if why is not None:
            self._says(why)
        elif not self._doing:
            self._doing = "looking at both sides"
            self.tell()
            self._plan()

    @work(thread=True, exit_on_error=False, group="merge")
    def _plan(self) -> None:
        try:
            self.post_message(self.Planned(self._work.plan()))
        except (BoardError, OSError) as error:
            self._refused(error)

    def _refused(self, error: Exception) -> None:
        self.app.call_from_thread(self._says, str(error), wrong=True)
        self.post_message(self.Ended())

    def on_changes_page_ended(self) -> None:
        """It is over: look what there is now."""
        self._doing = ""
        self._look_now()
        self.tell()

    def on_changes_page_planned(self, event: Planned) -> None:
        """Ask, unless the page was closed meanwhile."""
        self._doing = ""
        self.tell()
        if self.is_current:
            self._ask(event.plan)

    @work(group="ask")
    async def _ask(self, plan: "MergePlan") -> None:
        from agent_board.board.screens.merging import CommitMessage, question_for

        message = None
        if plan.uncommitted:
            message = await self.app.push_screen_wait(CommitMessage(plan, self.glyphs))
            if message is None:
                return
        if await self.app.push_screen_wait(question_for(plan, message, self.glyphs)):
            self._doing = "merging"
            self.tell()
            self._merge(plan, message)

    @work(thread=True, exit_on_error=False, group="merge")
    def _merge(self, plan: "MergePlan", message: str | None) -> None:
        try:
            said = self._work.merge(plan, message)
        except (BoardError, OSError) as error:
            self._refused(error)
        else:
            self.app.call_from_thread(self._says, said)
            self.post_message(self.Ended())
