"""The real Claude Code against the scripted model: rows, answers both ways, replies, stop (DESIGN 5, 9, 11)."""

import re
import subprocess
import threading
from pathlib import Path

import pytest

from agent_board.runs.worktree import LEAVE_WORKTREES
from tests.board.test_answering import mark
from tests.conftest import StartBoard
from tests.e2e.conftest import RealAgents
from tests.support import acts, command, processes
from tests.support.model_server import ModelServer, held, refuse, say, use
from tests.support.terminal import Terminal
from tests.support.wait import wait_for

pytestmark = pytest.mark.full


@pytest.fixture(autouse=True)
def claude(real_agents: RealAgents) -> None:
    real_agents("claude")


def dispatch(prompt: str, *options: str, cwd: Path) -> acts.Dispatched:
    return acts.dispatch(prompt, *options, cwd=cwd, agent="claude")


def asking(view: str) -> acts.Shown:
    """Wait until the living agent asks."""
    return acts.until(view, lambda shown: shown["semanticState"] == "needs_input")


def ended(view: str) -> acts.Shown:
    """Wait until the worker has ended."""
    return acts.until(view, lambda shown: shown["processState"] == "exited" and shown["semanticState"] != "queued", 60)


def test_a_plain_answer_and_a_reply_to_it(project: Path, model_server: ModelServer) -> None:
    """AB-101: the session's id is ours; the reply continues it and its usage is its own."""
    model_server.script(say("The cache was stale.", usage=(1000, 50, 200)), when="old")
    model_server.script(say("Cleared.", usage=(300, 10, 100)), when="Clear")
    task = dispatch("Why is the page old?", cwd=project)
    shown = ended(task.view)
    assert (shown["semanticState"], shown["summary"]) == ("completed", "The cache was stale.")
    assert (shown["usage"]["input"], shown["usage"]["output"], shown["usage"]["cacheRead"]) == (800, 50, 200)
    first = shown["usage"]["costUsd"]
    assert first > 0
    assert Path(shown["sessionFile"]).stat().st_size > 0
    command.ok("reply", task.view, "Clear it")
    shown = acts.settled(task.view)
    assert (shown["summary"], shown["sessionId"]) == ("Cleared.", shown["runs"][0]["sessionId"])
    assert (shown["usage"]["input"], shown["usage"]["output"]) == (200, 10)
    assert 0 < shown["usage"]["costUsd"] < first
    assert model_server.prompts == ["Why is the page old?", "Clear it"]
    assert [run["exitCode"] for run in shown["runs"]] == [0, 0]


def test_a_permission_that_is_allowed(project: Path, model_server: ModelServer) -> None:
    model_server.script(use("Write", text="I will.", file_path="hello.txt", content="hello\n"), say("I wrote it."))
    task = dispatch("Write hello", cwd=project)
    shown = asking(task.view)
    assert shown["processState"] == "alive"
    assert shown["question"] == f"Allow Write: {project / 'hello.txt'}"
    assert shown["choices"] == ["Allow once", "Deny"]
    assert not (project / "hello.txt").exists()
    (request,) = shown["runs"][0]["requests"]
    assert (request["kind"], request["choices"]) == ("permission", ["Allow once", "Deny"])
    answered = command.ok("answer", task.view, "--request", request["id"], "--allow", "--json").json
    assert answered == {"viewId": task.view, "requestId": request["id"], "answer": "allow"}
    shown = ended(task.view)
    assert (shown["semanticState"], shown["summary"]) == ("completed", "I wrote it.")
    assert (project / "hello.txt").read_text() == "hello\n"
    late = command.run("answer", task.view, "--request", answered["requestId"], "--deny")
    assert (late.code, "Too late" in late.err) == (1, True)


def test_a_permission_that_is_denied(project: Path, model_server: ModelServer) -> None:
    model_server.script(use("Write", file_path="hello.txt", content="hello\n"), say("I left it."))
    task = dispatch("Write hello", cwd=project)
    asking(task.view)
    command.ok("answer", task.view, "--deny", "write it elsewhere")
    shown = ended(task.view)
    assert (shown["semanticState"], shown["summary"]) == ("completed", "I left it. (1 permission denied)")
    assert not (project / "hello.txt").exists()
    assert "write it elsewhere" in str(model_server.requests[-1].body)


def test_a_question_with_options(project: Path, model_server: ModelServer) -> None:
    options = [{"label": name, "description": f"Use {name}"} for name in ("SQLite", "Postgres")]
    question = {"question": "Which database?", "header": "Database", "options": options, "multiSelect": False}
    model_server.script(use("AskUserQuestion", questions=[question]), say("Taken."))
    task = dispatch("Add a database", cwd=project)
    shown = asking(task.view)
    assert (shown["question"], shown["choices"]) == ("Which database?", ["SQLite", "Postgres"])
    assert command.run("answer", task.view, "--allow").code == 2
    command.ok("answer", task.view, "--choice", "2")
    assert ended(task.view)["summary"] == "Taken."
    assert "Postgres" in str(model_server.requests[-1].body)


