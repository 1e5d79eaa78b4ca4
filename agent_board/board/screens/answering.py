"""Answers to what a running agent asks: the marked choice goes to exactly the request that was painted."""

from textual import work
from textual.message import Message

from agent_board.board.screens.peeking import PeekScreen
from agent_board.errors import BoardError

ANSWERING, STARTING = "answering", "starting"
_DENY = 1
"""The second choice of a permission; it may take words along."""


class AnswerScreen(PeekScreen):
    """The part of the board's screen that lets a waiting agent go on."""

    class Answered(Message):
        """A thread has passed an answer on, or could not."""

        def __init__(self, view_id: str, failure: str = "", *, words: bool = False) -> None:
            super().__init__()
            self.view_id = view_id
            self.failure = failure
            self.words = words
            """What stood in the input went along."""

    @property
    def asks_alive(self) -> bool:
        """Whether peek shows the request of an agent that waits for its answer."""
        return self.peek is not None and self.peek.peeked is not None and bool(self.peek.peeked.request)

    @property
    def denies_with_words(self) -> bool:
        """Whether enter in the input denies a permission and tells the agent why."""
        panel = self.peek
        return panel is not None and self.asks_alive and panel.marked == _DENY and self._is_permission

    @property
    def _is_permission(self) -> bool:
        return self.peek is not None and self.peek.peeked is not None and self.peek.peeked.permission

    def answer_marked(self, text: str = "") -> None:
        """Send the marked choice; `text` goes along with a denial."""
        panel = self.peek
        if panel is None or panel.peeked is None or panel.marked is None or panel.is_deaf:
            return
        if panel.view_id in self.list.busy:
            panel.say("The last answer is still on its way.", wrong=True)
            return
        number, panel.marked = panel.marked, None
        panel.say(ANSWERING)
        self.list.busy[panel.view_id] = ANSWERING
        self.list.sync()
        self._answer(panel.view_id, panel.peeked.request, number + 1, text)

    @work(thread=True, exit_on_error=False, group="answer")
    def _answer(self, view_id: str, request_id: str, number: int, text: str) -> None:
        failure = ""
        try:
            self.replies.answer(view_id, request_id, number, text)
        except (BoardError, OSError) as error:
            failure = str(error)
        self.feed.refresh([view_id])
        self.post_message(self.Answered(view_id, failure, words=bool(text)))

    def on_answer_screen_answered(self, event: Answered) -> None:
        """It goes on, or the reason why not stands where the answer was given."""
        self.list.busy.pop(event.view_id, None)
        self.list.sync()
        panel = self.peek
        shown = panel is not None and panel.view_id == event.view_id
        if event.words and not event.failure:
            self.drafts.put(event.view_id, "")
            if shown and panel is not None:
                panel.input.fill("")
                self.set_focus(self.list)
        if event.failure:
            self.complain(event.view_id, event.failure)
        elif shown:
            self.say_fate()
        self.look_again()
        self.tell()

    def run_again(self, view_id: str, cwd: str) -> None:
        """Run a job once more."""
        if view_id not in self.list.busy:
            self.list.busy[view_id] = STARTING
            self.list.sync()
            self._run_again(view_id, cwd)

    @work(thread=True, exit_on_error=False, group="answer")
    def _run_again(self, view_id: str, cwd: str) -> None:
        failure = ""
        try:
            self.replies.run_again(view_id, cwd)
        except (BoardError, OSError) as error:
            failure = str(error)
        self.feed.refresh([view_id])
        self.post_message(self.Answered(view_id, failure))

    def complain(self, view_id: str, sentence: str) -> None:
        """Say what went wrong with a task, where the user looks."""
        raise NotImplementedError

    def say_fate(self) -> None:
        """The line under the input."""
        raise NotImplementedError
