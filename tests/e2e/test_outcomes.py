"""The real Pi, from the command line: what a model says and does becomes the row's state (AB-090, AB-091, AB-107)."""

import threading
from pathlib import Path

import pytest

from tests.conftest import PiHome
from tests.support import acts, command
from tests.support.model_server import ModelServer, cut, held, refuse, report, say, silent, use

pytestmark = pytest.mark.usefixtures("pi_home")


def test_a_plain_answer_completes(project: Path, model_server: ModelServer) -> None:
    """AB-101: dispatch leaves the durable files; the row says what came out, and what it cost."""
    model_server.script(say("The cache was stale. I cleared it.", usage=(1000, 50, 200)))
    task = acts.dispatch("Why is the page old?", "--name", "old-page", cwd=project)
    shown = acts.settled(task.view)
    assert (shown["semanticState"], shown["processState"]) == ("completed", "exited")
    assert shown["summary"].startswith("The cache was stale")
    assert (shown["name"], shown["agent"], shown["cwd"]) == ("old-page", "pi", str(project))
    assert shown["usage"]["input"] == 800
    assert shown["usage"]["output"] == 50
    assert shown["usage"]["cacheRead"] == 200
    assert shown["error"] is None
    assert acts.run_of(shown)["exitCode"] == 0
    assert model_server.prompts == ["Why is the page old?"]
    assert Path(shown["sessionFile"]).stat().st_size > 0
    assert (task.run_dir / "prompt").read_text() == "Why is the page old?"
    assert "I cleared it." in command.ok("logs", task.view).out


def test_dispatch_can_wait(project: Path, model_server: ModelServer) -> None:
    model_server.script(say("Done."))
    done = command.run("dispatch", "--agent", "pi", "--wait", "--json", "Do it", cwd=project)
    assert done.code == 0, done.err
    assert acts.listed()[done.json["viewId"]]["semanticState"] == "completed"


def test_a_task_whose_tools_edit_files(project: Path, model_server: ModelServer) -> None:
    """AB-107: the work is in the files, the tool in use was seen."""
    (project / "notes.txt").write_text("one\ntwo\n")
    model_server.script(
        use("write", text="I'll write it.", path="made.txt", content="made by a tool\n"),
        use("edit", path="notes.txt", edits=[{"oldText": "two", "newText": "three"}]),
        use("bash", command="cat made.txt notes.txt > both.txt; until [ -e go ]; do sleep 0.05; done; exit 3"),
        say("Made made.txt and changed notes.txt."),
    )
    task = acts.dispatch("Make the files", cwd=project)
    shown = acts.until(task.view, lambda shown: (shown["latestTool"] or {}).get("name") == "bash")
    assert (shown["semanticState"], shown["processState"]) == ("working", "alive")
    assert shown["summary"].startswith("Running ")
    (project / "go").touch()
    shown = acts.settled(task.view)
    assert (shown["semanticState"], shown["error"]) == ("completed", None)
    assert (project / "both.txt").read_text() == "made by a tool\none\nthree\n"
    assert len(model_server.requests) == 4


def test_a_question_needs_input(project: Path, model_server: ModelServer) -> None:
    """AB-050, AB-059: a decision that is needed to go on; `wait` says so by its exit code."""
    model_server.script(say("Both would work here. Which database should I use, SQLite or Postgres?"))
    task = acts.dispatch("Add a database", cwd=project)
    assert command.run("wait", task.view, "--timeout", "60").code == 4
    shown = acts.show(task.view)
    assert shown["semanticState"] == "needs_input"
    assert "Which database" in shown["question"]
    assert shown["needsInput"] is True
    assert shown["unread"] is True


@pytest.mark.parametrize(
    ("status", "question", "state"),
    [("completed", None, "completed"), ("blocked", "Keep the old flag?", "needs_input"), ("failed", None, "failed")],
)
def test_a_report_decides(
    project: Path, model_server: ModelServer, status: str, question: str | None, state: str
) -> None:
    """AB-061: the report tool comes with the product, and ends the run without another request."""
    model_server.script(report(status, "What came of it.", question))
    task = acts.dispatch("Do it and report", cwd=project)
    shown = acts.settled(task.view)
    assert (shown["semanticState"], shown["reason"], shown["question"]) == (state, "report", question)
    assert shown["summary"] == (question or "What came of it.")
    assert shown["error"] == ("What came of it." if status == "failed" else None)
    assert len(model_server.requests) == 1


def test_a_refused_key_fails(project: Path, model_server: ModelServer) -> None:
    """AB-053: Pi's exit code is 0, the row's state isn't."""
    model_server.script(refuse(401, "invalid key"), forever=True)
    task = acts.dispatch("Hello", cwd=project)
    shown = acts.settled(task.view)
    assert (shown["semanticState"], shown["hasError"]) == ("failed", True)
    assert "401" in shown["error"]
    assert acts.run_of(shown)["exitCode"] == 0
    assert len(model_server.requests) == 1


def test_an_overload_that_passes_is_shown_while_it_lasts(project: Path, model_server: ModelServer) -> None:
    release = threading.Event()
    model_server.script(refuse(503, "overloaded"), refuse(503, "overloaded"), held(say("Here it is."), release))
    task = acts.dispatch("Hello", cwd=project)
    shown = acts.until(task.view, lambda shown: "retrying 2/3" in shown["summary"])
    assert "503" in shown["summary"]
    assert shown["processState"] == "alive"
    release.set()
    shown = acts.settled(task.view)
    assert (shown["semanticState"], shown["error"]) == ("completed", None)
    assert "retrying" not in shown["summary"]


