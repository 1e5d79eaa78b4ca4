"""Peek and reply on the real app; what would start processes is noted instead."""

from pathlib import Path

import pytest

from agent_board.agents import events as ev
from agent_board.store.paths import StorePaths
from agent_board.store.records import SemanticState
from tests.board.conftest import Starter
from tests.board.peeking import make_three, opened, read, replies, text
from tests.board.talks import QUESTION, log_lines, make_run
from tests.support.fakestore import change_state, make_view, write

S = SemanticState


@pytest.fixture(autouse=True)
def three(store: StorePaths) -> None:
    """The tasks that are peeked at."""
    make_three(store)


# -- peek


@pytest.mark.parametrize("size", [(120, 36), (80, 24)])
async def test_peek_shows_state_why_exchange_and_question(start: Starter, size: tuple[int, int]) -> None:
    """AB-024, AB-070, AB-071."""
    async with opened(start, "space", size=size) as board:
        shown = board.text()
        for words in ("needs you", "asking for a decision", QUESTION, "1 the old name", "2 the new name"):
            assert words in shown, words
        assert "sends at once" in shown
        if size[1] > 30:
            for words in ("edit src/login.py  1 line changed", "Two tests disagree.", "changed src/login.py"):
                assert words in shown, words
        assert "**look**" not in shown


async def test_peek_walks_with_the_cursor_and_reads_nothing_on_the_key_path(start: Starter) -> None:
    async with opened(start, "space") as board:
        await board.pilot.press("down")
        panel = board.screen.peek
        assert panel is not None
        assert panel.view_id == "b"
        await read(board)
        assert "waits until the run has ended" in board.text()
        await board.pilot.press("up")
        assert QUESTION in board.text(), "what was read before is there at once"


async def test_peek_scrolls_and_keeps_its_end(start: Starter) -> None:
    async with opened(start, "space", size=(80, 24)) as board:
        panel = board.screen.peek
        assert panel is not None
        assert panel.body.at_end
        await board.pilot.press("ctrl+u", "shift+up")
        assert not panel.body.at_end
        change_state(
            start.paths, "a", usage={"input": 5, "output": None, "cacheRead": None, "cacheWrite": None, "costUsd": None}
        )
        await board.until(
            lambda: panel.peeked is not None and any("5 tokens" in f for g in panel.peeked.facts for f in g)
        )
        assert not panel.body.at_end, "the place that is read is kept"
        await board.pilot.press("ctrl+d", "shift+down", "shift+down")
        assert panel.body.at_end


async def test_peek_is_live(start: Starter) -> None:
    async with opened(start, "down", "space") as board:
        make_run(start.paths, "b", latest_assistant_preview="x", alive=False)
        change_state(start.paths, "b", semanticState="completed", processState="exited", summary="All green")
        await board.until(lambda: "sends at once" in board.text(), "the end of the run")
        await board.until(lambda: "completed" in board.text())


async def test_left_and_esc_close_the_topmost_thing_only(start: Starter) -> None:
    for key in ("left", "escape"):
        async with opened(start, "space") as board:
            await board.pilot.press("m", key)
            assert not board.screen.peek_is_open
            assert board.screen.listing.marked
            assert "NEEDS YOU" in board.text()
            assert board.screen.focused is board.screen.list


async def test_a_double_click_opens_it_and_a_click_in_the_input_writes(start: Starter) -> None:
    async with opened(start) as board:
        row = next(number for number, line in enumerate(board.lines()) if "works" in line)
        await board.pilot.click(offset=(10, row))
        assert not board.screen.peek_is_open
        await board.pilot.click(offset=(10, row), times=2)
        await read(board)
        assert board.screen.peek is not None
        assert board.screen.peek.view_id == "b"
        await board.pilot.click(board.screen.peek.input)
        await board.pilot.press("x")
        assert text(board) == "x"


async def test_what_came_while_peek_was_closed_is_there_when_it_opens(start: Starter) -> None:
    async with opened(start, "space") as board:
        await board.pilot.press("escape")
        with Path(start.paths.view("a").run("ra").events).open("ab") as file:
            file.write(log_lines([ev.AssistantMessage("Said meanwhile.")]))
        await board.pilot.press("space")
        await board.until(lambda: "Said meanwhile." in board.text())


