"""Starting and stopping from the board: the bar, the question, pastes and held keys."""

import threading
import time
from pathlib import Path

import pytest
from textual import events

from agent_board.board.screens.confirm import QUIET_S, Confirm
from agent_board.board.widgets import session_list
from agent_board.board.widgets.choice import Choice
from agent_board.board.widgets.directory_input import DirectoryInput, completed
from agent_board.board.widgets.prompt_area import PromptArea
from agent_board.store.records import SemanticState
from tests.board.conftest import Running, Starter
from tests.support.fakestore import change_state, make_view

S = SemanticState


def prompt_of(board: Running) -> PromptArea:
    return board.screen.query_one(PromptArea)


async def open_bar(board: Running, text: str = "") -> None:
    await board.pilot.press("n")
    await board.until(lambda: board.screen.bar_is_open and board.screen.query(PromptArea), "the bar")
    await board.until(lambda: isinstance(board.app.focused, PromptArea))
    if text:
        prompt_of(board).insert(text)


async def test_enter_starts_the_task_and_selects_its_row(start: Starter) -> None:
    """AB-023: queued at once, and the new row is the selected one."""
    make_view(start.paths, "a", name="older", state=S.NEEDS_INPUT)
    async with start() as board:
        await open_bar(board, "Fix the login page")
        await board.pilot.press("enter")
        await board.until(lambda: board.selected == "new0000001", "the new row")
        task = board.acts.started[0]
        assert (task.prompt, task.cwd, task.agent, task.read_only) == ("Fix the login page", start.cwd, "pi", False)
        assert not board.screen.bar_is_open
        assert board.app.focused is board.screen.list


async def test_a_refused_start_says_why_in_the_bar_and_keeps_every_word(start: Starter) -> None:
    async with start() as board:
        board.acts.refusal = "The directory /nowhere is gone; choose another."
        await open_bar(board, "Fix it\nand test it")
        await board.pilot.press("enter")
        await board.until(lambda: "The directory /nowhere is gone" in board.text(), "the reason")
        assert prompt_of(board).text == "Fix it\nand test it"
        board.acts.refusal = ""
        await board.pilot.press("enter")
        await board.until(lambda: board.acts.started)
        log = Path(start.paths.log, "board.log").read_text()
        assert "The directory /nowhere is gone" in log


async def test_the_next_task_is_typed_while_the_last_one_starts(start: Starter) -> None:
    """A slow disk takes no word away: the bar closes at once and is empty when it is opened again."""
    make_view(start.paths, "a", name="older", state=S.NEEDS_INPUT)
    async with start() as board:
        board.acts.slow = threading.Event()
        await open_bar(board, "The first")
        await board.pilot.press("enter")
        await board.until(lambda: not board.screen.bar_is_open and "starting: The first" in board.text())
        assert "The first" in Path(start.paths.root, "board.json").read_text(), "on disk until it is accepted"
        await board.pilot.press("enter", "s", "x")
        assert board.app.screen is board.screen, "meant for the new row, not for the selected one"
        await open_bar(board, "The second")
        board.acts.slow.set()
        await board.until(lambda: board.acts.started and board.selected == "new0000001")
        assert prompt_of(board).text == "The second"
        kept = Path(start.paths.root, "board.json")
        await board.until(lambda: "The second" in kept.read_text() and "The first" not in kept.read_text())
        await board.pilot.press("enter")
        await board.until(lambda: len(board.acts.started) == 2)
        assert [task.prompt for task in board.acts.started] == ["The first", "The second"]


async def test_a_refused_task_is_given_back_to_the_bar_that_holds_the_next(start: Starter) -> None:
    async with start() as board:
        board.acts.slow, board.acts.refusal = threading.Event(), "The disk is full; make room."
        await open_bar(board, "The first")
        await board.pilot.press("enter")
        await board.until(lambda: not board.screen.bar_is_open)
        await open_bar(board, "The second")
        board.acts.slow.set()
        await board.until(lambda: "The disk is full" in board.text())
        assert prompt_of(board).text == "The first\n\nThe second"


async def test_esc_keeps_the_draft_even_over_a_new_start_of_the_board(start: Starter) -> None:
    async with start() as board:
        await open_bar(board, "Half a thought")
        await board.pilot.press("escape")
        await board.until(lambda: not board.screen.bar_is_open)
        assert "Half a thought" in board.text()
        kept = Path(start.paths.root, "board.json")
        await board.until(lambda: kept.exists() and "Half a thought" in kept.read_text())
        assert kept.stat().st_mode & 0o777 == 0o600
    async with start() as board:
        await open_bar(board)
        assert prompt_of(board).text == "Half a thought"


async def test_lines_are_made_by_ctrl_j_and_by_a_backslash(start: Starter) -> None:
    async with start() as board:
        await open_bar(board, "one")
        await board.pilot.press("ctrl+j")
        prompt_of(board).insert("two\\")
        await board.pilot.press("enter")
        prompt_of(board).insert("three")
        assert prompt_of(board).text == "one\ntwo\nthree"
        assert not board.acts.started
        await board.pilot.press("enter")
        await board.until(lambda: board.acts.started)
        assert board.acts.started[0].prompt == "one\ntwo\nthree"


