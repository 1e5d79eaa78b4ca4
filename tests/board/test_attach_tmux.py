"""Attach inside tmux: on the board's own window, and in a new one beside it."""

from pathlib import Path

import pytest

from agent_board.store.paths import StorePaths
from tests.board.test_attach import HERE, settings
from tests.e2e.test_tmux import Tmux
from tests.runs.views import settled, start, state_of
from tests.support.wait import wait_for

pytestmark = pytest.mark.full


def test_there_and_back_and_in_a_window_of_its_own(store: StorePaths, project: Path, home: Path) -> None:
    """FIELD-FAULTS 42: nothing of tmux is taken away, and the way out is on the screen."""
    settings(home, "")
    view_id = start(store, project, "ask Keep the old name or drop it?").view_id
    settled(store, view_id)
    tmux = Tmux(project)
    try:
        tmux.wait_for("enter attach")
        for _ in range(3):
            tmux.send("Enter")
            shown = tmux.wait_for(HERE)
            assert "attached to" in shown
            assert "leave it with" in shown
            tmux.send("Enter")
            tmux.wait_for("enter attach")
            tmux.send("?")
            tmux.wait_for("Rename in place")
            tmux.send("Escape")
            tmux.wait_until(lambda screen: "Rename in place" not in screen)
        tmux.send("Enter")
        tmux.wait_for(HERE)
        tmux.resize(100, 30)
        tmux.send("C-c")
        screen = tmux.wait_for("enter attach")
        assert len(screen.splitlines()[0]) <= 100
        tmux.send("o")
        tmux.wait_for("attach in a new tmux window")
        tmux.send("t")
        shown = tmux.wait_for(HERE)
        assert "attached to" in shown
        wait_for(lambda: state_of(store, view_id).attached, what="the mark")
        tmux.send("Enter")
        wait_for(lambda: tmux.dead, what="the new window's end")
        assert not state_of(store, view_id).attached
    finally:
        tmux.close()
