"""Replies on the board: written in peek, sent beside the screen, never lost; and the prompts that wait."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import work
from textual.message import Message
from textual.worker import Worker, WorkerState

from agent_board.board.keys import KEYS
from agent_board.board.model.row import Row
from agent_board.board.screens.peeking import PeekScreen
from agent_board.board.screens.tasks import Parts
from agent_board.board.widgets.hints import Hint
from agent_board.errors import BoardError

if TYPE_CHECKING:
    from agent_board.board.widgets.careful_keys import CarefulKeys
    from agent_board.board.widgets.waiting_replies import WaitingReplies
    from agent_board.runs.followups import WaitingPrompt

PEEK_ACTS = frozenset({"peek", "reply", "retry", "waiting", "transcript", "why"})
"""Acts of one task that are taken in peek or on a screen of their own."""
SENDING = "sending"
AFTER_SENDING_S = 0.6
"""So long after a reply was sent, keys that act do nothing: they may have been meant for the input."""
HARMLESS = frozenset(
    {
        *("up", "down", "page-up", "page-down", "first", "last", "next-needing-you", "peek-up", "peek-down"),
        *("reply", "waiting", "fold", "unfold", "clear", "filter", "help"),
    }
)
_UNDO_S = 60.0


class ReplyScreen(PeekScreen):
    """The part of the board's screen that answers."""

    class Replied(Message):
        """A thread has sent a reply, or could not."""

        def __init__(self, view_id: str, failure: str = "", *, waits: bool = False) -> None:
            super().__init__()
            self.view_id = view_id
            self.failure = failure
            self.waits = waits

    class Filled(Message):
        """A thread has found a text for the input."""

        def __init__(self, view_id: str, text: str, prompt_id: str) -> None:
            super().__init__()
            self.view_id = view_id
            self.text = text
            self.prompt_id = prompt_id

    class Dropped(Message):
        """A thread has dropped a prompt that waited."""

        def __init__(self, view_id: str, text: str) -> None:
            super().__init__()
            self.view_id = view_id
            self.text = text

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._editing: dict[str, str] = {}
        """By view, the waiting prompt that the input's text is to replace."""
        self._failures: dict[str, str] = {}
        self._dropped: tuple[float, str, str] | None = None
        self._sent_at = float("-inf")

    # -- opening the input

    def why_not_peek(self, act: str) -> str | None:
        """Why one of these acts can't be taken now."""
        row = self.listing.selected_row()
        if row is None:
            return "Select a task first."
        if act in ("reply", "retry", "waiting") and row.unreadable:
            return f"{row.name} can't be answered: its files can't be read."
        if act == "waiting" and not row.held and not (self.peek is not None and self.peek.waiting.items):
            return f"No reply waits in {row.name}."
        return None

    def do_reply(self) -> None:
        """Peek with the input focused."""
        if self.open_peek("reply") and self.peek is not None and self.peek.view_id:
            self.set_focus(self.peek.input)
            self._say_fate()

    def do_retry(self) -> None:
        """The input with the last prompt in it."""
        if self.open_peek("retry") and self.peek is not None and self.peek.view_id:
            self.set_focus(self.peek.input)
            if self.peek.input.text:
                self.peek.say("There is a half-written reply here; send it or clear it with ctrl+c first.", wrong=True)
            else:
                self._find_last_prompt(self.peek.view_id)

    @work(thread=True, exit_on_error=False, exclusive=True, group="fill")
    def _find_last_prompt(self, view_id: str) -> None:
        try:
            text, prompt_id = self.replies.last_prompt(view_id)
        except (BoardError, OSError) as error:
            self.app.call_from_thread(self._complain, view_id, str(error))
            return
        self.post_message(self.Filled(view_id, text, prompt_id))

    def on_reply_screen_filled(self, event: Filled) -> None:
        """Put it in, if nothing has been typed there meanwhile."""
        if self.peek is not None and self.peek.view_id == event.view_id and not self.peek.input.text:
            if event.prompt_id:
                self._editing[event.view_id] = event.prompt_id
            self.peek.input.fill(event.text)
            self.drafts.put(event.view_id, event.text)

    def do_waiting(self) -> None:
        """Go to the replies that wait."""
        if self.open_peek("waiting") and self.peek is not None:
            self._enter_waiting(self.peek.view_id)

    def _enter_waiting(self, view_id: str, tries: int = 10) -> None:
        """They may have to be read first."""
        panel = self.peek
        if panel is None or panel.view_id != view_id or not panel.display:
            return
        if panel.waiting.items:
            self.set_focus(panel.waiting)
            self.tell()
        elif panel.peeked is None and tries:
            self.set_timer(0.03, lambda: self._enter_waiting(view_id, tries - 1))
        else:
            self.say(self.why_not_peek("waiting") or "No reply waits here any more.")

    # -- the draft

    def show_draft(self) -> None:
        """The shown task's draft stands in the input, and what would become of it below."""
        panel = self.peek
        if panel is None or not panel.view_id:
            return
        text = self.drafts.text(panel.view_id)
        if panel.input.exact != text:
            panel.input.fill(text)
        self._say_fate()

    def keep_draft(self) -> None:
        """Keep what stands in the input, at once."""
        if self.peek is not None and self.peek.view_id:
            self.drafts.put(self.peek.view_id, self.peek.input.exact)
            self.drafts.flush()

    def on_text_area_changed(self) -> None:
        """Another letter: keep it soon, and say what it means."""
        panel = self.peek
        if panel is not None and panel.view_id and self.focused is panel.input:
            self._failures.pop(panel.view_id, None)
            self.drafts.put(panel.view_id, panel.input.exact)
            self._say_fate()

    def on_reply_area_left(self) -> None:
        """Esc: the draft stays, the list has the keys again."""
        self.keep_draft()
        self.set_focus(self.list)
        self.tell()

    def on_unmount(self) -> None:
        """What is left is written before the board is gone."""
        if self.peek is not None and self.peek.view_id:
            self.drafts.put(self.peek.view_id, self.peek.input.exact)
        self.drafts.close()

    def _say_fate(self) -> None:
        """The line under the input: what went wrong, what the text means to the agent, what will happen."""
        panel = self.peek
        if panel is None:
            return
        row = self.listing.rows.get(panel.view_id)
        warning = self.replies.command_warning(row.agent, panel.input.text[:80]) if row and panel.input.text else ""
        failure = self._failures.get(panel.view_id, "")
        fate = panel.peeked.fate.sentence if panel.peeked is not None else ""
        if failure:
            panel.say(failure, wrong=True)
        elif self.drafts.is_sending(panel.view_id):
            panel.say(SENDING)
        elif warning:
            panel.say(warning, warning=True)
        elif panel.view_id in self._editing:
            panel.say(f"takes the place of the one that waits {self.glyphs.dot} {fate}")
        else:
            panel.say(fate)

    # -- sending

    def on_prompt_area_sent(self) -> None:
        """Enter in the input."""
        panel = self.peek
        if panel is None or self.focused is not panel.input:
            return
        text = panel.input.exact
        if text.strip():
            self._send_from(panel.view_id, text)
        elif panel.marked is not None and not panel.is_deaf:
            self._send_from(panel.view_id, panel.choices[panel.marked])
        else:
            panel.say("Write the reply first.", wrong=True)

    def _send_from(self, view_id: str, text: str) -> None:
        panel = self.peek
        assert panel is not None
        row = self.listing.rows.get(view_id)
        refusal = self.why_not_write() or (None if row is not None else "This task is gone from the board.")
        if self.drafts.is_sending(view_id):
            refusal = "The last reply is still on its way."
        if refusal or row is None:
            panel.say(refusal or "", wrong=True)
            return
        self.drafts.send(view_id, text)
        panel.marked = None
        panel.input.fill("")
        panel.say(SENDING)
        self.list.busy[view_id] = SENDING
        self.list.sync()
        self._send(row, text, self._editing.get(view_id, ""))

    @work(thread=True, exit_on_error=False, group="reply")
    def _send(self, row: Row, text: str, prompt_id: str) -> None:
        try:
            if prompt_id:
                self.replies.replace(row.id, prompt_id, text)
                waits = row.claims_process
                if not waits:
                    self.replies.send_held(row.id, prompt_id, row.cwd)
            else:
                waits = self.replies.send(row.id, text, row.cwd)
        except (BoardError, OSError) as error:
            self.post_message(self.Replied(row.id, str(error)))
            return
        self.feed.refresh([row.id])
        self.post_message(self.Replied(row.id, waits=waits))

    def on_reply_screen_replied(self, event: Replied) -> None:
        """It is on its way, or its text is in the input again with the reason."""
        accepted = not event.failure
        self.drafts.sent(event.view_id, accepted=accepted)
        self.list.busy.pop(event.view_id, None)
        self.list.sync()
        if accepted:
            self._editing.pop(event.view_id, None)
        else:
            self._complain(event.view_id, event.failure)
        panel = self.peek
        if panel is None or not panel.display or panel.view_id != event.view_id:
            return
        self.show_draft()
        if accepted:
            if self.focused is panel.input and not panel.input.text:
                self._sent_at = time.monotonic()
                self.set_focus(self.list)
            self.look_again()
        self.tell()

    def _complain(self, view_id: str, sentence: str) -> None:
        """Say it where the reply is written when that is in view, else in a toast."""
        self._failures[view_id] = sentence
        if self.peek_is_open and self.peek is not None and self.peek.view_id == view_id:
            self.journal.write(sentence)
            self._say_fate()
        else:
            self.say(sentence, wrong=True)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A sending that failed in a way nobody foresaw gives the text back, too."""
        if event.state is WorkerState.ERROR and event.worker.group == "reply":
            for view_id in self.drafts.on_their_way():
                self.post_message(self.Replied(view_id, f"That failed unexpectedly: {event.worker.error!r}."))

    def deaf_after_sending(self, act: str) -> bool:
        """Whether a key comes so soon after a reply that it may have been meant for the input."""
        return act not in HARMLESS and time.monotonic() - self._sent_at < AFTER_SENDING_S

    # -- choices

    def action_choose(self, number: int) -> None:
        """A digit marks a choice of the question in view."""
        panel = self.peek
        if panel is None or not panel.display or not panel.choices:
            self.say("Digits mark a choice in peek; nothing is offered here.")
        elif not panel.is_deaf and not panel.mark(number - 1):
            self.say(f"There are {len(panel.choices)} choices.")
        self.tell()

    def answers_choice(self) -> bool:
        """Whether enter on the list belongs to a question with choices in peek: it sends the marked one."""
        panel = self.peek
        if panel is None or not panel.display or not panel.choices:
            return False
        if panel.is_deaf:
            return True
        if panel.marked is None:
            self.say("Mark a choice with its digit, then enter sends it; r writes a reply.")
        else:
            self._send_from(panel.view_id, panel.choices[panel.marked])
        return True

    # -- prompts that wait

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
        self._editing[panel.view_id] = item.id
        panel.input.fill(item.text)
        self.drafts.put(panel.view_id, item.text)
        self._say_fate()
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
            self.app.call_from_thread(self._complain, view_id, str(error))
            return
        self.feed.refresh([view_id])
        self.post_message(self.Dropped(view_id, text))

    def on_reply_screen_dropped(self, event: Dropped) -> None:
        """Say so; it can be had back."""
        self._dropped = (time.monotonic(), event.view_id, event.text)
        self._editing.pop(event.view_id, None)
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
            self.peek.input.fill("\n".join(filter(None, [self.peek.input.exact, text])))
            self.drafts.put(view_id, self.peek.input.exact)

    def on_careful_keys_pasted(self, event: "CarefulKeys.Pasted") -> None:
        """Text on the replies that wait belongs into the input."""
        if self.peek is not None:
            self.set_focus(self.peek.input)
            self.peek.input.add(event.text)

    # -- the editor

    def on_reply_area_editor_wanted(self) -> None:
        """Ctrl+g: the draft's own file in the user's editor, so that nothing is lost whatever ends meanwhile."""
        from agent_board.board.terminal import editor

        panel, command = self.peek, editor()
        if panel is None:
            return
        if not command:
            panel.say("No editor was found; set $VISUAL or $EDITOR.", wrong=True)
            return
        view_id, before = panel.view_id, panel.input.exact
        self.drafts.put(view_id, before)
        try:
            self.drafts.write_now(view_id)
            returned = self.give_terminal([*command, self.replies.draft_path(view_id)], title="reply")
            after = self.replies.load_draft(view_id)
        except OSError as error:
            panel.say(f"The draft can't be edited ({error.strerror or error}).", wrong=True)
            return
        if after.endswith("\n") and not before.endswith("\n"):
            after = after[:-1]  # editors end a file with a line's end
        panel.input.fill(after)
        self.drafts.put(view_id, after)
        self._say_fate()
        if returned.problem or returned.exit_code:
            panel.say(returned.problem or f"{command[0]} ended with exit code {returned.exit_code}.", wrong=True)

    # -- keys

    def clear_input(self) -> bool:
        """Ctrl+c in the input empties it."""
        panel = self.peek
        if panel is None or not panel.display or self.focused is not panel.input:
            return super().clear_input()
        had = bool(panel.input.text)
        self._editing.pop(panel.view_id, None)
        panel.input.fill("")
        self.drafts.put(panel.view_id, "")
        return had

    def peek_hints(self) -> list[Hint]:
        """The keys that matter while peek is open; none when it is closed."""
        panel = self.peek
        if panel is None or not panel.display:
            return []
        if self.focused is panel.input:
            return [
                ("enter", "send", ""),
                ("ctrl+j", "new line", ""),
                ("ctrl+g", "editor", ""),
                ("esc", "keep for later", ""),
            ]
        if self.focused is panel.waiting:
            return [("enter", "send", ""), ("e", "edit", ""), ("x", "drop", ""), ("esc", "back", "")]
        if panel.choices:
            send = [("enter", "send it", "screen.act('attach')")] if panel.marked is not None else []
            return [(f"1-{min(9, len(panel.choices))}", "choose", ""), *send, *self._open_hints()]
        return [("enter", "attach", "screen.act('attach')"), *self._open_hints()]

    def _open_hints(self) -> list[Hint]:
        acts = {"reply": "reply", "next-needing-you": "needs you", "clear": "close", "help": "all keys"}
        if self.peek is not None and self.peek.waiting.items:
            acts = {"reply": "reply", "waiting": "what waits", **acts}
        keys = {key.id: key.written.split(" ")[0] for key in KEYS}
        return [(keys[act], words, f"screen.act('{act}')") for act, words in acts.items() if self.why_not(act) is None]

    def why_not(self, act: str) -> str | None:
        """Why an act can't be done now; None when it can."""
        raise NotImplementedError