def test_an_overload_that_stays_fails(project: Path, model_server: ModelServer) -> None:
    model_server.script(refuse(503, "overloaded"), forever=True)
    shown = acts.settled(acts.dispatch("Hello", cwd=project).view)
    assert shown["semanticState"] == "failed"
    assert "503" in shown["error"]
    assert len(model_server.requests) == 4


def test_a_cut_answer_is_asked_for_again(project: Path, model_server: ModelServer) -> None:
    model_server.script(cut("This sentence will never be heard to its end."), say("Whole this time."))
    shown = acts.settled(acts.dispatch("Tell me", cwd=project).view)
    assert (shown["semanticState"], shown["error"]) == ("completed", None)
    assert shown["summary"].startswith("Whole this time")


def test_an_answer_that_is_always_cut_fails(project: Path, model_server: ModelServer) -> None:
    model_server.script(cut("This sentence will never be heard to its end."), forever=True)
    shown = acts.settled(acts.dispatch("Tell me", cwd=project).view)
    assert shown["semanticState"] == "failed"
    assert shown["error"]


def test_an_answer_cut_by_the_length_limit_fails(project: Path, model_server: ModelServer) -> None:
    model_server.script(say("So the first thing to know is", finish="length"))
    shown = acts.settled(acts.dispatch("Explain", cwd=project).view)
    assert shown["semanticState"] == "failed"
    assert "length" in shown["error"] or "limit" in shown["error"]


def test_a_silent_provider_waits_until_it_is_stopped(project: Path, model_server: ModelServer) -> None:
    """Nothing is declared dead that lives: the row says that it waits, and stop ends it."""
    model_server.script(silent())
    task = acts.dispatch("Anybody there?", cwd=project)
    model_server.wait_for_requests(1)
    shown = acts.until(task.view, lambda shown: shown["processState"] == "alive")
    assert shown["semanticState"] in ("queued", "working")
    assert shown["error"] is None
    assert command.run("wait", task.view, "--timeout", "1").code == 3
    acts.stop(task.view)
    shown = acts.settled(task.view)
    assert (shown["semanticState"], shown["processState"], shown["error"]) == ("stopped", "exited", None)


def test_an_answer_that_stalls_is_working_until_it_is_stopped(project: Path, model_server: ModelServer) -> None:
    """AB-049, AB-054."""
    model_server.script(held(say("The first half. The second half."), threading.Event(), at=2))
    task = acts.dispatch("Tell me", cwd=project)
    shown = acts.until(task.view, lambda shown: shown["semanticState"] == "working")
    assert shown["processState"] == "alive"
    acts.stop(task.view)
    assert acts.settled(task.view)["semanticState"] == "stopped"


def test_five_at_once_each_get_their_own(project: Path, model_server: ModelServer) -> None:
    """AB-093: five runs, five sessions, no answer in the wrong one."""
    words = ["alpha", "bravo", "charlie", "delta", "echo"]
    for word in words:
        model_server.script(use("bash", command=f"echo {word} > {word}.txt"), say(f"Finished {word}."), when=word)
    tasks = [acts.dispatch(f"Write {word}", cwd=project) for word in words]
    assert command.run("wait", *(task.view for task in tasks), "--timeout", "90", timeout=120).code == 0
    rows = acts.listed()
    assert [rows[task.view]["summary"].split(".")[0] for task in tasks] == [f"Finished {word}" for word in words]
    assert sorted(model_server.prompts) == sorted(f"Write {word}" for word in words)
    assert len({rows[task.view]["sessionFile"] for task in tasks}) == 5
    assert sorted(path.stem for path in project.glob("*.txt")) == words


def test_an_unknown_model_fails_with_pis_own_reason(project: Path, model_server: ModelServer) -> None:
    shown = acts.settled(acts.dispatch("Hello", "--model", "nobody/nothing", cwd=project).view)
    assert (shown["semanticState"], shown["reason"]) == ("failed", "startup")
    assert "nobody" in shown["error"]
    assert model_server.requests == []


def test_the_model_that_was_asked_for_is_used(project: Path, model_server: ModelServer) -> None:
    model_server.script(say("I am the second."), model="scripted-two")
    shown = acts.settled(acts.dispatch("Who?", "--model", "scripted/scripted-two", cwd=project).view)
    assert shown["summary"].startswith("I am the second")
    assert model_server.requests[0].model == "scripted-two"


def test_a_reading_run_gets_reading_tools(project: Path, model_server: ModelServer) -> None:
    """AB-078: read-only is what the model is offered, not what it is asked for."""
    model_server.script(use("write", path="no.txt", content="no"), say("I can't write."))
    acts.settled(acts.dispatch("Look", "--read-only", cwd=project).view)
    tools = set(model_server.requests[0].tools)
    assert {"read", "report"} <= tools
    assert tools & {"write", "edit", "bash"} == set()
    assert not (project / "no.txt").exists()


def test_a_provider_that_cannot_be_reached_fails(project: Path, pi_home: PiHome, model_server: ModelServer) -> None:
    model_server.close()
    shown = acts.settled(acts.dispatch("Hello", cwd=project).view)
    assert shown["semanticState"] == "failed"
    assert shown["error"]
