"""The board's keys and flows, on the real app."""

import json
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.widgets import Static

from agent_board.board import app, line_looks, looks
from agent_board.board.model.index import Grouping
from agent_board.board.screens.help import KEY_CELLS
from agent_board.store.records import SemanticState
from agent_board.store.views import archived_ids
from tests.board.conftest import DEMO, PI, SHELL, Starter
from tests.support.fakestore import change_state, make_view, make_views, write

S = SemanticState


def four(start: Starter) -> None:
    """Two that need you, one at work, one done; by creation a, b, c, d."""
    make_view(start.paths, "a", name="ask-one", state=S.NEEDS_INPUT, summary="7 or 30 days?", age_ms=400_000)
    make_view(start.paths, "b", name="ask-two", state=S.NEEDS_INPUT, summary="Delete it?", age_ms=300_000)
    make_view(start.paths, "c", name="at-work", state=S.WORKING, summary="Running tests", age_ms=200_000, project="web")
    make_view(start.paths, "d", name="is-done", state=S.COMPLETED, summary="Fixed 14 typos", age_ms=100_000)


async def test_the_list_shows_every_project_in_groups_with_counts(start: Starter) -> None:
    """AB-001, AB-022, AB-064, AB-065, AB-066, AB-068."""
    four(start)
    async with start() as board:
        text = board.text()
        head = board.lines()[0]
        assert "2 need you" in head
        assert "1 working" in head
        assert "all projects" in head
        order = [text.index(word) for word in ("NEEDS YOU 2", "ask-one", "ask-two", "WORKING 1", "COMPLETED 1")]
        assert order == sorted(order)
        assert "7 or 30 days?" in text
        assert "n new task" in board.lines()[-1]


async def test_the_cursor_moves_over_rows_only(start: Starter) -> None:
    four(start)
    async with start() as board:
        assert board.selected == "a"
        await board.pilot.press("j", "down")
        assert board.selected == "c"
        await board.pilot.press("k", "up", "up")
        assert board.selected == "a"
        await board.pilot.press("G")
        assert board.selected == "d"
        await board.pilot.press("g")
        assert board.selected == "a"


async def test_tab_goes_to_the_next_that_needs_you(start: Starter) -> None:
    four(start)
    async with start() as board:
        await board.pilot.press("G", "tab")
        assert board.selected == "a"
        await board.pilot.press("tab")
        assert board.selected == "b"


async def test_a_changed_file_changes_its_row_and_the_header(start: Starter) -> None:
    """AB-013, AB-075: the screen says what the files say."""
    four(start)
    async with start() as board:
        change_state(start.paths, "c", semanticState="completed", processState="exited", summary="All green")
        await board.until(lambda: "COMPLETED 2" in board.text(), "the finished row")
        assert "working" not in board.lines()[0]
        assert "All green" in board.text()


async def test_views_come_and_go(start: Starter) -> None:
    async with start() as board:
        assert "No tasks yet." in board.text()
        make_view(start.paths, "a", name="first")
        await board.until(lambda: "first" in board.text(), "the new row")
        meta = Path(start.paths.view("a").meta)
        write(str(meta), json.loads(meta.read_text()) | {"archivedAt": 5})
        await board.until(lambda: "No tasks yet." in board.text(), "the row's going")


async def test_archived_views_are_not_loaded(start: Starter) -> None:
    make_views(start.paths, 3, archived=5)
    async with start() as board:
        assert len(board.screen.listing.rows) == 3
        assert board.screen.news.archived == 5
        assert len(archived_ids(start.paths)) == 5


async def test_a_torn_file_is_a_row_that_says_so(start: Starter) -> None:
    four(start)
    Path(start.paths.view("a").state).write_bytes(b'{"version": 1, "vie')
    Path(start.paths.view("b").meta).write_bytes(b"")
    async with start() as board:
        assert "UNREADABLE 2" in board.text()
        assert "state.json is torn or not JSON" in board.text()
        assert "meta.json is empty" in board.text()
        assert "need" not in board.lines()[0]


async def test_groups_fold_and_open(start: Starter) -> None:
    four(start)
    async with start() as board:
        await board.pilot.press("left")
        assert "ask-one" not in board.text()
        assert "NEEDS YOU 2" in board.text()
        assert board.selected is None
        await board.pilot.press("right")
        assert "ask-one" in board.text()
        assert board.selected == "a"
        await board.pilot.press("space")
        await board.until(lambda: board.screen.peek_is_open, "peek on a row")


