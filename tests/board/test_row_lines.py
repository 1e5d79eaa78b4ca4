"""A row's line is exactly as wide as the list, whatever stands in it and however narrow it is."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from agent_board.board.model import words
from agent_board.board.model.columns import Look, columns, row_pieces
from agent_board.board.model.glyphs import ASCII, ASCII_ONLY, UNICODE, Glyphs, glyphs_for
from agent_board.board.model.groups import Group
from agent_board.board.model.headings import heading_pieces, more_pieces
from agent_board.board.model.row import row_of
from agent_board.store.files import MISSING, Unreadable
from agent_board.store.load import ViewRecord
from agent_board.store.records import VERSION, Meta, ProcessState, SemanticState, State, Usage
from tests.support.rows import row

SETS = st.sampled_from((UNICODE, ASCII, ASCII_ONLY))
TEXTS = st.one_of(
    st.text(max_size=60),
    st.text(alphabet="面板布局あ🎉👩‍💻é\u0301\u200d\ufe0f\x1b[31m\x07\x9b\u202e\tab ", max_size=40),
)


def line(pieces: list[tuple[str, str]]) -> str:
    return "".join(text for text, _ in pieces)


def record(
    name: str, summary: str, *, cwd: str = "/src/api", state: SemanticState = SemanticState.FAILED
) -> ViewRecord:
    meta = Meta(VERSION, "a1", name, cwd, 1, 1)
    facts = State(VERSION, "a1", SemanticState.FAILED, ProcessState.EXITED, 1, 1, summary=summary, change_seq=1)
    return ViewRecord("a1", meta, facts)


@given(TEXTS, TEXTS, TEXTS, st.integers(20, 200), SETS, st.booleans(), st.sampled_from((None, "stopping")))
def test_every_line_is_exactly_the_width_and_holds_no_control_byte(
    name: str, summary: str, cwd: str, width: int, glyphs: Glyphs, selected: bool, busy: str | None
) -> None:
    """AB-069, fields 40: wide, zero-width and control characters of an agent can neither shift nor steer a line."""
    shown = row_of(record(name, summary, cwd="/" + cwd))
    assert shown is not None
    look = Look(columns(width), glyphs, "59m", selected, busy=busy)
    text = line(row_pieces(shown, look))
    assert cell_len(text) == width
    assert not any(unicodedata.category(char) in ("Cc", "Cf", "Cs") for char in text)
    if glyphs is ASCII_ONLY:
        assert text.isascii()


@given(st.integers(20, 200), SETS, st.text(max_size=40), st.booleans())
def test_headers_are_exactly_the_width(width: int, glyphs: Glyphs, title: str, folded: bool) -> None:
    group = Group(SemanticState.COMPLETED)
    group.folded = folded
    for number in range(20):
        done = row(number)
        group.add(done.order, spare=done.spare, unread=False)
    title = words.fit(title.replace("\n", " "), 8, "~")
    for draw in (heading_pieces, more_pieces):
        assert cell_len(line(draw(group, columns(width), glyphs, selected=True, title=title))) == width


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
def test_signs_are_one_cell_and_never_ambiguous(glyphs: Glyphs) -> None:
    signs = [*(sign for pair in glyphs.states.values() for sign in pair), *glyphs.spinner]
    signs += [glyphs.unreadable, glyphs.cursor, glyphs.unread, glyphs.pinned, glyphs.worktree, glyphs.attached]
    signs += [glyphs.folded, glyphs.ellipsis, glyphs.dot, *glyphs.outside]
    for sign in signs:
        assert len(sign) == cell_len(sign) == 1
        assert unicodedata.east_asian_width(sign) in ("N", "Na"), sign
    states = [*(sign for pair in glyphs.states.values() for sign in pair), *glyphs.outside]
    assert len(set(states)) == len(states) == 2 * len(SemanticState) + 2


@pytest.mark.parametrize(
    ("wish", "encoding", "expected"),
    [
        ("auto", "utf-8", UNICODE),
        ("auto", "UTF8", UNICODE),
        ("ascii", "utf-8", ASCII),
        ("unicode", "iso8859-1", ASCII_ONLY),
        ("auto", "ascii", ASCII_ONLY),
        ("auto", None, ASCII_ONLY),
    ],
)
def test_a_terminal_that_is_not_utf8_gets_ascii(wish: str, encoding: str | None, expected: Glyphs) -> None:
    assert glyphs_for(wish, encoding) is expected


def test_the_name_and_the_age_are_cut_last() -> None:
    shown = row(name="refresh-tokens", summary="Should they live 7 or 30 days?", tokens=12_000)
    narrow = line(row_pieces(shown, Look(columns(24), UNICODE, "3m")))
    wide = line(row_pieces(shown, Look(columns(120), UNICODE, "3m")))
    assert "refresh-tokens" in narrow
    assert narrow.endswith("3m")
    assert "Should" not in narrow
    assert all(part in wide for part in ("refresh-tokens", "api", "Should they live 7 or 30 days?", "12k", "3m"))


def test_grouped_by_project_the_project_gives_its_room_to_the_summary() -> None:
    assert columns(100, with_project=False).summary > columns(100).summary


def test_the_selection_shows_without_colour() -> None:
    shown = row()
    plain = line(row_pieces(shown, Look(columns(80), UNICODE, "3m")))
    chosen = line(row_pieces(shown, Look(columns(80), UNICODE, "3m", selected=True)))
    assert plain != chosen
    assert chosen.startswith(UNICODE.cursor)


def test_marks_are_said_in_signs_and_the_serious_ones_in_words() -> None:
    shown = row(pinned=True, worktree=True, attached=True, silent_since=1, held=2, unread=True, summary="Editing a.py")
    text = line(row_pieces(shown, Look(columns(120), UNICODE, "3m", silence="6m")))
    for sign in (UNICODE.pinned, UNICODE.worktree, UNICODE.attached, UNICODE.unread):
        assert sign in text
    assert "no event for 6m" in text
    assert "2 replies held" in text


@pytest.mark.parametrize(
    ("ms", "said"),
    [
        (-5_000, "now"), (0, "now"), (9_999, "now"), (10_000, "10s"), (59_000, "50s"), (60_000, "1m"),
        (3_599_000, "59m"), (3_600_000, "1h"), (86_399_000, "23h"), (86_400_000, "1d"), (999 * 86_400_000, "999d"),
        (2000 * 86_400_000, "5y"),
    ],
)  # fmt: skip
def test_ages(ms: int, said: str) -> None:
    """AB-069."""
    assert words.age(ms) == said


@given(st.integers(0, 10**15))
def test_tokens_fit_their_column(count: int) -> None:
    assert len(words.tokens(count)) <= 4


@given(st.floats(0, 1e9))
def test_money_fits_its_column(dollars: float) -> None:
    assert len(words.money(dollars)) <= 6


def test_what_is_not_reported_is_blank_not_zero() -> None:
    assert words.tokens(None) == words.money(None) == ""
    shown = row_of(record("a", "b"))
    assert shown is not None
    assert shown.tokens is None
    assert shown.cost is None


def test_tokens_are_all_that_was_read_and_written() -> None:
    seen = record("a", "b")
    assert isinstance(seen.state, State)
    seen.state.usage = Usage(input=10, output=5, cache_read=100, cost_usd=0.5)
    shown = row_of(seen)
    assert shown is not None
    assert (shown.tokens, shown.cost) == (115, 0.5)


def test_a_row_is_found_by_its_prompt_and_its_branch() -> None:
    """Fields 50."""
    seen = record("a", "b")
    assert isinstance(seen.state, State)
    assert isinstance(seen.meta, Meta)
    seen.state.prompt_preview = "Please mend the Parser"
    seen.meta.branch = "agent/parser"
    shown = row_of(seen)
    assert shown is not None
    assert "mend the parser" in shown.haystack
    assert "agent/parser" in shown.haystack


def test_an_unreadable_view_is_a_row_that_says_so() -> None:
    meta = Meta(VERSION, "a1", "known", "/src/api", 1, 1)
    for seen in (
        ViewRecord("a1", Unreadable("is torn or not JSON"), MISSING),
        ViewRecord("a1", meta, Unreadable("is torn or not JSON")),
    ):
        shown = row_of(seen)
        assert shown is not None
        assert shown.standing == "unreadable"
        assert "is torn or not JSON" in shown.summary
        assert not shown.claims_process


def test_an_archived_view_has_no_row() -> None:
    meta = Meta(VERSION, "a1", "old", "/src/api", 1, 1, archived_at=5)
    assert row_of(ViewRecord("a1", meta, MISSING)) is None
