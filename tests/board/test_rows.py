"""The life of rows from the keyboard: pin, rename, done, archive, undo; one row, several, held keys and pastes."""

import json
from pathlib import Path
from typing import Any

import pytest
from textual import events

from agent_board.board.model.burst import REPEAT_S, Repeats
from agent_board.board.row_acts import RowActs
from agent_board.board.screens.confirm import QUIET_S, Confirm
from agent_board.board.screens.elsewhere import ElsewhereScreen
from agent_board.board.terminal import Returned
from agent_board.board.widgets.name_input import NameInput
from agent_board.store.paths import StorePaths
from agent_board.store.records import SemanticState
from agent_board.store.views import archived_ids
from tests.board.conftest import Running, Starter
from tests.support.fakestore import NOW_MS, change_state, make_view, write

S = SemanticState


def three(start: Starter) -> None:
    """Settled rows a and b, and c at work."""
    make_view(start.paths, "a", name="alpha", state=S.FAILED, summary="429", age_ms=400_000)
    make_view(start.paths, "b", name="beta", state=S.NEEDS_INPUT, summary="7 or 30 days?", age_ms=300_000)
    make_view(start.paths, "c", name="gamma", state=S.WORKING, summary="Running tests", age_ms=200_000)


def meta(paths: StorePaths, view_id: str) -> dict[str, Any]:
    raw: dict[str, Any] = json.loads(Path(paths.view(view_id).meta).read_text())
    return raw


async def select(board: Running, view_id: str) -> None:
    assert board.screen.listing.select_row(view_id)
    board.screen.list.show_selection()
    await board.pilot.pause()


async def said(board: Running, words: str) -> None:
    await board.until(lambda: any(words in toast for toast in board.toasts()), f"the words {words!r}")


async def confirmed(board: Running) -> None:
    """Answer the question on the screen with y, after the quiet that it wants."""
    await board.until(lambda: isinstance(board.app.screen, Confirm) and board.app.screen.listening, "the question")
    await board.pilot.press("y")


async def test_pin_and_unpin(start: Starter) -> None:
    """AB-076, AB-077: pinned first inside the group, and the selection stays on its row."""
    three(start)
    make_view(start.paths, "d", name="delta", state=S.FAILED, age_ms=100_000)
    async with start() as board:
        await select(board, "d")
        await board.pilot.press("p")
        await board.until(lambda: meta(start.paths, "d")["pinned"], "the pin on disk")
        await board.until(lambda: board.text().index("delta") < board.text().index("alpha"), "the row's place")
        assert board.selected == "d"
        await board.pilot.press("u")
        await said(board, "Undone: pin of “delta”.")
        assert not meta(start.paths, "d")["pinned"]


async def test_a_name_is_never_markup(start: Starter) -> None:
    """Invariant 9: neither in its row nor in the words about it."""
    make_view(start.paths, "a", name="[b]a[/b]", state=S.NEEDS_INPUT, summary="[red]7 or 30?[/red]", age_ms=1000)
    async with start(size=(120, 30)) as board:
        assert "[b]a[/b]" in board.text()
        assert "[red]7 or 30?[/red]" in board.text()
        await select(board, "a")
        await board.pilot.press("d")
        await board.until(lambda: "[b]a[/b] is done" in board.text(), "the name in the words")


async def test_done_and_open_again(start: Starter) -> None:
    """AB-063: the verdict is the user's; a living row says why not."""
    three(start)
    async with start() as board:
        await select(board, "b")
        await board.pilot.press("d")
        await board.until(lambda: "COMPLETED 1" in board.text(), "the verdict")
        await said(board, "beta is done; u takes it back.")
        assert board.selected == "b"
        await select(board, "a")
        await board.pilot.press("j", "d")
        await said(board, "gamma is still running; your verdict comes when it has ended.")
        assert meta(start.paths, "c")["verdict"] is None
        await select(board, "b")
        await board.pilot.press("j", "d")
        await board.until(lambda: "NEEDS YOU 1" in board.text(), "the row as it was")


