"""Invariant 9: widths are counted in cells, and no control byte of an agent reaches the terminal."""

from pathlib import Path

import pytest

from agent_board.runs.foreground import lent_terminal
from agent_board.store.paths import StorePaths
from agent_board.text import ELLIPSIS, cells, clean_block, clean_line, cut
from tests.runs.views import settled, start
from tests.support import command

NASTY = "\x1b]2;owned\x07\x1b[2J\x9b31m\u202e\u200b\r\x00"


@pytest.mark.parametrize(
    ("text", "width"),
    [("plain", 5), ("中文", 4), ("ｆｕｌｌ", 8), ("e\u0301", 1), ("\U0001f600", 2), ("한국", 4), ("", 0)],
)
def test_a_text_takes_as_many_cells_as_a_terminal_gives_it(text: str, width: int) -> None:
    assert cells(text) == width


def test_a_cut_text_of_wide_letters_fits() -> None:
    assert cut("中文中文", 5) == f"中文{ELLIPSIS}"
    assert cut("中文中文", 4) == f"中{ELLIPSIS}"


@pytest.mark.parametrize("cleaned", [clean_line(f"a{NASTY}b"), clean_block(f"a{NASTY}b\nc")])
def test_cleaned_text_holds_nothing_that_a_terminal_obeys(cleaned: str) -> None:
    assert all(char == "\n" or char.isprintable() for char in cleaned), ascii(cleaned)
    assert cleaned.startswith("a")


def test_a_title_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    """The name of a task stands in the terminal's title while it is attached."""
    with lent_terminal(f"na{NASTY}me", "ctrl+d"):
        said = capsys.readouterr().out
    assert said.count("\x1b]2;") == 1
    assert said.count("\x07") == 1
    assert "\x1b[2J" not in said
    assert "\x9b" not in said


def test_what_an_agent_says_is_text_in_every_command(store: StorePaths, project: Path) -> None:
    """All that a shell prints of a row whose agent says and asks nasty things."""
    task = start(store, project, f"say First.{NASTY}; ask Shall I {NASTY}go on?")
    settled(store, task.view_id)
    for line in (("list",), ("show", task.view_id), ("explain", task.view_id), ("logs", task.view_id)):
        said = command.ok(*line).out
        assert all(char == "\n" or char.isprintable() for char in said), (line, ascii(said))
