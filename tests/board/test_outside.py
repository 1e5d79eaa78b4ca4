"""The group “elsewhere”: sessions outside the board, shown as what they are, adopted when they have ended."""

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agent_board.agents.running import Doing, RunningSession
from agent_board.board.model.groups import ELSEWHERE
from agent_board.board.model.index import Entry, Kind
from agent_board.board.model.outside import Around, Outsiders
from agent_board.board.screens import outside
from agent_board.errors import BoardError
from agent_board.runs.elsewhere import Found
from agent_board.store.records import SemanticState
from tests.board.conftest import FakeActs, Running, Starter
from tests.runs.test_adopt import pi_session
from tests.support.fakestore import NOW_MS, make_view
from tests.support.terminal import Terminal

S = SemanticState
CLAUDE = RunningSession(
    agent="claude",
    pid=123,
    cwd="/src/web",
    started_at=NOW_MS - 180_000,
    session_id="c-1",
    session_file="/sessions/c-1.jsonl",
    title="Tidy the\x1b[31m docs",
    doing=Doing.WAITING,
    detail="permission prompt",
)
PI = RunningSession(agent="pi", pid=456, cwd="/src/api", started_at=NOW_MS - 60_000, doing=Doing.WORKING)
TITLES = {"claude": "Claude Code", "pi": "Pi"}


def around(*sessions: RunningSession, failed: str = "", ours: frozenset[str] = frozenset()) -> Around:
    found = Found(sessions, {failed: "it did not answer"} if failed else {}, ours)
    return Around(found, {one.cwd: one.cwd for one in sessions}, TITLES)


# -- what is known of them


def seen(*looks: Around) -> Outsiders:
    outsiders = Outsiders()
    for number, each in enumerate(looks):
        outsiders.look(each, NOW_MS + number * 1000)
    return outsiders


def told(outsiders: Outsiders) -> dict[int, str]:
    return {row.outside.session.pid: row.summary for row in outsiders.rows().values() if row.outside}


def test_a_row_says_whose_it_is_and_what_it_is_at() -> None:
    rows = seen(around(CLAUDE, PI, replace(PI, pid=7, doing=Doing.UNKNOWN))).rows()
    assert [(row.name, row.project, row.summary) for row in rows.values()] == [
        ("Tidy the [31m docs", "web", "Claude Code: waiting for you (permission prompt)"),
        ("api", "api", "Pi: working"),
        ("api", "api", "Pi: running, which session is not known"),
    ]
    assert all(row.standing == ELSEWHERE and not row.claims_process and not row.spare for row in rows.values())


def test_what_has_ended_stays_and_says_so_once() -> None:
    outsiders = seen(around(CLAUDE), around(), around())
    (row,) = outsiders.rows().values()
    assert (row.summary, row.since, row.alive) == ("Claude Code: ended, adoptable", NOW_MS + 1000, False)


def test_of_an_agent_that_does_not_answer_nothing_has_ended() -> None:
    assert told(seen(around(CLAUDE, PI), around(PI, failed="claude"))) == {
        123: "Claude Code: waiting for you (permission prompt)",
        456: "Pi: working",
    }


def test_what_has_ended_goes_when_there_is_nothing_to_adopt_or_it_is_there_again() -> None:
    assert told(seen(around(PI), around())) == {}
    assert told(seen(around(CLAUDE), around(ours=frozenset({"c-1"})))) == {}
    assert told(seen(around(CLAUDE), around(), around(ours=frozenset({"/sessions/c-1.jsonl"})))) == {}
    again = replace(CLAUDE, pid=124, doing=Doing.IDLE, detail="")
    assert told(seen(around(CLAUDE), around(), around(again))) == {124: "Claude Code: idle"}