async def test_a_long_finished_group_shows_the_rest_when_asked(start: Starter) -> None:
    for number in range(30):
        make_view(start.paths, f"v{number:02d}", name=f"task-{number:02d}", age_ms=1_000_000 - number)
    async with start() as board:
        assert "18 more" in board.text()
        assert "task-00" not in board.text()
        await board.pilot.press("G", "space")
        assert "fewer" not in board.lines()[3]
        await board.pilot.press("g")
        assert "task-00" in board.text()


async def test_grouping_and_scope_are_remembered(start: Starter) -> None:
    four(start)
    async with start() as board:
        await board.pilot.press("t")
        assert board.screen.listing.index.grouping is Grouping.PROJECT
        assert "NEEDS YOU" not in board.text()
        await board.pilot.press("ctrl+o")
        assert "No tasks in api." in board.text()
        await board.until(lambda: Path(start.paths.root, "board.json").exists())
    async with start() as board:
        assert board.screen.listing.index.grouping is Grouping.PROJECT
        assert board.screen.listing.only_here


async def test_the_filter_narrows_as_it_is_typed_and_esc_clears_it(start: Starter) -> None:
    """AB-074; with an input focused every letter belongs to it."""
    four(start)
    async with start() as board:
        await board.pilot.press("slash", *"s:w")
        assert "at-work" in board.text()
        assert "ask-one" not in board.text()
        assert "1 of 4" in board.text()
        await board.pilot.press("enter")
        assert "/s:w" in board.lines()[0]
        await board.pilot.press("escape")
        assert "ask-one" in board.text()
        await board.pilot.press("slash", "q", "escape")
        assert "ask-one" in board.text()
        assert board.app.is_running


async def test_help_lists_every_key_and_the_palette_every_act(start: Starter) -> None:
    four(start)
    async with start((100, 60)) as board:
        await board.pilot.press("question_mark")
        await board.until(lambda: "Describe a new task" in board.text())
        for words in ("Stop the selected task", "Group by state or by project", "ctrl+p", "unread"):
            assert words in board.text()
        await board.pilot.press("escape", "ctrl+p")
        await board.until(lambda: "Describe a new task" in board.text())
        await board.pilot.press(*"by state")
        await board.until(lambda: "Describe a new task" not in board.text())
        await board.pilot.press("enter")
        await board.until(lambda: board.screen.listing.index.grouping is Grouping.PROJECT)


async def test_a_store_of_a_newer_version_is_shown_and_not_written(start: Starter) -> None:
    four(start)
    write(start.paths.roster, {"version": 99, "views": [], "archived": []})
    async with start() as board:
        assert "ask-one" in board.text()
        assert "newer agent-board" in board.text()
        await board.pilot.press("n")
        await board.until(lambda: any("newer agent-board" in toast for toast in board.toasts()))
        assert not board.screen.bar_is_open


async def test_without_watching_the_board_polls_and_says_so(start: Starter) -> None:
    four(start)
    async with start(watching=False) as board:
        await board.until(lambda: "polling" in board.lines()[0], "the word")
        change_state(start.paths, "c", summary="Editing a.py")
        await board.until(lambda: "Editing a.py" in board.text(), "the polled change")


async def test_nothing_here_can_run_tells_how_to_get_an_agent(start: Starter) -> None:
    async with start() as board:
        board.acts.here[:] = [PI._replace(found=False), DEMO, SHELL]
        board.screen.look_for_agents()
        await board.until(lambda: "npm install -g pi" in board.text(), "the advice")
        assert "agent-board demo" in board.text()


async def test_help_is_wrapped_beside_its_keys_and_says_how_it_is_left(start: Starter) -> None:
    async with start((80, 24)) as board:
        await board.pilot.press("question_mark")
        await board.until(lambda: "esc close" in board.text())
        page = board.app.screen.query_one("#keys", Static).render()
        lines = str(page).splitlines()
        assert all(cell_len(line) <= 76 for line in lines)
        keys = [line for line in lines if line and not line[0].isalpha()]
        assert all(line[:KEY_CELLS].endswith("  ") and line[KEY_CELLS] != " " for line in keys)
        assert any("ctrl+d" in line for line in keys)


