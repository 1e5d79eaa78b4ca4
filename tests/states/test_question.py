"""Which endings ask for a decision, in English and Chinese (AB-050, AB-059, AB-060; field faults A2)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_board.states.question import LONGEST, choices_in, find_question, question_in
from tests.states.ending import Ending
from tests.states.endings_asking import ASKING
from tests.states.endings_stating import NOT_ASKING

ENDINGS = ASKING + NOT_ASKING


def test_the_table_is_large_and_balanced():
    assert len(ENDINGS) >= 300
    assert min(len(ASKING), len(NOT_ASKING)) >= 150


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda ending: ending.text[-40:].replace("\n", " ") or "(empty)")
def test_an_ending_asks_or_does_not(ending: Ending):
    asked = find_question(ending.text)
    if ending.asks is None:
        assert asked is None
        return
    assert asked is not None, "asks, but was taken for a statement"
    assert ending.asks in asked.text
    assert tuple(asked.choices) == ending.choices


@given(st.text(max_size=400))
def test_any_text_gives_a_question_or_none(text: str):
    asked = question_in(text)
    assert asked is None or asked.strip()


def test_a_question_is_bounded():
    asked = find_question("Which one?\n" + "".join(f"- option {n} {'x' * 900}\n" for n in range(9)))
    assert asked is not None
    assert len(asked.text) <= LONGEST
    assert all(len(choice) <= 160 for choice in asked.choices)


def test_a_reported_questions_own_list_gives_its_choices():
    assert choices_in("Which?\n1. SQLite\n2. Postgres") == ["SQLite", "Postgres"]
    assert choices_in("Go on? (y/n)") == ["yes", "no"]
    assert choices_in("SQLite or Postgres?") == []
