"""The board's own call: once for each transition, by one board, not for what is looked at."""

from pathlib import Path

import pytest

from agent_board.board.bell import Bell, form_for, sequence
from agent_board.board.model.attention import looks, sentence, worth_telling
from agent_board.store import plain
from agent_board.store.paths import StorePaths
from agent_board.store.records import Meta, SemanticState
from tests.board.conftest import Running, Starter
from tests.board.test_attach import settings
from tests.conftest import StartBoard
from tests.runs.views import start as start_task
from tests.support.fakestore import change_state, make_view
from tests.support.rows import row

S = SemanticState


def test_a_transition_is_told_once_and_polls_are_not() -> None:
    """FIELD-FAULTS 49."""
    before = {"v01": row(1, S.WORKING, change_seq=0)}
    now = {"v01": row(1, S.NEEDS_INPUT, change_seq=1)}
    assert worth_telling(now, before) == [now["v01"]]
    for _ in range(3):
        assert worth_telling(now, now) == []


@pytest.mark.parametrize("state", [S.STOPPED, S.IDLE, S.WORKING, S.QUEUED])
def test_other_states_are_not_worth_a_bell(state: SemanticState) -> None:
    assert worth_telling({"v01": row(1, state, change_seq=1)}, {"v01": row(1, S.WORKING)}) == []


def test_a_verdict_a_new_row_and_one_that_is_gone_are_silent() -> None:
    old, done = row(1, S.FAILED, change_seq=1), row(1, S.COMPLETED, change_seq=1)
    assert worth_telling({"v01": done}, {"v01": old}) == []
    assert worth_telling({"v01": done}, {}) == []
    assert worth_telling({"v01": None}, {"v01": old}) == []


def test_what_is_said() -> None:
    asks, failed, done = row(1, S.NEEDS_INPUT), row(2, S.FAILED), row(3, S.COMPLETED)
    assert sentence([asks]) == "task-1 needs you"
    assert sentence([asks, failed, done, done]) == "1 needs you, 1 failed, 2 are done"


def test_who_looks() -> None:
    assert looks(focused=True, tells=True, since_key_s=1e9)
    assert looks(focused=True, tells=False, since_key_s=1.0)
    assert not looks(focused=True, tells=False, since_key_s=1e9)
    assert not looks(focused=False, tells=True, since_key_s=0.0)


SSH = {"SSH_TTY": "/dev/pts/1"}


@pytest.mark.parametrize(
    ("setting", "environ", "form"),
    [
        ("auto", {}, "bell"),
        ("auto", {"TERM": "xterm-kitty"}, "bell"),
        ("auto", SSH, "bell"),
        ("auto", SSH | {"TERM": "xterm-kitty"}, "osc9"),
        ("auto", SSH | {"LC_TERMINAL": "iTerm2"}, "osc9"),
        ("auto", SSH | {"TERM": "foot"}, "osc777"),
        ("osc9", {}, "osc9"),
        ("off", SSH | {"TERM": "foot"}, "off"),
    ],
)
def test_which_form(setting: str, environ: dict[str, str], form: str) -> None:
    assert form_for(setting, environ) == form


def test_a_name_can_not_break_out_of_the_sequence() -> None:
    """Invariant 9."""
    said = sequence("osc777", "a;b\x07\x1b]0;evil\x07", {})
    assert said.count("\x1b") == 1
    assert said.count("\x07") == 1
    assert said == "\x1b]777;notify;agent-board;a,b ]0,evil\x07"


def test_inside_tmux_it_goes_through_and_rings_as_well() -> None:
    said = sequence("osc9", "x needs you", {"TMUX": "/tmp/tmux"})
    assert said == "\x07\x1bPtmux;\x1b\x1b]9;agent-board: x needs you\x07\x1b\\"
    assert sequence("bell", "x", {"TMUX": "/tmp/tmux"}) == "\x07"
    assert sequence("off", "x", {}) == ""


def test_one_board_of_several_rings_and_the_next_takes_over(store: StorePaths) -> None:
    first, second = (Bell(store, "bell", lambda _: None, {}) for _ in range(2))
    assert first.ring("a")
    assert not second.ring("a")
    assert first.ring("b")
    first.rest()
    assert second.ring("c")
    assert not first.ring("c")
    second.rest()


def test_off_is_off_and_leaves_the_bell_to_others(store: StorePaths) -> None:
    heard: list[str] = []
    assert not Bell(store, "off", heard.append, {}).ring("a")
    other = Bell(store, "bell", heard.append, {})
    assert other.ring("a")
    other.rest()


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What boards have rung for."""
    told: list[str] = []

    def ring(_: Bell, text: str) -> bool:
        told.append(text)
        return True

    monkeypatch.setattr(Bell, "ring", ring)
    return told


async def _settle(board: Running, start: Starter, **fields: object) -> None:
    facts = {"semanticState": "completed", "processState": "exited", "summary": "All green", "changeSeq": 1}
    change_state(start.paths, "a", **(facts | fields))
    await board.until(lambda: "COMPLETED 1" in board.text(), "the change")


async def test_a_row_that_is_done_rings_when_nobody_looks(start: Starter, rung: list[str]) -> None:
    make_view(start.paths, "a", name="alpha", state=S.WORKING)
    async with start() as board:
        await _settle(board, start)
        assert rung == ["alpha is done"]
        change_state(start.paths, "a", summary="Still all green")
        await board.until(lambda: "Still all green" in board.text(), "another change")
        assert rung == ["alpha is done"]


async def test_a_row_in_view_does_not_ring_while_the_user_looks(start: Starter, rung: list[str]) -> None:
    make_view(start.paths, "a", name="alpha", state=S.WORKING)
    async with start() as board:
        await board.pilot.press("j")
        await _settle(board, start)
        assert rung == []


def test_one_board_of_two_calls_and_only_once(
    store: StorePaths, project: Path, home: Path, board: StartBoard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """UX 5, in real terminals: the sequence arrives once, and the next board takes over when the first has left."""
    monkeypatch.setenv("AGENT_BOARD_DEMO_SPEED", "100")
    settings(home, 'bell = "osc9"\n')
    boards = [board(), board()]
    tasks = []
    for number in (1, 2):
        (project / f"{number}").mkdir()
        script = f"say Begun.; until {project}/go-{number}; say Finished."
        tasks.append(start_task(store, project / f"{number}", script))
    calls = [f"]9;agent-board: {names(store, task.view_id)} is done".encode() for task in tasks]
    for terminal in boards:
        terminal.wait_for("WORKING 2")
    heard = []
    for number, call in enumerate(calls, 1):
        (project / f"go-{number}").touch()
        for terminal in boards:
            terminal.wait_for(f"COMPLETED {number}")
        heard.append([terminal.written.count(call) for terminal in boards])
        if number == 1:
            boards.pop(heard[0].index(1)).close()
    assert sorted(heard[0]) == [0, 1]
    assert heard[1] == [1]


def names(store: StorePaths, view_id: str) -> str:
    meta = plain.read_or_none(Meta, store.view(view_id).meta)
    assert meta is not None
    return meta.name
