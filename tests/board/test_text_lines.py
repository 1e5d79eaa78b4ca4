"""Wrapping, markdown and the layout of a conversation: never too wide, nothing lost, nothing interpreted."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_board.board.model.conversation import Style, conversation_lines, question_lines
from agent_board.board.model.exchange import Block, Kind, Standing, blocks_of, decoded
from agent_board.board.model.glyphs import ASCII_ONLY, UNICODE
from agent_board.board.model.markdown import markdown_lines, tail_of
from agent_board.board.model.wrapping import Line, cells, chop, plain, wrap_text
from tests.board.talks import EXCHANGE, log_lines

WORDS = st.text(st.sampled_from("ab 面板🎉\n-*`_[]()#>|1.~<&!\\é"), max_size=120)
WIDTHS = st.integers(1, 40)


def seen(text: str) -> str:
    """All that is not blank."""
    return re.sub(r"\s", "", text)


def texts(lines: list[Line]) -> str:
    return "\n".join(map(plain, lines))


@given(WORDS, WIDTHS, st.sampled_from(["", "> ", "面 "]), st.sampled_from(["", "  "]))
@example("   面", 1, "", "")
def test_wrapped_lines_fit_and_lose_nothing(text: str, width: int, first: str, rest: str) -> None:
    lines = wrap_text(text, "text", width, [(first, "mark")] if first else [], [(rest, "mark")] if rest else [])
    assert all(cells(line) <= width for line in lines)
    if width > 6:
        assert seen(texts(lines)) == seen(first + text)


@given(WORDS, WIDTHS)
def test_chopped_lines_fit_and_lose_nothing(text: str, width: int) -> None:
    lines = chop(text, "code", width)
    assert all(cells(line) <= width for line in lines)
    if width > 1:
        assert "".join(map(plain, lines)) == text.replace("\n", "")


def test_lines_break_between_words() -> None:
    assert texts(wrap_text("one two three", "text", 8, [("> ", "m")], [("  ", "m")])) == "> one\n  two\n  three"
    assert texts(wrap_text("面板布局", "text", 5)) == "面板\n布局"


@given(WORDS, st.integers(4, 40))
def test_any_markdown_is_drawn_within_its_width(text: str, width: int) -> None:
    assert all(cells(line) <= width for line in markdown_lines(text, width))


@pytest.mark.parametrize("piece", ["*", "[", "> ", "- ", "`", "*a_", "![[", "<a ", "|", "[a](b", "_a__", "1. "])
def test_hostile_markdown_is_drawn_too(piece: str) -> None:
    text = (piece * 4096)[:4096]
    lines = markdown_lines(text, 40)
    assert lines
    assert all(cells(line) <= 40 for line in lines)


def test_markdown_is_drawn_as_people_read_it() -> None:
    text = (
        "# Title\nSome **bold** `code` and [a page](http://x.y)\nnext line\n\n- one\n- two\n  1. deep\n\n> said\n\n"
        "```py\nif x:\n    go()\n```\n\n| a | b |\n|---|---|\n| 1 | 22 |\n"
    )
    lines = markdown_lines(text, 60)
    assert texts(lines).split("\n") == [
        "Title",
        "",
        "Some bold code and a page (http://x.y)",
        "next line",
        "",
        "- one",
        "- two",
        "  1. deep",
        "",
        "> said",
        "",
        "  if x:",
        "      go()",
        "",
        "a  b",
        "1  22",
    ]
    roles = {piece: role for line in lines for piece, role in line}
    assert (roles["Title"], roles["bold"], roles["code"]) == ("heading", "bold", "code")


def test_html_and_deep_nesting_are_text() -> None:
    assert "<script>x</script>" in texts(markdown_lines("<script>x</script>", 40))
    assert "secret" in texts(markdown_lines("> " * 90 + "secret", 200))
    assert "[/foo] list[int]" in texts(markdown_lines("fix [/foo] list[int]", 40))


def test_the_end_of_a_long_text_keeps_its_fences() -> None:
    text = "start\n\n" + "```\n" + "code line\n" * 400 + "```\n\nThe end."
    kept, cut = tail_of(text, 1000)
    assert cut
    assert kept.startswith("```\n")
    assert kept.endswith("The end.")
    assert tail_of("short", 1000) == ("short", False)


def blocks() -> list[Block]:
    return blocks_of(decoded(log_lines(EXCHANGE)))


def test_a_tool_is_one_line_with_name_target_and_result() -> None:
    lines = [plain(placed.line) for placed in conversation_lines(blocks(), Style(60, UNICODE))]
    tools = [line for line in lines if "src/login.py" in line or "pytest" in line]
    assert tools == [
        "⋅ read src/login.py  42 lines",
        "⋅ edit src/login.py  1 line changed",
        "✗ bash pytest -q  2 failed",
    ]
    assert lines[lines.index(tools[0]) + 1] == tools[1]


@given(
    st.lists(
        st.builds(
            Block,
            st.sampled_from(Kind),
            WORDS,
            WORDS.map(lambda t: t.replace("\n", " ")),
            WORDS.map(lambda t: t.replace("\n", " ")),
            st.sampled_from(Standing),
        ),
        max_size=6,
    ),
    st.integers(16, 60),
    st.booleans(),
    st.sampled_from([UNICODE, ASCII_ONLY]),
)
def test_any_conversation_fits(parts: list[Block], width: int, markdown: bool, glyphs: object) -> None:
    style = Style(width, glyphs, markdown=markdown, prompt_lines=2, tools=2)  # type: ignore[arg-type]
    parts = [
        Block(b.kind, b.text.replace("\n", " ") if b.kind is Kind.TOOL else b.text, b.name, b.result, b.standing)
        for b in parts
    ]
    for placed in conversation_lines(parts, style):
        assert cells(placed.line) <= width
        assert -1 <= placed.block < len(parts)
        if glyphs is ASCII_ONLY:
            assert plain(placed.line).isascii()


def test_long_prompts_and_many_tools_are_counted_not_shown() -> None:
    many = [Block(Kind.PROMPT, "\n".join(f"line {n}" for n in range(20)))]
    many += [Block(Kind.TOOL, f"file{n}", name="read") for n in range(30)]
    text = texts([placed.line for placed in conversation_lines(many, Style(60, UNICODE, prompt_lines=6, tools=12))])
    assert "14 more lines" in text
    assert "18 earlier tool calls" in text
    assert "file29" in text
    assert "file17" not in text


def test_choices_are_numbered_and_only_the_marked_one_is_marked() -> None:
    style = Style(40, UNICODE)
    lines = texts(question_lines("Which one?", ("old", "new"), None, style))
    assert "1 old" in lines
    assert "2 new" in lines
    assert UNICODE.cursor not in lines
    marked = texts(question_lines("Which one?", ("old", "new"), 1, style)).split("\n")
    assert [line for line in marked if UNICODE.cursor in line] == [f"  {UNICODE.cursor}2 new"]