async def test_archive_hides_and_undo_brings_back_all_of_it(start: Starter) -> None:
    three(start)
    write(start.paths.view("a").meta, meta(start.paths, "a") | {"pinned": True})
    async with start() as board:
        await select(board, "a")
        await board.pilot.press("x")
        await board.until(lambda: "a" not in board.screen.listing.rows, "the row's going")
        await said(board, "alpha is archived; u brings it back.")
        assert archived_ids(start.paths) == {"a"}
        assert board.selected is not None
        await board.pilot.press("u")
        await board.until(lambda: board.selected == "a", "the row again, selected")
        row = board.screen.listing.rows["a"]
        assert (row.name, row.pinned, row.state) == ("alpha", True, S.FAILED)
        assert not archived_ids(start.paths)


async def test_a_running_row_is_not_archived(start: Starter) -> None:
    three(start)
    async with start() as board:
        await select(board, "c")
        await board.pilot.press("x")
        await said(board, "gamma is still running; stop it first (s) to archive it.")
        assert not archived_ids(start.paths)


async def test_an_unreadable_row_can_be_archived_and_nothing_else(start: Starter) -> None:
    three(start)
    Path(start.paths.view("a").meta).write_bytes(b'{"ver')
    async with start() as board:
        await select(board, "a")
        for key, words in (("p", "pinned"), ("e", "renamed"), ("d", "marked as done"), ("enter", "attached")):
            await board.pilot.press(key)
            await said(board, f"a can't be {words}: its files can't be read.")
        await board.pilot.press("x")
        await board.until(lambda: archived_ids(start.paths) == {"a"}, "the archive")


async def test_nothing_to_undo_says_so(start: Starter) -> None:
    three(start)
    async with start() as board:
        await board.pilot.press("u")
        await said(board, "There is nothing to undo.")


async def test_an_empty_list_says_that_nothing_is_selected(start: Starter) -> None:
    async with start() as board:
        for key in "pdxemyo":
            await board.pilot.press(key)
        await board.pilot.press("enter")
        await said(board, "Select a task first.")


# -- renaming in place


async def test_rename_in_place(start: Starter) -> None:
    """UX 2: enter keeps, esc leaves; with an input focused letters belong to it."""
    three(start)
    async with start() as board:
        await select(board, "a")
        await board.pilot.press("e")
        await board.until(lambda: isinstance(board.app.focused, NameInput), "the input")
        field = board.app.focused
        assert field is not None
        line = next(y for y, text in enumerate(board.lines()) if "alpha" in text)
        assert field.region.y == line
        await board.pilot.press(*"new-name", "enter")
        await board.until(lambda: "new-name" in board.text() and not board.screen.is_renaming, "the name")
        assert meta(start.paths, "a")["name"] == "new-name"
        assert board.app.focused is board.screen.list
        await board.pilot.press("e")
        await board.until(lambda: board.screen.is_renaming and isinstance(board.app.focused, NameInput))
        await board.pilot.press(*"qqq", "escape")
        await board.until(lambda: not board.screen.is_renaming, "the end of it")
        assert meta(start.paths, "a")["name"] == "new-name"
        assert board.app.is_running


@pytest.mark.parametrize(
    ("name", "words"),
    [("", "The name is empty"), ("n" * 300, "too long"), ("beta", "already"), ("a\tb\x1b[2J", "control characters")],
)
async def test_a_name_that_cannot_be_stays_in_the_input(start: Starter, name: str, words: str) -> None:
    three(start)
    async with start() as board:
        await select(board, "a")
        await board.pilot.press("e")
        await board.until(lambda: isinstance(board.app.focused, NameInput), "the input")
        field = board.app.focused
        assert isinstance(field, NameInput)
        field.value = name
        await board.pilot.press("enter")
        await said(board, words)
        assert board.screen.is_renaming
        assert field.value == name
        assert meta(start.paths, "a")["name"] == "alpha"
        await board.pilot.press("escape")


async def test_the_input_goes_with_its_row(start: Starter) -> None:
    three(start)
    async with start() as board:
        await select(board, "b")
        await board.pilot.press("e")
        await board.until(lambda: isinstance(board.app.focused, NameInput), "the input")
        for number in range(3):
            make_view(start.paths, f"n{number}", name=f"new-{number}", state=S.NEEDS_INPUT, age_ms=900_000)
        await board.until(lambda: "NEEDS YOU 4" in board.text(), "the new rows")
        await board.pilot.pause()
        field = board.app.focused
        assert isinstance(field, NameInput)
        line = next(y for y, text in enumerate(board.lines()) if "7 or 30 days?" in text)
        assert field.region.y == line


