"""Choices, replies that wait, and the screens of one task, on the real app."""

from pathlib import Path

import pytest
from textual import events

from agent_board.runs.followups import drop
from agent_board.store.paths import StorePaths
from agent_board.store.records import SemanticState
from tests.board.conftest import Starter
from tests.board.peeking import listening, make_three, opened, replies, text
from tests.board.talks import make_waiting
from tests.support.fakestore import change_state

S = SemanticState


@pytest.fixture(autouse=True)
def three(store: StorePaths) -> None:
    """The tasks that are peeked at."""
    make_three(store)


# -- choices


async def test_a_digit_marks_and_enter_sends(start: Starter) -> None:
    async with opened(start, "space") as board:
        await listening(board)
        await board.pilot.press("enter")
        assert any("Mark a choice" in toast for toast in board.toasts())
        await board.pilot.press("2")
        assert "❯2 the new name" in board.text()
        await board.pilot.press("2")
        assert "❯2" not in board.text()
        await board.pilot.press("1", "enter")
        await board.until(lambda: replies(board).sent == [("a", "the old name")])


async def test_keys_are_dead_after_the_choices_changed(start: Starter) -> None:
    async with opened(start, "space") as board:
        await board.pilot.press("1", "enter")
        assert board.screen.peek is not None
        assert board.screen.peek.marked is None
        await listening(board)
        await board.pilot.press("1")
        assert board.screen.peek.marked == 0
        change_state(start.paths, "a", choices=["go", "stay"])
        await board.until(lambda: "1 go" in board.text())
        assert board.screen.peek.marked is None, "the mark was on another choice"
        await board.pilot.press("1", "enter")
        assert replies(board).sent == []


async def test_a_digit_without_choices_says_why_not(start: Starter) -> None:
    async with opened(start, "down", "space") as board:
        await board.pilot.press("1")
        assert any("nothing is offered" in toast for toast in board.toasts())


# -- what waits


async def test_what_waits_is_listed_edited_dropped_and_had_back(start: Starter) -> None:
    make_waiting(start.paths, "b", "also the docs", "and the changelog", held=False)
    async with opened(start, "down", "space") as board:
        assert "2 replies wait" in board.text()
        assert "also the docs" in board.text()
        await board.pilot.press("h", "down", "e")
        assert text(board) == "and the changelog"
        await board.pilot.press("!", "enter")
        file = Path(start.paths.view("b").followups)
        await board.until(lambda: "and the changelog!" in file.read_text(), "the edited one")
        await board.until(lambda: board.screen.focused is board.screen.list)
        assert text(board) == ""
        assert replies(board).sent == [], "it keeps its place and waits on"
        await board.pilot.press("h", "x")
        await board.until(lambda: "the changelog" not in file.read_text() or "also the docs" not in file.read_text())
        await board.until(lambda: "1 reply waits" in board.text())
        await board.until(lambda: not board.screen.deaf_after_sending("undo"))
        await board.pilot.press("escape", "u")
        await board.until(lambda: text(board) != "", "what was dropped")


async def test_a_held_reply_is_sent_with_enter(start: Starter) -> None:
    make_waiting(start.paths, "a", "the held one")
    change_state(start.paths, "a", heldPrompts=1)
    async with opened(start, "h") as board:
        panel = board.screen.peek
        assert panel is not None
        await board.until(lambda: board.screen.focused is panel.waiting)
        await board.pilot.press("enter")
        await board.until(lambda: replies(board).sent == [("a", "held w0")])
        await board.until(lambda: "the held one" not in board.text())


async def test_an_edited_held_reply_is_sent_in_its_place(start: Starter) -> None:
    make_waiting(start.paths, "a", "the held one")
    change_state(start.paths, "a", heldPrompts=1)
    async with opened(start, "h") as board:
        panel = board.screen.peek
        assert panel is not None
        await board.until(lambda: board.screen.focused is panel.waiting)
        await board.pilot.press("e", *"!", "enter")
        await board.until(lambda: replies(board).sent == [("a", "held w0")])


async def test_a_waiting_reply_that_was_delivered_meanwhile_keeps_its_edited_text(start: Starter) -> None:
    make_waiting(start.paths, "b", "also the docs", held=False)
    async with opened(start, "down", "space") as board:
        await board.pilot.press("h", "e", *"!")
        drop(start.paths, start.paths.view("b"), "w0")
        await board.pilot.press("enter")
        await board.until(lambda: "waits here any more" in board.text())
        assert text(board) == "also the docs!"
        await board.pilot.press("enter")
        await board.until(lambda: replies(board).sent == [("b", "also the docs!")], "as a new one")


async def test_a_paste_on_what_waits_goes_into_the_input(start: Starter) -> None:
    make_waiting(start.paths, "b", "also the docs", held=False)
    async with opened(start, "down", "space", "h") as board:
        panel = board.screen.peek
        assert panel is not None
        for key in "xe\nx":
            board.app.post_message(_key(key))
        await board.until(lambda: "xe" in text(board), "the pasted text")
        assert "also the docs" in Path(start.paths.view("b").followups).read_text()


def _key(char: str) -> events.Key:
    return events.Key("enter" if char == "\n" else char, None if char == "\n" else char)


async def test_nothing_waits_says_so(start: Starter) -> None:
    async with opened(start, "space") as board:
        await board.pilot.press("h")
        assert any("No reply waits" in toast for toast in board.toasts())


# -- screens of their own


async def test_the_transcript_scrolls_searches_and_copies(start: Starter) -> None:
    async with opened(start) as board:
        await board.pilot.press("v")
        await board.until(lambda: "Two tests disagree." in board.text())
        await board.pilot.press("slash", *"login", "enter")
        await board.until(lambda: "of 3" in board.text(), "the hits")
        await board.pilot.press("n", "N", "escape", "tab", "y")
        assert board.app.clipboard == "Fix the login page, please."
        await board.pilot.press("escape", "y")
        assert board.app.clipboard.startswith("Two tests disagree.")
        await board.pilot.press("escape")
        assert len(board.app.screen_stack) == 1


async def test_why_tells_rule_processes_and_files(start: Starter) -> None:
    async with opened(start) as board:
        await board.pilot.press("exclamation_mark")
        await board.until(lambda: "Rule “question”" in board.text())
        for words in ("Processes", "runner", "Files", "status"):
            assert words in board.text()
        await board.pilot.press("y", "escape")
        assert "Rule “question”" in board.app.clipboard
        assert len(board.app.screen_stack) == 1
