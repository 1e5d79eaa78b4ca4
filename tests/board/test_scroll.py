"""The transcript's lines: choosing, searching, growing at the top."""

from agent_board.board.model.conversation import Style
from agent_board.board.model.exchange import Block, Kind
from agent_board.board.model.glyphs import UNICODE
from agent_board.board.model.scroll import Placed, Scroll, marked
from agent_board.board.model.wrapping import plain
from agent_board.board.screens.transcript import lay_out

STYLE = Style(30, UNICODE)
PROMPT = Block(Kind.PROMPT, "Find the needle")
TOOL = Block(Kind.TOOL, "hay.txt", name="read", result="a needle")
ANSWER = Block(Kind.ANSWER, "There is a Needle in line one, and it is made of old iron")


def scroll(*blocks: Block) -> Scroll:
    made = Scroll()
    made.put_before(lay_out(blocks or (PROMPT, TOOL, ANSWER), STYLE))
    return made


def test_messages_are_chosen_one_after_the_other() -> None:
    made = scroll()
    assert made.choose(-1, near=0)
    assert made.chosen is PROMPT
    assert not made.choose(-1, near=0)
    assert made.choose(1, near=0)
    assert made.chosen is ANSWER
    assert made.to_copy() == ANSWER.text
    first, last = made.extent() or (0, 0)
    assert last > first
    made.choose_at(0)
    assert made.chosen is PROMPT


def test_without_a_choice_the_last_answer_is_copied() -> None:
    assert scroll().to_copy() == ANSWER.text
    assert scroll(PROMPT).to_copy() == ""
    assert not Scroll().choose(1, near=0)


def test_a_search_finds_whatever_its_case_and_over_the_ends_of_lines() -> None:
    made = scroll()
    assert made.search("NEEDLE") == 3
    lines = [plain(line) for line in made.lines]
    assert [("needle" in lines[hit].casefold()) for hit in (made.hit(1, -1), made.hit(-1, 99)) if hit is not None]
    assert made.hit(1, 99) == made.hit(1, -1)
    assert made.search("made of old iron") == 1
    assert made.search("nowhere") == 0
    assert made.hit(1, 0) is None
    assert made.search("") == 0


def test_older_pieces_come_above_and_hits_are_counted_anew() -> None:
    made = scroll(ANSWER)
    made.search("needle")
    added = made.put_before(lay_out((PROMPT,), STYLE))
    assert added == 2
    assert plain(made.lines[0]).endswith("Find the needle")
    assert made.found == 2
    assert made.number_of(0) == 1
    made.replace_all([Placed((("no more", "text"),), ANSWER)])
    assert made.found == 0


def test_what_is_found_is_marked_and_nothing_else_changes() -> None:
    line = (("> ", "mark"), ("a Needle, a needle", "text"))
    shown = marked(line, "needle")
    assert plain(shown) == plain(line)
    assert "".join(char for char, role in shown if role == "match") == "Needleneedle"
    assert marked(line, "hay") is line
    assert marked(line, "") is line