async def test_a_terminal_that_is_not_utf8_gets_nothing_else(start: Starter, monkeypatch: pytest.MonkeyPatch) -> None:
    """UX 1: key names, the bar's arrows, messages and toasts are in ASCII too, not only the signs."""
    monkeypatch.setattr(app, "_encoding", lambda: "ascii")
    make_view(start.paths, "a", name="支付", state=S.NEEDS_INPUT, question="“7” or 30…")
    async with start() as board:
        board.screen.say("“it” is → there…")
        await board.until(lambda: '"it" is > there~' in board.text())
        assert board.text().isascii()
        for key, words in (("n", "worktree"), ("question_mark", "1 ~ 9"), ("exclamation_mark", "^ v scroll")):
            await board.pilot.press(key)
            await board.sees(words)
            assert board.text().isascii()
            await board.pilot.press("tab", "tab")
            assert board.text().isascii()
            await board.pilot.press("escape")
            await board.until(lambda: board.app.focused is board.screen.list)


async def test_without_colours_every_page_is_drawn(start: Starter, monkeypatch: pytest.MonkeyPatch) -> None:
    """UX 1: NO_COLOR is respected, in peek and on the pages too."""
    monkeypatch.setenv("NO_COLOR", "1")
    make_view(start.paths, "a", name="ask-one", state=S.NEEDS_INPUT, question="7 or 30 days?")
    async with start((100, 60)) as board:
        for key, words in (
            ("space", "sends at once"),
            ("exclamation_mark", "Files"),
            ("v", "search"),
            ("f", "does not exist"),
        ):
            await board.pilot.press(key)
            await board.sees(words)
            strips = board.app.screen._compositor.render_strips()
            styles = {part.style for strip in strips for part in strip if part.style}
            colours = {colour for style in styles for colour in (style.color, style.bgcolor) if colour}
            assert all(colour.is_default for colour in colours), key
            await board.pilot.press("escape")
            await board.until(lambda: board.app.screen is board.screen)


async def test_every_theme_that_can_be_set_has_all_looks(start: Starter) -> None:
    async with start() as board:
        for theme in board.app.available_themes:
            board.app.theme = theme
            colours = board.app.get_css_variables()
            for chosen in (False, True):
                for role in line_looks._ROLES:
                    for ground in ("background", "surface"):
                        line_looks.line_style(role, colours, ground=ground, chosen=chosen)
                for role in looks._ROLES:
                    looks.role_style(role, colours, selected=chosen, away=False)


async def test_a_field_of_choices_says_how_it_is_changed(start: Starter) -> None:
    async with start() as board:
        await board.pilot.press("n")
        await board.until(lambda: "ctrl+j new line" in board.text())
        await board.pilot.press("tab", "tab")
        await board.until(lambda: "← → change" in board.text())


async def test_where_nothing_is_nothing_is_offered(start: Starter) -> None:
    async with start() as board:
        await board.until(lambda: "n new task" in board.text())
        assert "space peek" not in board.lines()[-1]


async def test_a_tiny_terminal_still_shows_what_matters(start: Starter) -> None:
    four(start)
    async with start((20, 5)) as board:
        assert "2 need you" in board.text()
        assert "ask-one" in board.text()
        for keys in (("n", "escape"), ("question_mark", "escape"), ("slash", "escape"), ("ctrl+p", "escape")):
            await board.pilot.press(*keys)
        await board.pilot.resize_terminal(10, 2)
        await board.pilot.resize_terminal(1, 1)
        await board.pilot.resize_terminal(200, 60)
        assert "ask-one" in board.text()


async def test_leaving_says_what_goes_on(start: Starter) -> None:
    """AB-014."""
    four(start)
    async with start() as board:
        await board.pilot.press("q")
        await board.until(lambda: board.app.return_code == 0)
        assert [str(said) for said in board.app._exit_renderables] == ["1 run goes on."]


async def test_ctrl_c_clears_the_input_and_leaves_at_the_second_press(start: Starter) -> None:
    four(start)
    async with start() as board:
        await board.pilot.press("slash", *"web", "ctrl+c")
        assert "ask-one" in board.text()
        await board.pilot.press("ctrl+c")
        assert any("what runs goes on" in toast for toast in board.toasts())
        assert board.app.return_code is None
        await board.pilot.press("ctrl+c")
        await board.until(lambda: board.app.return_code == 0)


async def test_a_click_selects_and_a_header_folds(start: Starter) -> None:
    four(start)
    async with start() as board:
        rows = board.lines()
        await board.pilot.click(offset=(10, next(y for y, line in enumerate(rows) if "at-work" in line)))
        assert board.selected == "c"
        await board.pilot.click(offset=(6, next(y for y, line in enumerate(rows) if "NEEDS YOU" in line)))
        assert "ask-one" not in board.text()
        assert board.selected == "c"
        hints = board.lines()[-1]
        await board.pilot.click(offset=(hints.index("n new task"), len(rows) - 1))
        await board.until(lambda: board.screen.bar_is_open, "what the hint does")