def test_what_was_proven_once_is_kept_and_nothing_moves() -> None:
    known = replace(PI, session_file="/s/1.jsonl", session_id="p-1", title="Add tests")
    unsure = replace(PI, may_have=("/s/1.jsonl", "/s/2.jsonl"), started_at=PI.started_at + 1, doing=Doing.UNKNOWN)
    (row,) = seen(around(known), around(unsure)).rows().values()
    assert (row.name, row.created_at, row.summary) == ("Add tests", PI.started_at, "Pi: running")
    assert row.outside is not None
    assert row.outside.files == ("/s/1.jsonl",)
    (row,) = seen(around(unsure)).rows().values()
    assert row.summary == "Pi: running, which session is not known"


# -- on the board


class Machine:
    """What runs on it, for the boards of a test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sessions: list[RunningSession] = []
        self.failure = ""
        self.looks = 0
        self.slow: threading.Event | None = None
        monkeypatch.setattr(FakeActs, "elsewhere", lambda _: self.look())
        monkeypatch.setattr(outside, "LOOK_S", 0.05)

    def look(self) -> Around:
        self.looks += 1
        if self.slow is not None:
            assert self.slow.wait(20)
        if self.failure:
            raise BoardError(self.failure)
        return around(*self.sessions)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch)


async def opened(board: Running) -> None:
    """The group at the end, unfolded, the cursor on its first row."""
    await board.until(lambda: ELSEWHERE in {group.key for group in board.screen.listing.index.groups()}, "the group")
    await board.pilot.press("G", "space")
    await board.until(lambda: (board.selected or "").startswith("elsewhere-"), "a row of it")


async def test_it_is_off_until_it_is_wanted_and_then_remembered(start: Starter, machine: Machine) -> None:
    machine.sessions = [CLAUDE, PI]
    make_view(start.paths, "a", name="alpha", state=S.FAILED)
    async with start() as board:
        await board.pilot.pause()
        assert machine.looks == 0
        await board.app.run_action("act('elsewhere')", board.screen)
        await board.until(lambda: "▸ ELSEWHERE 2" in board.text(), "the folded group")
        assert "2 sessions run elsewhere: the group at the end." in board.toasts()
        memory = Path(start.paths.root) / "board.json"
        await board.until(lambda: json.loads(memory.read_text()).get("elsewhere") == "shown", "the memory")
    async with start() as board:
        await board.until(lambda: "▸ ELSEWHERE 2" in board.text(), "the group")
        await board.app.run_action("act('elsewhere')", board.screen)
        await board.until(lambda: "ELSEWHERE" not in board.text(), "the list without it")
        await board.until(lambda: not board.screen._looking, "the end of the last look")
        before = machine.looks
        await board.pilot.pause(0.2)
        assert machine.looks == before


async def test_the_rows_are_last_and_counted_nowhere(start: Starter, machine: Machine) -> None:
    machine.sessions = [CLAUDE, PI]
    make_view(start.paths, "a", name="alpha", state=S.STOPPED)
    async with start((120, 30), elsewhere=True) as board:
        await opened(board)
        header = board.lines()[0]
        assert "1 stopped" in header
        assert "elsewhere" not in header
        lines = [line for line in board.lines() if "Tidy the [31m docs" in line]
        assert "⧫" in lines[0]
        assert "Claude Code: waiting for you (permission prompt)" in lines[0]
        assert lines[0].rstrip().endswith("3m")
        assert board.text().index("STOPPED 1") < board.text().index("ELSEWHERE 2")
        await board.pilot.press("t")
        await board.until(lambda: "STOPPED" not in board.text(), "the other grouping")
        assert board.text().index("alpha") < board.text().index("ELSEWHERE 2") < board.text().index("Tidy the")
        assert board.screen.listing.working() == 0
        assert "/src/web" not in board.screen.listing.recent_directories()


async def test_acts_on_one_say_why_not(start: Starter, machine: Machine) -> None:
    machine.sessions = [CLAUDE]
    make_view(start.paths, "a", name="alpha", state=S.FAILED)
    why = "Tidy the [31m docs runs outside the board (pid 123); adopt it when it has ended."
    async with start((120, 30), elsewhere=True) as board:
        await opened(board)
        for key in ("enter", "r", "s", "d", "x", "p", "e", "R", "h", "v", "f", "M", "exclamation_mark", "m", "y", "o"):
            board.app.clear_notifications()
            await board.pilot.press(key)
            await board.until(lambda: board.toasts() == [why], f"why {key} does nothing")
        assert "attach" not in board.lines()[-1]
        await board.pilot.press("g")
        await board.app.run_action("act('adopt')", board.screen)
        await board.until(lambda: "alpha is on the board already." in board.toasts(), "why not")


async def test_peek_shows_what_is_known_and_takes_no_reply(
    start: Starter, machine: Machine, project: Path, tmp_path: Path
) -> None:
    path = pi_session(tmp_path / "mine.jsonl", project)
    machine.sessions = [replace(PI, session_file=str(path), title="Why is it flaky?", cwd=str(project))]
    make_view(start.paths, "a", name="alpha", state=S.FAILED)
    async with start((120, 30), elsewhere=True) as board:
        await opened(board)
        await board.pilot.press("space")
        await board.until(lambda: "pid 456" in board.text(), "the facts")
        assert "Runs outside the board; adopt it when it has ended." in board.text()
        assert "mine.jsonl" in board.text()
        assert board.text().count("Why is it flaky?") == 2  # peek's head, and the prompt in the file
        assert "r to reply" not in board.text()
        await board.pilot.press("g")
        await board.until(lambda: "r to reply" in board.text(), "the input of a task")


async def test_enter_adopts_it_when_it_has_ended(
    start: Starter, machine: Machine, project: Path, tmp_path: Path
) -> None:
    path = pi_session(tmp_path / "mine.jsonl", project)
    machine.sessions = [replace(PI, session_file=str(path), title="Why is it flaky?")]
    async with start((120, 30), elsewhere=True) as board:
        await opened(board)
        row = board.selected
        machine.sessions = []
        await board.until(lambda: "Pi: ended, adoptable" in board.text(), "its end")
        assert board.selected == row
        assert "◊" in board.text()
        assert "enter adopt" in board.lines()[-1]
        await board.pilot.press("s")
        await board.until(
            lambda: "Why is it flaky? is not on the board; adopt it first (enter)." in board.toasts(), "why not"
        )
        await board.pilot.press("enter")
        await board.until(lambda: "IDLE 1" in board.text(), "the task")
        await board.until(lambda: "ELSEWHERE" not in board.text(), "the group without it")
        await board.until(lambda: "why-is-it-flaky is on the board; a reply continues it." in board.toasts(), "a word")
        assert board.selected == next(iter(board.screen.listing.rows))


async def test_where_it_is_not_known_which_session_it_was_the_user_says(
    start: Starter, machine: Machine, project: Path, tmp_path: Path
) -> None:
    files = [str(pi_session(tmp_path / f"{word}.jsonl", project, prompt=f"Do {word}")) for word in ("one", "two")]
    machine.sessions = [replace(PI, may_have=tuple(files), doing=Doing.UNKNOWN)]
    async with start((120, 30), elsewhere=True) as board:
        await opened(board)
        machine.sessions = []
        await board.until(lambda: "Pi: ended, adoptable" in board.text(), "its end")
        await board.pilot.press("enter")
        await board.until(lambda: "Which session was it?" in board.text(), "the question")
        assert "Do one" in board.text()
        await board.pilot.press("2")
        await board.until(lambda: "do-two" in board.text(), "the task")
        assert "do-one" not in board.text()


async def test_a_refusal_is_said(start: Starter, machine: Machine) -> None:
    machine.sessions = [CLAUDE]
    async with start((120, 30), elsewhere=True) as board:
        await opened(board)
        machine.sessions = []
        await board.until(lambda: "ended" in board.text(), "its end")
        await board.pilot.press("enter")
        await board.until(lambda: "There is no session file" in " ".join(board.toasts()), "the refusal")
        assert "Claude Code: ended" in board.text()


async def test_nothing_moves_under_the_cursor(start: Starter, machine: Machine) -> None:
    """It comes and goes at the end; a task that is selected stays where it is, and so does a selected session."""
    for number in range(40):
        make_view(start.paths, f"v{number:02d}", name=f"task-{number:02d}", state=S.FAILED, age_ms=number * 1000)
    async with start((100, 20), elsewhere=True) as board:
        await board.pilot.press("G", "k", "k")
        chosen, top = board.selected, board.screen.list.scroll_y
        machine.sessions = [CLAUDE, PI]
        await board.until(lambda: ELSEWHERE in {group.key for group in board.screen.listing.index.groups()}, "it")
        assert (board.selected, board.screen.list.scroll_y) == (chosen, top)
        await opened(board)
        await board.pilot.press("j")
        row, line = board.selected, _line(board, "api")
        machine.sessions = [replace(CLAUDE, doing=Doing.IDLE, detail=""), PI]
        await board.until(lambda: "Claude Code: idle" in board.text(), "the change")
        assert (board.selected, _line(board, "api")) == (row, line)
        board.screen.listing.fold(Entry(Kind.HEADER, ELSEWHERE), folded=True)
        machine.sessions = []
        await board.until(lambda: "ELSEWHERE 1" in board.text(), "one that is left to be adopted")


def _line(board: Running, name: str) -> int:
    return next(number for number, line in enumerate(board.lines()) if f" {name} " in line and "Pi:" in line)


async def test_it_never_waits_for_it_and_does_not_look_when_nobody_does(start: Starter, machine: Machine) -> None:
    machine.slow = threading.Event()
    make_view(start.paths, "a", name="alpha", state=S.FAILED)
    make_view(start.paths, "b", name="beta", state=S.FAILED)
    async with start(elsewhere=True) as board:
        await board.until(lambda: machine.looks == 1, "the first look")
        before = board.selected
        await board.pilot.press("j")
        assert board.selected != before
        await board.pilot.pause(0.2)
        assert machine.looks == 1  # one at a time
        machine.slow.set()
        machine.slow = None
        await board.until(lambda: machine.looks > 2, "more of them")
        board.app.app_focus = False
        await board.until(lambda: not board.screen._looking, "the end of the last")
        looks = machine.looks
        await board.pilot.pause(0.2)
        assert machine.looks == looks
        board.app.app_focus = True
        machine.failure = "claude is broken"
        await board.until(lambda: machine.looks > looks + 2, "looks that fail")
        log = Path(start.paths.log) / "board.log"
        await board.until(lambda: log.exists() and "claude is broken" in log.read_text(), "the log")
        assert log.read_text().count("claude is broken") == 1
        assert board.toasts() == []


def test_in_a_real_terminal(
    board: Callable[..., Terminal], home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The palette's act, a program that lists, a row that ends and is adopted."""
    from tests.agents.test_running import INTERACTIVE
    from tests.runs.test_elsewhere import claude_file
    from tests.support.claude_listing import fake_claude

    session_id = str(INTERACTIVE["sessionId"])
    claude_file(home, session_id)
    listing = fake_claude(home / "bin", monkeypatch, [INTERACTIVE | {"name": "my own session"}])
    (home / ".config" / "agent-board").mkdir(parents=True)
    (home / ".config" / "agent-board" / "config.toml").write_text("elsewhere = true\n")
    terminal = board(size=(100, 30))
    terminal.wait_for("ELSEWHERE")
    terminal.send("G")
    terminal.send("space")
    terminal.wait_for("Claude Code: working")
    listing.write_text("[]")
    terminal.send("\x1b[O")
    terminal.send("\x1b[I")  # the user has ended it in another window, and is back
    terminal.wait_for("Claude Code: ended, adoptable")
    terminal.send("enter")
    terminal.wait_for("fix-it is on the board")
    terminal.wait_for("IDLE 1")
    terminal.send("q")
    assert terminal.wait_exit() == 0
