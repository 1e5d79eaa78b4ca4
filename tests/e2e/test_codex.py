"""The real Codex against the scripted model: what its rows say, what a reply continues, what a stop ends."""

import subprocess
from pathlib import Path

import pytest

from agent_board.runs.worktree import LEAVE_WORKTREES
from tests.e2e.conftest import RealAgents
from tests.support import acts, command, processes
from tests.support.model_server import ModelServer, refuse, say, use
from tests.support.wait import wait_for

pytestmark = pytest.mark.full


@pytest.fixture(autouse=True)
def codex(real_agents: RealAgents) -> None:
    real_agents("codex")


def dispatch(prompt: str, *options: str, cwd: Path) -> acts.Dispatched:
    return acts.dispatch(prompt, *options, cwd=cwd, agent="codex")


def test_a_plain_answer_and_a_reply_to_it(project: Path, model_server: ModelServer) -> None:
    """The thread's id is learned; a reply continues it, and costs what it costs, not what the thread does."""
    model_server.script(say("The cache was stale.", usage=(1000, 50, 200)), when="old")
    model_server.script(say("Cleared.", usage=(300, 10, 100)), when="Clear")
    task = dispatch("Why is the page old?", cwd=project)
    shown = acts.settled(task.view)
    assert (shown["semanticState"], shown["error"]) == ("completed", None)
    assert shown["summary"].startswith("The cache was stale")
    assert (shown["usage"]["input"], shown["usage"]["output"], shown["usage"]["cacheRead"]) == (800, 50, 200)
    assert shown["sessionFile"] is None
    thread = shown["sessionId"]
    assert thread
    command.ok("reply", task.view, "Clear it")
    shown = acts.settled(task.view)
    assert (shown["summary"], shown["sessionId"]) == ("Cleared.", thread)
    assert (shown["usage"]["input"], shown["usage"]["output"], shown["usage"]["cacheRead"]) == (200, 10, 100)
    assert [prompt.strip() for prompt in model_server.prompts] == ["Why is the page old?", "Clear it"]
    assert "The cache was stale." in str(model_server.requests[-1].body)


def test_tools_run_and_their_work_is_in_the_files(project: Path, model_server: ModelServer) -> None:
    patch = "*** Begin Patch\n*** Add File: made.txt\n+made by a tool\n*** End Patch\n"
    line = "cat made.txt > copy.txt; until [ -e go ]; do sleep 0.05; done; exit 3"
    model_server.script(
        use("exec_command", text="First a command.", cmd="echo hello > made-before.txt"),
        say("", tools=(("apply_patch", patch),)),
        use("exec_command", cmd=line, yield_time_ms=30_000),
        say("Made made.txt."),
    )
    task = dispatch("Make the files", cwd=project)
    shown = acts.until(task.view, lambda shown: (shown["latestTool"] or {}).get("path") == line)
    assert (shown["semanticState"], shown["processState"]) == ("working", "alive")
    assert shown["summary"].startswith("Running ")
    (project / "go").touch()
    shown = acts.settled(task.view)
    assert (shown["semanticState"], shown["summary"]) == ("completed", "Made made.txt.")
    assert (project / "copy.txt").read_text() == "made by a tool\n"


def test_a_question_needs_input(project: Path, model_server: ModelServer) -> None:
    model_server.script(say("Both would work. Which database should I use, SQLite or Postgres?"))
    shown = acts.settled(dispatch("Add a database", cwd=project).view)
    assert shown["semanticState"] == "needs_input"
    assert "Which database" in shown["question"]


def test_a_refused_key_is_one_sentence(project: Path, model_server: ModelServer) -> None:
    model_server.script(refuse(401, "invalid key"), forever=True)
    shown = acts.settled(dispatch("Hello", cwd=project).view)
    assert (shown["semanticState"], shown["error"]) == ("failed", "401: invalid key; run `codex login`.")


def test_a_provider_out_of_reach_is_not_tried_for_ever(project: Path, model_server: ModelServer) -> None:
    model_server.close()
    shown = acts.settled(dispatch("Hello", cwd=project).view)
    assert shown["semanticState"] == "failed"
    assert "onnection" in shown["error"]


def test_a_stop_in_mid_tool_ends_launcher_program_and_command(project: Path, model_server: ModelServer) -> None:
    """The command runs in a session of its own; the thread can be continued afterwards."""
    model_server.script(use("exec_command", cmd="touch here; sleep 60.125", yield_time_ms=30_000), when="Sleep")
    model_server.script(say("Awake again."), when="Go on")
    task = dispatch("Sleep long", cwd=project)
    wait_for((project / "here").exists, 30)
    acts.stop(task.view)
    shown = acts.settled(task.view)
    assert (shown["semanticState"], shown["processState"], shown["error"]) == ("stopped", "exited", None)
    mine = processes.marked(task.run, name="AGENT_BOARD_RUN")
    assert not mine, [processes.describe(process) for process in mine]
    command.ok("reply", task.view, "Go on")
    shown = acts.settled(task.view)
    assert (shown["semanticState"], shown["summary"]) == ("completed", "Awake again.")


def test_a_reading_task_cannot_write(project: Path, model_server: ModelServer, home: Path) -> None:
    """AB-078: whatever sandbox the settings ask for."""
    settings = home / ".config" / "agent-board" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[agents.codex]\nargs = ["--sandbox", "danger-full-access"]\n')
    for word in ("Look", "Write"):
        model_server.script(use("exec_command", cmd="touch written"), say("Tried."), when=word)
    acts.settled(dispatch("Look", "--read-only", cwd=project).view)
    assert not (project / "written").exists()
    acts.settled(dispatch("Write it", cwd=project).view)
    assert (project / "written").exists()


def test_a_mode_is_the_sandbox_of_the_run_and_of_its_replies(project: Path, model_server: ModelServer) -> None:
    outside = project.parent / "outside"
    for word in ("first", "second", "third"):
        model_server.script(use("exec_command", cmd=f"echo {word} >> {outside}"), say("Tried."), when=word)
    acts.settled(dispatch("Write first", cwd=project).view)
    assert not outside.exists()
    task = dispatch("Write second", "--mode", "danger-full-access", cwd=project)
    acts.settled(task.view)
    command.ok("reply", task.view, "Write third")
    acts.settled(task.view)
    assert outside.read_text() == "second\nthird\n"


def test_it_is_told_to_leave_the_worktrees_of_others_alone(project: Path, model_server: ModelServer) -> None:
    """Issue 4: in place in a repository; what it is told beside the prompt reaches the model."""
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    model_server.script(say("Done."), when="Begin")
    model_server.script(say("Gone on."), when="Go on")
    task = dispatch("Begin", cwd=project)
    acts.settled(task.view)
    command.ok("reply", task.view, "Go on")
    assert acts.settled(task.view)["summary"] == "Gone on."
    assert all(LEAVE_WORKTREES in str(request.body) for request in model_server.requests)
    assert model_server.prompts == ["Begin", "Go on"]
