"""The real Gemini CLI and Copilot CLI, whose adapters are one file each: a task, a reply, a stop."""

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import RealAgents
from tests.support import acts, command, processes
from tests.support.model_server import MODEL as MODEL_OF_SERVER
from tests.support.model_server import ModelServer, say, silent, use

pytestmark = [pytest.mark.full, pytest.mark.timeout(240)]
PATIENCE = 120.0
READ = {"gemini": ("read_file", "file_path"), "copilot": ("view", "path")}
MODEL = {"gemini": "gemini-2.5-pro", "copilot": MODEL_OF_SERVER}
"""Named, because Gemini CLI asks one model which model to ask."""


@pytest.fixture(autouse=True)
def others(real_agents: RealAgents) -> None:
    real_agents("gemini")


@pytest.mark.parametrize("agent", ["gemini", "copilot"])
def test_a_tool_an_answer_and_a_reply(agent: str, project: Path, model_server: ModelServer) -> None:
    (project / "notes.txt").write_text("remember the milk\n")
    name, key = READ[agent]
    model_server.script(
        use(name, **{key: str(project / "notes.txt")}),
        say("Which one should I buy, the big or the small?"),
        when="notes",
    )
    model_server.script(say("Bought."), when="The big one")
    task = acts.dispatch("Read my notes", "--model", MODEL[agent], cwd=project, agent=agent)
    shown = acts.settled(task.view, PATIENCE)
    assert (shown["semanticState"], shown["error"]) == ("needs_input", None), shown
    assert shown["latestTool"]["path"] == str(project / "notes.txt")
    assert "remember the milk" in str(model_server.requests[-1].body)
    command.ok("reply", task.view, "The big one")
    shown = acts.settled(task.view, PATIENCE)
    assert (shown["semanticState"], shown["summary"]) == ("completed", "Bought."), shown
    assert "remember the milk" in str(model_server.requests[-1].body)


@pytest.mark.parametrize("agent", ["gemini", "copilot"])
def test_a_stop_ends_launcher_and_program(agent: str, project: Path, model_server: ModelServer) -> None:
    model_server.script(silent())
    task = acts.dispatch("Anybody there?", cwd=project, agent=agent)
    model_server.wait_for_requests(1, PATIENCE)
    acts.stop(task.view)
    shown = acts.settled(task.view)
    assert (shown["semanticState"], shown["processState"], shown["error"]) == ("stopped", "exited", None)
    mine = processes.marked(task.run, name="AGENT_BOARD_RUN")
    assert not mine, [processes.describe(process) for process in mine]


def test_geminis_modes_are_its_approval_modes(project: Path, model_server: ModelServer) -> None:
    for mode in ("auto_edit", "plan", "yolo"):
        model_server.script(use("run_shell_command", command="touch made"), say("Done."), when=mode)
    for mode in ("auto_edit", "plan", "yolo"):
        assert not (project / "made").exists()
        task = acts.dispatch(f"Make it {mode}", "--model", MODEL["gemini"], "--mode", mode, cwd=project, agent="gemini")
        shown = acts.settled(task.view, PATIENCE)
        assert shown["semanticState"] == "completed", (mode, shown)
    assert (project / "made").exists()


def test_a_reading_gemini_has_no_tool_that_writes(project: Path, model_server: ModelServer, home: Path) -> None:
    """AB-078: whatever the user's settings allow."""
    settings = home / ".gemini" / "settings.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"tools": {"allowed": ["run_shell_command"]}}))
    model_server.script(use("run_shell_command", command="touch made"), say("Looked."))
    task = acts.dispatch("Look", "--model", MODEL["gemini"], "--read-only", cwd=project, agent="gemini")
    assert acts.settled(task.view, PATIENCE)["semanticState"] == "completed"
    tools = set(model_server.requests[0].tools)
    assert "read_file" in tools
    assert not tools & {"run_shell_command", "write_file", "replace", "invoke_agent"}
    assert not (project / "made").exists()