# -- several


async def test_marked_rows_are_archived_together_and_come_back_together(start: Starter) -> None:
    three(start)
    async with start() as board:
        await board.pilot.press("g", "m", "m", "m")
        assert board.screen.listing.marked == {"a", "b", "c"}
        assert "3 marked" in board.lines()[0]
        assert "clear marks" in board.lines()[-1]
        await board.pilot.press("x")
        await board.until(lambda: isinstance(board.app.screen, Confirm), "the question")
        assert "Archive 2 tasks?" in board.text()
        assert "1 marked task left out: gamma is still running" in board.text()
        await confirmed(board)
        await board.until(lambda: archived_ids(start.paths) == {"a", "b"}, "both")
        await said(board, "2 tasks archived; u brings them back.")
        assert not board.screen.listing.marked
        await board.pilot.press("u")
        await said(board, "Undone: archive of 2 tasks.")
        assert not archived_ids(start.paths)
        await board.until(lambda: "alpha" in board.text() and "beta" in board.text())


async def test_several_are_stopped_pinned_and_done(start: Starter) -> None:
    three(start)
    make_view(start.paths, "d", name="delta", state=S.WORKING, age_ms=100_000)
    async with start() as board:
        for row_id in "abcd":
            board.screen.listing.mark(row_id)
        await board.pilot.press("s")
        await confirmed(board)
        await board.until(lambda: sorted(board.acts.stopped) == ["c", "d"], "two stops")
        for row_id in "ab":
            board.screen.listing.mark(row_id)
        await board.pilot.press("p")
        await confirmed(board)
        await board.until(lambda: meta(start.paths, "a")["pinned"] and meta(start.paths, "b")["pinned"], "the pins")
        for row_id in "ab":
            board.screen.listing.mark(row_id)
        await board.pilot.press("d")
        await confirmed(board)
        await board.until(lambda: "COMPLETED 2" in board.text(), "the verdicts")


async def test_marks_that_allow_nothing_say_why(start: Starter) -> None:
    three(start)
    async with start() as board:
        for row_id in "ab":
            board.screen.listing.mark(row_id)
        await board.pilot.press("s")
        await said(board, "None of the 2 marked tasks: beta is not running.")
        await board.pilot.press("escape")
        assert not board.screen.listing.marked
        assert board.app.is_running


@pytest.mark.parametrize("keys", [["enter"], ["space"], ["n"], ["escape"], ["x", "x", "x"]])
async def test_only_y_says_yes_to_several(start: Starter, keys: list[str]) -> None:
    three(start)
    async with start() as board:
        await board.pilot.press("g", "m", "m", "x")
        await board.until(lambda: isinstance(board.app.screen, Confirm) and board.app.screen.listening, "the question")
        await board.pilot.press(*keys)
        await board.pilot.pause(QUIET_S)
        assert not archived_ids(start.paths)


async def test_a_row_that_goes_loses_its_mark(start: Starter) -> None:
    three(start)
    async with start() as board:
        board.screen.listing.mark("a")
        write(start.paths.view("a").meta, meta(start.paths, "a") | {"archivedAt": 5})
        await board.until(lambda: not board.screen.listing.marked, "the mark's going")


# -- held keys and pastes


def test_a_held_key_is_told_from_one_pressed_again() -> None:
    keys = Repeats()
    assert keys.feed("x", 10.0) == 0
    assert keys.feed("x", 10.5) == 1
    assert keys.feed("x", 10.533) == 2
    assert keys.feed("x", 10.6 + REPEAT_S) == 0
    assert keys.feed("j", 11.4) == 0
    assert keys.feed("x", 11.41) == 0