async def test_an_empty_prompt_is_not_sent(start: Starter) -> None:
    async with start() as board:
        await open_bar(board, "  ")
        await board.pilot.press("enter")
        await board.until(lambda: "Say first what is to be done." in board.text())
        assert not board.acts.started


async def test_the_fields_are_walked_with_tab_and_are_sent(start: Starter, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere"
    other.mkdir()
    async with start() as board:
        await open_bar(board, "Do it")
        field = board.screen.query_one(DirectoryInput)
        await board.pilot.press("tab")
        assert board.app.focused is field
        field.value = str(other)[:-3]
        await board.until(lambda: field._suggestion, "the completion")
        await board.pilot.press("tab")
        assert field.path == str(other)
        await board.pilot.press("tab")
        assert isinstance(board.app.focused, Choice)
        await board.pilot.press("right", "tab", *"it", "tab", *"m1", "tab", "right", "tab", "space", "enter")
        await board.until(lambda: board.acts.started)
        task = board.acts.started[0]
        assert (task.cwd, task.agent, task.name, task.model) == (str(other), "demo", "it", "m1")
        assert (task.worktree, task.read_only) == ("on", True)


async def test_the_worktree_is_chosen_kept_with_the_draft_and_said_by_the_resting_line(start: Starter) -> None:
    """AB-081: auto unless told otherwise."""
    async with start() as board:
        assert "worktree auto" in board.text()
        await open_bar(board, "Do it")
        board.screen.query_one("#worktree", Choice).focus()
        await board.pilot.press("left", "escape")
        await board.until(lambda: "worktree off" in board.text(), "the resting line")
        kept = Path(start.paths.root, "board.json")
        await board.until(lambda: kept.exists() and '"off"' in kept.read_text(), "the draft on disk")
    async with start() as board:
        assert "worktree off" in board.text()
        await open_bar(board)
        await board.pilot.press("enter")
        await board.until(lambda: board.acts.started)
        assert board.acts.started[0].worktree == "off"
        await board.until(lambda: "worktree auto" in board.text(), "the default for the next one")


async def test_what_a_started_task_has_to_say_is_said(start: Starter) -> None:
    async with start() as board:
        board.acts.warnings = ("“docs” writes in ~/src, above this directory.",)
        await open_bar(board, "Do it")
        await board.pilot.press("enter")
        await board.until(lambda: board.acts.warnings[0] in board.toasts(), "the warning")


async def test_recent_directories_are_walked_with_the_arrows(start: Starter) -> None:
    make_view(start.paths, "a", project="web", age_ms=5_000)
    make_view(start.paths, "b", project="infra", age_ms=500_000)
    async with start() as board:
        await open_bar(board)
        field = board.screen.query_one(DirectoryInput)
        field.focus()
        await board.pilot.press("down")
        assert field.path == "/home/dev/src/web"
        await board.pilot.press("down")
        assert field.path == "/home/dev/src/infra"
        await board.pilot.press("up", "up")
        assert field.path == start.cwd


def test_a_directory_is_completed_from_recent_ones_and_from_the_disk(tmp_path: Path) -> None:
    for name in ("alpha", "alps", ".alone"):
        (tmp_path / name).mkdir()
    (tmp_path / "alp-file").write_text("")
    assert completed(f"{tmp_path}/alp", []) == f"{tmp_path}/alpha/"
    assert completed(f"{tmp_path}/alps", []) == f"{tmp_path}/alps/"
    assert completed(f"{tmp_path}/.a", []) == f"{tmp_path}/.alone/"
    assert completed("/src/w", ["/src/web"]) == "/src/web"
    assert completed(f"{tmp_path}/none", []) is None
    assert completed("/no/such/place", []) is None
    assert completed("", ["/src"]) is None


async def test_an_agent_that_cannot_run_says_why_and_is_not_started(start: Starter) -> None:
    async with start() as board:
        board.acts.here = [board.acts.here[0]._replace(problem="Pi needs Node 22.19; here is 18.2.")]
        board.screen.look_for_agents()
        await board.until(lambda: len(board.screen.agents) == 1)
        await open_bar(board, "Do it")
        await board.pilot.press("enter")
        await board.until(lambda: "Pi needs Node 22.19; here is 18.2." in board.text())
        assert not board.acts.started


async def test_a_paste_on_the_list_opens_the_bar_with_the_text(start: Starter) -> None:
    """UX 2: pasted text can't reach an act; nothing is sent."""
    make_view(start.paths, "a", state=S.WORKING)
    async with start() as board:
        board.screen.list.post_message(events.Paste("quit now\nstop y"))
        await board.until(lambda: board.screen.bar_is_open and prompt_of(board).text == "quit now\nstop y")
        assert not board.acts.started
        assert board.app.return_code is None


async def test_a_burst_of_keys_is_a_paste_too(start: Starter) -> None:
    make_view(start.paths, "a", state=S.WORKING)
    async with start() as board:
        for char in "qs y\nquit":
            key = {" ": "space", "\n": "enter"}.get(char, char)
            board.app.post_message(events.Key(key, "\r" if char == "\n" else char))
        await board.until(lambda: board.screen.bar_is_open and board.screen.query(PromptArea), "the bar")
        await board.until(lambda: prompt_of(board).text == "qs y\nquit", "the text")
        assert board.app.return_code is None
        assert not board.acts.stopped


async def test_what_is_typed_before_the_bar_has_the_keyboard_is_its_text(start: Starter) -> None:
    """At the speed of hands, the second key comes before the bar does: it is no act, and no letter is lost."""
    make_view(start.paths, "a", name="older", state=S.NEEDS_INPUT)
    async with start() as board:
        began = time.monotonic()
        for number, char in enumerate("n!dfx make it"):
            key = events.Key(char, char)
            key.time = began + number * 0.03
            board.app.post_message(key)
        await board.until(lambda: board.screen.query(PromptArea) and prompt_of(board).text == "!dfx make it")
        assert board.app.screen is board.screen
        assert not board.toasts()


async def test_an_input_that_does_not_come_gives_the_keys_back(start: Starter, monkeypatch: pytest.MonkeyPatch) -> None:
    make_view(start.paths, "a", name="older", state=S.NEEDS_INPUT)
    async with start() as board:
        board.screen.list.expect_input()
        await board.pilot.press("m")
        assert not board.screen.listing.marked
        monkeypatch.setattr(session_list, "EXPECTED_S", 0.0)
        await board.pilot.press("m")
        await board.until(lambda: board.screen.listing.marked)


async def test_pasted_lines_in_the_bar_send_nothing(start: Starter) -> None:
    async with start() as board:
        await open_bar(board)
        for char in "one\ntwo\n":
            board.app.post_message(events.Key("enter" if char == "\n" else char, "\r" if char == "\n" else char))
        await board.until(lambda: prompt_of(board).text == "one\ntwo\n", "the text")
        assert not board.acts.started


async def ask_to_stop(board: Running) -> Confirm:
    await board.pilot.press("s")
    await board.until(lambda: isinstance(board.app.screen, Confirm), "the question")
    question = board.app.screen
    assert isinstance(question, Confirm)
    return question


async def test_stop_asks_and_only_y_after_a_quiet_moment_answers(start: Starter) -> None:
    """AB-076, UX 2: never Enter or Space, and nothing is heard until the keyboard has been quiet."""
    make_view(start.paths, "a", name="at-work", state=S.WORKING)
    async with start() as board:
        question = await ask_to_stop(board)
        assert "Stop at-work?" in board.text()
        await board.pilot.press("y")
        assert board.app.screen is question
        await board.until(lambda: question.listening, "the quiet")
        await board.pilot.press("enter", "space")
        assert board.app.screen is question
        assert not question.listening
        await board.until(lambda: question.listening, "the quiet")
        await board.pilot.press("y")
        await board.until(lambda: board.acts.stopped == ["a"])
        assert "stopping" in board.text()
        change_state(start.paths, "a", semanticState="stopped", processState="exited", summary="Stopped by you")
        await board.until(lambda: "STOPPED 1" in board.text())
        assert "stopping" not in board.text()


async def test_held_keys_never_answer(start: Starter) -> None:
    """Fields 46: a key that repeats without a pause can't confirm."""
    make_view(start.paths, "a", state=S.WORKING)
    async with start() as board:
        question = await ask_to_stop(board)
        until = time.monotonic() + 2.5 * QUIET_S
        while time.monotonic() < until:
            board.app.post_message(events.Key("y", "y"))
            await board.pilot.pause(0.05)
        assert board.app.screen is question
        await board.pilot.press("escape")
        assert not board.acts.stopped


async def test_a_stop_that_fails_says_why(start: Starter) -> None:
    make_view(start.paths, "a", name="at-work", state=S.WORKING)
    async with start() as board:
        question = await ask_to_stop(board)
        board.acts.refusal = "at-work belongs to another machine; stop it there."
        await board.until(lambda: question.listening)
        await board.pilot.press("y")
        await board.until(lambda: any("another machine" in toast for toast in board.toasts()))
        assert "stopping" not in board.text()


async def test_an_ended_task_is_only_stopped_if_it_left_something(start: Starter) -> None:
    make_view(start.paths, "a", name="is-done")
    async with start() as board:
        await board.pilot.press("s")
        await board.until(lambda: "is-done has ended; nothing of it runs." in board.toasts())
        board.acts.left = 2
        await ask_to_stop(board)
        assert "2 processes" in board.text()


async def test_an_act_waits_when_the_selected_row_has_just_gone(start: Starter) -> None:
    """Fields 39: the key was meant for the row that is gone."""
    make_view(start.paths, "a", state=S.WORKING, age_ms=9_000)
    make_view(start.paths, "b", state=S.WORKING, age_ms=5_000)
    async with start() as board:
        board.screen.listing.apply({"a": None}, time.monotonic() * 1000)
        board.screen.action_act("stop")
        await board.until(lambda: any("has just gone" in toast for toast in board.toasts()))
        assert board.app.screen is board.screen
