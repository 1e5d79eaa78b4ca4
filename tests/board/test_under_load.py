"""What users report of boards like this one: jumping rows, lost keys, redrawing, disk on the key path."""

import random
import sys
import threading
from typing import Any

from textual import events
from textual.geometry import Region

from agent_board.board.screens.confirm import Confirm
from agent_board.board.widgets.prompt_area import PromptArea
from agent_board.board.widgets.session_list import SessionList
from agent_board.store.records import SemanticState
from tests.board.conftest import Running, Starter
from tests.support.fakestore import change_state, make_view

S = SemanticState
CHANGES = 40
PAUSE_S = 0.05
TOUCHY = {"open", "os.listdir", "os.scandir", "subprocess.Popen", "os.posix_spawn", "os.exec", "os.fork"}


def many(start: Starter, count: int = 40) -> list[str]:
    ids = [f"v{number:02d}" for number in range(count)]
    for number, view_id in enumerate(ids):
        state = S.WORKING if number % 3 else S.NEEDS_INPUT
        make_view(start.paths, view_id, name=f"task-{number:02d}", state=state, age_ms=9_000_000 - number * 1000)
    return ids


def shake(start: Starter, ids: list[str], dice: random.Random) -> None:
    """One random row changes its state."""
    state = dice.choice(list(S))
    alive = "alive" if state is S.WORKING else "exited"
    change_state(start.paths, dice.choice(ids), semanticState=state.value, processState=alive)


async def test_the_selection_and_its_act_stay_on_one_task_while_rows_change(start: Starter) -> None:
    """Fields 39: 20 changes a second; a destructive key means the row that was selected when it was pressed."""
    ids = many(start)
    dice = random.Random(3)
    others = [view_id for view_id in ids if view_id != "v04"]
    async with start() as board:
        board.screen.listing.select_row("v04")
        board.screen.list.show_selection()
        for turn in range(CHANGES):
            shake(start, others, dice)
            await board.pilot.pause(PAUSE_S)
            assert board.selected == "v04"
            if turn == CHANGES // 2:
                await board.pilot.press("s")
        await board.until(lambda: isinstance(board.app.screen, Confirm))
        question = board.app.screen
        assert isinstance(question, Confirm)
        await board.until(lambda: question.listening)
        await board.pilot.press("y")
        await board.until(lambda: board.acts.stopped == ["v04"])


async def test_the_row_under_the_cursor_keeps_its_line_when_others_come_above(start: Starter) -> None:
    """Fields 39: scrolled down, nothing moves under the cursor."""
    many(start)
    async with start((100, 20)) as board:
        await board.pilot.press("G")
        line = next(y for y, text in enumerate(board.lines()) if "task-38" in text)
        for number in range(5):
            make_view(start.paths, f"x{number}", name=f"new-{number}", state=S.NEEDS_INPUT, age_ms=1)
        await board.until(lambda: len(board.screen.listing.rows) == 45)
        await board.pilot.pause()
        assert "task-38" in board.lines()[line]


async def test_no_typed_letter_is_lost_or_reordered_while_rows_change(start: Starter) -> None:
    """Fields 38."""
    ids = many(start)
    dice = random.Random(5)
    wanted = "".join(dice.choice("abcdefghij klmnop") for _ in range(200)).strip() + "z"
    async with start() as board:
        await board.pilot.press("n")
        await board.until(lambda: isinstance(board.app.focused, PromptArea))
        for number, char in enumerate(wanted):
            if number % 4 == 0:
                shake(start, ids, dice)
            board.app.post_message(events.Key("space" if char == " " else char, char))
            await board.pilot.pause(0.005)
        await board.until(lambda: board.screen.query_one(PromptArea).text.endswith("z"), "the last letter")
        assert board.screen.query_one(PromptArea).text == wanted