@pytest.mark.parametrize("key", ["x", "d", "p", "u"])
async def test_a_held_key_acts_once(start: Starter, key: str) -> None:
    """FIELD-FAULTS 46: key repeat can't go through the list."""
    for number in range(8):
        make_view(start.paths, f"v{number}", name=f"task-{number}", state=S.FAILED, age_ms=900_000 - number)
    async with start() as board:
        if key == "u":
            await board.pilot.press("x", "down", "x")
            await board.until(lambda: len(archived_ids(start.paths)) >= 1, "something to undo")
        before = [meta(start.paths, f"v{number}") for number in range(8)]
        for _ in range(12):
            await board.pilot.press(key)
        await said(board, f"{key} was taken once")
        await board.pilot.pause(0.1)
        after = [meta(start.paths, f"v{number}") for number in range(8)]
        assert sum(one != other for one, other in zip(before, after, strict=True)) == 1


@pytest.mark.parametrize("text", ["xdpu\n", "mmxy\nfix the login page", "eeexx\ny"])
async def test_a_paste_on_the_list_reaches_no_act(start: Starter, text: str) -> None:
    three(start)
    async with start() as board:
        before = {view: meta(start.paths, view) for view in "abc"}
        board.screen.list.post_message(events.Paste(text))
        await board.until(lambda: board.screen.bar_is_open, "the bar with the text")
        assert {view: meta(start.paths, view) for view in "abc"} == before


async def test_an_act_means_the_row_that_was_selected_when_it_was_shown(start: Starter) -> None:
    """FIELD-FAULTS 39: the selected row vanishes just before the key."""
    three(start)
    async with start() as board:
        await select(board, "a")
        board.screen.listing.apply({"a": None}, board.screen.monotonic_ms())
        assert board.selected == "c"
        board.screen.action_act("archive")
        await said(board, "has just gone")
        await board.pilot.pause()
        assert not archived_ids(start.paths)


async def test_keys_that_arrive_together_act_in_their_order(start: Starter) -> None:
    """Typed ahead over a slow line: the mark is set before the cursor moves, whichever key may act at once."""
    three(start)
    async with start() as board:
        await select(board, "b")
        await board.pilot.press("m", "down")
        await board.until(lambda: board.selected == "c", "the last key")
        assert board.screen.listing.marked == {"b"}


# -- by the palette and the mouse


@pytest.mark.parametrize("words", ["Archive: hide", "Pin to the top", "Done, or open"])
async def test_the_palette_holds_every_act(start: Starter, words: str) -> None:
    three(start)
    async with start() as board:
        await select(board, "a")
        before = meta(start.paths, "a")
        await board.by_palette(words)
        await board.until(lambda: meta(start.paths, "a") != before, "the act")


async def test_attach_by_the_palette(start: Starter, monkeypatch: pytest.MonkeyPatch) -> None:
    three(start)
    given: list[list[str]] = []
    monkeypatch.setattr(RowActs, "check_attach", lambda *_: None)

    def lend(_: object, command: list[str], **__: object) -> Returned:
        given.append(command)
        return Returned(0)

    monkeypatch.setattr(ElsewhereScreen, "give_terminal", lend)
    async with start() as board:
        await select(board, "a")
        await board.by_palette("Attach: the agent")
        await board.until(lambda: given, "the terminal")
        assert given[0][-2:] == ["attach", "a"]
        assert given[0][given[0].index("--home") + 1] == start.paths.root


async def test_a_hint_under_marks_is_clicked(start: Starter) -> None:
    three(start)
    async with start() as board:
        await board.pilot.press("g", "m")
        await board.until(lambda: "clear marks" in board.lines()[-1], "the hints")
        last = board.lines()[-1]
        await board.pilot.click(offset=(last.index("clear marks"), len(board.lines()) - 1))
        await board.until(lambda: not board.screen.listing.marked, "the marks' going")


async def test_a_stalled_row_says_for_how_long_nothing_was_heard(start: Starter) -> None:
    """Issue 5, 6: the state stays, and the time goes on."""
    make_view(start.paths, "a", name="quiet", state=S.WORKING, summary="Editing a.py")
    change_state(start.paths, "a", stalledSince=NOW_MS - 60_000, lastActivityAt=NOW_MS - 360_000)
    async with start() as board:
        await board.until(lambda: "no event for 6m" in board.text(), "the silence")
        assert "WORKING 1" in board.text()
        change_state(start.paths, "a", stalledSince=None, lastActivityAt=NOW_MS)
        await board.until(lambda: "no event for" not in board.text(), "the end of it")
