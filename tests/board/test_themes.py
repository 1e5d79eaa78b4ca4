"""The colours where a terminal has 256 of them, as over SSH."""

import pytest
from rich.color import Color, ColorSystem
from textual.theme import Theme

from agent_board.board.themes import THEMES


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_grounds_stay_grey_and_the_selected_row_stands_out(theme: Theme) -> None:
    """A hair more of blue makes the selected row teal there."""
    grounds = {"background": theme.background, "surface": theme.surface, "panel": theme.panel, **theme.variables}
    shown = {
        name: Color.parse(grounds[name] or "").downgrade(ColorSystem.EIGHT_BIT).get_truecolor()
        for name in ("background", "surface", "panel", "selected", "selected-away")
    }
    assert {name: colour for name, colour in shown.items() if len(set(colour)) > 1} == {}
    assert shown["selected"] != shown["background"] != shown["selected-away"]