async def test_space_on_a_folded_group_still_opens_it(start: Starter) -> None:
    async with opened(start) as board:
        await board.pilot.press("left", "space")
        assert not board.screen.peek_is_open
        assert "asks" in board.text()


async def test_a_task_that_was_looked_at_for_a_second_is_seen(start: Starter) -> None:
    async with opened(start, "G", "space") as board:
        assert board.screen.listing.rows["c"].unread
        await board.until(lambda: not board.screen.listing.rows["c"].unread, "the mark's going")


async def test_walking_past_a_task_does_not_make_it_seen(start: Starter) -> None:
    async with opened(start, "G", "space") as board:
        await board.pilot.press("up")
        await board.pilot.pause(1.3)
        assert board.screen.listing.rows["c"].unread


async def test_an_unreadable_task_says_so(start: Starter) -> None:
    Path(start.paths.view("a").state).write_bytes(b"{")
    async with opened(start, "g", "space") as board:
        assert "can't be read" in board.text()
        await board.pilot.press("r")
        await board.until(lambda: any("can't be answered" in toast for toast in board.toasts()))


async def test_peek_on_nothing_says_so(start: Starter) -> None:
    async with opened(start, "space") as board:
        await board.pilot.press("slash", *"nothing-like-it", "enter")
        assert "No task is selected." in board.text()
        await board.pilot.press("r")
        assert any("Select a task first" in toast for toast in board.toasts())


# -- reply


async def test_a_reply_is_sent_and_the_list_has_the_keys_again(start: Starter) -> None:
    """AB-025, AB-110."""
    async with opened(start, "r") as board:
        await board.pilot.press(*"use 7", "ctrl+j", *"days", "enter")
        await board.until(lambda: replies(board).sent == [("a", "use 7\ndays")], "the sending")
        await board.until(lambda: board.screen.focused is board.screen.list)
        assert board.screen.peek_is_open
        assert text(board) == ""
        assert not Path(start.paths.view("a").draft).exists()


async def test_sending_is_said_at_once(start: Starter) -> None:
    async with opened(start, "r") as board:
        replies(board).may_go.clear()
        await board.pilot.press(*"hello", "enter")
        assert "sends at once" not in board.text()
        assert "sending ⋅" in board.text()
        await board.pilot.press(*"more")
        assert text(board) == "more", "what is typed meanwhile stays"
        replies(board).may_go.set()
        await board.until(lambda: replies(board).sent)
        await board.until(lambda: "sends at once" in board.text())
        assert text(board) == "more"
        assert board.screen.peek is not None
        assert board.screen.focused is board.screen.peek.input


async def test_a_refused_reply_is_in_the_input_again_with_the_reason(start: Starter) -> None:
    async with opened(start, "r") as board:
        replies(board).refusal = "The directory is gone."
        await board.pilot.press(*"hello", "enter")
        await board.until(lambda: "The directory is gone." in board.text())
        assert text(board) == "hello"
        await board.pilot.press("!")
        assert "The directory is gone." not in board.text()
        assert text(board) == "hello!"


async def test_with_the_input_focused_every_key_is_text(start: Starter) -> None:
    async with opened(start, "r") as board:
        await board.pilot.press("1", "x", "q", "s", "tab", "d", "left", "A", "?", "/")
        assert text(board) == "1xqs\tA?/d"
        assert len(board.app.screen_stack) == 1
        assert board.selected == "a"
        assert replies(board).sent == []


async def test_a_backslash_before_enter_and_shift_enter_make_lines(start: Starter) -> None:
    async with opened(start, "r") as board:
        await board.pilot.press(*"a\\", "enter", *"b", "shift+enter", *"c")
        assert text(board) == "a\nb\nc"


async def test_an_empty_reply_is_not_sent(start: Starter) -> None:
    async with opened(start, "down", "r") as board:
        await board.pilot.press("space", "enter")
        assert "Write the reply first." in board.text()
        assert replies(board).sent == []


