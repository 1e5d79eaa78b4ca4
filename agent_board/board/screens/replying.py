"""Replies on the board: written in peek, sent beside the screen, never lost."""

import os
import time

from textual import work
from textual.message import Message
from textual.worker import Worker, WorkerState

from agent_board.board.keys import KEYS
from agent_board.board.model.allowed import why_not
from agent_board.board.model.row import Row
from agent_board.board.screens.answering import AnswerScreen
from agent_board.board.screens.tasks import Parts
from agent_board.board.widgets.hints import Hint
from agent_board.errors import BoardError

PEEK_ACTS = frozenset({"peek", "reply", "retry", "waiting", "transcript", "why", "changes", "merge"})
"""Acts of one task that are taken in peek or on a screen of their own."""
SENDING = "sending"
AFTER_SENDING_S = 0.6
"""So long after a reply was sent, keys that act do nothing: they may have been meant for the input."""
HARMLESS = frozenset(
    {
        *("up", "down", "page-up", "page-down", "first", "last", "next-needing-you", "peek-up", "peek-down"),
        *("new", "reply", "waiting", "fold", "unfold", "clear", "filter", "help"),
    }
)


class ReplyScreen(AnswerScreen):
    """The part of the board's screen that answers."""

    class Replied(Message):
        """A thread has sent a reply, or could not."""

        def __init__(self, view_id: str, failure: str = "", *, gone: bool = False) -> None:
            super().__init__()
            self.view_id = view_id
            self.failure = failure
            self.gone = gone
            """The prompt that was to be replaced waits no longer."""

    class Filled(Message):
        """A thread has found a text for the input."""

        def __init__(self, view_id: str, text: str, prompt_id: str) -> None:
            super().__init__()
            self.view_id = view_id
            self.text = text
            self.prompt_id = prompt_id

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.editing: dict[str, str] = {}
        """By view, the waiting prompt that the input's text is to replace."""
        self._failures: dict[str, str] = {}
        self._sent_at = float("-inf")
        self._synced = ("", "")
        """The text that input and draft agreed on last, and of which task."""

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
        return why_not(act, row) if act in ("changes", "merge") else None

    def do_reply(self) -> None:
        """Peek with the input focused."""
        if self.open_peek("reply") and self.peek is not None and self.peek.view_id:
            self.set_focus(self.peek.input)
            self.say_fate()

    def do_retry(self) -> None:
        """The input with the last prompt in it; a job that takes no replies is run again at once."""
        row = self.listing.selected_row()
        if row is not None and not self.replies.takes_replies(row.agent):
            self.run_again(row.id, row.cwd)
            return
        if self.open_peek("retry") and self.peek is not None and self.peek.view_id:
            self.set_focus(self.peek.input)
            if self.peek.input.text:
                self.peek.say("There is a half-written reply here; send it or clear it with ctrl+c first.", wrong=True)
            else:
                self._find_last_prompt(self.peek.view_id)

    @work(thread=True, exit_on_error=False, exclusive=True, group="fill")
    def _find_last_prompt(self, view_id: str) -> None:
        if self.replies.load_draft(view_id).strip():
            return  # it comes into the input by itself, and is not to be mixed with another text
        try:
            text, prompt_id = self.replies.last_prompt(view_id)
        except (BoardError, OSError) as error:
            self.app.call_from_thread(self.complain, view_id, str(error))
            return
        self.post_message(self.Filled(view_id, text, prompt_id))

    def on_reply_screen_filled(self, event: Filled) -> None:
        """Put it in, if nothing has been typed there meanwhile."""
        if self.peek is not None and self.peek.view_id == event.view_id and not self.peek.input.text:
            if event.prompt_id:
                self.editing[event.view_id] = event.prompt_id
            self.put_in(event.text)

    # -- the draft

    def show_draft(self) -> None:
        """The shown task's draft stands in the input, and what would become of it below."""
        panel = self.peek
        if panel is None or not panel.view_id:
            return
        text = self.drafts.text(panel.view_id)
        self._synced = (panel.view_id, text)
        if panel.input.exact != text:
            panel.input.fill(text)
        self.say_fate()

    def put_in(self, text: str) -> None:
        """Put another text into the input, and keep it as its task's draft."""
        panel = self.peek
        if panel is not None and panel.view_id:
            self._synced = (panel.view_id, text)
            panel.input.fill(text)
            self.drafts.put(panel.view_id, text)

    def note_input(self, view_id: str) -> None:
        """What was typed into that task's input counts before what was kept: its messages may be under way.

        An input in which nothing was typed says nothing: what was kept may not have been shown in it yet.
        """
        panel = self.peek
        if panel is not None and panel.view_id == view_id and (view_id, panel.input.exact) != self._synced:
            self._synced = (view_id, panel.input.exact)
            self.drafts.put(view_id, panel.input.exact)

    def keep_draft(self) -> None:
        """Keep what stands in the input, at once."""
        if self.peek is not None and self.peek.view_id:
            self.note_input(self.peek.view_id)
            self.drafts.flush()

    def on_text_area_changed(self) -> None:
        """Another letter: keep it soon, and say what it means."""
        panel = self.peek
        if panel is None or not panel.view_id or self.focused is not panel.input:
            return
        if (panel.view_id, panel.input.exact) != self._synced:
            self._failures.pop(panel.view_id, None)
            self.note_input(panel.view_id)
            self.say_fate()

    def on_reply_area_left(self) -> None:
        """Esc: the draft stays, the list has the keys again."""
        self.keep_draft()
        self.set_focus(self.list)
        self.tell()

    def on_unmount(self) -> None:
        """What is left is written before the board is gone."""
        if self.peek is not None and self.peek.view_id:
            self.note_input(self.peek.view_id)
        self.drafts.close()

    def say_fate(self) -> None:
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
        elif panel.input.text and self.denies_with_words:
            panel.say("denies it, with these words")
        elif panel.view_id in self.editing:
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
        if text.strip() and self.denies_with_words:
            self.answer_marked(text)
        elif text.strip():
            self._send_from(panel.view_id, text)
        elif panel.marked is not None and not panel.is_deaf:
            self._send_choice()
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
        self._synced = (view_id, "")
        panel.input.fill("")
        panel.say(SENDING)
        self.list.busy[view_id] = SENDING
        self.list.sync()
        self._send(row, text, self.editing.get(view_id, ""))

    @work(thread=True, exit_on_error=False, group="reply")
    def _send(self, row: Row, text: str, prompt_id: str) -> None:
        gone = False
        try:
            if prompt_id:
                gone = True
                self.replies.replace(row.id, prompt_id, text)
                gone = False
                if not row.claims_process:
                    self.replies.send_held(row.id, prompt_id, row.cwd)
            else:
                self.replies.send(row.id, text, row.cwd)
        except (BoardError, OSError) as error:
            self.post_message(self.Replied(row.id, str(error), gone=gone))
            return
        self.feed.refresh([row.id])
        self.post_message(self.Replied(row.id))

    def on_reply_screen_replied(self, event: Replied) -> None:
        """It is on its way, or its text is in the input again with the reason."""
        accepted = not event.failure
        self.note_input(event.view_id)
        self.drafts.sent(event.view_id, accepted=accepted)
        self.list.busy.pop(event.view_id, None)
        self.list.sync()
        if accepted or event.gone:
            self.editing.pop(event.view_id, None)
        if not accepted:
            self.complain(event.view_id, event.failure)
        panel = self.peek
        if panel is None or not self.peek_is_open or panel.view_id != event.view_id:
            return
        self.show_draft()
        if accepted and self.focused is panel.input and not panel.input.text:
            self._sent_at = time.monotonic()
            self.set_focus(self.list)
        self.look_again()
        self.tell()

    def complain(self, view_id: str, sentence: str) -> None:
        """Say it where the reply is written when that is in view, else in a toast."""
        self._failures[view_id] = sentence
        if self.peek_is_open and self.peek is not None and self.peek.view_id == view_id:
            self.journal.write(sentence)
            self.say_fate()
        else:
            self.say(sentence, wrong=True)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A sending that failed in a way nobody foresaw gives the text back, too."""
        if event.state is WorkerState.ERROR and event.worker.group == "reply":
            for view_id in self.drafts.on_their_way():
                self.post_message(self.Replied(view_id, f"That failed unexpectedly: {event.worker.error!r}."))

    def deaf_after_sending(self, act: str) -> bool:
        """Whether a key comes so soon after a reply or a new task that it may have been meant for something else."""
        return act not in HARMLESS and (self.starts_one or time.monotonic() - self._sent_at < AFTER_SENDING_S)

    # -- choices

    def action_choose(self, number: int) -> None:
        """A digit marks a choice of the question in view."""
        panel = self.peek
        if panel is None or not self.peek_is_open or not panel.choices:
            self.say("Digits mark a choice in peek; nothing is offered here.")
        elif not panel.is_deaf:
            if panel.mark(number - 1):
                self._sent_at = float("-inf")  # enter after a mark is meant, however soon after a reply
            else:
                self.say(f"There are {len(panel.choices)} choices.")
        self.say_fate()
        self.tell()

    def answers_choice(self) -> bool:
        """Whether enter on the list belongs to a question with choices in peek: it sends the marked one."""
        panel = self.peek
        if panel is None or not self.peek_is_open or not panel.choices:
            return False
        if panel.is_deaf:
            return True
        if panel.marked is None:
            self.say("Mark a choice with its digit, then enter sends it; r writes a reply.")
        else:
            self._send_choice()
        return True

    def _send_choice(self) -> None:
        """The marked choice: to the agent that waits for it, else as a reply."""
        panel = self.peek
        if panel is None or panel.marked is None:
            return
        if self.asks_alive:
            self.answer_marked()
        else:
            self._send_from(panel.view_id, panel.choices[panel.marked])

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
        self.note_input(view_id)
        try:
            self.drafts.write_now(view_id)
            returned = self.give_terminal([*command, self.replies.draft_path(view_id)], title="reply")
            after = self.replies.load_draft(view_id)
        except OSError as error:
            panel.say(f"The draft can't be edited ({error.strerror or error}).", wrong=True)
            return
        if after.endswith("\n") and not before.endswith("\n"):
            after = after[:-1]  # editors end a file with a line's end
        self.put_in(after)
        self.say_fate()
        if returned.problem or returned.exit_code:
            panel.say(
                returned.problem or f"{os.path.basename(command[0])} ended with exit code {returned.exit_code}.",
                wrong=True,
            )

    # -- keys

    def clear_input(self) -> bool:
        """Ctrl+c in the input empties it."""
        panel = self.peek
        if panel is None or not self.peek_is_open or self.focused is not panel.input:
            return super().clear_input()
        had = bool(panel.input.text)
        self.editing.pop(panel.view_id, None)
        self.put_in("")
        return had

    def peek_hints(self) -> list[Hint]:
        """The keys that matter while peek is open; none when it is closed."""
        panel = self.peek
        if panel is None or not panel.display:  # with its first frame, not before: that would put the frame off
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
        acts = {"reply": "reply", "waiting": "what waits", "transcript": "all of it", "changes": "changes"}
        acts |= {"next-needing-you": "needs you"}
        if self.peek is None or not self.peek.waiting.items:
            del acts["waiting"]
        acts |= {"clear": "close", "help": "all keys"}
        keys = {key.id: key.written.split(" ")[0] for key in KEYS}
        return [(keys[act], words, f"screen.act('{act}')") for act, words in acts.items() if self.why_not(act) is None]

    def why_not(self, act: str) -> str | None:
        """Why an act can't be done now; None when it can."""
        raise NotImplementedError