async def test_the_terminals_cursor_stays_in_the_input_while_rows_change(start: Starter) -> None:
    """Fields 41: the window of an input method opens where the terminal's cursor is."""
    ids = many(start)
    dice = random.Random(6)
    async with start() as board:
        await board.pilot.press("n")
        await board.until(lambda: isinstance(board.app.focused, PromptArea))
        area = board.screen.query_one(PromptArea)
        area.insert("面板")
        await board.pilot.pause()
        expected = area.cursor_screen_offset
        assert area.region.contains_point(expected)
        assert expected.x == area.region.x + 4
        for _ in range(10):
            shake(start, ids, dice)
            await board.pilot.pause(PAUSE_S)
            assert board.app.cursor_position == expected


def painted(board: Running) -> list[Region]:
    """From now on, the regions that the list repaints."""
    regions: list[Region] = []
    widget = board.screen.list
    refresh = SessionList.refresh

    def noted(*which: Region, **options: Any) -> SessionList:
        regions.extend(which or (Region(0, 0, *widget.size),))
        refresh(widget, *which, **options)
        return widget

    widget.refresh = noted  # type: ignore[method-assign]
    return regions


async def test_a_change_repaints_its_own_line_and_one_out_of_sight_nothing(start: Starter) -> None:
    """UX 1: one repaint per change, nothing redrawn that did not change."""
    many(start)
    async with start((100, 20)) as board:
        regions = painted(board)
        change_state(start.paths, "v03", summary="another question?")
        await board.until(lambda: board.screen.listing.rows["v03"].summary == "another question?")
        await board.pilot.pause()
        assert [region.height for region in regions] == [1]
        assert "another question?" in board.lines()[regions[0].y + board.screen.list.region.y]
        regions.clear()
        change_state(start.paths, "v38", summary="out of sight")
        await board.until(lambda: board.screen.listing.rows["v38"].summary == "out of sight")
        await board.pilot.pause()
        assert regions == []


async def test_moving_the_cursor_repaints_two_lines(start: Starter) -> None:
    many(start)
    async with start() as board:
        regions = painted(board)
        await board.pilot.press("down")
        assert sorted(region.height for region in regions) == [1, 1]


async def test_a_key_reads_no_file_and_starts_no_process(start: Starter) -> None:
    """Fields 37: what a key does is decided from memory."""
    many(start, 100)
    seen: list[str] = []
    watching = False
    main = threading.get_ident()

    def audit(event: str, arguments: tuple[object, ...]) -> None:
        if watching and event in TOUCHY and threading.get_ident() == main:
            seen.append(f"{event} {arguments}")

    sys.addaudithook(audit)
    async with start() as board:
        for watched in (False, True):  # what is needed once is loaded by then
            watching = watched
            for keys in (
                *("down j pagedown up tab left right G g", "m m", "slash t 0", "space down up", "r h i"),
                *("question_mark", "n h i", "R", "p p", "x u", "d c"),
            ):
                await board.pilot.press(*keys.split(), *["escape"] * 3)
                await board.until(lambda: board.app.screen is board.screen and board.screen.list.has_focus)
        watching = False
    assert seen == []


async def test_a_spinner_draws_one_cell_of_visible_working_rows_and_rests_when_blurred(start: Starter) -> None:
    """UX 1: at most a quiet spinner, off by setting and when the terminal is blurred."""
    make_view(start.paths, "a", name="at-work", state=S.WORKING)
    make_view(start.paths, "b", name="is-done")
    async with start(spinner=True) as board:
        await board.until(lambda: any(sign in board.text() for sign in "⠙⠹⠸⠼"), "the spinner")
        regions = painted(board)
        await board.until(lambda: regions, "the next turn")
        assert {(region.width, region.height) for region in regions} == {(1, 1)}
        board.app.post_message(events.AppBlur())
        await board.until(lambda: not board.screen.list.has_focus)
        await board.pilot.pause()
        regions.clear()
        await board.pilot.pause(0.6)
        assert regions == []