async def test_a_leading_slash_is_said_while_typing(start: Starter) -> None:
    async with opened(start, "r") as board:
        await board.pilot.press("/")
        assert "Pi takes a leading / as its own command" in board.text()
        await board.pilot.press("backspace")
        assert "sends at once" in board.text()


async def test_esc_keeps_the_draft_for_each_task_also_over_a_new_start(start: Starter) -> None:
    async with opened(start, "r") as board:
        await board.pilot.press(*"half", "escape", "down", "r", *"other", "escape")
        await board.until(lambda: Path(start.paths.view("b").draft).read_text() == "other")
        await board.pilot.press("up")
        assert text(board) == "half"
        await board.pilot.press("escape", "space")
        assert text(board) == "half"
    async with opened(start, "space") as board:
        await board.until(lambda: text(board) == "half", "the draft")


async def test_a_board_that_is_left_has_written_the_last_letter(start: Starter) -> None:
    async with opened(start, "r") as board:
        await board.pilot.press(*"last letter", "ctrl+c", *"kept")
        board.app.leave()
        await board.until(lambda: board.app.return_code == 0)
    assert Path(start.paths.view("a").draft).read_text() == "kept"


async def test_the_input_stays_with_its_task_when_that_moves_or_goes(start: Starter) -> None:
    async with opened(start, "r") as board:
        await board.pilot.press(*"for a")
        make_view(start.paths, "0", name="first", state=S.NEEDS_INPUT, age_ms=900_000)
        change_state(start.paths, "a", semanticState="completed", processState="exited", question=None)
        await board.until(lambda: "first" in board.text())
        assert text(board) == "for a"
        write(start.paths.view("a").meta, {"version": 1})
        await board.pilot.press("enter")
        await board.until(lambda: replies(board).sent == [("a", "for a")])


async def test_typing_before_the_draft_was_read_loses_neither(start: Starter) -> None:
    Path(start.paths.view("a").draft).write_text("from before")
    async with opened(start) as board:
        await board.pilot.press("r", *"typed")
        await read(board)
        await board.until(lambda: "from before" in text(board) and "typed" in text(board), "both")


async def test_what_was_typed_and_taken_away_again_is_no_draft(start: Starter) -> None:
    async with opened(start, "r") as board:
        await board.pilot.press("x", "backspace", "escape", "down", "up")
        assert text(board) == ""
        assert board.screen.drafts.text("a") == ""


async def test_a_draft_is_shown_whatever_else_happens_while_it_is_read(start: Starter) -> None:
    Path(start.paths.view("a").draft).write_text("from before")
    async with opened(start) as board:
        await board.pilot.press("space")
        await board.pilot.resize_terminal(140, 36)
        await board.pilot.resize_terminal(90, 36)
        await board.until(lambda: text(board) == "from before", "the draft")
        await board.pilot.press("down", "up", "escape")
    assert Path(start.paths.view("a").draft).read_text() == "from before"


async def test_a_key_right_after_sending_is_no_act(start: Starter) -> None:
    async with opened(start, "r") as board:
        await board.pilot.press(*"ok", "enter")
        await board.until(lambda: board.screen.focused is board.screen.list)
        await board.pilot.press("x", "enter")
        assert "a" in board.screen.listing.rows
        await board.pilot.press("down")
        assert board.selected != "a", "but moving is"


async def test_retry_fills_in_the_last_prompt_byte_for_byte(start: Starter) -> None:
    prompt = "first\r\n\ttabbed \u2028 end\n"
    make_run(start.paths, "a", prompt=prompt)
    async with opened(start, "R") as board:
        await board.until(lambda: "tabbed" in text(board))
        await board.pilot.press("enter")
        await board.until(lambda: replies(board).sent == [("a", prompt)])


async def test_retry_does_not_touch_a_half_written_reply(start: Starter) -> None:
    async with opened(start, "r") as board:
        await board.pilot.press(*"mine", "escape", "R")
        assert text(board) == "mine"
        assert "half-written" in board.text()
