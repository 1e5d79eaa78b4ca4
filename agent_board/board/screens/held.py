"""The prompts that wait, on the board: sent, edited or dropped in peek; what was dropped can be had back."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import work
from textual.message import Message

from agent_board.board.screens.replying import SENDING, ReplyScreen
from agent_board.board.screens.tasks import Parts
from agent_board.errors import BoardError

if TYPE_CHECKING:
    from agent_board.board.widgets.careful_keys import CarefulKeys
    from agent_board.board.widgets.waiting_replies import WaitingReplies
    from agent_board.runs.followups import WaitingPrompt

_UNDO_S = 60.0
"""So long a dropped reply is what undo brings back."""


class HeldScreen(ReplyScreen):
    """The part of the board's screen that looks after what waits."""

    class Dropped(Message):
        """A thread has dropped a prompt that waited."""

        def __init__(self, view_id: str, text: str) -> None:
            super().__init__()
            self.view_id = view_id
            self.text = text

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._dropped: tuple[float, str, str] | None = None

    def do_waiting(self) -> None:
        """Go to the replies that wait."""
        if self.open_peek("waiting") and self.peek is not None:
            self._enter_waiting(self.peek.view_id)

    def _enter_waiting(self, view_id: str, tries: int = 10) -> None:
        """They may have to be read first."""
        panel = self.peek
        if panel is None or panel.view_id != view_id or not self.peek_is_open:
            return
        if panel.waiting.items:
            self.set_focus(panel.waiting)
            self.tell()
        elif panel.peeked is None and tries:
            self.set_timer(0.03, lambda: self._enter_waiting(view_id, tries - 1))
        else:
            self.say(self.why_not_peek("waiting") or "No reply waits here any more.")

    def on_waiting_replies_left(self) -> None:
        """Back to the list."""
        self.set_focus(self.list)
        self.tell()

    def on_waiting_replies_taken(self, event: "WaitingReplies.Taken") -> None:
        """Send, edit or drop."""
        panel = self.peek
        refusal = self.why_not_write()
        if panel is None or refusal:
            self.say(refusal or "")
        elif event.act == "edit":
            self._edit(event.item)
        elif event.act == "send":
            self._take_waiting(panel.view_id, lambda cwd: self.replies.send_held(panel.view_id, event.item.id, cwd))
        else:
            self._drop(panel.view_id, event.item.id)

    def _edit(self, item: "WaitingPrompt") -> None:
        panel = self.peek
        assert panel is not None
        self.set_focus(panel.input)
        if panel.input.text:
            panel.say("There is a half-written reply here; send it or clear it with ctrl+c first.", wrong=True)
            return
        self.editing[panel.view_id] = item.id
        self.put_in(item.text)
        self.say_fate()
        self.tell()

    def _take_waiting(self, view_id: str, act: Callable[[str], object]) -> None:
        row = self.listing.rows.get(view_id)
        if row is not None and row.claims_process:
            self.say(f"{row.name} is still running; the reply is sent when the run has ended.")
        elif row is not None:
            self.list.busy[view_id] = SENDING
            self.list.sync()
            self._act_on_waiting(view_id, row.cwd, act)

    @work(thread=True, exit_on_error=False, group="reply")
    def _act_on_waiting(self, view_id: str, cwd: str, act: Callable[[str], object]) -> None:
        try:
            act(cwd)
        except (BoardError, OSError) as error:
            self.post_message(self.Replied(view_id, str(error)))
            return
        self.feed.refresh([view_id])
        self.post_message(self.Replied(view_id))

    @work(thread=True, exit_on_error=False, group="drop")
    def _drop(self, view_id: str, prompt_id: str) -> None:
        try:
            text = self.replies.drop(view_id, prompt_id)
        except (BoardError, OSError) as error:
            self.app.call_from_thread(self.complain, view_id, str(error))
            return
        self.feed.refresh([view_id])
        self.post_message(self.Dropped(view_id, text))

    def on_held_screen_dropped(self, event: Dropped) -> None:
        """Say so; it can be had back."""
        self._dropped = (time.monotonic(), event.view_id, event.text)
        self.editing.pop(event.view_id, None)
        if self.peek is not None and self.peek.view_id == event.view_id:
            if self.focused is self.peek.waiting and len(self.peek.waiting.items) <= 1:
                self.set_focus(self.list)
            self.look_again()
        self.say("The reply is dropped; u puts it into the input.")
        self.tell()

    def do_undo(self) -> None:
        """A reply that was just dropped comes back into the input; else the last act of a row is taken back."""
        dropped, self._dropped = self._dropped, None
        if dropped is None or time.monotonic() - dropped[0] > _UNDO_S or not self.listing.select_row(dropped[1]):
            super().do_undo()
            return
        _, view_id, text = dropped
        self.do_reply()
        if self.peek is not None and self.peek.view_id == view_id:
            self.put_in("\n".join(filter(None, [self.peek.input.exact, text])))

    def on_careful_keys_pasted(self, event: "CarefulKeys.Pasted") -> None:
        """Text on the replies that wait belongs into the input."""
        if self.peek is not None:
            self.set_focus(self.peek.input)
            self.peek.input.add(event.text)
