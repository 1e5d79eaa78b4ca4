"""The real OpenCode against the scripted model: what its rows say, what a reply continues, what a stop ends."""

from pathlib import Path

import pytest

from tests.e2e.conftest import RealAgents
from tests.support import acts, agents, command, processes
from tests.support.model_server import ModelServer, refuse, say, silent, use
from tests.support.wait import wait_for

pytestmark = [pytest.mark.full, pytest.mark.timeout(240)]
PATIENCE = 120.0
"""Seconds: it takes 4 s to begin when nothing else runs."""


@pytest.fixture(autouse=True)
def opencode(real_agents: RealAgents) -> None:
    real_agents("opencode")


def dispatch(prompt: str, *options: str, cwd: Path) -> acts.Dispatched:
    return acts.dispatch(prompt, *options, cwd=cwd, agent="opencode")


def test_a_plain_answer_and_a_reply_to_it(project: Path, model_server: ModelServer) -> None:
    """The session's id is learned; a reply continues it."""
    model_server.script(say("The cache was stale.", usage=(1000, 50, 200)), when="old")
    model_server.script(say("Which one should I clear, the old or the new?"), when="Clear")
    task = dispatch("Why is the page old?", cwd=project)
    shown = acts.settled(task.view, PATIENCE)
    assert (shown["semanticState"], shown["error"]) == ("completed", None)
    assert shown["summary"].startswith("The cache was stale")
    assert (shown["usage"]["input"], shown["usage"]["output"], shown["usage"]["cacheRead"]) == (800, 50, 200)
    assert shown["usage"]["costUsd"] > 0
    session = shown["sessionId"]
    assert session.startswith("ses_")
    command.ok("reply", task.view, "Clear it")
    shown = acts.settled(task.view, PATIENCE)
    assert (shown["semanticState"], shown["sessionId"]) == ("needs_input", session)
    assert "Which one" in shown["question"]
    assert [prompt.strip() for prompt in model_server.prompts] == ["Why is the page old?", "Clear it"]
    assert "The cache was stale." in str(model_server.requests[-1].body)


def test_tools_run_and_their_work_is_in_the_files(project: Path, model_server: ModelServer) -> None:
    model_server.script(
        use("write", text="I'll write it.", filePath=str(project / "made.txt"), content="made by a tool\n"),
        use("bash", command="cat made.txt > copy.txt; exit 3", description="copy"),
        say("Made made.txt."),
    )
    shown = acts.settled(dispatch("Make the files", cwd=project).view, PATIENCE)
    assert (shown["semanticState"], shown["summary"]) == ("completed", "Made made.txt.")
    assert (project / "copy.txt").read_text() == "made by a tool\n"
    assert shown["usage"]["output"] == 60


def test_a_refused_permission_needs_input(project: Path, model_server: ModelServer, home: Path) -> None:
    """Only the user can allow it, and OpenCode ends its turn when nobody is there to ask."""
    agents.write_opencode_config(home / ".config", model_server.url, permission={"bash": "ask"})
    model_server.script(use("bash", command="touch made", description="make"), say("Never said."))
    shown = acts.settled(dispatch("Make it", cwd=project).view, PATIENCE)
    assert (shown["semanticState"], shown["reason"]) == ("needs_input", "permission")
    assert "bash: touch made" in shown["question"]
    assert not (project / "made").exists()


def test_a_refused_key_is_one_sentence(project: Path, model_server: ModelServer) -> None:
    model_server.script(refuse(401, "invalid key"), forever=True)
    shown = acts.settled(dispatch("Hello", cwd=project).view, PATIENCE)
    assert (shown["semanticState"], shown["error"]) == (
        "failed",
        "401: invalid key; run `opencode auth login`.",
    )


def test_a_stop_before_the_first_word_leaves_a_session_to_go_on_with(project: Path, model_server: ModelServer) -> None:
    model_server.script(silent(), when="Anybody")
    model_server.script(say("Here I am."), when="Go on")
    task = dispatch("Anybody there?", cwd=project)
    model_server.wait_for_requests(1, PATIENCE)
    acts.stop(task.view)
    shown = acts.settled(task.view)
    assert (shown["semanticState"], shown["error"]) == ("stopped", None)
    session = shown["sessionId"]
    assert session.startswith("ses_")
    command.ok("reply", task.view, "Go on")
    shown = acts.settled(task.view, PATIENCE)
    assert (shown["summary"], shown["sessionId"]) == ("Here I am.", session)


def test_silent_retries_show_as_silence(project: Path, model_server: ModelServer, home: Path) -> None:
    """Its retries give no event: the row says for how long there has been none, and keeps its state."""
    settings = home / ".config" / "agent-board" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("[agents.opencode]\nstall_after_s = 1\n")
    model_server.script(refuse(500), forever=True)
    task = dispatch("Anybody there?", cwd=project)
    model_server.wait_for_requests(2, PATIENCE)
    shown = acts.until(task.view, lambda shown: shown["stalledSince"], PATIENCE)
    assert (shown["processState"], shown["error"]) == ("alive", None)
    acts.stop(task.view)
    assert acts.show(task.view)["stalledSince"] is None


def test_a_stop_in_mid_tool_ends_the_command_too(project: Path, model_server: ModelServer) -> None:
    model_server.script(use("bash", command="touch here; sleep 60.25", description="sleep"))
    task = dispatch("Sleep long", cwd=project)
    wait_for((project / "here").exists, PATIENCE)
    acts.stop(task.view)
    shown = acts.settled(task.view)
    assert (shown["semanticState"], shown["processState"]) == ("stopped", "exited")
    mine = processes.marked(task.run, name="AGENT_BOARD_RUN")
    assert not mine, [processes.describe(process) for process in mine]


def test_a_reading_task_gets_reading_tools(project: Path, model_server: ModelServer, home: Path) -> None:
    """AB-078: whatever the user allows his agents."""
    allowed = {"build": {"permission": {"bash": "allow", "edit": "allow"}}}
    agents.write_opencode_config(home / ".config", model_server.url, agent=allowed)
    model_server.script(say("Looked."))
    acts.settled(dispatch("Look", "--read-only", cwd=project).view, PATIENCE)
    tools = set(model_server.requests[0].tools)
    assert "read" in tools
    assert tools & {"bash", "edit", "write", "task", "webfetch"} == set()


def test_modes_allow_what_it_would_ask_for_or_take_what_writes_away(
    project: Path, model_server: ModelServer, home: Path
) -> None:
    agents.write_opencode_config(home / ".config", model_server.url, permission={"bash": "ask"})
    model_server.script(use("bash", command="touch made", description="make"), say("Made."), when="Make")
    model_server.script(use("write", filePath=str(project / "planned"), content="x"), say("Planned."), when="Plan")
    shown = acts.settled(dispatch("Make it", "--mode", "auto", cwd=project).view, PATIENCE)
    assert (shown["semanticState"], shown["summary"]) == ("completed", "Made.")
    assert (project / "made").exists()
    acts.settled(dispatch("Plan it", "--mode", "plan", cwd=project).view, PATIENCE)
    assert not (project / "planned").exists()
