"""How the life of rows looks: renaming, marks, the archived list, what a deletion says, the menus."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from agent_board.board.app import BoardApp
from agent_board.board.screens.archived import ArchivedScreen
from agent_board.board.screens.board import BoardScreen
from agent_board.board.screens.confirm import Confirm
from agent_board.board.screens.menu import Menu
from agent_board.board.widgets.name_input import NameInput
from tests.board.conftest import Starter
from tests.support.fakestore import make_views

Snap = Callable[..., bool]


async def at_rest(pilot: Pilot[Any]) -> None:
    """Wait until the screen has stayed the same for a while."""
    same, before = 0, None
    while same < 5:
        await pilot.pause(0.05)
        strips = pilot.app.screen._compositor.render_strips()
        now = [[segment.text for segment in strip] for strip in strips]
        same, before = (same + 1, before) if now == before else (0, now)


@pytest.fixture
def photograph(
    start: Starter, snap_compare: Snap, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., bool]:
    """A picture after some keys, once a screen or widget of that kind is there; no path of this run is in it."""
    monkeypatch.setenv("HOME", str(tmp_path))

    def take(keys: tuple[str, ...], kind: type, *, size: tuple[int, int] = (80, 24), **settings: Any) -> bool:
        start.cwd = "/home/dev/src/api"
        make_views(start.paths, 20, archived=30)
        app, _ = start.app(watching=False, **settings)

        async def ready(pilot: Pilot[Any]) -> None:
            assert isinstance(pilot.app, BoardApp)
            board = pilot.app.board
            while not (board.news.loaded and board.agents):
                await pilot.pause(0.02)
            for key in keys:
                await pilot.press(key)
                await pilot.pause(0.05)
            while not (isinstance(pilot.app.screen, kind) or isinstance(pilot.app.focused, kind)):
                await pilot.pause(0.02)
            screen = pilot.app.screen
            while isinstance(screen, ArchivedScreen) and not screen.loaded:
                await pilot.pause(0.02)
            while isinstance(screen, Confirm) and not screen.listening:
                await pilot.pause(0.02)
            if isinstance(pilot.app.focused, Input):
                pilot.app.focused.cursor_blink = False
            await at_rest(pilot)

        return snap_compare(app, terminal_size=size, run_before=ready)

    return take


def test_renaming(photograph: Callable[..., bool]) -> None:
    assert photograph(("g", "j", "e"), NameInput)


def test_marks(photograph: Callable[..., bool]) -> None:
    assert photograph(("g", "m", "m", "j", "m"), BoardScreen)


def test_a_question_about_several(photograph: Callable[..., bool]) -> None:
    assert photograph(("g", "m", "m", "m", "m", "x"), Confirm, size=(100, 30))


def test_the_archived_list(photograph: Callable[..., bool]) -> None:
    assert photograph(("A",), ArchivedScreen)


def test_the_archived_list_in_light(photograph: Callable[..., bool]) -> None:
    assert photograph(("A",), ArchivedScreen, size=(120, 36), theme="agent-board-light")


def test_a_deletion(photograph: Callable[..., bool]) -> None:
    assert photograph(("A", "D"), Confirm)


def test_copying(photograph: Callable[..., bool]) -> None:
    assert photograph(("y",), Menu)