def test_a_question_in_words(project: Path, model_server: ModelServer) -> None:
    model_server.script(say("Both would work here. Which database should I use, SQLite or Postgres?"))
    shown = acts.settled(dispatch("Add a database", cwd=project).view)
    assert shown["semanticState"] == "needs_input"
    assert "Which database" in shown["question"]


@pytest.mark.parametrize(
    ("status", "says"), [(400, "400: the scripted model says 400."), (401, "Claude is not logged in (")]
)
def test_a_refusal_of_the_provider_fails(project: Path, model_server: ModelServer, status: int, says: str) -> None:
    model_server.script(refuse(status), forever=True)
    shown = ended(dispatch("Do it", cwd=project).view)
    assert shown["semanticState"] == "failed"
    assert shown["error"].startswith(says)


def test_stop_in_the_middle_of_a_tool_and_go_on(project: Path, model_server: ModelServer, home: Path) -> None:
    """Invariant 8: nothing of the run is left; the session goes on."""
    line = "echo $$ > tool.pid; sleep 300"
    model_server.script(use("Bash", command=line, description="wait"), when="Wait")
    model_server.script(say("Gone on."), when="Go on")
    task = dispatch("Wait long", cwd=project)
    asking(task.view)
    command.ok("answer", task.view, "--allow")
    wait_for((project / "tool.pid").exists, 20, "the command to run")
    acts.stop(task.view)
    assert acts.show(task.view)["semanticState"] == "stopped"
    assert not processes.marked(task.run, "AGENT_BOARD_RUN")
    command.ok("reply", task.view, "Go on")
    assert acts.settled(task.view)["summary"] == "Gone on."


def test_reading_only_writes_nothing_and_asks_nothing(project: Path, model_server: ModelServer) -> None:
    model_server.script(use("Write", file_path="hello.txt", content="x"), say("I can't."))
    shown = ended(dispatch("Write hello", "--read-only", cwd=project).view)
    assert (shown["semanticState"], shown["summary"]) == ("completed", "I can't.")
    assert not (project / "hello.txt").exists()
    assert not {"Write", "Edit", "Bash"} & set(model_server.requests[0].tools)


def test_a_background_command_keeps_the_row_at_work(project: Path, model_server: ModelServer) -> None:
    """Several results in one run: only the last one and the exit end it."""
    line = "until [ -e go ]; do sleep 0.05; done"
    model_server.script(
        use("Bash", command=line, description="wait", run_in_background=True), say("It runs."), say("It has ended.")
    )
    task = dispatch("Start it", cwd=project)
    model_server.wait_for_requests(2)
    shown = acts.until(task.view, lambda shown: shown["latestAssistantPreview"] == "It runs.")
    assert (shown["semanticState"], shown["processState"]) == ("working", "alive")
    (project / "go").touch()
    shown = ended(task.view)
    assert (shown["semanticState"], shown["summary"]) == ("completed", "It has ended.")


def test_an_agent_within_an_agent_is_no_row_and_disturbs_none(project: Path, model_server: ModelServer) -> None:
    """AB: a worker that starts its own program as a child; what that prints is a tool's output."""
    model_server.script(say("Said by the child."), when="child")
    line = "echo 'the child speaks' | claude -p --output-format stream-json --verbose > child.jsonl; echo nested"
    model_server.script(use("Bash", command=line, description="nest"), say("The parent is done."), when="parent")
    task = dispatch("Be the parent", cwd=project)
    asking(task.view)
    command.ok("answer", task.view, "--allow")
    shown = ended(task.view)
    assert (shown["semanticState"], shown["summary"]) == ("completed", "The parent is done.")
    assert list(acts.listed()) == [task.view]
    assert "Said by the child." in (project / "child.jsonl").read_text()


def test_a_board_answers_it(board: StartBoard, project: Path, model_server: ModelServer) -> None:
    model_server.script(use("Write", file_path="hello.txt", content="hello\n"), say("I wrote it."))
    task = dispatch("Write hello", cwd=project)
    asking(task.view)
    terminal: Terminal = board()
    terminal.wait_for("NEEDS YOU 1")
    terminal.send("space")
    terminal.wait_for(lambda screen: "1 Allow once" in screen and "2 Deny" in screen)
    mark(terminal, "1")
    terminal.send("enter")
    terminal.wait_for("COMPLETED 1")
    assert (project / "hello.txt").read_text() == "hello\n"


