"""An answer reaches a living agent exactly once, or is told to have come too late (DESIGN 5; FIELD-FAULTS)."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_board.agents.base import Answer
from agent_board.errors import BoardError, UsageError
from agent_board.runs import inbox
from agent_board.runs.answer import answer, open_requests
from agent_board.runs.dispatch import Dispatched, Order, dispatch
from agent_board.runs.options import AgentOptions, Options
from agent_board.runs.processes import Liveness, probe
from agent_board.runs.reply import reply
from agent_board.runs.stop import stop
from agent_board.store import plain
from agent_board.store.files import now_ms
from agent_board.store.paths import StorePaths
from agent_board.store.records import ProcessState, SemanticState, ShimPid, State
from tests.runs.crash import STEP
from tests.runs.views import settled, state_of, status_of
from tests.support import fake_claude
from tests.support.wait import wait_for

ALLOW, DENY = Answer("allow"), Answer("deny", text="not today")


@dataclass
class Fake:
    """The fake Claude of one test."""

    store: StorePaths
    cwd: Path
    heard_file: Path

    def start(self, script: str) -> Dispatched:
        """Dispatch, and wait until it asks."""
        task = dispatch(self.store, Order(f"fake: {script}".encode(), str(self.cwd), agent="claude", worktree="off"))
        wait_for(lambda: self.state(task).needs_input, 20, "a request")
        return task

    def heard(self) -> list[dict[str, object]]:
        """The answers that reached the agent."""
        if not self.heard_file.exists():
            return []
        lines = [json.loads(line) for line in self.heard_file.read_text().splitlines()]
        return [line["response"] for line in lines if line["type"] == "control_response"]

    def state(self, task: Dispatched) -> State:
        return state_of(self.store, task.view_id)

    def ended(self, task: Dispatched) -> State:
        """The state once the worker has exited."""

        def look() -> State | None:
            state = settled(self.store, task.view_id)
            return state if state.process_state is ProcessState.EXITED else None

        return wait_for(look, 20, "the run to end")

    def kill_shim(self, task: Dispatched) -> None:
        owner = plain.read(ShimPid, self.store.view(task.view_id).run(task.run_id).pid)
        assert isinstance(owner, ShimPid)
        os.kill(owner.identity.pid, signal.SIGKILL)
        wait_for(lambda: probe(owner.identity) is Liveness.GONE, what="the shim to be gone")


@pytest.fixture
def fake(store: StorePaths, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """A `claude` on PATH that does what the prompt says."""
    folder = fake_claude.install(tmp_path / "fake-bin")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_CLAUDE_HEARD", str(tmp_path / "heard"))
    return Fake(store, project, tmp_path / "heard")


def test_a_permission_makes_the_living_row_ask_and_its_answer_lets_it_go_on(fake: Fake) -> None:
    task = fake.start("ask Write notes.txt; say I wrote it.")
    state = fake.state(task)
    assert (state.semantic_state, state.process_state) == (SemanticState.NEEDS_INPUT, ProcessState.ALIVE)
    assert state.question == "Allow Write: notes.txt"
    assert state.choices == ["Allow once", "Deny"]
    answer(fake.store, task.view_id, None, ALLOW)
    ended = fake.ended(task)
    assert (ended.semantic_state, ended.summary, ended.question) == (SemanticState.COMPLETED, "I wrote it.", None)
    assert fake.heard() == [
        {
            "subtype": "success",
            "request_id": "../odd id 1",
            "response": {"behavior": "allow", "updatedInput": {"file_path": "notes.txt"}},
        }
    ]


def test_a_denial_takes_its_words_along_and_is_counted(fake: Fake) -> None:
    task = fake.start("ask Write notes.txt; say I left it.")
    answer(fake.store, task.view_id, None, DENY)
    ended = fake.ended(task)
    assert (ended.semantic_state, ended.summary) == (SemanticState.COMPLETED, "I left it. (1 permission denied)")
    assert fake.heard()[0]["response"] == {"behavior": "deny", "message": "not today"}


@pytest.mark.parametrize(("number", "behavior"), [(1, "allow"), (2, "deny")])
def test_a_permission_can_be_answered_by_its_choices(fake: Fake, number: int, behavior: str) -> None:
    task = fake.start("ask Write notes.txt")
    answer(fake.store, task.view_id, None, Answer("choice", choice=number))
    fake.ended(task)
    (told,) = fake.heard()
    assert isinstance(told["response"], dict)
    assert told["response"]["behavior"] == behavior


def test_questions_are_asked_one_after_the_other_and_answered_together(fake: Fake) -> None:
    task = fake.start("choose SQLite|Postgres//red|blue")
    assert fake.state(task).choices == ["SQLite", "Postgres"]
    with pytest.raises(UsageError, match="take one of its choices"):
        answer(fake.store, task.view_id, None, ALLOW)
    with pytest.raises(UsageError, match="no choice 3; it offers 2: SQLite, Postgres"):
        answer(fake.store, task.view_id, None, Answer("choice", choice=3))
    first = answer(fake.store, task.view_id, None, Answer("choice", choice=2))
    wait_for(lambda: fake.state(task).choices == ["red", "blue"], what="the second question")
    assert fake.heard() == []
    with pytest.raises(BoardError, match="Too late"):
        answer(fake.store, task.view_id, first, Answer("choice", choice=1))
    answer(fake.store, task.view_id, None, Answer("choice", choice=1))
    assert fake.ended(task).semantic_state is SemanticState.COMPLETED
    (told,) = fake.heard()
    assert isinstance(told["response"], dict)
    assert told["response"]["updatedInput"]["answers"] == {
        "Which of SQLite|Postgres?": "Postgres",
        "Which of red|blue?": "red",
    }


def test_of_two_open_requests_each_has_its_own_answer(fake: Fake) -> None:
    task = fake.start("both; say Both done.")
    wait_for(lambda: len(open_requests(fake.store, task.view_id)) == 2, what="both requests")
    one, two = open_requests(fake.store, task.view_id)
    with pytest.raises(BoardError, match="asks 2 things at once"):
        answer(fake.store, task.view_id, None, ALLOW)
    answer(fake.store, task.view_id, two, DENY)
    wait_for(lambda: list(open_requests(fake.store, task.view_id)) == [one], what="the other to stay open")
    assert fake.state(task).question == "Allow Write: one"
    answer(fake.store, task.view_id, one, ALLOW)
    assert fake.ended(task).summary == "Both done. (1 permission denied)"
    assert [told["request_id"] for told in fake.heard()] == [two, one]


def test_of_many_answers_at_once_exactly_one_arrives(fake: Fake) -> None:
    task = fake.start("ask Write x")
    (request_id,) = open_requests(fake.store, task.view_id)
    code = (
        "import sys; from agent_board.agents.base import Answer; from agent_board.runs.answer import answer; "
        "from agent_board.store.paths import StorePaths; "
        "answer(StorePaths(sys.argv[1]), sys.argv[2], sys.argv[3], Answer('allow'))"
    )
    command = [sys.executable, "-c", code, fake.store.root, task.view_id, request_id]
    racers = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(4)]
    errors = [racer.communicate(timeout=30)[1].decode() for racer in racers]
    assert sorted(racer.returncode for racer in racers) == [0, 1, 1, 1], errors
    fake.ended(task)
    assert len(fake.heard()) == 1


def test_a_request_that_was_withdrawn_takes_no_answer(fake: Fake) -> None:
    task = fake.start("cancel; hang")
    (request_id,) = open_requests(fake.store, task.view_id)
    (fake.cwd / "withdraw").touch()
    wait_for(lambda: fake.state(task).semantic_state is SemanticState.WORKING, what="it to go on")
    with pytest.raises(BoardError, match="Too late"):
        answer(fake.store, task.view_id, request_id, ALLOW)
    stop(fake.store, task.view_id)
    assert fake.ended(task).semantic_state is SemanticState.STOPPED
    assert fake.heard() == []


def test_a_reply_to_a_row_that_asks_waits_its_turn(fake: Fake) -> None:
    """DESIGN 11: only `answer` answers."""
    task = fake.start("ask Write x; say First.")
    replied = reply(fake.store, task.view_id, b"fake: say Second.")
    assert replied.followup_id
    assert fake.heard() == []
    answer(fake.store, task.view_id, None, ALLOW)
    wait_for(lambda: fake.state(task).summary == "Second.", 20, "the follow-up")
    fake.ended(task)


def test_who_waits_for_the_user_is_not_stalled(fake: Fake) -> None:
    options = Options(agents={"claude": AgentOptions(stall_after_s=0.3)})
    order = Order(b"fake: ask Write x; hang", str(fake.cwd), agent="claude", worktree="off")
    task = dispatch(fake.store, order, options)
    wait_for(lambda: fake.state(task).needs_input, 20, "a request")
    wait_for(lambda: now_ms() - (fake.state(task).last_activity_at or 0) > 1000, what="a longer silence")
    assert fake.state(task).stalled_since is None
    answer(fake.store, task.view_id, None, ALLOW)
    wait_for(lambda: fake.state(task).stalled_since, 20, "its own silence to show")
    assert fake.state(task).semantic_state is SemanticState.WORKING
    stop(fake.store, task.view_id)
    fake.ended(task)


def test_stop_while_it_asks(fake: Fake) -> None:
    task = fake.start("ask Write x")
    stop(fake.store, task.view_id)
    assert fake.ended(task).semantic_state is SemanticState.STOPPED
    with pytest.raises(BoardError, match="not waiting"):
        answer(fake.store, task.view_id, None, ALLOW)


def test_without_its_runner_nothing_is_answered(fake: Fake) -> None:
    task = fake.start("ask Write x; say Went on.")
    (request_id,) = open_requests(fake.store, task.view_id)
    fake.kill_shim(task)
    with pytest.raises(BoardError, match=r"runner|Too late|not waiting"):
        answer(fake.store, task.view_id, request_id, ALLOW)
    fake.ended(task)
    assert fake.heard() == []


@pytest.mark.parametrize("step", ["answer seen", "answer marked", "answer written", "answer recorded"])
def test_a_runner_that_dies_while_answering_answers_at_most_once(
    fake: Fake, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agent_board.runs import launch

    runner = os.path.join(os.path.dirname(os.path.abspath(__file__)), "crashing_runner.py")
    monkeypatch.setattr(launch, "JOB_RUNNER", runner)
    monkeypatch.setenv(STEP, step)
    task = fake.start("ask Write x; say Went on.")
    if step == "answer recorded":
        answer(fake.store, task.view_id, None, ALLOW)
    else:
        with pytest.raises(BoardError, match="runner"):
            answer(fake.store, task.view_id, None, ALLOW)
    fake.ended(task)
    arrived = len(fake.heard())
    assert arrived == (1 if step in ("answer written", "answer recorded") else 0)
    with pytest.raises(BoardError):
        answer(fake.store, task.view_id, None, ALLOW)
    assert len(fake.heard()) == arrived


def test_a_prompt_larger_than_a_pipe_arrives_whole(fake: Fake, store: StorePaths) -> None:
    prompt = '日本 \u2028 "quoted" \\ back\n' * 40_000 + "fake: say Read it all."
    task = dispatch(store, Order(prompt.encode(), str(fake.cwd), agent="claude", worktree="off"))
    assert fake.ended(task).summary == "Read it all."
    (line,) = fake.heard_file.read_text().splitlines()
    assert json.loads(line)["message"]["content"] == prompt
    assert status_of(store, task.view_id, task.run_id).evidence.prompt_accepted


@pytest.mark.parametrize("request_id", ["a", "../../etc/passwd", ".", "..", "a/b\0c", "ü" * 500, "", "%", "A-b_9"])
def test_any_request_id_is_a_file_name(request_id: str) -> None:
    stem = inbox.stem_of(request_id)
    assert not stem.startswith(".")
    assert "/" not in stem
    assert len(stem) < 200
    assert stem.isascii()


def test_different_request_ids_have_different_names() -> None:
    ids = ["a/b", "a%2f.b", "a%2fb", "x" * 300, "x" * 301, "X" * 300, "a b", "a%20.b"]
    assert len({inbox.stem_of(request_id) for request_id in ids}) == len(ids)
