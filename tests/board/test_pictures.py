"""How the board looks: a few pictures, compared as a whole. `pytest --snapshot-update` accepts what has been judged."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from agent_board.board.app import BoardApp
from agent_board.board.widgets.new_task import NewTaskBar
from agent_board.store.watch import Changes
from tests.board.conftest import Starter
from tests.support.fakestore import make_views

Snap = Callable[..., bool]


class Still:
    """A watch that sees nothing: what the system has to give for watching must not be in a picture."""

    polling = False
    archived: frozenset[str] = frozenset()
    newer = None

    def __init__(self, *_: object, **__: object) -> None:
        self._closed = threading.Event()

    def follow(self, _: object) -> None:
        pass

    def wait(self, timeout: float) -> Changes:
        self._closed.wait(timeout)
        return Changes()

    def close(self) -> None:
        self._closed.set()


@pytest.fixture
def photograph(start: Starter, snap_compare: Snap, monkeypatch: pytest.MonkeyPatch) -> Callable[..., bool]:
    """Compare a picture of the board after some keys; directories are fixed, so that no path of this run is in it."""
    monkeypatch.setattr("agent_board.board.feed.Watch", Still)

    def take(*keys: str, size: tuple[int, int] = (80, 24), views: int = 40, **settings: Any) -> bool:
        start.cwd = "/home/dev/src/api"
        make_views(start.paths, views)
        app, _ = start.app(**settings)

        async def ready(pilot: Pilot[Any]) -> None:
            assert isinstance(pilot.app, BoardApp)
            board = pilot.app.board
            while not (board.news.loaded and board.agents):
                await pilot.pause(0.02)
            await pilot.press(*keys)
            while keys == ("n",) and not board.query(NewTaskBar):
                await pilot.pause(0.02)
            for field in pilot.app.screen.query("Input, TextArea").results():
                if isinstance(field, Input | TextArea):
                    field.cursor_blink = False
            await pilot.pause()

        return snap_compare(app, terminal_size=size, run_before=ready)

    return take


def test_the_list_at_80_by_24(photograph: Callable[..., bool]) -> None:
    assert photograph()


def test_the_list_at_120_by_36(photograph: Callable[..., bool]) -> None:
    assert photograph(size=(120, 36))


def test_the_list_in_light(photograph: Callable[..., bool]) -> None:
    assert photograph(size=(100, 30), theme="agent-board-light")


def test_the_list_in_ascii(photograph: Callable[..., bool]) -> None:
    assert photograph(glyphs="ascii")


def test_the_empty_screen(photograph: Callable[..., bool]) -> None:
    assert photograph(views=0)


def test_all_keys(photograph: Callable[..., bool]) -> None:
    assert photograph("question_mark", size=(100, 50))


def test_the_new_task_bar(photograph: Callable[..., bool]) -> None:
    assert photograph("n")
