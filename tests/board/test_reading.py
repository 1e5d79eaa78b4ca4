"""What peek and the transcript read from a store: the ends of logs, whatever their size and condition."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent_board.agents import events as ev
from agent_board.board.evidence import gather
from agent_board.board.history import PIECE_BYTES, History
from agent_board.board.model.exchange import Block, Kind, Standing
from agent_board.board.model.peeked import LONGEST_ANSWER, Peeked
from agent_board.board.reading import TAIL_BYTES, last_prompt, read_peek
from agent_board.errors import BoardError
from agent_board.store import plain
from agent_board.store.paths import StorePaths
from agent_board.store.records import Evidence, Meta, SemanticState, encode
from tests.board.talks import EXCHANGE, QUESTION, log_lines, make_run, make_waiting
from tests.support.fakestore import make_view, write

S = SemanticState


def peek(store: StorePaths, view_id: str = "a") -> Peeked:
    found = read_peek(store, view_id)
    assert found is not None
    return found


def texts(blocks: "list[Block] | tuple[Block, ...]") -> list[str]:
    return [block.text for block in blocks]


def test_the_question_stands_by_itself(store: StorePaths) -> None:
    """AB-024, AB-071."""
    make_view(store, "a", state=S.NEEDS_INPUT, summary=QUESTION, reason="question", choices=["old", "new"])
    make_run(store, "a")
    found = peek(store)
    assert found.question == QUESTION
    assert found.choices == ("old", "new")
    assert texts(found.blocks)[-1] == "Two tests disagree."
    assert found.changed == ("src/login.py",)
    assert "asking for a decision" in found.why
    assert found.fate.sentence == "sends at once"
    facts = [fact for group in found.facts for fact in group]
    assert {"pi", "model-1", "took 12s", "session 0199abcd", "task a"} <= set(facts)


def test_the_error_is_the_last_word_and_said_once(store: StorePaths) -> None:
    make_view(store, "a", state=S.FAILED, summary="429: quota exhausted", reason="error")
    make_run(store, "a", [EXCHANGE[0], ev.AssistantMessage("", "error", "429: quota exhausted")])
    assert [(block.kind, block.text) for block in peek(store).blocks][1:] == [(Kind.ERROR, "429: quota exhausted")]


def test_a_run_at_work_is_shown_live(store: StorePaths) -> None:
    make_view(store, "a", state=S.WORKING, reason="activity")
    evidence = Evidence(streaming=True)
    make_run(store, "a", EXCHANGE[:3], alive=True, evidence=evidence, latest_assistant_preview="and now I am going to")
    found = peek(store)
    assert [block.standing for block in found.blocks if block.kind is Kind.TOOL] == [Standing.RUNNING]
    assert found.blocks[-1].live
    assert found.fate.sentence == "waits until the run has ended"


@pytest.mark.parametrize(
    ("state", "more", "sentence"),
    [
        (S.WORKING, {"alive": True}, "waits until the run has ended"),
        (S.QUEUED, {}, "waits until the run has ended"),
        (S.NEEDS_INPUT, {"alive": True}, "held: it asks you something first"),
        (S.NEEDS_INPUT, {}, "sends at once"),
        (S.WORKING, {"alive": True, "reason": "orphan"}, "waits: it runs on without its runner"),
    ],
)
def test_the_input_says_beforehand_what_will_happen(
    store: StorePaths, state: SemanticState, more: dict[str, object], sentence: str
) -> None:
    make_view(store, "a", state=state, **more)  # type: ignore[arg-type]
    make_run(store, "a", alive=bool(more.get("alive")))
    assert peek(store).fate.sentence == sentence


def test_what_waits_is_listed_and_stays_held(store: StorePaths) -> None:
    make_view(store, "a", state=S.NEEDS_INPUT)
    make_run(store, "a")
    make_waiting(store, "a", "one", "two")
    found = peek(store)
    assert [(item.text, item.state) for item in found.waiting] == [("one", "held"), ("two", "held")]
    assert found.fate.sentence == "sends at once; 2 replies stay held"


def test_before_the_log_begins_the_prompt_comes_from_its_file(store: StorePaths) -> None:
    make_view(store, "a", state=S.QUEUED)
    make_run(store, "a", log=b"", prompt="Do it\nwell")
    assert [(block.kind, block.text) for block in peek(store).blocks] == [(Kind.PROMPT, "Do it\nwell")]


def test_an_earlier_run_is_shown_while_the_last_one_is_short(store: StorePaths) -> None:
    make_view(store, "a", current_run_id="0002-b")
    make_run(store, "a", run_id="0001-a")
    make_run(store, "a", [ev.PromptAccepted("Go on."), ev.AssistantMessage("Gone on.")], run_id="0002-b")
    found = texts(peek(store).blocks)
    assert found[0] == "Fix the login page, please."
    assert found[-2:] == ["Go on.", "Gone on."]


def test_a_huge_log_is_read_from_its_end_only(store: StorePaths) -> None:
    make_view(store, "a")
    filler = [ev.AssistantMessage(f"step {number} " + "x" * 900) for number in range(5000)]
    make_run(store, "a", log=log_lines([*EXCHANGE[:1], *filler, ev.AssistantMessage("The end.")]))
    found = peek(store)
    assert found.earlier
    assert found.blocks[0].kind is Kind.PROMPT
    assert texts(found.blocks)[-1] == "The end."
    assert sum(len(text) for text in texts(found.blocks)) <= TAIL_BYTES


def test_one_line_longer_than_the_tail_is_told_by_the_status(store: StorePaths) -> None:
    make_view(store, "a")
    long = ev.AssistantMessage("word " * 40_000 + "and the end of it.")
    evidence = Evidence(last_text="… and the end of it.", exited=True)
    make_run(store, "a", [EXCHANGE[0], long], evidence=evidence)
    assert texts(peek(store).blocks)[-1].endswith("and the end of it.")


def test_of_a_long_answer_the_end_is_shown(store: StorePaths) -> None:
    make_view(store, "a")
    make_run(store, "a", [EXCHANGE[0], ev.AssistantMessage("word " * 5_000 + "\n\nThe end.")])
    last = texts(peek(store).blocks)[-1]
    assert len(last) < LONGEST_ANSWER + 10
    assert last.startswith("…")
    assert last.endswith("The end.")


def test_torn_and_missing_files_are_no_obstacle(store: StorePaths) -> None:
    make_view(store, "a")
    assert peek(store).blocks == ()
    make_run(store, "a", log=b'{"type": "AssistantMess\nnot json\n\xff\xfe\n')
    Path(store.view("a").run("ra").status).write_bytes(b"{")
    assert peek(store).blocks[0].kind is Kind.PROMPT
    Path(store.view("a").state).write_bytes(b'{"version"')
    assert "can't be read" in peek(store).problem
    assert read_peek(store, "nobody") is None


def test_the_draft_comes_along(store: StorePaths) -> None:
    make_view(store, "a")
    Path(store.view("a").draft).write_text("half a")
    assert peek(store).draft == "half a"


def test_the_last_prompt_is_exact_and_never_an_attach(store: StorePaths) -> None:
    make_view(store, "a")
    with pytest.raises(BoardError, match="no prompt"):
        last_prompt(store, "a")
    make_run(store, "a", run_id="0001-a", prompt="line\r\n\ttab \u2028 end\n")
    make_run(store, "a", run_id="0002-b", kind="attach", prompt="")
    assert last_prompt(store, "a") == "line\r\n\ttab \u2028 end\n"


def test_an_adopted_session_is_shown_from_its_transcript(store: StorePaths, tmp_path: Path) -> None:
    session = tmp_path / "session.jsonl"
    lines = ['{"type":"prompt","text":"Before the board"}', '{"type":"answer","text":"Yes.","stop":"stop"}']
    session.write_text("\n".join(lines) + "\n")
    make_view(store, "a", state=S.IDLE, agent="demo")
    meta = plain.read_or_none(Meta, store.view("a").meta)
    assert meta is not None
    write(store.view("a").meta, encode(replace(meta, session_file=str(session))))
    assert texts(peek(store).blocks) == ["Before the board", "Yes."]
    history = History(store, "a")
    piece = history.before()
    assert piece is not None
    assert texts(piece.blocks) == ["Before the board", "Yes."]
    assert history.before() is None


# -- the whole conversation


def everything(store: StorePaths) -> list[Block]:
    history, blocks = History(store, "a"), list[Block]()
    while (piece := history.before()) is not None:
        blocks[:0] = piece.blocks
    return blocks


def test_all_runs_are_one_conversation_oldest_first(store: StorePaths) -> None:
    make_view(store, "a")
    make_run(store, "a", run_id="0001-a")
    make_run(store, "a", [ev.PromptAccepted("Go on."), ev.AssistantMessage("Gone on.")], run_id="0002-b")
    make_run(store, "a", log=b"", run_id="0003-c", prompt="Not yet taken")
    found = texts(everything(store))
    assert found[0] == "Fix the login page, please."
    assert found[-3:] == ["Go on.", "Gone on.", "Not yet taken"]


def test_pieces_lose_and_double_nothing(store: StorePaths) -> None:
    make_view(store, "a")
    steps: list[ev.Event] = [EXCHANGE[0]]
    for number in range(4000):
        steps += [ev.ToolStarted(str(number), "read", f"file{number}" + "y" * (number % 90))]
        steps += [ev.ToolEnded(str(number), "read", result=f"{number} lines")]
    steps.append(ev.AssistantMessage("z" * (PIECE_BYTES + 5000)))
    steps.append(ev.AssistantMessage("The end."))
    make_run(store, "a", log=log_lines(steps))
    blocks = everything(store)
    tools = [block for block in blocks if block.kind is Kind.TOOL]
    assert [tool.result for tool in tools] == [f"{number} lines" for number in range(4000)]
    assert all(tool.text and tool.standing is Standing.DONE for tool in tools)
    assert [block.kind for block in blocks if block.kind is not Kind.TOOL] == [Kind.PROMPT, Kind.ANSWER, Kind.ANSWER]


def test_the_end_of_ten_megabytes_is_there_at_once(store: StorePaths) -> None:
    make_view(store, "a")
    make_run(store, "a", log=log_lines([ev.AssistantMessage(f"{n} " + "x" * 1000) for n in range(10_000)]))
    piece = History(store, "a").before()
    assert piece is not None
    assert piece.blocks[-1].text.startswith("9999 ")
    assert piece.size <= PIECE_BYTES


def test_a_dropped_part_is_said(store: StorePaths) -> None:
    make_view(store, "a")
    make_run(store, "a", log=log_lines(EXCHANGE[:2]))
    Path(store.view("a").run("ra").events + ".4").write_bytes(log_lines([ev.AssistantMessage("Much later.")]))
    found = everything(store)
    assert [block.kind for block in found] == [Kind.PROMPT, Kind.ANSWER, Kind.NOTICE, Kind.ANSWER]
    assert "dropped" in found[2].text


def test_a_conversation_that_goes_on_is_noticed(store: StorePaths) -> None:
    make_view(store, "a")
    make_run(store, "a")
    history = History(store, "a")
    history.before()
    assert not history.changed()
    with Path(store.view("a").run("ra").events).open("ab") as file:
        file.write(log_lines([ev.AssistantMessage("More.")]))
    assert history.changed()
    assert not history.changed()


# -- why


def test_why_names_rule_evidence_processes_files_and_errors(store: StorePaths) -> None:
    make_view(store, "a", state=S.FAILED, summary="It broke", reason="exit")
    make_run(store, "a")
    Path(store.view("a").run("ra").stderr).write_bytes(b"Traceback\n\x1b[31mred\x1b[0m boom\n")
    sections = {section.title: "\n".join(section.lines) for section in gather(store, "a")}
    assert "Rule “exit”" in sections["Why"]
    assert "Evidence of run ra" in sections["Why"]
    assert "runner: none is recorded" in sections["Processes"]
    assert "events" in sections["Files"]
    assert "boom" in sections["Last words on its error output"]
    assert "\x1b" not in "".join(sections.values())
    Path(store.view("a").state).write_bytes(b"{")
    assert "can't be read" in gather(store, "a")[0].lines[0]
    assert gather(store, "nobody") == []
