"""Pasted text that arrives as keys is told from typing and from a held key."""

import pytest

from agent_board.board.model.burst import Burst


def fed(text: str, gap: float, start: float = 0.0) -> Burst:
    burst = Burst()
    for number, char in enumerate(text):
        burst.feed(char, start + number * gap)
    return burst


@pytest.mark.parametrize(
    ("text", "gap", "paste"),
    [
        ("fix the login\nplease", 0.0001, True),
        ("fix", 0.001, True),
        ("jjjjjjjj", 0.0001, False),
        ("stop", 0.06, False),
        ("qy", 0.0001, False),
    ],
)
def test_what_is_a_paste(text: str, gap: float, paste: bool) -> None:
    burst = fed(text, gap)
    assert burst.is_paste is paste
    if paste:
        assert burst.take() == text
        assert not burst.is_paste


def test_a_paste_over_a_slow_line_stays_together() -> None:
    burst = fed("fix it", 0.001)
    assert burst.feed("!", 0.005 + 0.020)
    assert burst.take() == "fix it!"


def test_enter_right_after_a_burst_is_part_of_it() -> None:
    burst = fed("fix it", 0.001)
    assert burst.continues(0.010)
    assert burst.continues(0.100)
    assert not burst.continues(0.500)


def test_enter_after_typing_is_meant() -> None:
    burst = fed("fix", 0.08)
    assert not burst.continues(0.08 * 3)
