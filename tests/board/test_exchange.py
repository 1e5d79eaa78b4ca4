"""A run's log as its conversation."""

import json

from hypothesis import given
from hypothesis import strategies as st

from agent_board.agents import events as ev
from agent_board.board.model.exchange import (
    Block,
    Kind,
    Logged,
    Standing,
    blocks_of,
    changed_files,
    decoded,
    ended,
    joined,
    without_question,
)
from tests.board.talks import EXCHANGE, QUESTION, log_lines

K, S = Kind, Standing


def fold(*events: ev.Event) -> list[Block]:
    return blocks_of(Logged(event) for event in events)


def test_an_exchange_is_read_in_order() -> None:
    blocks = blocks_of(decoded(log_lines(EXCHANGE)))
    assert [block.kind for block in blocks] == [K.PROMPT, K.ANSWER, K.TOOL, K.TOOL, K.TOOL, K.ANSWER]
    tools = [(b.name, b.text, b.result, b.standing) for b in blocks if b.kind is K.TOOL]
    assert tools == [
        ("read", "src/login.py", "42 lines", S.DONE),
        ("edit", "src/login.py", "1 line changed", S.DONE),
        ("bash", "pytest -q", "2 failed", S.FAILED),
    ]
    assert blocks[0].at is not None


def test_a_tool_runs_until_its_own_end() -> None:
    blocks = fold(ev.ToolStarted("1", "bash", "make"), ev.ToolStarted("2", "read", "a"), ev.ToolEnded("2", "read"))
    assert [block.standing for block in blocks] == [S.RUNNING, S.DONE]
    assert [block.standing for block in ended(blocks)] == [S.LOST, S.DONE]


def test_a_report_takes_the_place_of_its_tool_call() -> None:
    (block,) = fold(
        ev.ToolStarted("1", "report"),
        ev.Reported("blocked", "Nearly done.", "Which one?"),
        ev.ToolEnded("1", "report", result="noted"),
    )
    assert (block.kind, block.name, block.text, block.result) == (K.REPORT, "blocked", "Nearly done.", "Which one?")


def test_retries_are_one_line_and_an_error_is_said_once() -> None:
    tries = [ev.RetryStarted(number, 3, "503 overloaded") for number in (1, 2, 3)]
    blocks = fold(*tries, ev.RetryEnded(ok=True))
    assert [(block.kind, block.standing) for block in blocks] == [(K.RETRY, S.DONE)]
    assert "3 of 3" in blocks[0].text
    blocks = fold(*tries, ev.RetryEnded(False, "503"), ev.AssistantMessage("", "error", "503"))
    assert [block.kind for block in blocks] == [K.RETRY, K.ERROR]


def test_requests_say_what_became_of_them() -> None:
    blocks = fold(
        ev.RequestOpened("1", "permission", "Run rm?", ("Allow", "Deny")),
        ev.RequestClosed("1", denied=True),
        ev.RequestOpened("2", "choice", "Which?", ("a", "b")),
    )
    assert [(block.standing, block.choices) for block in blocks] == [
        (S.FAILED, ("Allow", "Deny")),
        (S.RUNNING, ("a", "b")),
    ]


def test_endings_that_are_no_answer_are_told() -> None:
    kinds = [block.text for block in fold(ev.AssistantMessage("", "length"), ev.AssistantMessage("", "aborted"))]
    assert "limit" in kinds[0]
    assert "interrupted" in kinds[1]


def test_what_agents_write_is_data() -> None:
    """Invariant 9: no control byte gets as far as the screen."""
    nasty = "a\x1b[2Jb\x07\u202ec\r\nd"
    for block in fold(
        ev.PromptAccepted(nasty),
        ev.AssistantMessage(nasty),
        ev.ToolStarted("1", nasty, nasty),
        ev.ToolEnded("1", nasty, result=nasty),
        ev.RequestOpened("2", nasty, nasty, (nasty,)),
        ev.Reported(nasty, nasty, nasty),
        ev.Noticed(nasty),
        ev.RetryStarted(1, 2, nasty),
    ):
        for text in (block.text, block.name, block.result, *block.choices):
            assert all(char.isprintable() or char == "\n" for char in text), block


def test_changed_files_are_those_of_edits_that_worked() -> None:
    blocks = fold(
        ev.ToolStarted("1", "edit", "/src/api/a.py"),
        ev.ToolEnded("1", "edit"),
        ev.ToolStarted("2", "write", "/src/api/b.py"),
        ev.ToolEnded("2", "write", is_error=True),
        ev.ToolStarted("3", "write", "/src/api/c.py"),
        ev.ToolEnded("3", "write"),
        ev.ToolStarted("4", "edit", "/src/api/a.py"),
        ev.ToolEnded("4", "edit"),
        ev.ToolStarted("5", "read", "/src/api/d.py"),
        ev.ToolEnded("5", "read"),
    )
    assert changed_files(blocks, "/src/api") == ["a.py", "c.py"]


def test_the_question_is_cut_off_its_answer() -> None:
    answer = "Two tests disagree.\n\n**Keep the old name,\nor take the new one?**"
    assert without_question(answer, QUESTION) == "Two tests disagree."
    assert without_question(QUESTION, QUESTION) == ""
    assert without_question("Something else.", QUESTION) == "Something else."
    assert without_question("x " * 9000 + "\n\n" + QUESTION, QUESTION) == ("x " * 9000).rstrip()


def test_pieces_join_where_a_tool_call_was_cut() -> None:
    first, second = EXCHANGE[:5], EXCHANGE[5:]
    ends: dict[str, Block] = {}
    later = joined(blocks_of(Logged(event) for event in second), ends)
    assert list(ends) == ["2"]
    earlier = joined(blocks_of(Logged(event) for event in first), ends)
    assert not ends
    assert [(block.name, block.result) for block in earlier if block.key == "2"] == [("edit", "1 line changed")]
    assert all(block.key != "2" for block in later)


@given(st.lists(st.binary(max_size=60) | st.just(log_lines(EXCHANGE)), max_size=5), st.booleans())
def test_any_bytes_are_read(parts: list[bytes], torn: bool) -> None:
    blocks_of(decoded(b"".join(parts), torn=torn))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
        max_leaves=6,
    ),
    st.sampled_from([*ev.EVENTS, "Unknown", 5]),
    st.sampled_from(["text", "choices", "id", "at", "name", "attempt"]),
)
def test_any_line_is_read(value: object, kind: object, key: str) -> None:
    blocks_of(decoded(json.dumps({"type": kind, key: value}).encode()))


def test_a_torn_piece_begins_with_its_second_line() -> None:
    data = log_lines(EXCHANGE)
    assert len(decoded(data[30:], torn=True)) == len(EXCHANGE) - 1
