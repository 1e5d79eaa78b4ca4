"""Sessions that the user runs himself, beside the board, with the real programs: found, told truly, adopted at last."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agent_board.agents.running import Doing, RunningSession
from agent_board.errors import BoardError
from agent_board.runs.adopt import adopt
from agent_board.runs.elsewhere import Elsewhere
from agent_board.store.paths import StorePaths
from tests.conftest import PiHome
from tests.e2e.conftest import RealAgents
from tests.support.model_server import ModelServer, say, use
from tests.support.terminal import Terminal
from tests.support.wait import wait_for

PATIENCE = 60.0


def found(
    store: StorePaths, terminal: Terminal, fits: Callable[[RunningSession], object] = lambda one: True
) -> RunningSession:
    """What is told of the program in that terminal, as soon as it is so."""

    def look() -> RunningSession | None:
        sessions = Elsewhere(store).look().sessions
        return next((one for one in sessions if one.pid == terminal.process.pid and fits(one)), None)

    return wait_for(look, PATIENCE, "the session")


def ended(store: StorePaths, terminal: Terminal) -> bool:
    return all(one.pid != terminal.process.pid for one in Elsewhere(store).look().sessions)


def test_pi(store: StorePaths, project: Path, pi_home: PiHome, model_server: ModelServer) -> None:
    """It tells nobody which session it has: a file begun with it does, and the commands that it runs."""
    model_server.script(use("bash", command="until test -e go; do sleep 0.1; done"), say("Hello from Pi."))
    with Terminal(["pi", "--offline"], size=(100, 30), cwd=project) as terminal:
        terminal.wait_for("scripted", PATIENCE)
        fresh = found(store, terminal)
        assert (fresh.agent, fresh.cwd, fresh.doing) == ("pi", str(project), Doing.UNKNOWN)
        assert (fresh.session_file, fresh.may_have) == (None, ())  # nothing was written yet: nothing is claimed
        terminal.send("Say hello")
        terminal.press_until("enter", lambda: bool(model_server.requests))  # one that comes too early is lost
        busy = found(store, terminal, lambda one: one.doing is Doing.WORKING and one.session_file)
        (path,) = pi_home.agent_dir.glob("sessions/*/*.jsonl")
        assert (busy.session_file, busy.title) == (str(path), "Say hello")
        with pytest.raises(BoardError, match=rf"Pi \(pid {terminal.process.pid}\) has .* open; end it first"):
            adopt(store, str(path))
        (project / "go").touch()
        terminal.wait_for("Hello from Pi.", PATIENCE)
        idle = found(store, terminal, lambda one: one.doing is Doing.IDLE)
        assert idle.session_file == str(path)
        terminal.send("ctrl+d")
        terminal.wait_exit()
    assert ended(store, terminal)
    assert idle.session_id
    assert adopt(store, idle.session_id).new
    assert not adopt(store, str(path)).new


@pytest.mark.full
@pytest.mark.timeout(300)
def test_claude(store: StorePaths, project: Path, model_server: ModelServer, real_agents: RealAgents) -> None:
    real_agents("claude")
    model_server.script(say("Hello from Claude."), forever=True)
    with Terminal(["claude"], size=(100, 30), cwd=project) as terminal:
        terminal.wait_for("auto mode on", PATIENCE)
        fresh = found(store, terminal)
        assert (fresh.agent, fresh.cwd, fresh.session_file) == ("claude", str(project), None)
        terminal.send("Say hello")
        terminal.send("enter")
        terminal.wait_for("Hello from Claude.", PATIENCE)
        idle = found(store, terminal, lambda one: one.doing is Doing.IDLE and one.session_file)
        assert idle.session_id == fresh.session_id
        assert idle.session_id
        with pytest.raises(BoardError, match=rf"Claude Code \(pid {terminal.process.pid}\) has .* open"):
            adopt(store, idle.session_id)
        terminal.send("/exit")
        terminal.send("enter")
        terminal.wait_exit()
    assert ended(store, terminal)
    assert adopt(store, idle.session_id).new
