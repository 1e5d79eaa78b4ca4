"""The board in tmux while the real Claude Code asks: answered from peek by a digit and enter, both ways."""

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.e2e.conftest import RealAgents
from tests.e2e.test_tmux import Tmux
from tests.support import acts
from tests.support.model_server import ModelServer, say, use

pytestmark = [pytest.mark.full, pytest.mark.timeout(240)]
PATIENCE = 60.0


@pytest.fixture(autouse=True)
def claude(real_agents: RealAgents) -> None:
    real_agents("claude")


@pytest.fixture
def tmux(project: Path, store: object) -> Iterator[Tmux]:
    made = Tmux(project)
    yield made
    made.close()


def answer(tmux: Tmux, digit: str) -> None:
    """Mark the choice and send it. In its first moment a digit does nothing, and a second one takes the mark away."""
    deadline = time.monotonic() + PATIENCE
    while "send it" not in tmux.screen:
        assert time.monotonic() < deadline, tmux.screen
        tmux.send(digit)
        with suppress(AssertionError):
            tmux.wait_for("send it", 3.0)
    tmux.send("Enter")


def test_permissions_are_answered_from_peek(project: Path, model_server: ModelServer, tmux: Tmux) -> None:
    for name in ("yes", "no"):
        model_server.script(
            use("Write", file_path=f"{name}.txt", content=f"{name}\n"), say(f"Answered {name}."), when=f"Write {name}"
        )
    tmux.wait_for("agent-board")
    for name, digit in (("yes", "1"), ("no", "2")):
        task = acts.dispatch(
            f"Write {name}", "--name", f"asks-{name}", "--worktree", "off", cwd=project, agent="claude"
        )
        tmux.wait_for("NEEDS YOU 1", PATIENCE)
        tmux.send("Tab", "Space")  # the next one that needs the user
        tmux.wait_until(lambda screen: "1 Allow once" in screen and "2 Deny" in screen, PATIENCE)
        assert f"{name}.txt" in tmux.screen
        answer(tmux, digit)
        tmux.wait_for_row(f"asks-{name}", f"Answered {name}.", PATIENCE)
        acts.until(task.view, lambda shown: shown["processState"] == "exited", PATIENCE)
        tmux.send("Escape")
        tmux.wait_until(lambda screen: "2 Deny" not in screen)
    assert (project / "yes.txt").read_text() == "yes\n"
    assert not (project / "no.txt").exists()
    denied = acts.show(task.view)
    assert (denied["semanticState"], denied["summary"]) == ("completed", "Answered no. (1 permission denied)")
