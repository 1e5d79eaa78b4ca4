"""The mode in the new-task bar: there where the agent has modes, as the other fields in every other way."""

from pathlib import Path

import pytest

from agent_board.board.acts import AgentHere
from agent_board.board.widgets.choice import Choice
from agent_board.board.widgets.prompt_area import PromptArea
from tests.board import conftest
from tests.board.conftest import Running, Starter

CLAUDE = AgentHere("claude", "Claude Code", "npm i", found=True, modes=("manual", "acceptEdits", "bypassPermissions"))
CODEX = AgentHere("codex", "Codex", "npm i", found=True, modes=("read-only", "danger-full-access"))


@pytest.fixture(autouse=True)
def agents(monkeypatch: pytest.MonkeyPatch) -> None:
    here = [conftest.PI, CLAUDE, CODEX]
    monkeypatch.setattr(conftest.FakeActs, "agents", lambda self: here)


async def open_bar(board: Running) -> None:
    await board.pilot.press("n")
    await board.until(lambda: board.screen.bar_is_open and board.screen.query(PromptArea), "the bar")
    await board.until(lambda: isinstance(board.app.focused, PromptArea))


def is_shown(board: Running) -> bool:
    return any("mode  " in line for line in board.lines())


async def test_the_field_comes_and_goes_with_the_agent_and_is_sent(start: Starter) -> None:
    async with start() as board:
        await open_bar(board)
        board.screen.query_one(PromptArea).insert("Do it")
        assert not is_shown(board)
        board.screen.query_one("#agent", Choice).focus()
        await board.pilot.press("right")
        await board.until(lambda: is_shown(board), "the field")
        await board.pilot.press("tab", "tab")
        assert board.app.focused is board.screen.query_one("#mode")
        await board.pilot.press("right", "space")
        await board.until(lambda: "acceptEdits" in board.text())
        await board.pilot.press("enter")
        await board.until(lambda: board.acts.started)
        assert (board.acts.started[0].agent, board.acts.started[0].mode) == ("claude", "acceptEdits")


async def test_each_agent_keeps_what_was_chosen_for_it_and_so_does_the_draft(start: Starter) -> None:
    async with start() as board:
        await open_bar(board)
        agent, mode = board.screen.query_one("#agent", Choice), board.screen.query_one("#mode", Choice)
        agent.focus()
        await board.pilot.press("right")
        mode.focus()
        await board.pilot.press("left")
        assert mode.value == "bypassPermissions"
        agent.focus()
        await board.pilot.press("right")
        assert (agent.value, mode.value) == ("codex", "")
        await board.pilot.press("left")
        assert (agent.value, mode.value) == ("claude", "bypassPermissions")
        await board.pilot.press("escape")
        await board.until(lambda: "bypassPermissions" in board.text(), "the resting line")
        kept = Path(start.paths.root, "board.json")
        await board.until(lambda: kept.exists() and "bypassPermissions" in kept.read_text(), "the draft on disk")
    async with start(size=(80, 24)) as board:
        await open_bar(board)
        assert "bypassPermissions" in board.text()
        board.screen.query_one("#access", Choice).focus()
        await board.pilot.press("space")
        await board.until(lambda: not is_shown(board), "no mode for what only reads")
