"""Which endings ask for a decision, in English and Chinese (AB-050, AB-059, AB-060; field faults A2)."""

import pytest

from agent_board.states.question import find_question
from tests.states.endings import ASKING, ENDINGS, NOT_ASKING, Ending


def test_the_table_is_large_and_balanced():
    assert len(ENDINGS) >= 90
    assert min(len(ASKING), len(NOT_ASKING)) >= 40


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda ending: ending.text[-40:].replace("\n", " ") or "(empty)")
def test_an_ending_asks_or_does_not(ending: Ending):
    asked = find_question(ending.text)
    if ending.asks is None:
        assert asked is None
        return
    assert asked is not None, "asks, but was taken for a statement"
    assert ending.asks in asked.text
    assert tuple(asked.choices) == ending.choices
