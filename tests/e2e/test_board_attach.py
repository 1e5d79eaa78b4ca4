"""From the board into the real Pi and back, in tmux, as people do it."""

import threading
from pathlib import Path

import pytest

from tests.e2e.test_tmux import Tmux
from tests.support import acts
from tests.support.model_server import ModelServer, held, say

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("pi_home")]


def test_interrupt_attach_say_something_and_come_back(project: Path, store: object, model_server: ModelServer) -> None:
    """AB-004, AB-026, AB-072: the running task is stopped after a `y`, and what was said inside Pi is on the board."""
    model_server.script(held(say("Half of it is told. The other half."), threading.Event(), at=2))
    model_server.script(say("The old page is gone."), when="Delete the old page")
    task = acts.dispatch("Tell me both halves", "--name", "two-halves", cwd=project)
    acts.until(task.view, lambda shown: shown["semanticState"] == "working")
    tmux = Tmux(project)
    try:
        tmux.wait_for_row("two-halves", "Half")
        tmux.send("Enter")
        tmux.say_yes("Interrupt and attach?", "interrupt and attach")
        tmux.wait_for("(auto)")  # what we say before it may be gone at once: Pi clears the screen
        assert acts.show(task.view)["attached"] is True
        tmux.send("Delete the old page")
        tmux.wait_for("Delete the old page")
        tmux.press_until("Enter", lambda screen: "The old page is gone." in screen)  # while it starts, Pi takes none
        tmux.send("C-d")
        tmux.wait_for("all keys", 60)
        tmux.wait_for_row("two-halves", "The old page is gone.")
        tmux.send("?")
        tmux.wait_for("Rename in place")
        shown = acts.show(task.view)
        assert (shown["semanticState"], shown["attached"]) == ("completed", False)
        assert model_server.prompts == ["Tell me both halves", "Delete the old page"]
    finally:
        tmux.close()