@pytest.mark.parametrize("inside", [False, True])
def test_attach_goes_on_in_the_same_session(
    project: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, inside: bool
) -> None:
    """Also in a shell that another Claude Code began, as in a tmux that was started from there."""
    if inside:
        for name in ("CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION"):
            monkeypatch.setenv(name, "1")
    model_server.script(say("First."), when="Begin")
    model_server.script(say("Second, by hand."), when="by hand")
    task = dispatch("Begin", cwd=project)
    ended(task.view)
    with Terminal([*command.AGENT_BOARD, "attach", task.view], size=(120, 36), cwd=project) as terminal:
        terminal.wait_for("First.", 30)
        terminal.send("now by hand")
        terminal.wait_for("now by hand")
        terminal.wait_quiet(0.5)
        terminal.send("enter")
        terminal.wait_for("Second, by hand.", 30)
        terminal.send("/exit")
        terminal.wait_for("/exit")
        terminal.wait_quiet(0.5)
        terminal.send("enter")
        assert terminal.wait_exit(30) == 0
    shown = acts.show(task.view)
    assert shown["processState"] == "exited"
    assert shown["runs"][-1]["kind"] == "attach"
    assert "Second, by hand." in Path(shown["sessionFile"]).read_text()


def test_a_slow_answer_can_be_stopped(project: Path, model_server: ModelServer) -> None:
    model_server.script(held(say("Too late."), threading.Event()))
    task = dispatch("Think", cwd=project)
    model_server.wait_for_requests(1)
    acts.stop(task.view)
    assert acts.show(task.view)["semanticState"] == "stopped"


def test_a_mode_counts_for_replies_and_for_attaching(project: Path, model_server: ModelServer) -> None:
    model_server.script(use("Write", file_path="one.txt", content="1\n"), say("Wrote one."), when="one")
    model_server.script(use("Write", file_path="two.txt", content="2\n"), say("Wrote two."), when="two")
    task = dispatch("Write one", "--mode", "acceptEdits", cwd=project)
    assert ended(task.view)["summary"] == "Wrote one."
    command.ok("reply", task.view, "Write two")
    assert acts.settled(task.view)["summary"] == "Wrote two."
    assert (project / "two.txt").read_text() == "2\n"
    assert "accept edits on" in status_line_of(task.view, "Wrote two.", project)


def test_a_plan_is_agreed_to_before_anything_is_written(project: Path, model_server: ModelServer) -> None:
    """The request for leaving plan mode holds nothing of the plan; the call before it does."""
    plan = use("ExitPlanMode", plan="Write hello.txt, then stop.")
    model_server.script(plan, use("Write", file_path="hello.txt", content="hello\n"), say("Planned and written."))
    task = dispatch("Plan it", "--mode", "plan", cwd=project)
    assert asking(task.view)["question"] == "Go ahead with this plan? Write hello.txt, then stop."
    command.ok("answer", task.view, "--allow")
    acts.until(task.view, lambda shown: str(shown["question"]).startswith("Allow Write"))
    assert not (project / "hello.txt").exists()
    command.ok("answer", task.view, "--allow")
    assert ended(task.view)["summary"] == "Planned and written."


def test_attaching_to_a_task_that_asks_goes_on_asking(project: Path, model_server: ModelServer) -> None:
    """The terminal program would begin in its auto mode."""
    model_server.script(say("First."))
    task = dispatch("Begin", cwd=project)
    ended(task.view)
    assert "manual mode on" in status_line_of(task.view, "First.", project)


def status_line_of(view: str, said: str, project: Path) -> str:
    """What the program on the terminal says of its mode."""
    with Terminal([*command.AGENT_BOARD, "attach", view], size=(120, 36), cwd=project) as terminal:
        terminal.wait_for(said, 30)
        screen = terminal.wait_for(lambda screen: re.search(r"(mode|edits|permissions) on\b", screen), 30)
        terminal.send("/exit")
        terminal.wait_for("/exit")
        terminal.wait_quiet(0.5)
        terminal.send("enter")
        assert terminal.wait_exit(30) == 0
    return screen


def test_it_is_told_to_leave_the_worktrees_of_others_alone(project: Path, model_server: ModelServer) -> None:
    """Issue 4: in place in a repository; what it is told beside the prompt reaches the model."""
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    model_server.script(say("Done."), when="Begin")
    model_server.script(say("Gone on."), when="Go on")
    task = dispatch("Begin", cwd=project)
    ended(task.view)
    command.ok("reply", task.view, "Go on")
    assert acts.settled(task.view)["summary"] == "Gone on."
    assert all(LEAVE_WORKTREES in str(request.body) for request in model_server.requests)
    assert model_server.prompts == ["Begin", "Go on"]
