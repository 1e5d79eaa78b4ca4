"""Copying from a row and opening something in its directory: what is offered, what is taken, what a paste does."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from textual import events

from agent_board.board.row_acts import Place
from agent_board.board.screens.menu import Menu
from agent_board.config import OpenCommand
from agent_board.errors import BoardError
from agent_board.store.records import SemanticState
from tests.board.conftest import Running, Starter
from tests.board.test_rows import meta, said
from tests.support.fakestore import make_view, write
from tests.support.wait import wait_for_async

S = SemanticState
ANSWER = "First line.\n\n" + "word " * 200 + "end"


@pytest.fixture
def asking(start: Starter, monkeypatch: pytest.MonkeyPatch) -> str:
    """A row that asks, in a git repository, with a conversation."""
    monkeypatch.setenv("SHELL", "/bin/sh")
    monkeypatch.setenv("EDITOR", "true -x")
    make_view(start.paths, "a", name="alpha", state=S.NEEDS_INPUT, summary="7 or 30 days?", agent="demo")
    subprocess.run(["git", "init", "-q", "-b", "trunk", start.cwd], check=True)
    transcript = start.paths.session("a")
    lines = [{"type": "prompt", "text": "hi", "at": 1}, {"type": "answer", "text": ANSWER, "stop": "stop", "at": 2}]
    Path(transcript).write_text("".join(json.dumps(line) + "\n" for line in lines))
    write(start.paths.view("a").meta, meta(start.paths, "a") | {"cwd": start.cwd, "sessionFile": transcript})
    return "a"


async def menu(board: Running, key: str) -> str:
    await board.pilot.press(key)
    await board.until(lambda: isinstance(board.app.screen, Menu), "the menu")
    await board.pilot.pause()
    return board.text()


@pytest.mark.parametrize(
    ("key", "text"), [("q", "7 or 30 days?"), ("a", ANSWER), ("i", "a"), ("b", "trunk"), ("c", "agent-board attach a")]
)
async def test_what_is_copied(start: Starter, asking: str, key: str, text: str) -> None:
    async with start() as board:
        shown = await menu(board, "y")
        for words in ("question", "last answer", "branch", "path", "resume command"):
            assert words in shown
        await board.pilot.press(key)
        await said(board, "Copied the")
        assert board.app.clipboard == text


async def test_the_path_and_the_agents_own_command(start: Starter, asking: str) -> None:
    async with start() as board:
        await menu(board, "y")
        await board.pilot.press("p")
        await board.until(lambda: board.app.clipboard == start.cwd, "the path")
        await menu(board, "y")
        await board.pilot.press("r")
        await board.until(lambda: board.app.clipboard.startswith(f"cd {start.cwd} && "), "the command")
        assert "--session" in board.app.clipboard


async def test_arrows_and_enter_take_and_esc_leaves(start: Starter, asking: str) -> None:
    async with start() as board:
        await menu(board, "y")
        await board.pilot.press("down", "down", "enter")
        await board.until(lambda: board.app.clipboard == "a", "the id")
        await menu(board, "y")
        await board.pilot.press("escape")
        await board.until(lambda: not isinstance(board.app.screen, Menu), "the list")
        assert board.app.is_running


async def test_pasted_text_takes_nothing(start: Starter, asking: str) -> None:
    async with start() as board:
        await menu(board, "o")
        screen = board.app.screen
        screen.post_message(events.Paste("s\n"))
        for char in "se1\n":
            key = "enter" if char == "\n" else char
            screen.post_message(events.Key(key, char))
        await board.pilot.pause(0.1)
        assert isinstance(board.app.screen, Menu)


async def test_what_can_be_opened(start: Starter, asking: str, tmp_path: Path) -> None:
    """Own commands come from the settings; each placeholder is filled into one argument, and no shell reads it."""
    out = tmp_path / "out"
    script = f'printf "%s\\n" "$@" > {out}'
    beside = OpenCommand(command=["sh", "-c", script, "x", "{path}", "{branch};{id}", "a{b}$(id)"], beside=True)
    async with start(open={"mine": beside}) as board:
        shown = await menu(board, "o")
        for words in ("a shell", "the editor", "true -x .", "mine"):
            assert words in shown
        assert "tmux" not in shown
        await board.pilot.press("1")
        await wait_for_async(lambda: out.exists() and out.read_text().count("\n") == 3)
        assert out.read_text().splitlines() == [start.cwd, "trunk;a", "a{b}$(id)"]


async def test_inside_tmux_a_new_window_is_offered_for_a_settled_row(
    start: Starter, asking: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMUX", "/tmp/none,1,0")
    async with start() as board:
        assert "attach in a new tmux window" in await menu(board, "o")


async def test_what_fails_beside_the_board_is_told(start: Starter, asking: str) -> None:
    own = {"no": OpenCommand(command=["/no/such"], beside=True), "bad": OpenCommand(command=["false"], beside=True)}
    async with start(open=own) as board:
        await menu(board, "o")
        await board.pilot.press("1")
        await said(board, "/no/such could not be started")
        await menu(board, "o")
        await board.pilot.press("2")
        await said(board, "false ended with exit code 1.")


async def test_a_directory_that_is_gone(start: Starter, asking: str) -> None:
    async with start() as board:
        os.rename(start.cwd, start.cwd + "-moved")
        await board.pilot.press("o")
        await said(board, "The directory of alpha is gone")


def test_a_value_is_not_searched_for_placeholders() -> None:
    place = Place("/src/{id}", "", "v1", "alpha")
    assert place.fill(["x", "{path}/{id}"]) == ["x", "/src/{id}/v1"]
    with pytest.raises(BoardError, match="on no branch"):
        place.fill(["x", "{branch}"])
