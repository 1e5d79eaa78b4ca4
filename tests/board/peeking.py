"""A board with three tasks for peek; what would start processes is noted instead."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Event

from agent_board.board.replies import Replies
from agent_board.errors import BoardError
from agent_board.runs.followups import drop
from agent_board.store.paths import StorePaths
from agent_board.store.records import SemanticState
from tests.board.conftest import Running, Starter
from tests.board.talks import QUESTION, make_run
from tests.support.fakestore import make_view

S = SemanticState


class FakeReplies(Replies):
    """Reads for real; what is sent is noted, or refused, or waits until it may go on."""

    def __init__(self, real: Replies) -> None:
        super().__init__(real.paths, real._settings)
        self.sent: list[tuple[str, str]] = []
        self.refusal = ""
        self.may_go = Event()
        self.may_go.set()

    def send(self, view_id: str, text: str, cwd: str) -> bool:
        self._note(view_id, text)
        return False

    def send_held(self, view_id: str, prompt_id: str, cwd: str) -> None:
        self._note(view_id, f"held {prompt_id}")
        drop(self.paths, self.paths.view(view_id), prompt_id)

    def _note(self, view_id: str, text: str) -> None:
        self.may_go.wait(20)
        if self.refusal:
            raise BoardError(self.refusal)
        self.sent.append((view_id, text))


def make_three(store: StorePaths) -> None:
    """One task asks with choices, one works, one is done and unread."""
    make_view(
        store, "a", name="asks", state=S.NEEDS_INPUT, summary=QUESTION, reason="question", age_ms=400_000,
        choices=["the old name", "the new name"],
    )  # fmt: skip
    make_view(store, "b", name="works", state=S.WORKING, summary="Running tests", reason="activity", age_ms=300_000)
    make_view(store, "c", name="done", state=S.COMPLETED, summary="Done", unread=True, age_ms=200_000)
    for view_id in "abc":
        make_run(store, view_id, alive=view_id == "b")


@asynccontextmanager
async def opened(start: Starter, *keys: str, size: tuple[int, int] = (120, 36)) -> AsyncIterator[Running]:
    """A board with fake replies; after the keys what peek shows has been read."""
    async with start(size) as board:
        board.screen.replies = FakeReplies(board.screen.replies)
        await board.until(lambda: board.screen.peek is not None, "peek made ready")
        await board.pilot.press(*keys)
        if keys:
            await read(board)
        yield board


def replies(board: Running) -> FakeReplies:
    fake = board.screen.replies
    assert isinstance(fake, FakeReplies)
    return fake


async def read(board: Running) -> None:
    panel = board.screen.peek
    assert panel is not None
    await board.until(lambda: board.screen.peek_is_open and panel.peeked is not None, "what peek reads")
    await board.pilot.pause()


def text(board: Running) -> str:
    """What stands in the input."""
    panel = board.screen.peek
    assert panel is not None
    return panel.input.text


async def listening(board: Running) -> None:
    """Until keys that answer are heard."""
    panel = board.screen.peek
    assert panel is not None
    await board.until(lambda: not panel.is_deaf, "the end of deafness")
