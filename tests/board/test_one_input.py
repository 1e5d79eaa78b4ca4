"""The mouse and the palette beside an open input: the keyboard is never lost between two of them."""

from textual.widgets._toast import Toast

from agent_board.board.widgets.new_task import NewTaskBar
from agent_board.store.records import SemanticState as S
from tests.board.conftest import Starter
from tests.board.peeking import make_three, opened, text
from tests.support.fakestore import make_view


async def test_a_heading_that_is_clicked_stays_where_it_is(start: Starter) -> None:
    """The cursor may be far away: the window does not go there."""
    for number in range(40):
        make_view(start.paths, f"a{number:02}", name=f"asks-{number:02}", state=S.NEEDS_INPUT)
    for number in range(40):
        make_view(start.paths, f"b{number:02}", name=f"done-{number:02}", unread=True)
    async with start() as board:
        board.screen.list.scroll_to(y=30, animate=False, immediate=True)
        await board.sees("COMPLETED 40")
        for shown in (False, True):
            at = next(number for number, line in enumerate(board.lines()) if "COMPLETED 40" in line)
            await board.pilot.click(offset=(6, at))
            await (board.sees("done-00") if shown else board.until(lambda: "done-00" not in board.text(), "it folded"))
            assert "COMPLETED 40" in board.text()
            assert "asks-39" in board.text()
        assert board.selected == "a00"


async def test_a_click_gives_the_keyboard_to_nothing_beside_an_open_input(start: Starter) -> None:
    make_three(start.paths)
    for key in ("slash", "n"):
        async with opened(start, "space") as board:
            await board.pilot.press(key, *"work")
            before = board.app.focused
            assert board.screen.peek is not None
            await board.pilot.click(board.screen.peek.input)
            await board.pilot.press("s")
            assert board.app.focused is before
            assert text(board) == ""
            assert "works" in board.text()
            await board.pilot.press("escape")
            await board.until(lambda: board.app.focused is board.screen.list, "the list")
            await board.pilot.click(board.screen.peek.input)
            await board.pilot.press("x")
            assert text(board) == "x"


async def test_an_act_by_name_leaves_the_input_that_is_open(start: Starter) -> None:
    """What was written stays the draft, and the keyboard is where the act puts it."""
    make_three(start.paths)
    async with opened(start) as board:
        await board.pilot.press("n", *"half a task")
        await board.by_palette("Rename")
        await board.until(lambda: board.screen.is_renaming, "the name's input")
        assert not board.screen.bar_is_open
        assert board.screen.memory.draft.prompt == "half a task"
        await board.pilot.press("escape")
        await board.pilot.press("slash", *"ask")
        await board.by_palette("Reply in peek")
        await board.until(lambda: board.screen.peek is not None and board.app.focused is board.screen.peek.input)
        assert "/ask" in board.lines()[0]


async def test_the_palette_finds_first_what_begins_with_the_words(start: Starter) -> None:
    """“rename” is not to undo the last one."""
    make_three(start.paths)
    async with opened(start) as board:
        await board.by_palette("rename")
        await board.until(lambda: board.screen.is_renaming, "the name's input")


async def test_the_resting_bar_is_clicked_while_a_name_is_changed(start: Starter) -> None:
    make_three(start.paths)
    async with opened(start) as board:
        await board.pilot.press("e", *"other")
        await board.pilot.click(board.screen.task_line)
        await board.until(lambda: board.screen.bar_is_open, "the bar")
        await board.pilot.press(*"task")
        assert not board.screen.is_renaming
        await board.until(lambda: board.screen._bar is not None and board.screen._bar.order.prompt == "task")


async def test_what_was_said_before_does_not_lie_over_the_bar(start: Starter) -> None:
    make_three(start.paths)
    async with opened(start, size=(80, 24)) as board:
        board.screen.say("A sentence about what was done before, long enough to be two lines in a window this narrow.")
        await board.sees("long enough")
        await board.pilot.press("n")
        await board.sees("describe a task")
        await board.until(lambda: board.screen.query(NewTaskBar), "the bar")
        bar, said = board.screen.query_one(NewTaskBar), board.screen.query_one(Toast)
        await board.until(lambda: bar.region.height > 5, "its place")
        assert said.region
        assert not said.region.overlaps(bar.region)
